// The focus among the rows of the network table: one of them can be reached with Tab, arrows lead to the others.

const MOVES = { ArrowUp: -1, ArrowDown: 1, Home: -Infinity, End: Infinity };

/** Let Tab reach this row and no other. */
export function reachRow(body, row) {
  for (const opener of body.querySelectorAll("button.event[tabindex='0']")) opener.tabIndex = -1;
  if (row) row.querySelector("button").tabIndex = 0;
}

/** Move the focus to the row that a key asks for, and return it; null for another key. */
export function moveFocus(body, event) {
  if (!event.target.matches("button.event") || !Object.hasOwn(MOVES, event.key)) return null;
  event.preventDefault();
  const rows = [...body.children];
  const place = rows.indexOf(event.target.closest("tr")) + MOVES[event.key];
  const row = rows[Math.max(0, Math.min(place, rows.length - 1))];
  reachRow(body, row);
  row.querySelector("button").focus({ preventScroll: true });
  return row;
}
