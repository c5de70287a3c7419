// An expected and an actual value: their differences as a table, with the parts marked that differ, and side by side.

import { table } from "./blocks.js";
import { element } from "./elements.js";
import { jsonTree } from "./json_tree.js";
import { toText } from "./texts.js";

export const DIFFERENCE_COLUMNS = ["Field", "Difference", "Expected", "Actual"];

/** The table of some differences; null where there are none. */
export const differenceTable = (differences) => (differences.length
  ? table(DIFFERENCE_COLUMNS, differences.map(differenceRow), "differences") : null);

export function differenceRow({ path, kind, expected, actual }) {
  const texts = [toText(expected), toText(actual)];
  const isOneSided = [expected, actual].some((value) => value === null || value === undefined);
  const { start, end } = isOneSided ? { start: 0, end: 0 } : commonEnds(...texts);
  const [expectedCode, actualCode] = texts.map((text) => markedCode(text, start, text.length - end));
  return element("tr", { class: "difference" },
    element("th", { scope: "row" }, element("code", {}, path || "(entire value)")),
    element("td", { class: "kind" }, kind),
    element("td", { class: "expected" }, kind === "extra" ? "–" : expectedCode),
    element("td", { class: "actual" }, kind === "missing" ? "–" : actualCode));
}

const markedCode = (text, from, to) =>
  element("code", {}, text.slice(0, from), element("mark", {}, text.slice(from, to)), text.slice(to));

/** How many characters two texts share at their start, and at their end; no surrogate pair is split. */
export function commonEnds(first, second) {
  const shorter = Math.min(first.length, second.length);
  let start = 0;
  while (start < shorter && first[start] === second[start]) start++;
  if (/[\ud800-\udbff]/.test(first[start - 1] ?? "")) start--;
  let end = 0;
  while (end < shorter - start && first.at(-1 - end) === second.at(-1 - end)) end++;
  if (/[\udc00-\udfff]/.test(first[first.length - end] ?? "")) end--;
  return { start, end };
}

/** Both values as trees, in which what differs is marked. */
export function valuesSideBySide({ expected, actual }, differences) {
  const paths = new Set(differences.map(({ path }) => path));
  return element("div", { class: "side-by-side" },
    jsonTree("Expected", expected, paths), jsonTree("Actual", actual, paths));
}
