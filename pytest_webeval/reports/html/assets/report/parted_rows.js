// The rows of a list of very many runs, of which the page loads parts as it shows them.

import { loadPart } from "./details.js";
import { byId } from "./elements.js";
import { formatSelection, listSorts, selectRows } from "./filters.js";
import { PartControls } from "./part_controls.js";
import { findPage, findPosition, groupPages, mapLists, selectLists } from "./part_lists.js";
import { RunPlaces } from "./run_places.js";
import { createRow } from "./task_index.js";
import { asArray, formatCount, formatNumber } from "./texts.js";

const CACHED_PARTS = 24; // whose rows stay in memory
const PROGRESS_PARTS = 10; // between two messages of a search in all parts
const EMPTY = { rows: [], pages: [], page: 0, count: 0, located: null, mode: "page", isCut: false };

/** Loads and selects rows, as `AllRows` does. What needs rows that are not loaded says so, and can be asked for. */
export class PartedRows {
  sorts;
  total;
  problem = ""; // why rows could not be loaded
  part = ""; // to keep in the address, so that it stays when the task is closed
  #index;
  #parts; // what the index has of them
  #lists; // by name
  #places;
  #rows = new Map(); // rows of parts by their numbers; the latest used comes last
  #loaded = EMPTY; // what the page shows
  #ready = null; // the view state of that, as a text
  #requested = null; // the view state that is being loaded
  #selection = null; // filters, words and part of what the page shows, as a text
  #controls = null;

  constructor(index) {
    this.#index = index;
    this.#parts = index.parts;
    this.#lists = mapLists(index.parts.lists);
    this.#places = new RunPlaces(index.parts, this.#lists, (part) => this.#loadRows(part));
    this.total = index.parts.count;
    const { recorded, ...sorts } = listSorts(index);
    this.sorts = { ...sorts, "": [sorts[""][0], () => 0] };
  }

  /** Add the controls of parts to the page. */
  attach(view) {
    this.#controls = new PartControls(view);
  }

  prepare({ filters, words, part, task }, show) {
    const selection = JSON.stringify([[...filters], words, part]);
    const key = JSON.stringify([selection, task]);
    if (key === this.#requested) return false;
    const isReady = key === this.#ready;
    this.#requested = isReady ? null : key;
    if (isReady) return true;
    const isCurrent = () => this.#requested === key;
    const finish = (loaded, problem) => {
      if (!isCurrent()) return;
      [this.#loaded, this.problem, this.#ready, this.#requested] = [loaded, problem, key, null];
      this.#selection = problem ? null : selection;
      show();
    };
    const isSelected = selection === this.#selection;
    (isSelected ? this.#loadTask(task) : this.#load({ filters, words, part, task }, isCurrent))
      .then((loaded) => finish(loaded, ""), (problem) => finish(EMPTY, String(problem)));
    return false;
  }

  /** The part to keep in the address, once. */
  takePart() {
    const part = this.part;
    this.part = "";
    return part;
  }

  countRows(key) {
    return asArray(this.#parts.values[key]);
  }

  selectRows(state) {
    const words = this.#loaded.mode === "matches" ? "" : state.words;
    return selectRows(this.#loaded.rows, { ...state, words }, this.sorts);
  }

  rowOf(task) {
    const { rows, located } = this.#loaded;
    const run = located?.run ?? task;
    return rows.find((row) => row.run === run) ?? located ?? undefined;
  }

  describe(selectedCount, state) {
    const { mode, count, pages, rows, isCut } = this.#loaded;
    const isInPart = mode === "page" && this.#selectsInPart(state);
    this.#controls.update(this.#loaded, state, isInPart);
    if (this.problem) return this.problem;
    const rest = isCut ? " (there may be more)" : "";
    if (mode === "all") return `${formatCount(selectedCount, "task")} in all parts${rest}`;
    if (mode === "matches") return `${formatCount(selectedCount, "task")} by run or id${rest}`;
    if (!isInPart) return formatSelection(count, this.total);
    return `${formatNumber(selectedCount)} of ${formatCount(rows.length, "task")}`
      + (pages.length > 1 ? " in this part" : "");
  }

  /** Whether filters or words select among the loaded rows only. */
  #selectsInPart({ filters, words }) {
    const { keys } = selectLists(this.#lists, this.#parts.statuses, filters);
    return Boolean(words) || [...filters.keys()].some((key) => !keys.includes(key));
  }

  /** What is loaded, with another open task. */
  async #loadTask(task) {
    const isListed = !task || this.#loaded.rows.some((row) => row.run === task);
    return { ...this.#loaded, located: isListed ? null : (await this.#places.locate(task))?.row ?? null };
  }

  async #load(state, isCurrent) {
    const { filters, words, part, task } = state;
    const { kind, lists } = selectLists(this.#lists, this.#parts.statuses, filters);
    const pages = groupPages(lists, this.#parts.part_rows);
    const count = lists.reduce((sum, list) => sum + list.count, 0);
    const place = task ? await this.#places.locate(task) : null;
    const loaded = { pages, page: 0, count, located: place?.row ?? null };
    if (part === "all") {
      const most = 2 * this.#parts.part_rows;
      const rows = await this.#searchAll(pages, state, most, isCurrent);
      return { ...loaded, mode: "all", rows, isCut: rows.length >= most };
    }
    const matches = words ? await this.#places.findMatches(words.trim()) : null;
    if (matches?.rows.length) return { ...loaded, ...matches, mode: "matches" };
    const position = place && kind === "all" && !words ? findPosition(lists, place.status, place.position) : -1;
    const page = findPage(pages, part, position);
    this.part = !part && page ? String(page + 1) : "";
    return { ...loaded, mode: "page", page, rows: pages.length ? await this.#loadParts(pages[page].parts) : [] };
  }

  async #loadParts(parts) {
    const rows = [];
    for (const part of parts) rows.push(...await this.#loadRows(part));
    return rows;
  }

  async #loadRows(part) {
    const rows = this.#rows.get(part) ?? this.#createRows(part, await loadPart(part));
    this.#rows.delete(part);
    this.#rows.set(part, rows);
    for (const oldest of this.#rows.keys()) if (this.#rows.size > CACHED_PARTS) this.#rows.delete(oldest);
    return rows;
  }

  #createRows(part, cells) {
    return cells.map((row, position) => createRow(row, part * this.#parts.part_rows + position, this.#index.columns));
  }

  /** The rows with all filters and words in all parts, at most so many. */
  async #searchAll(pages, state, most, isCurrent) {
    const parts = pages.flatMap((page) => page.parts);
    const rows = [];
    for (const [position, part] of parts.entries()) {
      if (!isCurrent() || rows.length >= most) break;
      if (position % PROGRESS_PARTS === 0)
        byId("count").textContent = `Searching part ${formatNumber(position + 1)} of ${formatNumber(parts.length)} …`;
      rows.push(...selectRows(this.#createRows(part, await loadPart(part)), { ...state, sort: "" }, this.sorts));
    }
    return rows.slice(0, most);
  }
}
