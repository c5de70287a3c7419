// The data of one task come as a script, because pages that are opened from a disk may load nothing else.

import { element } from "./elements.js";

const LOADED_TASKS = 50; // whose data stay in memory
const DATA_NAME = /^task-[0-9a-f]{16}$/;
const embedded = new Map(); // JSON by run, that came with the page
const loaded = new Map(); // JSON by run, that was loaded since; the latest used comes last
const requestedRuns = new Set();

/** Take the JSON of a task from its script. */
export function receiveTask(run, json) {
  (requestedRuns.has(run) ? loaded : embedded).set(run, json);
}

/** A promise of the data of a row's task. It is rejected with a text for the reader. */
export function loadTask({ run, data: name }) {
  const json = embedded.get(run) ?? loaded.get(run);
  if (json !== undefined) return Promise.resolve(useTask(run, json));
  if (!DATA_NAME.test(name ?? "")) return Promise.reject("This report holds no details of this task.");
  return new Promise((resolve, reject) => {
    const script = element("script", { src: `data/${name}.js` });
    const finish = () => {
      script.remove();
      requestedRuns.delete(run);
      if (loaded.has(run)) resolve(useTask(run, loaded.get(run)));
      else reject(`The details could not be loaded from data/${name}.js: copy the folder "data" along with this page.`);
    };
    script.addEventListener("load", finish);
    script.addEventListener("error", finish);
    requestedRuns.add(run);
    document.head.append(script);
  });
}

/** Parse the JSON of a task, and forget those that were used longest ago. */
function useTask(run, json) {
  if (loaded.delete(run)) loaded.set(run, json);
  for (const oldest of loaded.keys()) if (loaded.size > LOADED_TASKS) loaded.delete(oldest);
  return JSON.parse(json);
}
