// A filter as a box that unfolds to check boxes: several values may be chosen, by mouse and by keys.

import { bdi, button, element } from "./elements.js";
import { formatCount, formatNumber, truncate } from "./texts.js";

const VALUE_CHARACTERS = 200;
const BOXES_AT_ONCE = 200; // of more values, the reader types a part of the one to look for
const VALUES_TO_SEARCH = 12; // from which on there is a field to type into

/** The box of one filter. `counts` are its values with their numbers of tasks, `change` gets the values to select. */
export class ChoiceBox {
  element;
  #filter;
  #counts; // by value
  #values = []; // that are chosen
  #change;
  #summary = element("summary", {});
  #field;
  #list = element("ul", {});
  #more = element("p", { class: "quiet" });
  #any;

  constructor(filter, counts, change) {
    this.#filter = filter;
    this.#counts = new Map(counts);
    this.#change = change;
    this.#field = this.#createField();
    this.#any = button(`any ${filter.label.toLowerCase()}`, () => this.#change([]));
    const options = element("div", { class: "options", role: "group", "aria-label": filter.label },
      this.#field, this.#any, this.#list, this.#more);
    this.element = element("details", { id: `filter-${filter.key}`, class: "choice" }, this.#summary, options);
    this.#listen();
    this.update([]);
  }

  /** Show which values are chosen, also those of a link that no task of this report has. */
  update(values) {
    this.#values = values;
    for (const value of values) if (!this.#counts.has(value)) this.#counts.set(value, 0);
    this.#summary.replaceChildren(bdi(summarizeChoice(this.#filter, values)));
    this.element.classList.toggle("used", values.length > 0);
    this.#any.hidden = !values.length;
    if (this.element.open) this.#drawBoxes();
  }

  #createField() {
    if (this.#counts.size < VALUES_TO_SEARCH) return null;
    return element("input", { type: "search", autocomplete: "off", spellcheck: "false", placeholder: "Part of the name",
      "aria-label": `Part of the ${this.#filter.label.toLowerCase()}`, oninput: () => this.#drawBoxes() });
  }

  #listen() {
    this.element.addEventListener("toggle", () => this.element.open && this.#drawBoxes());
    this.element.addEventListener("keydown", (event) => this.#pressKey(event));
    this.element.addEventListener("focusout", ({ relatedTarget }) => relatedTarget && this.#leave(relatedTarget));
    document.addEventListener("pointerdown", ({ target }) => this.#leave(target));
  }

  /** Fold when the reader turns to something else. */
  #leave(target) {
    if (!this.element.contains(target)) this.element.open = false;
  }

  /** Draw the boxes of the values that fit the field; boxes that stay keep the focus. */
  #drawBoxes() {
    const words = (this.#field?.value ?? "").toLowerCase();
    const values = [...this.#counts.keys()].filter((value) => this.#format(value).toLowerCase().includes(words));
    const drawn = new Map([...this.#list.children].map((item) => [item.querySelector("input").value, item]));
    const items = values.slice(0, BOXES_AT_ONCE).map((value) => drawn.get(value) ?? this.#createItem(value));
    const isSame = items.length === this.#list.children.length && items.every((item) => item.isConnected);
    if (!isSame) this.#list.replaceChildren(...items);
    for (const item of items) {
      const box = item.querySelector("input");
      box.checked = this.#values.includes(box.value);
    }
    this.#more.textContent = describeRest(values.length);
    this.#more.hidden = !this.#more.textContent;
  }

  #format(value) {
    return truncate(String(this.#filter.format(value)), VALUE_CHARACTERS);
  }

  #createItem(value) {
    const onchange = () => this.#change(toggleValue(this.#values, value));
    const box = Object.assign(element("input", { type: "checkbox", onchange }), { value });
    return element("li", {}, element("label", {}, box, bdi(this.#format(value)),
      element("span", { class: "quiet" }, formatNumber(this.#counts.get(value)))));
  }

  #pressKey(event) {
    if (event.key === "Escape" && this.element.open) {
      event.preventDefault();
      this.element.open = false;
      this.#summary.focus();
    }
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    this.element.open = true;
    this.#drawBoxes();
    const stops = [this.#summary, ...this.element.querySelectorAll("input")];
    const position = stops.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1);
    stops[Math.max(0, Math.min(stops.length - 1, position))].focus();
  }
}

/** The values with one more, or without it. */
export const toggleValue = (values, value) =>
  values.includes(value) ? values.filter((other) => other !== value) : [...values, value];

/** "Site", "Site: gitlab" or "Site: 2 values". */
export function summarizeChoice({ label, format }, values) {
  if (!values.length) return label;
  const [first] = values;
  return `${label}: ${values.length === 1 ? truncate(String(format(first)), 80) : formatCount(values.length, "value")}`;
}

const describeRest = (count) =>
  !count ? "No value has this part."
    : count > BOXES_AT_ONCE ? `${formatNumber(count - BOXES_AT_ONCE)} more: type a part of the name.` : "";
