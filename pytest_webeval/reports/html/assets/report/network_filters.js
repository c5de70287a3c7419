// The filters of the network table: method, host, kind of status, what changed something, words. All of them hold.

import { element, option } from "./elements.js";
import { hostOf } from "./network_rows.js";
import { truncate } from "./texts.js";

const CHANGING = new Set(["POST", "PUT", "PATCH", "DELETE"]);
const LONGEST_HOST = 40;
const NONE = "none";

/** What can be selected of each event: key, label and value. */
export const EVENT_FACETS = [
  ["method", "Method", ({ method }) => String(method ?? "") || NONE],
  ["host", "Host", ({ url }) => hostOf(url) || NONE],
  ["status", "Status", ({ status }) => statusClass(status)],
];

/** The class of a status, as 4xx; "no response" for one that is not that of a response. */
export function statusClass(status) {
  const hundreds = Math.floor(Number(status) / 100);
  return hundreds >= 1 && hundreds <= 9 ? `${hundreds}xx` : "no response";
}

/** Whether the method of an event is one that changes something. */
export const isChanging = ({ method }) => CHANGING.has(String(method ?? "").toUpperCase());

/** The events to which all filters apply but the one of a key. */
export const selectEvents = (events, { marked, changed, words, values }, exceptKey) => {
  const terms = String(words).toLowerCase().split(/\s+/).filter(Boolean);
  return events.filter((event) => (!marked || event.isMarked) && (!changed || isChanging(event))
    && EVENT_FACETS.every(([key, , read]) => key === exceptKey || !values[key] || read(event) === values[key])
    && terms.every((term) => event.searchText.includes(term)));
};

/** How many events have each value of a facet, most frequent first. */
export function countFacet(events, read) {
  const counts = new Map();
  for (const event of events) counts.set(read(event), (counts.get(read(event)) ?? 0) + 1);
  return [...counts].sort(([first, most], [second, least]) => least - most || (first < second ? -1 : 1));
}

/** The controls. `onChange` is called when they select other events. */
export class NetworkFilters {
  element;
  #events;
  #marked;
  #changed;
  #words;
  #selects = new Map();

  constructor(events, onChange) {
    this.#events = events;
    const change = () => (this.#count(), onChange());
    [this.#marked, this.#changed] = [0, 1].map(() => element("input", { type: "checkbox", onchange: change }));
    this.#words = element("input", { type: "search", placeholder: "Filter requests", "aria-label": "Filter requests",
      autocomplete: "off", oninput: change });
    for (const [key, label] of EVENT_FACETS) {
      this.#selects.set(key, element("select", { "aria-label": `${label} of requests`, onchange: change }));
    }
    const markedCount = events.filter(({ isMarked }) => isMarked).length;
    this.element = element("div", { class: "tools requests", role: "group", "aria-label": "Filters of requests" },
      this.#words, [...this.#selects.values()],
      element("label", {}, this.#changed, ` changed something (${events.filter(isChanging).length})`),
      markedCount ? element("label", {}, this.#marked, ` only marked (${markedCount})`) : null);
    this.#count();
  }

  /** The events that are selected. */
  get selected() {
    return selectEvents(this.#events, this.#state);
  }

  focus() {
    this.#words.focus();
  }

  /** Select all events. */
  clear() {
    this.#marked.checked = this.#changed.checked = false;
    this.#words.value = "";
    for (const select of this.#selects.values()) select.value = "";
    this.#count();
  }

  get #state() {
    const values = Object.fromEntries([...this.#selects].map(([key, select]) => [key, select.value]));
    return { marked: this.#marked.checked, changed: this.#changed.checked, words: this.#words.value, values };
  }

  /** Say of each value how many events it would select. */
  #count() {
    const state = this.#state;
    for (const [key, label, read] of EVENT_FACETS) {
      const select = this.#selects.get(key);
      const counts = countFacet(selectEvents(this.#events, state, key), read);
      const chosen = state.values[key];
      if (chosen && !counts.some(([value]) => value === chosen)) counts.push([chosen, 0]);
      select.replaceChildren(option("", `${label}: all`),
        ...counts.map(([value, count]) => option(value, `${truncate(value, LONGEST_HOST)} (${count})`)));
      select.value = chosen;
    }
  }
}
