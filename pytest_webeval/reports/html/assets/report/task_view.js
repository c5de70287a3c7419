// The right side of the page: the overview, or one task.

import { errorNotice, factList } from "./blocks.js";
import { copyText } from "./clipboard.js";
import { loadTask } from "./details.js";
import { bdi, button, byId, element } from "./elements.js";
import { badge } from "./statuses.js";
import { formatGroup } from "./filters.js";
import { MarkdownCopier } from "./markdown.js";
import { StepViewer } from "./step_viewer.js";
import { listParts, networkTable } from "./task_parts.js";
import { asArray, escapeHidden, isPresent, truncate } from "./texts.js";

const PHONE_WIDTH = 700; // below it, a task covers the list

/**
 * Shows a task. `actions` are what its parts do: `close`, `step` by a number of tasks, `openEvent` with a number,
 * `showStep` of the task.
 */
export class TaskView {
  network = null; // the network table of the task, once it is loaded
  #index;
  #actions;
  #row = null;
  #event = ""; // the number of the open event
  #step = ""; // the number of the step in the view state
  #copier = null; // of the open task, as soon as its details are loaded
  #viewer = null; // of the steps of the open task, as soon as its details are loaded

  constructor(index, actions) {
    this.#index = index;
    this.#actions = actions;
  }

  showOverview() {
    this.#row = this.#viewer = this.#copier = this.network = null;
    document.title = this.#index.title;
    const hadFocus = byId("task").contains(document.activeElement);
    turnTo("overview");
    byId("task").replaceChildren();
    if (hadFocus) byId("list").focus({ preventScroll: true });
  }

  /** Answer a link to a task that the report does not have. */
  showUnknown(task) {
    this.#row = this.#viewer = this.#copier = this.network = null;
    turnTo("task");
    byId("task").replaceChildren(this.#createBar(), element("h2", {}, "No such task"),
      element("p", {},
        "This report has no task ", element("code", {}, truncate(task, 200)), ": search for it in the list."));
  }

  /** Show what the list has of a task, and its details as soon as they are loaded. */
  showRow(row) {
    this.#row = row;
    this.#viewer = this.#copier = this.network = null;
    document.title = `${escapeHidden(truncate(row.run, 100))} · ${row.status} · ${this.#index.title}`;
    const hadFocus = byId("task").contains(document.activeElement);
    turnTo("task");
    const body = element("div", { class: "body", "aria-busy": "true" });
    const heading = element("h2", { id: "task-title", tabindex: "-1" }, bdi(row.run), " ", badge(row.status));
    byId("task").replaceChildren(this.#createBar(), element("div", { class: "heading" }, heading), body);
    if (hadFocus || innerWidth <= PHONE_WIDTH) heading.focus({ preventScroll: true });
    byId("announcement").textContent = `${truncate(row.run, 100)}, ${row.status}`;
    loadTask(row).then(
      (task) => this.#row === row && this.#fillTask(body, task),
      (problem) => this.#row === row && fillBody(body,
        [reasonParagraph(row.reason), errorNotice(problem), this.#listIndexed(row)]));
  }

  /** Show a step of the open task, at once or as soon as there are details. */
  showStep(number) {
    this.#step = number;
    this.#viewer?.show(number);
  }

  /** Whether the open task has steps to move between. */
  get hasSteps() {
    return this.#viewer !== null;
  }

  /** Move to the next or the previous step. */
  moveStep(by, inPlace) {
    this.#viewer?.move(by, inPlace);
  }

  #fillTask(body, task) {
    const { openEvent, showStep } = this.#actions;
    const position = this.#event ? Number(this.#event) - 1 : null;
    this.network = networkTable(task, { row: this.#row, isEmbedded: this.#index.isEmbedded, position, openEvent });
    this.#viewer = asArray(task.steps).length ? new StepViewer(task, this.network, showStep) : null;
    this.#viewer?.show(this.#step);
    fillBody(body, [
      reasonParagraph(isPresent(task.sentence) ? task.sentence : task.reason),
      listParts(task, this.#index, this.network, this.#viewer?.section),
    ]);
    this.#copier = new MarkdownCopier(task);
    byId("task").querySelector(".heading").append(this.#copier.button);
    if (this.#step && !this.#event) this.#viewer?.section.scrollIntoView({ block: "start" }); // a link to a step
    this.showEvent(this.#event);
  }

  /** Copy the open task as Markdown, as soon as it is loaded. */
  copyMarkdown() {
    this.#copier?.copy();
  }

  /** Open the row of an event of the task, now or as soon as the task is loaded; none with an empty number. */
  showEvent(number) {
    this.#event = number;
    this.network?.show(number ? Number(number) - 1 : null);
  }

  /** What the index has of a task whose details are missing. */
  #listIndexed(row) {
    const { headings: { site, type }, groups } = this.#index;
    return factList([["Intent", row.intent], ["Failure group", formatGroup(groups[row.group])],
      [site.one, row.site], [type.one, row.type]]);
  }

  #createBar() {
    const { close, step } = this.#actions;
    return element("div", { class: "bar-of-task" },
      button("← All tasks", close, "back"),
      element("span", { class: "gap" }),
      button("Previous", () => step(-1)),
      button("Next", () => step(1)),
      button("Copy link", (event) => copyText(location.href, event.target)));
  }
}

function turnTo(side) {
  document.body.classList.toggle("reading", side === "task");
  byId("task").hidden = side !== "task";
  byId("overview").hidden = side !== "overview";
  byId("main").scrollTop = 0;
  scrollTo(0, 0); // on a phone, the page scrolls instead
}

const reasonParagraph = (reason) => (isPresent(reason) ? element("p", { class: "why" }, bdi(reason)) : "");

/** Parts that need the layout of the page, as to scroll, do so at the event `attached`. */
function fillBody(body, parts) {
  body.replaceChildren(...parts.flat(Infinity).filter(isPresent));
  body.removeAttribute("aria-busy");
  for (const part of body.querySelectorAll("[data-start]")) part.dispatchEvent(new Event("attached"));
}
