// The parts of a task's page, from top to bottom.

import { aboutSections } from "./about.js";
import { errorNotice, factList, section } from "./blocks.js";
import { commandLine } from "./clipboard.js";
import { bdi, element } from "./elements.js";
import { evaluatorSection } from "./evaluators.js";
import { NetworkTable } from "./network.js";
import { rubricSection } from "./rubric.js";
import { asArray, isPresent } from "./texts.js";

/** The table of a task's requests, if there is a recording of them; `context` is what its rows need to open. */
export const networkTable = (task, context) => (task.network
  ? new NetworkTable(task.network, { ...context, evaluators: asArray(task.evaluators) }) : null);

/** The parts of a task; absent ones are null. `steps` is the section of its steps. */
export function listParts(task, index, network, steps) {
  return [
    isPresent(task.error) && task.error !== task.reason ? errorNotice(bdi(task.error)) : null,
    warningList(asArray(task.warnings)),
    taskFacts(task),
    commandSection(asArray(task.commands)),
    asArray(task.evaluators).map((result) => evaluatorSection(result, network)),
    task.rubric ? rubricSection(task.rubric) : null,
    steps,
    network ? network.section : null,
    aboutSections(task, index),
  ];
}

const taskFacts = (task) => factList([
  ["Intent", isPresent(task.intent) ? element("span", { class: "intent" }, bdi(task.intent)) : null],
  ["Start URLs", asArray(task.start_urls).map((url) => element("div", {}, element("code", {}, url)))],
  ["Task", [task.task_id, asArray(task.sites).join(", "), task.type].filter(isPresent).join(" · ")],
  ["Template", isPresent(task.template)
    ? [bdi(task.template), task.template_id >= 0 ? ` (${task.template_id})` : ""] : null],
]);

function warningList(warnings) {
  if (!warnings.length) return null;
  return element("ul", { class: "warnings", "aria-label": "Warnings" }, warnings.map(({ kind, text }) =>
    element("li", {}, element("span", { class: "kind" }, "⚠ ", kind === "other" ? null : kind), " ", bdi(text))));
}

function commandSection(commands) {
  if (!commands.length) return null;
  return section("Commands", commands.map(({ label, command }) =>
    element("div", { class: "labelled" }, element("span", { class: "quiet" }, label), commandLine(command))));
}
