// A difference between an expected and an actual value, with the parts marked that differ.

import { element } from "./elements.js";
import { toText } from "./texts.js";

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
