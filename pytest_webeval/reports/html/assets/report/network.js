// The recorded network events as a table, of which a window of 500 rows is in the document, and the open event.

import { section, tableHead } from "./blocks.js";
import { button, element } from "./elements.js";
import { loadEvents } from "./details.js";
import { EventPanel } from "./event_panel.js";
import { NetworkFilters } from "./network_filters.js";
import { COLUMNS, MARKS, eventRow, lastMoment, moveFocus, reachRow } from "./network_rows.js";
import { asArray, formatCount, formatNumber } from "./texts.js";

const WINDOW_EVENTS = 500;

/** The number of an event in the page counts from 1, in the data from 0. */
export const eventNumber = (position) => Number(position) + 1;

/** The table of events; other parts of the page point at some of them and open one. */
export class NetworkTable {
  section;
  #events;
  #rows = []; // the events that the filters select
  #filters;
  #panel;
  #context;
  #total; // seconds until the last event ended
  #openPosition = null;
  #body = element("tbody",
    { onclick: (event) => this.#click(event), onkeydown: (event) => this.#scrollInto(moveFocus(this.#body, event)) });
  #count = element("span", { class: "quiet", role: "status" });
  #more = element("span", { class: "more" });
  #box = element("div",
    { class: "wide events", tabindex: "0", role: "group", "aria-label": "Recorded events", "data-start": true },
    element("table", { class: "network" }, tableHead(COLUMNS), this.#body));

  /**
   * `context` has the row of the task, its evaluators, the position of the event that opens at once, and `openEvent`,
   * which puts a number into the address.
   */
  constructor(network, context = {}) {
    this.#events = asArray(network.events).map(decodeEvent);
    this.#total = lastMoment(this.#events);
    this.#context = { openEvent: (number) => this.show(number ? number - 1 : null), ...context };
    this.#filters = new NetworkFilters(this.#events, () => this.#select());
    this.#panel = new EventPanel({ ...context, detailed: network.detailed }, () => loadEvents(context.row),
      { close: () => this.#close(), step: (by) => this.#step(by) });
    const start = context.position ?? this.#findMarked()?.position ?? 0;
    this.#select(start);
    if (start) this.#box.addEventListener("attached", () => this.#scrollTo(start));
    const tools = element("div", { class: "tools" },
      element("span", { class: "quiet" }, formatEventCounts(network, this.#events.length)), this.#count, this.#more);
    const filters = this.#events.length > 1 ? this.#filters.element : null;
    this.section = section("Network", tools, filters, this.#box, this.#panel.element);
  }

  /** Scroll to the events from `first` to `last`, and highlight them. */
  pointAt(first, last) {
    this.#scrollTo(first);
    for (const row of this.#body.children) {
      const position = Number(row.dataset.event);
      row.classList.toggle("pointed", position >= first && position <= last);
    }
    this.#box.scrollIntoView({ block: "nearest" });
    this.#box.focus({ preventScroll: true });
  }

  /** Open an event, as another part of the page asks for it. */
  open(position) {
    this.#context.openEvent(eventNumber(position));
    this.pointAt(position, position);
    this.#focusRow(position);
  }

  /** Open the event that decided, or the first candidate. */
  openMarked() {
    const event = this.#findMarked() ?? this.#events[0];
    if (event) this.open(event.position);
  }

  focusFilter() {
    this.#filters.focus();
  }

  /** Show what the address asks for: an open event, or none with null. */
  show(position) {
    if (position === this.#openPosition) return;
    this.#openPosition = position;
    const event = this.#events.find((listed) => listed.position === position);
    if (event) this.#panel.show(event);
    else if (position === null) this.#panel.show(null);
    else this.#panel.showUnknown(eventNumber(position));
    if (event) this.#scrollTo(position);
    this.#markOpen();
    if (position !== null) this.#panel.element.scrollIntoView({ block: "nearest" });
  }

  #findMarked() {
    const marked = this.#events.filter(({ isMarked }) => isMarked);
    return marked.find(({ mark }) => mark !== "candidate") ?? marked[0];
  }

  #findRow(position) {
    return this.#body.querySelector(`[data-event="${position}"]`);
  }

  /** Take the events that the filters select, and draw those around a position. */
  #select(position = 0) {
    this.#rows = this.#filters.selected;
    const isFiltered = this.#rows.length < this.#events.length;
    this.#count.textContent = isFiltered
      ? `${formatNumber(this.#rows.length)} of ${formatCount(this.#events.length, "request")}` : "";
    this.#draw(this.#rows.findIndex((event) => event.position >= position) - WINDOW_EVENTS / 2);
  }

  /** The listed events from `first` to `last`: static assets are not. */
  eventsBetween(first, last) {
    return this.#events.filter(({ position }) => position >= first && position <= last);
  }

  #draw(from) {
    const events = this.#rows;
    const { start, hasEarlier, hasLater } = eventWindow(from, events.length);
    const turn = (text, by) => button(`${WINDOW_EVENTS} ${text}`, () => this.#draw(start + by));
    this.#body.replaceChildren(
      ...events.slice(start, start + WINDOW_EVENTS).map((event) => eventRow(event, this.#total)));
    this.#more.replaceChildren(
      ...(hasEarlier ? [turn("earlier", -WINDOW_EVENTS)] : []),
      ...(hasLater ? [turn("later", WINDOW_EVENTS)] : []));
    this.#markOpen();
  }

  /** Say of each row whether it is open. One row can be reached with Tab: the open one, or else the first. */
  #markOpen() {
    const open = this.#findRow(this.#openPosition);
    for (const row of [...this.#body.querySelectorAll("tr.open"), open]) {
      row?.classList.toggle("open", row === open);
      row?.querySelector("button").setAttribute("aria-expanded", String(row === open));
    }
    reachRow(this.#body, open ?? this.#body.firstElementChild);
  }

  #click(event) {
    const row = event.target.closest("tr[data-event]");
    if (!row || (!event.target.closest("button") && String(getSelection()))) return; // somebody selects a text
    const position = Number(row.dataset.event);
    if (position === this.#openPosition) this.#close();
    else this.#context.openEvent(eventNumber(position));
  }

  #close() {
    const position = this.#openPosition;
    this.#context.openEvent("");
    this.#focusRow(position);
  }

  /** Open the next or the previous event of those that the filters select. */
  #step(by) {
    const at = this.#rows.findIndex(({ position }) => position === this.#openPosition);
    const event = this.#rows[at < 0 ? 0 : at + by];
    if (event) this.#context.openEvent(event.number);
  }

  #focusRow(position) {
    this.#findRow(position)?.querySelector("button").focus({ preventScroll: true });
  }

  /** Scroll to an event, or to the next one that is listed: static assets are not. */
  #scrollTo(position) {
    if (!this.#events.some((event) => event.position >= position)) return;
    if (this.#rows.length < this.#events.length && !this.#rows.some((event) => event.position === position)) {
      this.#filters.clear();
      this.#select(position);
    }
    const { position: listed } = this.#rows.find((event) => event.position >= position);
    if (!this.#findRow(listed)) this.#select(listed);
    this.#scrollInto(this.#findRow(listed));
  }

  #scrollInto(row) {
    if (row) this.#box.scrollTop = row.offsetTop - this.#box.clientHeight / 2;
  }
}

const decodeEvent = ([position, method, url, status, type, seconds, mark, duration]) => ({
  position: Number(position), number: eventNumber(position), method, url, status, type, seconds, mark, duration,
  isMarked: Object.hasOwn(MARKS, mark ?? ""),
  searchText: [method, url, status, type].join("\n").toLowerCase(),
});

/** Where the window of rows starts that has an event, and whether there are rows around it. */
export function eventWindow(from, count) {
  const start = Math.max(0, Math.min(from, count - WINDOW_EVENTS));
  return { start, hasEarlier: start > 0, hasLater: start + WINDOW_EVENTS < count };
}

/** How many events there are, and how many of them the table does not list. */
export const formatEventCounts = ({ total, assets, left_out: omitted }, listedCount) => [
  formatCount(total ?? listedCount, "event"),
  assets ? `${formatCount(assets, "static asset")} not listed` : "",
  omitted ? `${omitted} omitted` : "",
].filter(Boolean).join(", ");
