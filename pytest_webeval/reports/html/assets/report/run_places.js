// Where runs are in a list in parts: by label, in a list of all labels; by task id, in the lists of statuses, which are
// in the order of tasks.

import { loadPart } from "./details.js";
import { compareCodePoints, compareTaskIds, findPart, listTaskIds, nameList } from "./part_lists.js";

const MOST_MATCHES = 100; // of a search by run or task id
const LABEL_KIND = "label"; // the kind of the list of all labels

/** Finds runs. `loadRows` returns a promise of the rows of a part. */
export class RunPlaces {
  #parts; // what the index has of them
  #lists; // by name
  #loadRows;

  constructor(parts, lists, loadRows) {
    this.#parts = parts;
    this.#lists = lists;
    this.#loadRows = loadRows;
  }

  /** Row, status and position of a run or of a task id; of several runs of a task, the first that did not succeed. */
  async locate(task) {
    const [exact] = await this.#listLabels([task], 1);
    if (exact?.[0] === task) return this.#placeOf(exact);
    const runs = await this.#listRunsOfTask(task, Infinity);
    return runs.filter(({ status }) => status !== "success").sort(compareRuns)[0] ?? runs[0] ?? null;
  }

  async #placeOf([, status, position]) {
    const name = this.#parts.statuses[status];
    return { row: await this.#rowAt(name, position), status: name, position };
  }

  async #rowAt(status, position) {
    const { parts } = this.#listOf("all", status);
    const rows = await this.#loadRows(parts[Math.floor(position / this.#parts.part_rows)]);
    return rows[position % this.#parts.part_rows];
  }

  #listOf(kind, status) {
    return this.#lists.get(nameList(kind, "", status));
  }

  /** Labels that begin with one of the texts, with their places, at most so many. */
  async #listLabels(texts, most) {
    const { parts, first } = this.#listOf(LABEL_KIND, "");
    const labels = [];
    for (const text of texts) {
      for (let part = findPart(first, text, compareCodePoints, true); part < parts.length; part++) {
        const entries = await loadPart(parts[part]);
        labels.push(...entries.filter(([label]) => label.startsWith(text)));
        const isPast = !entries.at(-1)[0].startsWith(text) && compareCodePoints(entries.at(-1)[0], text) > 0;
        if (labels.length >= most || isPast) break;
      }
    }
    return labels.slice(0, most);
  }

  /** Rows of a task with their places, in the order of statuses. */
  async #listRunsOfTask(task, most) {
    const places = [];
    for (const id of listTaskIds(task))
      for (const status of this.#parts.statuses) {
        const list = this.#listOf("all", status);
        if (list && places.length < most) places.push(...await this.#listRunsOfId(list, id));
      }
    return places;
  }

  async #listRunsOfId({ status, parts, first }, id) {
    const places = [];
    const start = findPart(first, id, compareTaskIds, false);
    for (let part = start; part < parts.length && compareTaskIds(first[part], id) <= 0; part++) {
      const rows = await this.#loadRows(parts[part]);
      rows.forEach((row, position) => row.task_id === id
        && places.push({ row, status, position: part * this.#parts.part_rows + position }));
    }
    return places;
  }

  /** The first rows whose run begins with the text, or whose task id it is. */
  async findMatches(text) {
    if (!text) return { rows: [], isCut: false };
    const runs = (await this.#listRunsOfTask(text, MOST_MATCHES)).map(({ row }) => row);
    const texts = [...new Set([text, this.#parts.shared + text])];
    for (const label of await this.#listLabels(texts, MOST_MATCHES)) runs.push((await this.#placeOf(label)).row);
    const rows = [...new Map(runs.map((row) => [row.run, row])).values()];
    return { rows: rows.slice(0, MOST_MATCHES), isCut: rows.length >= MOST_MATCHES };
  }
}

const compareRuns = ({ row: first }, { row: second }) =>
  compareTaskIds(first.task_id, second.task_id) || compareCodePoints(first.run, second.run);
