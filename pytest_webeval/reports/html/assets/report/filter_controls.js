// The controls above the list: buttons of statuses, selects of filters, search, sort and count.

import { byId, element, option } from "./elements.js";
import { compareNaturally, countValues } from "./filters.js";
import { SIGNS, STATUS_BUTTONS } from "./statuses.js";
import { formatCount, formatNumber, truncate } from "./texts.js";

const VALUE_CHARACTERS = 80;
const NEEDS_A_CHOICE = ["site", "type", "template"]; // each row has one: a single value would select all rows
// Values of selects start with this sign: "" is "any", and a value may be empty too.
const VALUE_SIGN = "=";

/** Puts the controls into the page and keeps them equal to the view state. */
export class FilterControls {
  #rows;
  #view;
  #selectFilters;

  constructor(rows, filters, sorts, view) {
    this.#rows = rows;
    this.#view = view;
    this.#selectFilters = filters.filter(({ key }) => key !== "status");
    this.#addStatusButtons();
    this.#addSelects();
    byId("sort").append(...Object.entries(sorts).map(([name, [label]]) => option(name, label)));
    byId("sort").addEventListener("change", (event) => view.change({ sort: event.target.value }));
    byId("search").addEventListener("input", (event) => view.change({ words: event.target.value }, true));
    for (const id of ["clear", "clear-all"]) byId(id).addEventListener("click", () => view.clearFilters());
  }

  #addStatusButtons() {
    const counts = countValues(this.#rows, "status");
    const present = STATUS_BUTTONS.filter((status) => counts.has(status));
    byId("statuses").append(
      this.#statusButton(null, "all", this.#rows.length),
      ...present.map((status) => this.#statusButton(status, status, counts.get(status))));
  }

  #statusButton(status, text, count) {
    const onclick = () => this.#view.setFilter("status", status);
    return element("button",
      { type: "button", class: `chip ${status ?? ""}`, "data-value": status ?? "", "aria-pressed": "false", onclick },
      status ? `${SIGNS[status]} ` : "", text, " ", element("b", {}, formatNumber(count)));
  }

  #addSelects() {
    for (const filter of this.#selectFilters) {
      const counts = [...countValues(this.#rows, filter.key)];
      if (counts.length > (NEEDS_A_CHOICE.includes(filter.key) ? 1 : 0)) this.#addSelect(filter, counts);
    }
  }

  #addSelect({ key, label, format }, counts) {
    counts.sort(key === "group" ? ([a], [b]) => a - b : ([a], [b]) => compareNaturally(a, b));
    const options = counts.map(([value, count]) =>
      option(VALUE_SIGN + value, `${truncate(format(value), VALUE_CHARACTERS)} (${count})`));
    const onchange = () => this.#view.setFilter(key, select.value ? select.value.slice(VALUE_SIGN.length) : null);
    const select = element("select", { id: `filter-${key}`, onchange },
      option("", `any ${label.toLowerCase()}`), options);
    byId("selects").append(element("label", {}, element("span", { class: "unseen" }, label), select));
  }

  /** Show the view state, and how many rows it selects. */
  update(selectedCount) {
    const { filters, words, sort } = this.#view.state;
    for (const chip of byId("statuses").children)
      chip.setAttribute("aria-pressed", String((filters.get("status") ?? "") === chip.dataset.value));
    for (const { key } of this.#selectFilters) updateSelect(byId(`filter-${key}`), filters.get(key));
    if (byId("search").value !== words) byId("search").value = words; // while the user types, both are equal
    byId("sort").value = sort;
    byId("clear").hidden = !filters.size && !words;
    byId("count").textContent = formatSelection(selectedCount, this.#rows.length);
  }
}

/** Select a value, also one of a link that no run of this report has. */
function updateSelect(select, filterValue) {
  if (!select) return;
  const value = filterValue === undefined ? "" : VALUE_SIGN + filterValue;
  if (![...select.options].some((choice) => choice.value === value))
    select.append(option(value, truncate(filterValue, VALUE_CHARACTERS) + " (0)"));
  select.value = value;
  select.parentElement.classList.toggle("used", value !== "");
}

/** "400 tasks", or "12 of 400 tasks". */
export const formatSelection = (selectedCount, count) =>
  (selectedCount === count ? "" : `${formatNumber(selectedCount)} of `) + formatCount(count, "task");
