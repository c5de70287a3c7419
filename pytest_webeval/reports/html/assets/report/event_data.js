// The details of a task's events, which are loaded when the first row of its network table is opened.

import { ScriptStore } from "./script_store.js";
import { asArray } from "./texts.js";

const NAME_END = "-events";
const taskEvents = new ScriptStore(/^task-[0-9a-f]{16}-events$/, "This report holds no details of these requests.");

/** Take the JSON of a task's events from its script. */
export const receiveEvents = (run, json) => taskEvents.receive(run, json);

/** A promise of the details by the positions of the events. It is rejected with a text for the reader. */
export const loadEvents = ({ run, data }) => taskEvents.load(run, data ? data + NAME_END : null)
  .then((details) => new Map(asArray(details).map((event) => [event.index, event])));
