// The index of the report: a row per run, with its filter values computed once.

import { measureSharedDirectories } from "./labels.js";
import { asArray, escapeHidden, isPresent, truncate } from "./texts.js";

/** The index of a report from its JSON. */
export function parseIndex(json) {
  const data = JSON.parse(json);
  const columns = { columns: data.columns, evaluators: data.evaluators, warnings: data.warnings };
  const rows = asArray(data.rows).map((cells, number) => createRow(cells, number, columns));
  const parts = data.row_parts ?? null; // of a list that is not in the page itself
  return {
    rows,
    rowsByRun: new Map(rows.map((row) => [row.run, row])),
    sharedLength: parts ? parts.shared.length : measureSharedDirectories(rows.map((row) => row.run)),
    columns,
    parts,
    title: escapeHidden(truncate(data.title, 200)),
    headings: data.headings,
    groups: data.groups,
    templates: asArray(data.templates),
    isEmbedded: Boolean(data.embedded),
  };
}

/** A row with a property per column, its values of each filter, and the text that a search looks in. */
export function createRow(cells, number, { columns, evaluators, warnings }) {
  const row = { number };
  columns.forEach((name, position) => Object.defineProperty(row, name, { value: cells[position] }));
  row.facets = {
    status: [row.status],
    group: row.group < 0 ? [] : [String(row.group)],
    site: [String(row.site ?? "")],
    type: [String(row.type ?? "")],
    template: [String(row.template ?? -1)],
    evaluator: asArray(row.evaluators).map((position) => String(evaluators[position])),
    warning: asArray(row.warnings).map((position) => String(warnings[position])),
    flip: isPresent(row.flip) ? [row.flip] : [],
  };
  row.searchText = [row.run, row.task_id, row.intent ?? "", row.reason ?? ""].join("\n").toLowerCase();
  return row;
}

/** The row of a run or of a task id; of several runs of a task, the first that did not succeed. */
export function findRow({ rows, rowsByRun }, task) {
  if (rowsByRun.has(task)) return rowsByRun.get(task);
  const runs = rows.filter((row) => String(row.task_id) === task);
  return runs.find((row) => row.status !== "success") ?? runs[0];
}
