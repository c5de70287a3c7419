// The details of tasks and of their events. They come as scripts when somebody opens them, because pages that are
// opened from a disk may load nothing else.

import { element } from "./elements.js";
import { asArray } from "./texts.js";

const LOADED_RUNS = 50; // whose data stay in memory

/** JSON of runs, each from a script of its own. A name that does not fit the pattern is never loaded. */
class ScriptStore {
  #pattern;
  #reason;
  #most;
  #embedded = new Map(); // JSON by run, that came with the page
  #loaded = new Map(); // JSON by run, that was loaded since; the latest used comes last
  #requested = new Map(); // promises by run, whose scripts have not come yet

  /** `reason` says that the report has no such data, `most` how many JSON texts stay in memory. */
  constructor(pattern, reason, most = LOADED_RUNS) {
    this.#pattern = pattern;
    this.#reason = reason;
    this.#most = most;
  }

  /** Take the JSON of a run from its script. */
  receive(run, json) {
    (this.#requested.has(run) ? this.#loaded : this.#embedded).set(run, json);
  }

  /** A promise of the data of a run. It is rejected with a text for the reader. */
  load(run, name) {
    const json = this.#embedded.get(run) ?? this.#loaded.get(run);
    if (json !== undefined) return Promise.resolve(this.#use(run, json));
    if (!this.#pattern.test(name ?? "")) return Promise.reject(this.#reason);
    if (!this.#requested.has(run)) this.#requested.set(run, this.#request(run, `data/${name}.js`));
    return this.#requested.get(run).then((loaded) => this.#use(run, loaded));
  }

  /** A promise of the JSON of a run that its script brings. */
  #request(run, address) {
    return new Promise((resolve, reject) => {
      const script = element("script", { src: address });
      const finish = () => {
        script.remove();
        this.#requested.delete(run);
        if (this.#loaded.has(run)) resolve(this.#loaded.get(run));
        else reject(`The details could not be loaded from ${address}: copy the folder "data" along with this page.`);
      };
      script.addEventListener("load", finish);
      script.addEventListener("error", finish);
      document.head.append(script);
    });
  }

  /** Parse the JSON of a run, and forget those that were used longest ago. */
  #use(run, json) {
    const loaded = this.#loaded;
    if (loaded.delete(run)) loaded.set(run, json);
    for (const oldest of loaded.keys()) if (loaded.size > this.#most) loaded.delete(oldest);
    return JSON.parse(json);
  }
}

const tasks = new ScriptStore(/^task-[0-9a-f]{16}$/, "This report holds no details of this task.");

/** Take the JSON of a task from its script. */
export const receiveTask = (run, json) => tasks.receive(run, json);

/** A promise of the data of a row's task. It is rejected with a text for the reader. */
export const loadTask = ({ run, data }) => tasks.load(run, data);

const EVENTS_END = "-events"; // of the names of their scripts
const taskEvents = new ScriptStore(/^task-[0-9a-f]{16}-events$/, "This report holds no details of these requests.");

const PARTS_IN_MEMORY = 4; // as text: `PartedRows` keeps their rows
const rowParts = new ScriptStore(/^rows-\d{5,}$/, "This report holds no such part of its list.", PARTS_IN_MEMORY);

/** Take the JSON of a part of the list from its script. */
export const receiveRows = (name, json) => rowParts.receive(name, json);

/** A promise of what is in the part of the list with a number. It is rejected with a text for the reader. */
export function loadPart(number) {
  const name = `rows-${String(number).padStart(5, "0")}`;
  return rowParts.load(name, name);
}

/** Take the JSON of a task's events from its script. */
export const receiveEvents = (run, json) => taskEvents.receive(run, json);

/** A promise of the details by the positions of the events. It is rejected with a text for the reader. */
export const loadEvents = ({ run, data }) => taskEvents.load(run, data ? data + EVENTS_END : null)
  .then(({ headers, events }) => new Map(asArray(events).map((event) => [event.index, withHeaders(event, headers)])));

/** An event whose request and response have their headers, rather than positions in the list of those of all events. */
function withHeaders(event, headers) {
  for (const side of [event.request, event.response]) {
    if (side?.headers) side.headers = side.headers.map((position) => headers[position]);
  }
  return event;
}
