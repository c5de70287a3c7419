// The rows of the list, where the page has all of them.

import { countValues, formatSelection, listSorts, selectRows } from "./filters.js";
import { findRow } from "./task_index.js";

/** Selects rows of all that the report has. `PartedRows` does the same for those that are loaded. */
export class AllRows {
  sorts;
  total;
  problem = "";
  part = ""; // to keep in the address: none
  #index;

  constructor(index) {
    this.#index = index;
    this.sorts = listSorts(index);
    this.total = index.rows.length;
  }

  /** Nothing to add to the page. */
  attach() {}

  /** Whether all rows of a view state are here; otherwise `show` is called when they are. */
  prepare() {
    return true;
  }

  /** How many rows have each value of a filter, as pairs. */
  countRows(key) {
    return Array.from(countValues(this.#index.rows, key));
  }

  selectRows(state) {
    return selectRows(this.#index.rows, state, this.sorts);
  }

  rowOf(task) {
    return findRow(this.#index, task);
  }

  /** What the page says of the number of rows. */
  describe(selectedCount) {
    return formatSelection(selectedCount, this.total);
  }
}
