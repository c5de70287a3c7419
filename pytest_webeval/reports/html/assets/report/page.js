// The page: it shows the view state in the list, the controls and the task view, and lets the user change it.

import { byId } from "./elements.js";
import { FilterControls } from "./filter_controls.js";
import { listFilters } from "./filters.js";
import { TaskList } from "./task_list.js";
import { TaskView } from "./task_view.js";
import { View, parseFragment } from "./view.js";

/** Ties the parts of the page together: they do not know each other. */
export class ReportPage {
  list;
  view;
  #source;
  #controls;
  #taskView;
  #selection = null; // filters, words and sort of the rows in the list
  #subject = null; // what the task view shows: a run, the name of a task that does not exist, or "" for the overview
  #openRow = null;

  /** `source` has the rows: an `AllRows` or a `PartedRows`. */
  constructor(index, source) {
    const filters = listFilters(index);
    const filterKeys = filters.map(({ key }) => key);
    this.#source = source;
    this.view = new View((fragment) => parseFragment(fragment, filterKeys, source.sorts), () => this.show());
    this.#controls = new FilterControls(source, filters, this.view);
    source.attach(this.view);
    this.list = new TaskList(index.rows, index.sharedLength, (position) => this.#openPosition(position));
    this.#taskView = new TaskView(index, {
      close: () => this.closeTask(),
      step: (by) => this.step(by),
      openEvent: (event) => this.view.change({ event: String(event) }),
      showStep: (step, inPlace) => this.view.change({ step }, inPlace),
    });
  }

  /** Show the view state, now or as soon as its rows are loaded. */
  show() {
    const { task, event, step } = this.view.state;
    const isReady = this.#source.prepare(this.view.state, () => this.show());
    byId("list").setAttribute("aria-busy", String(!isReady));
    if (!isReady) return;
    if (this.#source.part) return this.view.change({ part: this.#source.takePart() }, true);
    const row = this.#source.rowOf(task);
    this.#updateList(row);
    if (this.#source.problem) byId("none").hidden = true;
    this.#controls.update(this.#source.describe(this.list.rows.length, this.view.state));
    this.#markShown();
    const subject = row?.run ?? task;
    if (subject !== this.#subject) this.#open(subject, row);
    this.#taskView.showEvent(event);
    this.#taskView.showStep(step);
  }

  /** Note the time at which the list was there. */
  #markShown() {
    if (!performance.getEntriesByName("webeval-shown").length) performance.mark("webeval-shown");
  }

  #open(subject, row) {
    this.#subject = subject;
    this.#openRow = row;
    this.list.setOpenRow(row);
    if (row) this.#taskView.showRow(row);
    else if (subject) this.#taskView.showUnknown(subject);
    else this.#taskView.showOverview();
  }

  /** Select the rows again, unless only the open task has changed. */
  #updateList(row) {
    const { filters, words, sort, part } = this.view.state;
    const selection = JSON.stringify([[...filters], words, sort, part]);
    if (selection === this.#selection) return;
    this.#selection = selection;
    this.#openRow = row ?? null;
    this.list.setRows(this.#source.selectRows(this.view.state), row);
  }

  /** Show what the address asks for; on a phone, a link to a filter in the overview leads to the list. */
  followAddress() {
    const before = this.view.state;
    if (!this.view.followAddress()) return;
    const { filters, task } = this.view.state;
    if (!task && filters.size && !before.filters.size && !before.task) byId("tasks").scrollIntoView();
  }

  closeTask() {
    this.view.change({ task: "" });
  }

  /** Close the open event, or without one the open task. */
  closeInnermost() {
    if (this.view.state.event) this.view.change({ event: "" });
    else this.closeTask();
  }

  /** The network table of the open task, if it has one. */
  get network() {
    return this.#taskView.network;
  }

  /** Open the next or the previous task of the list; without an open task, the active one. */
  step(by) {
    if (!this.list.rows.length) return;
    const position = this.list.rows.indexOf(this.#openRow);
    const start = this.#openRow ? 0 : this.list.active;
    this.#openPosition(position < 0 ? start : position + by, Boolean(this.#openRow));
  }

  /** Whether a task with a trajectory is open. */
  get hasSteps() {
    return this.#taskView.hasSteps;
  }

  /** Show the next or the previous step of the open task. */
  moveStep(by, inPlace) {
    this.#taskView.moveStep(by, inPlace);
  }

  copyMarkdown() {
    this.#taskView.copyMarkdown();
  }

  /** Open the active task, unless somebody reads another one. */
  openActive() {
    if (document.activeElement !== byId("list") && this.#openRow) return;
    this.#openPosition(this.list.active);
    byId("task-title")?.focus({ preventScroll: true });
  }

  #openPosition(position, inPlace = false) {
    this.list.moveTo(position);
    const row = this.list.rows[this.list.active];
    if (row) this.view.change({ task: row.run }, inPlace);
  }
}
