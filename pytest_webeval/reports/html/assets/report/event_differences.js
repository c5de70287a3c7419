// In which of its fields an event differs from the one that a task expects.

import { asArray } from "./texts.js";

const JSON_PATH_ROOT = "$.";

/** The failed evaluators to which an event came nearest. */
export const evaluatorsOf = (evaluators, position) =>
  asArray(evaluators).filter(({ nearest, status }) => nearest?.index === position && status !== "success");

/** The differences in a field, by what follows its name in their paths: "" for the field as a whole. */
export function differencesBelow(differences, field) {
  const below = new Map();
  for (const difference of differences) {
    const path = String(difference.path);
    if (path === field) below.set("", difference);
    else if (path.startsWith(`${field}.`)) below.set(withoutRoot(path.slice(field.length + 1)), difference);
  }
  return below;
}

const withoutRoot = (path) => (path.startsWith(JSON_PATH_ROOT) ? path.slice(JSON_PATH_ROOT.length) : path);

/** The differences of a name or of what lies below it, with their paths. */
export function differencesOf(below, name, ignoreCase = false) {
  const fold = (text) => (ignoreCase ? text.toLowerCase() : text);
  const start = fold(String(name));
  return [...below].filter(([path]) => fold(path) === start
    || (fold(path).startsWith(start) && "[.".includes(path[start.length])));
}
