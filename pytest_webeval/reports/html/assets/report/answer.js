// What the agent was asked to do, and right below it what it answered.

import { factList } from "./blocks.js";
import { bdi, element } from "./elements.js";
import { asArray, formatCount, isPresent, toText } from "./texts.js";

const SCROLLED_CHARACTERS = 600; // a longer answer scrolls in its box

/** The intent and the answer of a task; null where the report has neither. */
export const intentAndAnswer = (task) => factList([
  ["Intent", isPresent(task.intent) ? element("span", { class: "intent" }, bdi(task.intent)) : null],
  ["Answer", answerBox(task.answer)],
]);

/** The agent's answer: its fields, or one value. Null where the report has none. */
export function answerBox(answer) {
  if (!answer || typeof answer !== "object") return null;
  const fields = listFields(answer);
  const length = fields.reduce((sum, { text }) => sum + text.length, 0);
  const scrolls = length > SCROLLED_CHARACTERS;
  return element("div", {
    class: scrolls ? "answer long" : "answer", tabindex: scrolls ? "0" : null, role: "group", "aria-label": "Answer",
  },
  fields.length ? fields.map(fieldLine) : element("i", { class: "quiet" }, "no answer"),
  answer.more > 0 ? element("div", { class: "quiet" }, `${formatCount(answer.more, "field")} more`) : null);
}

const fieldLine = ({ name, text }) => element("div", {},
  isPresent(name) ? [element("code", { class: "quiet" }, name), " "] : null, bdi(text));

/** Names and texts of an answer's fields, without those that are null; a single value has no name. */
export function listFields(answer) {
  const fields = Array.isArray(answer?.fields) ? asArray(answer.fields) : [{ name: "", value: answer?.value }];
  return fields.filter((field) => isPresent(field?.value))
    .map(({ name, value }) => ({ name: toText(name ?? ""), text: toText(value) }));
}
