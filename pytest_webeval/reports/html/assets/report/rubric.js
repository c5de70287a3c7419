// The stored judgement of a rubric: the points of each item, and the judge's verdict as recorded.

import { factList, foldedBlock, section, table } from "./blocks.js";
import { bdi, element } from "./elements.js";
import { jsonTree } from "./json_tree.js";
import { badge } from "./statuses.js";
import { asArray, isPresent } from "./texts.js";

/** `sentence` is what stands at the top of the page: a reason that it has is not repeated. */
export function rubricSection(rubric, sentence) {
  const items = asArray(rubric.items);
  return section(["Rubric: ", rubric.criterion, " ", badge(rubric.status)],
    isPresent(rubric.reason) && !hasReason(sentence, rubric.reason) ? element("p", {}, bdi(rubric.reason)) : null,
    items.length ? table(["Criterion", "Points", "Reason"], items.map(itemRow), "rubric points") : null,
    factList([
      ["Score", rubric.score],
      ["Source", isPresent(rubric.source) ? element("code", {}, rubric.source) : null],
    ]),
    rubric.verdict && Object.keys(rubric.verdict).length
      ? foldedBlock("The judge's verdict", jsonTree("Verdict", rubric.verdict, new Set())) : null);
}

/** Whether all of a reason stands in a sentence, which has one line. */
export const hasReason = (sentence, reason) =>
  isPresent(sentence) && toOneLine(sentence).includes(toOneLine(reason));

const toOneLine = (text) => String(text).trim().replace(/\s+/g, " ").toLowerCase();

const itemRow = (item) => element("tr", {},
  element("th", { scope: "row" }, bdi(item.text),
    item.conditional ? element("span", { class: "quiet" }, formatCondition(item)) : null),
  element("td", { class: "number" }, formatEarned(item.earned), element("span", { class: "quiet" }, " of ", item.max)),
  element("td", {}, isPresent(item.note) ? bdi(item.note) : ""));

/** Whether a conditional item counts: it does not if its condition was not met. */
export const formatCondition = ({ counts }) => (counts === false ? " (does not count)" : " (conditional)");

export const formatEarned = (points) => (isPresent(points) ? points : "–");
