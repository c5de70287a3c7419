// The rows of the list as files: CSV for spreadsheets, JSON for programs. The page makes them and sends them nowhere.

import { byId, element } from "./elements.js";
import { escapeHidden, isPresent } from "./texts.js";

const FORMULA = /^[\t\r\n]|^\s*[=+\-@＝＋－＠]/u; // what spreadsheets calculate instead of showing it
const LIFETIME_MILLISECONDS = 60_000; // of the address of a file, which a browser may read after the click
const FILES = {
  csv: { name: "webeval-tasks.csv", type: "text/csv;charset=utf-8", format: (rows) => formatCsv(rows) },
  json: {
    name: "webeval-tasks.json", type: "application/json", format: (rows) => JSON.stringify(rows, null, 1) + "\n",
  },
};

/** Let the two buttons save the rows that `listRows` returns at that time. */
export function listenToDownloads(index, listRows) {
  for (const [kind, { name, type, format }] of Object.entries(FILES))
    byId(`save-${kind}`).addEventListener("click", () => saveFile(name, type, format(describeRows(listRows(), index))));
}

/** The rows as objects with names in place of numbers, the same for both formats. */
export function describeRows(rows, { groups, templates }) {
  const texts = new Map(templates.map(({ name, text }) => [name, text]));
  return rows.map((row) => ({
    run: row.run,
    task_id: row.task_id,
    status: row.status,
    score: row.score ?? null,
    site: row.site ?? null,
    type: row.type ?? null,
    template: row.template >= 0 ? row.template : null,
    template_text: texts.get(row.facets.template[0]) ?? null,
    group: groups[row.group]?.text ?? null,
    reason: row.reason ?? null,
    evaluators: row.facets.evaluator,
    warnings: row.facets.warning,
    intent: row.intent ?? null,
    seconds: row.seconds ?? null,
    flip: row.flip ?? null,
  }));
}

/** The objects as CSV (RFC 4180) with a line of names. */
export function formatCsv(objects) {
  const lines = objects.map((object) => Object.values(object).map(csvCell).join(","));
  return [Object.keys(objects[0] ?? {}).join(","), ...lines].map((line) => `${line}\r\n`).join("");
}

/** A value as a cell. An apostrophe before a text that begins like a formula makes it a text for spreadsheets. */
export function csvCell(value) {
  if (typeof value === "number" || !isPresent(value)) return String(value ?? "");
  const text = Array.isArray(value) ? value.join(" | ") : String(value);
  const safe = escapeHidden(FORMULA.test(text) ? `'${text}` : text);
  return `"${safe.replaceAll('"', '""')}"`;
}

function saveFile(name, type, text) {
  const href = URL.createObjectURL(new Blob([text], { type }));
  element("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), LIFETIME_MILLISECONDS);
}
