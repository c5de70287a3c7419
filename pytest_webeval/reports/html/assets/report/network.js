// The recorded network events as a table, of which a window of 500 rows is in the document.

import { section, tableHead } from "./blocks.js";
import { button, element } from "./elements.js";
import { asArray, formatCount } from "./texts.js";

const WINDOW_EVENTS = 500;
const MARKS = { nearest: "◆ nearest", candidate: "◇ candidate", match: "✓ match" };
const COLUMNS = ["#", "Time", "Method", "Status", "Type", "URL", "Mark"];

/** The number of an event in the page counts from 1, in the data from 0. */
export const eventNumber = (position) => Number(position) + 1;

/** The table of events; other parts of the page point at some of them. */
export class NetworkTable {
  section;
  #events;
  #marked;
  #body = element("tbody");
  #onlyMarked = element("input", { type: "checkbox", onchange: () => this.#draw(0) });
  #more = element("span", { class: "more" });
  #box = element("div",
    { class: "wide events", tabindex: "0", role: "group", "aria-label": "Recorded events", "data-start": true },
    element("table", { class: "network" }, tableHead(COLUMNS), this.#body));

  constructor(network) {
    this.#events = asArray(network.events).map(decodeEvent);
    this.#marked = this.#events.filter(({ mark }) => MARKS[mark]);
    this.#draw(0);
    const start = this.#marked.find(({ mark }) => mark !== "candidate") ?? this.#marked[0];
    if (start) this.#box.addEventListener("attached", () => this.#scrollTo(start.position));
    const markedLabel = element("label", {}, this.#onlyMarked, ` only marked (${this.#marked.length})`);
    const tools = element("div", { class: "tools" },
      element("span", { class: "quiet" }, formatEventCounts(network, this.#events.length)),
      this.#marked.length ? markedLabel : null, this.#more);
    this.section = section("Network", tools, this.#box);
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

  #draw(from) {
    const events = this.#onlyMarked.checked ? this.#marked : this.#events;
    const { start, hasEarlier, hasLater } = eventWindow(from, events.length);
    const turn = (text, by) => button(`${WINDOW_EVENTS} ${text}`, () => this.#draw(start + by));
    this.#body.replaceChildren(...events.slice(start, start + WINDOW_EVENTS).map(eventRow));
    this.#more.replaceChildren(
      ...(hasEarlier ? [turn("earlier", -WINDOW_EVENTS)] : []),
      ...(hasLater ? [turn("later", WINDOW_EVENTS)] : []));
  }

  /** Scroll to an event, or to the next one that is listed: static assets are not. */
  #scrollTo(position) {
    const listed = this.#events.findIndex((event) => event.position >= position);
    if (listed < 0) return;
    this.#onlyMarked.checked = false;
    this.#draw(listed - WINDOW_EVENTS / 2);
    const row = this.#body.querySelector(`[data-event="${this.#events[listed].position}"]`);
    this.#box.scrollTop = row.offsetTop - this.#box.clientHeight / 2;
  }
}

const decodeEvent = ([position, method, url, status, type, seconds, mark]) =>
  ({ position, method, url, status, type, seconds, mark });

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

export const formatSeconds = (seconds) => (typeof seconds === "number" && seconds >= 0 ? seconds.toFixed(2) : "");

const eventRow = ({ position, method, url, status, type, seconds, mark }) =>
  element("tr", { class: MARKS[mark] ? mark : "", "data-event": Number(position) },
    element("th", { scope: "row" }, eventNumber(position)),
    element("td", {}, formatSeconds(seconds)),
    element("td", {}, method),
    element("td", {}, status),
    element("td", {}, type),
    element("td", { class: "url" }, element("code", {}, url)),
    element("td", { class: "mark" }, MARKS[mark] ?? ""));
