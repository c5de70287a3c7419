// JSON as indented lines, with those marked that differ.

import { button, element } from "./elements.js";
import { toJson } from "./texts.js";

const FIRST_LINES = 1500; // of a longer tree the page shows these at first
const MAXIMUM_INDENT = 120; // what is nested deeper stands in one line
// Results have the names of the recorded data, paths those of the task's definition.
const DEFINED_NAMES = new Map([
  ["query_string", "query_params"],
  ["results", "retrieved_data"],
  ["action", "task_type"],
  ["performed_operation", "task_type"],
]);

/** A value below its title. What lies at a path, or below it, is marked. */
export function jsonTree(title, value, paths) {
  const pre = element("pre", { tabindex: "0", role: "group", "aria-label": title });
  const draw = (maximum) => {
    const children = [];
    for (const line of listLines(value, paths)) {
      if (children.length === maximum) {
        children.push(button("show all lines", () => draw(Infinity)));
        break;
      }
      children.push(lineElement(line));
    }
    pre.replaceChildren(...children);
  };
  draw(FIRST_LINES);
  return element("div", {}, element("h4", {}, title), pre);
}

const lineElement = ({ indent, text, isMarked }) =>
  element("span", {}, indent, element(isMarked ? "mark" : "span", {}, text), "\n");

/** The lines of a value, one by one: nobody waits for those of a huge value that are not shown. */
export const listLines = (value, paths) =>
  nestedLines(value, { path: "", indent: "", before: "", after: "" }, false, new Set([...paths].map(definedPath)));

/** A path with its first name as the task's definition has it: an agent may write another one. */
function definedPath(path) {
  const [name] = String(path).split(/[.[]/, 1);
  return (DEFINED_NAMES.get(name) ?? name) + String(path).slice(name.length);
}

function* nestedLines(value, { path, indent, before, after }, isParentMarked, paths) {
  const isMarked = isParentMarked || (path !== "" && paths.has(path));
  const isNested = value !== null && typeof value === "object" && indent.length < MAXIMUM_INDENT;
  const children = isNested ? listChildren(value, path) : [];
  if (!children.length) return yield { indent, text: before + toJson(value) + after, isMarked };
  const [opening, closing] = Array.isArray(value) ? "[]" : "{}";
  yield { indent, text: before + opening, isMarked };
  for (const [position, child] of children.entries()) {
    const comma = position === children.length - 1 ? "" : ",";
    const place = { path: child.path, indent: indent + "  ", before: child.before, after: comma };
    yield* nestedLines(child.value, place, isMarked, paths);
  }
  yield { indent, text: closing + after, isMarked };
}

/** The members of an object or a list: the path of each, as differences have it, and what stands before its value. */
export const listChildren = (value, path) => Array.isArray(value)
  ? value.map((item, position) => ({ path: `${path}[${position}]`, before: "", value: item }))
  : Object.entries(value).map(([key, member]) =>
    ({ path: memberPath(path, key), before: `${JSON.stringify(key)}: `, value: member }));

const memberPath = (path, key) => (path ? `${path}.${key}` : DEFINED_NAMES.get(key) ?? key);
