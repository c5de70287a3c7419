// The parts of a task's page, from top to bottom: first what happened, then the recording, then facts and files.

import { aboutSections } from "./about.js";
import { intentAndAnswer } from "./answer.js";
import { errorNotice, factList, lazyBlock, section } from "./blocks.js";
import { commandLine } from "./clipboard.js";
import { checkSection, differenceSection } from "./difference_section.js";
import { bdi, element } from "./elements.js";
import { jsonTree } from "./json_tree.js";
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
    intentAndAnswer(task),
    differenceSection(task, network),
    task.rubric ? rubricSection(task.rubric, task.sentence) : null,
    checkSection(task),
    warningList(asArray(task.warnings)),
    steps,
    network ? network.section : null,
    taskSection(task),
    commandSection(asArray(task.commands)),
    aboutSections(task, index),
  ];
}

function taskSection(task) {
  const facts = factList([
    ["Task", [task.task_id, asArray(task.sites).join(", "), task.type].filter(isPresent).join(" · ")],
    ["Start URLs", asArray(task.start_urls).map((url) => element("div", {}, element("code", {}, url)))],
    ["Template", isPresent(task.template)
      ? [bdi(task.template), task.template_id >= 0 ? ` (${task.template_id})` : ""] : null],
  ]);
  const definition = isPresent(task.definition)
    ? lazyBlock("Definition", () => jsonTree("Definition of the task", task.definition, new Set())) : null;
  return facts || definition ? halfSection("Task", facts, definition) : null;
}

function warningList(warnings) {
  if (!warnings.length) return null;
  return element("ul", { class: "warnings", "aria-label": "Warnings" }, warnings.map(({ kind, text }) =>
    element("li", {}, element("span", { class: "kind" }, "⚠ ", kind === "other" ? null : kind), " ", bdi(text))));
}

function commandSection(commands) {
  if (!commands.length) return null;
  return halfSection("Commands", commands.map(({ label, command }) =>
    element("div", { class: "labelled" }, element("span", { class: "quiet" }, label), commandLine(command))));
}

/** A section that has half of a wide screen. */
function halfSection(title, ...children) {
  const part = section(title, children);
  part.classList.add("half");
  return part;
}
