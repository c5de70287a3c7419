// The controls above the list: buttons of statuses, boxes of the other filters, search, sort and count.

import { ChoiceBox, toggleValue } from "./choices.js";
import { byId, element, option } from "./elements.js";
import { compareNaturally } from "./filters.js";
import { SIGNS, STATUS_BUTTONS } from "./statuses.js";
import { formatNumber } from "./texts.js";

const NEEDS_A_CHOICE = ["site", "type", "template"]; // each row has one: a single value would select all rows

/** Puts the controls into the page and keeps them equal to the view state. */
export class FilterControls {
  #source;
  #view;
  #boxes = new Map(); // by key

  constructor(source, filters, view) {
    this.#source = source;
    this.#view = view;
    this.#addStatusButtons();
    this.#addBoxes(filters.filter(({ key }) => key !== "status"));
    byId("sort").append(...Object.entries(source.sorts).map(([name, [label]]) => option(name, label)));
    byId("sort").addEventListener("change", (event) => view.change({ sort: event.target.value }));
    byId("search").addEventListener("input", (event) => view.change({ words: event.target.value }, true));
    for (const id of ["clear", "clear-all"]) byId(id).addEventListener("click", () => view.clearFilters());
  }

  #addStatusButtons() {
    const counts = new Map(this.#source.countRows("status"));
    const present = STATUS_BUTTONS.filter((status) => counts.has(status));
    byId("statuses").append(
      this.#statusButton(null, "all", this.#source.total),
      ...present.map((status) => this.#statusButton(status, status, counts.get(status))));
  }

  #statusButton(status, text, count) {
    const onclick = () => this.#view.setFilter("status", status ? toggleValue(this.#values("status"), status) : []);
    return element("button",
      { type: "button", class: `chip ${status ?? ""}`, "data-value": status ?? "", "aria-pressed": "false", onclick },
      status ? `${SIGNS[status]} ` : "", text, " ", element("b", {}, formatNumber(count)));
  }

  #addBoxes(filters) {
    for (const filter of filters) {
      const counts = [...this.#source.countRows(filter.key)];
      if (counts.length > (NEEDS_A_CHOICE.includes(filter.key) ? 1 : 0)) this.#addBox(filter, counts);
    }
  }

  #addBox(filter, counts) {
    const { key, format } = filter;
    counts.sort(key === "group" ? ([a], [b]) => a - b : ([a], [b]) => compareNaturally(format(a), format(b)));
    const box = new ChoiceBox(filter, counts, (values) => this.#view.setFilter(key, values));
    this.#boxes.set(key, box);
    byId("choices").append(box.element);
  }

  #values(key) {
    return this.#view.state.filters.get(key) ?? [];
  }

  /** Show the view state, and a text about the rows that it selects. */
  update(selection) {
    const { filters, words, sort } = this.#view.state;
    const statuses = this.#values("status");
    for (const chip of byId("statuses").children)
      chip.setAttribute("aria-pressed", String(isPressed(chip.dataset.value, statuses)));
    for (const [key, box] of this.#boxes) box.update(this.#values(key));
    if (byId("search").value !== words) byId("search").value = words; // while the user types, both are equal
    byId("sort").value = sort;
    byId("clear").hidden = !filters.size && !words;
    byId("count").textContent = selection;
  }
}

/** Whether the button of a status is pressed; that of all statuses is so if none is chosen. */
const isPressed = (status, statuses) => (status ? statuses.includes(status) : !statuses.length);
