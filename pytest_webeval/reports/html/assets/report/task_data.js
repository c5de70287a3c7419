// The data of one task, which are loaded when it is opened.

import { ScriptStore } from "./script_store.js";

const tasks = new ScriptStore(/^task-[0-9a-f]{16}$/, "This report holds no details of this task.");

/** Take the JSON of a task from its script. */
export const receiveTask = (run, json) => tasks.receive(run, json);

/** A promise of the data of a row's task. It is rejected with a text for the reader. */
export const loadTask = ({ run, data }) => tasks.load(run, data);
