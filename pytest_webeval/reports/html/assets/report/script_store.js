// Data that come as scripts, because pages that are opened from a disk may load nothing else.

import { element } from "./elements.js";

const LOADED_RUNS = 50; // whose data stay in memory

/** JSON of runs, each from a script of its own. A name that does not fit the pattern is never loaded. */
export class ScriptStore {
  #pattern;
  #reason;
  #embedded = new Map(); // JSON by run, that came with the page
  #loaded = new Map(); // JSON by run, that was loaded since; the latest used comes last
  #requestedRuns = new Set();

  /** `reason` says that the report has no such data. */
  constructor(pattern, reason) {
    this.#pattern = pattern;
    this.#reason = reason;
  }

  /** Take the JSON of a run from its script. */
  receive(run, json) {
    (this.#requestedRuns.has(run) ? this.#loaded : this.#embedded).set(run, json);
  }

  /** A promise of the data of a run. It is rejected with a text for the reader. */
  load(run, name) {
    const json = this.#embedded.get(run) ?? this.#loaded.get(run);
    if (json !== undefined) return Promise.resolve(this.#use(run, json));
    if (!this.#pattern.test(name ?? "")) return Promise.reject(this.#reason);
    return new Promise((resolve, reject) => {
      const script = element("script", { src: `data/${name}.js` });
      const finish = () => {
        script.remove();
        this.#requestedRuns.delete(run);
        if (this.#loaded.has(run)) resolve(this.#use(run, this.#loaded.get(run)));
        else reject(`The details could not be loaded from data/${name}.js: `
          + 'copy the folder "data" along with this page.');
      };
      script.addEventListener("load", finish);
      script.addEventListener("error", finish);
      this.#requestedRuns.add(run);
      document.head.append(script);
    });
  }

  /** Parse the JSON of a run, and forget those that were used longest ago. */
  #use(run, json) {
    const loaded = this.#loaded;
    if (loaded.delete(run)) loaded.set(run, json);
    for (const oldest of loaded.keys()) if (loaded.size > LOADED_RUNS) loaded.delete(oldest);
    return JSON.parse(json);
  }
}
