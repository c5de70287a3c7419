// All that was compared and checked, folded: the values of both sides, and each check.

import { lazyBlock } from "./blocks.js";
import { valuesSideBySide } from "./comparison.js";
import { bdi, element } from "./elements.js";
import { badge } from "./statuses.js";
import { asArray, formatCount, formatNumber, isPresent } from "./texts.js";

/** The folded blocks of some evaluators; they are filled when somebody unfolds them. */
export function checkBlocks(evaluators) {
  const compared = evaluators.filter(({ expected, actual }) => isPresent(expected) || isPresent(actual));
  const checked = evaluators.filter(({ assertions }) => asArray(assertions).length);
  return [
    compared.length ? lazyBlock("Expected and actual values", () => compared.map((result) =>
      [evaluatorHeading(result), valuesSideBySide(result, asArray(result.differences))])) : null,
    checked.length ? lazyBlock(formatChecks(checked), () => checked.map((result) =>
      [evaluatorHeading(result), checkList(asArray(result.assertions))])) : null,
  ].filter(isPresent);
}

/** How many checks there are, and how many of them failed. */
export function formatChecks(evaluators) {
  const statuses = evaluators.flatMap(({ assertions }) => asArray(assertions).map(({ status }) => status));
  const failed = statuses.filter((status) => status !== "success").length;
  const passed = statuses.length - failed;
  if (!failed) return `${formatCount(passed, "check")} passed`;
  return `${formatCount(failed, "check")} failed` + (passed ? `, ${formatNumber(passed)} passed` : "");
}

const evaluatorHeading = ({ name, status }) => element("h4", {}, bdi(name), " ", badge(status));

const checkList = (checks) => element("ul", { class: "checks" }, checks.map(({ status, name, messages }) =>
  element("li", {}, badge(status), " ", element("code", {}, name),
    asArray(messages).map((message) => element("div", { class: "message" }, bdi(message))))));
