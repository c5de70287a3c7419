// The rows of the network table: one request each, with the time that it took as a bar. One of them can be reached
// with Tab, and arrows lead to the others.

import { element } from "./elements.js";

export const MARKS = { nearest: "◆ nearest", forbidden: "✗ forbidden", candidate: "◇ candidate", match: "✓ match" };
export const COLUMNS = ["#", "Time", "Method", "Status", "Type", "URL", "Took", "Mark"];
const MOVES = { ArrowUp: -1, ArrowDown: 1, Home: -Infinity, End: Infinity };
const LEAST_PERCENT = 1; // of a bar, so that it can be seen
const URL_HOST = /^[a-z][a-z0-9+.-]*:\/\/(?:[^/?#@]*@)?([^/?#]*)/i;

const isTime = (seconds) => typeof seconds === "number" && seconds >= 0;

/** Seconds as a text; empty for an unknown time, and for one that cannot be. */
export const formatSeconds = (seconds) => (isTime(seconds) ? seconds.toFixed(2) : "");

/** The host of an address, with its port; empty where it has none. */
export const hostOf = (url) => URL_HOST.exec(String(url ?? ""))?.[1].toLowerCase() ?? "";

/** The moment at which the last of some events ends, in seconds. */
export const lastMoment = (events) =>
  events.reduce((latest, { seconds, duration }) => Math.max(latest, ...[seconds, endOf(seconds, duration)]
    .filter(isTime)), 0);

const endOf = (seconds, duration) => (isTime(seconds) && isTime(duration) ? seconds + duration : null);

/** Where the bar of an event begins and how wide it is, in percent of all the time; null without a time. */
export function barOf({ seconds, duration }, total) {
  if (!isTime(seconds) || !(total > 0)) return null;
  const start = Math.min((100 * seconds) / total, 100 - LEAST_PERCENT);
  const width = Math.max((100 * (isTime(duration) ? duration : 0)) / total, LEAST_PERCENT);
  return { start, width: Math.min(width, 100 - start) };
}

/** A row; its number is a button that opens it. */
export function eventRow(event, total) {
  const { position, number, method, url, status, type, seconds, mark } = event;
  const opener = element("button",
    { type: "button", class: "event", tabindex: "-1", "aria-expanded": "false", "aria-label": `Event ${number}` },
    number);
  return element("tr", { class: MARKS[mark] ? mark : "", "data-event": position },
    element("th", { scope: "row" }, opener),
    element("td", {}, formatSeconds(seconds)),
    element("td", {}, method),
    element("td", {}, status),
    element("td", {}, type),
    element("td", { class: "url" }, element("code", {}, url)),
    element("td", { class: "took" }, formatSeconds(event.duration), timeBar(barOf(event, total))),
    element("td", { class: "mark" }, MARKS[mark] ?? ""));
}

function timeBar(place) {
  if (!place) return null;
  const bar = element("span", { class: "span" });
  bar.style.marginInlineStart = `${place.start}%`;
  bar.style.width = `${place.width}%`;
  return element("span", { class: "waterfall", "aria-hidden": "true" }, bar);
}

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
