// The view state: filters, words of the search, sort, part of the list, open task, its step and its open event. Parts
// and events count from 1.
// It lives in the address, so links can be shared.

const TYPING_MILLISECONDS = 150;
const OVERVIEW = { filters: new Map(), words: "", sort: "", part: "", task: "", step: "", event: "" };
const PART = /^(?:[1-9]\d{0,8}|all)$/;
const EVENT_NUMBER = /^[1-9]\d{0,6}$/;

/**
 * The view state of a fragment, in which a filter of several values is repeated.
 * Filters and sorts that the report does not have are ignored.
 */
export function parseFragment(fragment, filterKeys, sorts) {
  const parameters = new URLSearchParams(fragment.slice(1));
  const present = filterKeys.filter((key) => parameters.has(key));
  const sort = parameters.get("sort") ?? "";
  const part = parameters.get("part") ?? "";
  const event = parameters.get("event") ?? "";
  return {
    filters: new Map(present.map((key) => [key, [...new Set(parameters.getAll(key))]])),
    words: parameters.get("q") ?? "",
    sort: Object.hasOwn(sorts, sort) ? sort : "",
    part: PART.test(part) ? part : "",
    task: parameters.get("task") ?? "",
    step: parameters.get("step") ?? "",
    event: EVENT_NUMBER.test(event) ? event : "",
  };
}

/** The fragment of a view state, "#" for the overview. */
export function formatFragment({ filters, words, sort, part, task, step, event }) {
  const pairs = [...filters].flatMap(([key, values]) => values.map((value) => [key, value]));
  const parameters = new URLSearchParams(pairs);
  const texts = { q: words, sort, part, task, step, event };
  for (const [key, value] of Object.entries(texts)) if (value) parameters.set(key, value);
  return "#" + parameters.toString();
}

/** The present view state. Whoever changes it calls `change`; `onChange` then shows it. */
export class View {
  state = OVERVIEW;
  #parse;
  #onChange;
  #fragment = null; // the last one that is in the address
  #timer = 0;

  constructor(parse, onChange) {
    this.#parse = parse;
    this.#onChange = onChange;
  }

  /** Take the state from the address, as a link to the report has it. */
  readAddress() {
    this.#fragment = location.hash || "#";
    this.state = this.#parse(this.#fragment);
  }

  /**
   * Change some of the state: as a new history entry, or in place of the present one, as while the user types.
   * Step and event are those of a task: with another task there are none until they are asked for. So is the part of
   * other filters and words.
   */
  change(changes, inPlace = false) {
    const ofTask = "task" in changes ? { step: "", event: "" } : {};
    const ofSelection = "filters" in changes || "words" in changes ? { part: "" } : {};
    this.state = { ...this.state, ...ofTask, ...ofSelection, ...changes };
    clearTimeout(this.#timer);
    if (inPlace) this.#timer = setTimeout(() => this.#writeAddress("replaceState"), TYPING_MILLISECONDS);
    else this.#writeAddress("pushState");
    this.#onChange();
  }

  /** Set the values of a filter, or remove it with none. */
  setFilter(key, values) {
    const filters = new Map(this.state.filters);
    if (values.length) filters.set(key, values);
    else filters.delete(key);
    this.change({ filters });
  }

  clearFilters() {
    this.change({ filters: new Map(), words: "" });
  }

  /** Show what the address asks for if it was changed from outside; whether it was. */
  followAddress() {
    if ((location.hash || "#") === this.#fragment) return false;
    clearTimeout(this.#timer);
    this.readAddress();
    this.#onChange();
    return true;
  }

  #writeAddress(method) {
    const fragment = formatFragment(this.state);
    if (fragment === this.#fragment) return;
    try {
      history[method](null, "", fragment);
      this.#fragment = fragment;
    } catch { // some browsers limit the rate of these calls: the next change writes the address
      this.#fragment = null;
    }
  }
}
