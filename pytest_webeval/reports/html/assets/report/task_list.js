// The list of runs. Only rows that can be seen are in the document, so that 10,000 of them cost no more than 50.

import { bdi, byId, element } from "./elements.js";
import { compactLabel } from "./labels.js";
import { SIGNS } from "./statuses.js";
import { isPresent, truncate } from "./texts.js";

const ROW_HEIGHT_REM = 3.75;
const ROWS_AROUND = 6; // rows that are drawn above and below what is in sight

/** Draws the rows that a view state selects. One of them is active: keys move it. One may be open. */
export class TaskList {
  rows;
  openRow = null;
  active = 0;
  #box = byId("list");
  #spacer = this.#box.firstElementChild;
  #elements = new Map(); // drawn elements by their position
  #height = 60;
  #sharedLength;
  #onOpen;

  constructor(rows, sharedLength, onOpen) {
    this.rows = rows;
    this.#sharedLength = sharedLength;
    this.#onOpen = onOpen;
    this.#box.addEventListener("scroll", () => requestAnimationFrame(() => this.#drawRows()), { passive: true });
    new ResizeObserver(() => this.#drawRows()).observe(this.#box);
  }

  /** Take the height of a row from the font size of the page, and draw all rows again. */
  measure() {
    const { fontSize } = getComputedStyle(document.documentElement);
    this.#height = Math.round(parseFloat(fontSize) * ROW_HEIGHT_REM);
    document.documentElement.style.setProperty("--row", `${this.#height}px`);
    this.#draw();
  }

  /** Show other rows, from the first one on; the row of the open task becomes active if it is among them. */
  setRows(rows, row) {
    this.rows = rows;
    this.openRow = row;
    this.#box.scrollTop = 0;
    this.active = Math.max(0, row ? rows.indexOf(row) : 0);
    this.#draw();
  }

  /** Mark the row of the open task and scroll to it. */
  setOpenRow(row) {
    this.openRow = row;
    const position = row ? this.rows.indexOf(row) : -1;
    this.moveTo(position < 0 ? this.active : position);
  }

  /** Make a row active and scroll it into sight. */
  moveTo(position) {
    this.active = Math.max(0, Math.min(this.rows.length - 1, position));
    const top = this.active * this.#height;
    const bottom = top + this.#height;
    const { scrollTop, clientHeight } = this.#box;
    if (top < scrollTop) this.#box.scrollTop = top;
    else if (bottom > scrollTop + clientHeight) this.#box.scrollTop = bottom - clientHeight;
    this.#drawRows();
  }

  /** Move by as many rows as have room. */
  movePages(count) {
    const pageRows = Math.max(1, Math.floor(this.#box.clientHeight / this.#height) - 1);
    this.moveTo(this.active + count * pageRows);
  }

  #draw() {
    this.#spacer.style.height = `${this.rows.length * this.#height}px`;
    byId("none").hidden = this.rows.length > 0;
    this.#box.hidden = this.rows.length === 0;
    for (const drawn of this.#elements.values()) drawn.remove();
    this.#elements.clear();
    this.#drawRows();
  }

  #drawRows() {
    const { scrollTop, clientHeight } = this.#box;
    const [first, end] = visibleRange(scrollTop, clientHeight, this.#height, this.rows.length);
    for (const [position, drawn] of this.#elements)
      if ((position < first || position >= end) && position !== this.active) {
        drawn.remove();
        this.#elements.delete(position);
      }
    for (let position = first; position < end; position++) this.#drawRow(position);
    if (this.active < this.rows.length) this.#drawRow(this.active);
    this.#markRows();
  }

  #drawRow(position) {
    if (this.#elements.has(position)) return;
    const drawn = this.#createElement(this.rows[position], position);
    drawn.style.top = `${position * this.#height}px`;
    this.#spacer.append(drawn);
    this.#elements.set(position, drawn);
  }

  #createElement(row, position) {
    const attributes = { role: "option", id: `row-${row.number}`, class: `row ${row.status}`,
      "aria-setsize": this.rows.length, "aria-posinset": position + 1, onclick: () => this.#onOpen(position) };
    return element("div", attributes,
      element("span", { class: `sign ${row.status}`, title: row.status },
        SIGNS[row.status] ?? "", element("span", { class: "unseen" }, row.status)),
      bdi(compactLabel(row.run, this.#sharedLength), "run"),
      element("span", { class: "meta" }, listCells(row).map(([kind, text]) => bdi(truncate(text, 100), kind))),
      isPresent(row.intent) ? bdi(truncate(row.intent, 300), "about") : null,
      isPresent(row.reason) ? bdi(truncate(row.reason, 300), "reason") : null);
  }

  #markRows() {
    for (const [position, drawn] of this.#elements) {
      drawn.classList.toggle("active", position === this.active);
      drawn.setAttribute("aria-selected", String(this.rows[position] === this.openRow));
    }
    const activeElement = this.#elements.get(this.active);
    if (activeElement) this.#box.setAttribute("aria-activedescendant", activeElement.id);
    else this.#box.removeAttribute("aria-activedescendant");
  }
}

/** What a row says besides its run and its reason: on a wide page in columns. */
export const listCells = ({ site, type, flip, seconds }) =>
  [["site", site], ["type", type], ["flip", flip],
    ["seconds", typeof seconds === "number" ? `${seconds.toFixed(2)} s` : null]]
    .filter(([, text]) => isPresent(text));

/** The first row to draw, and the one after the last. */
export function visibleRange(scrollTop, boxHeight, rowHeight, rowCount) {
  const first = Math.floor(scrollTop / rowHeight) - ROWS_AROUND;
  const end = Math.ceil((scrollTop + boxHeight) / rowHeight) + ROWS_AROUND;
  return [Math.max(0, first), Math.min(rowCount, end)];
}
