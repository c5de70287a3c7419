// An expected and an actual value: their differences as a table, and both side by side.

import { table } from "./blocks.js";
import { differenceRow } from "./differences.js";
import { element } from "./elements.js";
import { jsonTree } from "./json_tree.js";

export const differenceTable = (differences) => (differences.length
  ? table(["Field", "Difference", "Expected", "Actual"], differences.map(differenceRow), "differences") : null);

export function valuesSideBySide({ expected, actual }, differences) {
  const paths = new Set(differences.map(({ path }) => path));
  return element("div", { class: "side-by-side" },
    jsonTree("Expected", expected, paths), jsonTree("Actual", actual, paths));
}
