// One table of all differences, by evaluator, each with the request that came nearest. All that was compared and
// checked is folded below it.

import { lazyBlock, section, tableHead } from "./blocks.js";
import { DIFFERENCE_COLUMNS, differenceRow, valuesSideBySide } from "./differences.js";
import { bdi, button, element } from "./elements.js";
import { eventNumber } from "./network.js";
import { badge } from "./statuses.js";
import { asArray, formatCount, formatNumber, isPresent, toText } from "./texts.js";

const RUBRIC = "RubricEvaluator"; // whose verdict has a section of its own
const MOST_CHECKS = 100; // of an evaluator that does not say what differs

/** What differs in a task that failed, with all values and checks folded below; null where nothing does. */
export function differenceSection(task, network) {
  const failed = failedEvaluators(task);
  if (!failed.length) return null;
  return section("What differs",
    element("div", { class: "wide", tabindex: "0", role: "group", "aria-label": "differences" },
      element("table", { class: "differences" }, tableHead(DIFFERENCE_COLUMNS),
        failed.map((result) => evaluatorRows(result, network)))),
    checkBlocks(asArray(task.evaluators)));
}

/** The values and checks of a task without that section. */
export function checkSection(task) {
  const blocks = failedEvaluators(task).length ? [] : checkBlocks(asArray(task.evaluators));
  return blocks.length ? section("Checks", blocks) : null;
}

/** The evaluators that did not succeed, but for a rubric that the page shows as such. */
export const failedEvaluators = (task) => asArray(task.evaluators)
  .filter(({ status, name }) => status !== "success" && !(task.rubric && name === RUBRIC));

function evaluatorRows(result, network) {
  const differences = asArray(result.differences);
  return element("tbody", { class: "evaluator" },
    element("tr", { class: "group" }, element("th", { scope: "rowgroup", colspan: "4" },
      element("b", {}, bdi(result.name)), " ", badge(result.status), nearestEvent(result, network))),
    isPresent(result.error) ? messageRow("no verdict", [result.error]) : null,
    differences.map(differenceRow),
    differences.length || isPresent(result.error) ? null : failedChecks(result).slice(0, MOST_CHECKS)
      .map(({ name, messages }) => messageRow(name, asArray(messages))));
}

/** The checks of an evaluator that did not succeed. */
export const failedChecks = (result) => asArray(result.assertions).filter(({ status }) => status !== "success");

const messageRow = (name, messages) => element("tr", { class: "message" },
  element("th", { scope: "row" }, element("code", {}, name)),
  element("td", { colspan: "3" }, messages.map((message) => element("div", {}, bdi(toText(message))))));

/** The event that fits best of those that do not fit, or the one that should not be there, with the way to it. */
function nearestEvent(result, network) {
  const { nearest } = result;
  if (!nearest) return null;
  const isForbidden = asArray(result.differences)
    .some(({ path, kind }) => path === "network_event" && kind === "extra");
  return element("div", { class: "nearest" },
    isForbidden ? "Forbidden request" : "Nearest request", ` ${eventNumber(nearest.index)} of ${nearest.of}: `,
    element("code", {}, `${nearest.method} ${nearest.url}`), isPresent(nearest.status) ? ` → ${nearest.status} ` : " ",
    network ? button("show in network", () => network.open(nearest.index), "link") : null);
}

/** The folded blocks of some evaluators; they are filled when somebody unfolds them. */
function checkBlocks(evaluators) {
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

const evaluatorHeading = ({ name, status, score }) =>
  element("h4", {}, bdi(name), " ", badge(status), isPartial(status, score) ? ` score ${score.toFixed(2)}` : null);

/** Whether a score says something else than the status. */
const isPartial = (status, score) => typeof score === "number" && score !== Number(status === "success");

const checkList = (checks) => element("ul", { class: "checks" }, checks.map(({ status, name, messages }) =>
  element("li", {}, badge(status), " ", element("code", {}, name),
    asArray(messages).map((message) => element("div", { class: "message" }, bdi(message))))));
