// The statuses of a run: their signs and their orders.

import { element } from "./elements.js";

export const SIGNS = { success: "✓", failure: "✕", error: "!", partial_match: "◐", excluded: "–" };

/** The order of the buttons: what a reader looks for most often comes first. */
export const STATUS_BUTTONS = ["failure", "error", "partial_match", "success", "excluded"];

const WORST_FIRST = ["error", "failure", "partial_match", "success", "excluded"];

export const compareStatuses = (first, second) => WORST_FIRST.indexOf(first) - WORST_FIRST.indexOf(second);

/** A status as a badge. Only a registered status becomes a class: any other is untrusted text. */
export const badge = (status) =>
  element("span", { class: `badge ${Object.hasOwn(SIGNS, status) ? status : ""}` }, SIGNS[status] || "", " ", status);
