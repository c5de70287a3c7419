// The controls of a list in parts: which part is shown, and a search in all of them.

import { button, byId, element } from "./elements.js";
import { formatRange } from "./part_lists.js";
import { formatNumber } from "./texts.js";

/** Puts the controls below the filters and keeps them equal to the view state. */
export class PartControls {
  #previous;
  #next;
  #number;
  #place = element("span", {});
  #searchAll;
  #note = element("span", { class: "quiet" });
  #turning;
  #page = 0;

  constructor(view) {
    const showPage = (page) => view.change({ part: String(page + 1) });
    this.#previous = button("Previous part", () => showPage(this.#page - 1));
    this.#next = button("Next part", () => showPage(this.#page + 1));
    this.#number = element("input", { type: "number", min: 1, step: 1, "aria-label": "Part of the list",
      onchange: ({ target }) => target.reportValidity() && target.value && showPage(Number(target.value) - 1) });
    this.#searchAll = button("Search all parts", () => view.change({ part: "all" }));
    this.#turning = element("span", { class: "turning" }, this.#previous, this.#number, this.#place, this.#next);
    const controls = [this.#turning, this.#searchAll, this.#note];
    byId("list").before(element("nav", { class: "parts", "aria-label": "Parts of the list" }, controls));
  }

  /** Show what is loaded. `isInPart`: filters or words select in this part only. */
  update({ mode, pages, page, rows }, { sort, words }, isInPart) {
    this.#page = page;
    const isSplit = pages.length > 1;
    this.#turning.hidden = mode !== "page" || !isSplit;
    this.#previous.disabled = page === 0;
    this.#next.disabled = page >= pages.length - 1;
    this.#number.max = pages.length;
    this.#number.value = page + 1;
    if (pages.length) this.#place.textContent = `of ${formatNumber(pages.length)}: ${formatRange(pages[page])}`;
    this.#searchAll.hidden = mode === "all" || !(mode === "matches" ? words : isInPart && isSplit);
    this.#note.textContent = `sorts the ${formatNumber(rows.length)} tasks shown`;
    this.#note.hidden = !(sort && isSplit && mode === "page");
  }
}
