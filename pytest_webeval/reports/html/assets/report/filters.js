// Which rows the list has, and in which order.

import { compareStatuses } from "./statuses.js";
import { asArray, formatCount, formatNumber } from "./texts.js";

const naturalOrder = new Intl.Collator("en", { numeric: true });

/** "case 9" before "case 10". */
export const compareNaturally = naturalOrder.compare;

/** The filters in the order of the page: each with its key in the address, its label and the texts of its values. */
export const listFilters = ({ headings, groups, templates }, labels = labelTemplates(asArray(templates))) => [
  { key: "status", label: "Status", format: (value) => value },
  { key: "group", label: "Reason", format: (value) => formatGroup(groups[value]) ?? value },
  { key: "site", label: headings.site.one, format: (value) => value || headings.site.none },
  { key: "type", label: headings.type.one, format: (value) => value || headings.type.none },
  {
    key: "template", label: "Template",
    format: (value) => (value === "-1" ? "no template" : labels.get(value) ?? value),
  },
  { key: "evaluator", label: "Evaluator", format: (value) => value },
  { key: "warning", label: "Warning", format: (value) => value },
  { key: "flip", label: "Flip", format: (value) => value },
];

/** A failure group with its evaluator. */
export const formatGroup = (group) => group && (group.evaluator ? `${group.text} · ${group.evaluator}` : group.text);

/** The texts of templates by their numbers; the same text of several templates has the number before it. */
export function labelTemplates(templates) {
  const counts = new Map();
  for (const { text } of templates) counts.set(text, (counts.get(text) ?? 0) + 1);
  const label = ({ name, text }) => (counts.get(text) > 1 ? `${name}: ${text}` : text);
  return new Map(templates.map((template) => [template.name, template.text ? label(template) : template.name]));
}

/** The orders of the list by their names in the address: each with its label and its comparison. */
export const listSorts = ({ headings }) => ({
  "": ["worst status", (a, b) => compareStatuses(a.status, b.status) || a.number - b.number],
  recorded: ["as recorded", (a, b) => a.number - b.number],
  task: ["task id", (a, b) => compareNaturally(a.task_id, b.task_id)],
  site: [headings.site.one.toLowerCase(), (a, b) => compareNaturally(a.site, b.site)],
  reason: ["reason", (a, b) => (a.group < 0) - (b.group < 0) || a.group - b.group],
  seconds: ["slowest", (a, b) => (b.seconds ?? 0) - (a.seconds ?? 0)],
});

/** The rows with one of the values of each filter and with all words of the search, sorted. */
export function selectRows(rows, { filters, words, sort }, sorts) {
  const facets = [...filters].map(([key, values]) => [key, new Set(values)]);
  const searchWords = words.toLowerCase().split(/\s+/).filter(Boolean);
  const isSelected = (row) =>
    facets.every(([key, values]) => row.facets[key].some((value) => values.has(value))) &&
    searchWords.every((word) => row.searchText.includes(word));
  return rows.filter(isSelected).sort(sorts[sort][1]);
}

/** How many rows have each value of a filter. */
export function countValues(rows, key) {
  const counts = new Map();
  for (const row of rows) for (const value of row.facets[key]) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/** "400 tasks", or "12 of 400 tasks". */
export const formatSelection = (selectedCount, count) =>
  (selectedCount === count ? "" : `${formatNumber(selectedCount)} of `) + formatCount(count, "task");
