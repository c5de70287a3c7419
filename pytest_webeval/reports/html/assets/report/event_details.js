// What is known of one request: where it differs from what was expected, and what was sent and received.

import { table } from "./blocks.js";
import { differenceTable, valuesSideBySide } from "./differences.js";
import { differencesBelow, differencesOf, evaluatorsOf } from "./event_differences.js";
import { bdi, element } from "./elements.js";
import { jsonTree } from "./json_tree.js";
import { badge } from "./statuses.js";
import { asArray, formatCount, isPresent, toText } from "./texts.js";

const NOTES = {
  binary: "The body is not text, and is not shown.",
  unreadable: "The body cannot be read.",
};

/** The comparisons with what was expected, for the evaluators to which the event came nearest. */
export const comparisons = (evaluators, position) => evaluatorsOf(evaluators, position).map((result) =>
  element("div", { class: "comparison" },
    element("h5", {}, "Compared by ", bdi(result.name), " ", badge(result.status)),
    differenceTable(asArray(result.differences)),
    isPresent(result.expected) ? valuesSideBySide(result, asArray(result.differences)) : null));

/** The parts of a request and its response; what differs from the expected event is marked. */
export function detailParts(details, evaluators) {
  const differences = evaluatorsOf(evaluators, details.index).flatMap((result) => asArray(result.differences));
  const below = (field) => differencesBelow(differences, field);
  const { request, response } = details;
  return [
    pairPart("Query parameters", request?.query_params, below("query_params"), true),
    bodyPart("Posted data", request?.body, "post_data", below("post_data")),
    pairPart("Request headers", request?.headers, below("headers"), false, true),
    pairPart("Cookies of the response", response?.response_cookies, below("response_cookies"), true),
    pairPart("Response headers", response?.headers, new Map(), false, true),
    bodyPart("Response body", response?.body, "response_content", below("response_content")),
    response?.lacks_body ? element("p", { class: "quiet" }, "The recording does not have the response body.") : null,
  ].filter(isPresent);
}

/** Names and values as a table that can be folded. It is unfolded where something differs, or if it `isOpen`. */
function pairPart(title, pairs, below, isOpen, ignoreCase = false) {
  const listed = asArray(pairs);
  if (!listed.length && !below.size) return null;
  const summary = `${title} (${listed.length})`;
  return foldedPart(summary, isOpen || below.size > 0, pairTable(title, listed, below, ignoreCase));
}

const foldedPart = (title, isOpen, ...children) =>
  element("details", { open: isOpen }, element("summary", {}, title), children);

function pairTable(title, pairs, below, ignoreCase) {
  const matched = new Set();
  const rows = pairs.map(({ name, value }) => {
    const wrong = differencesOf(below, name, ignoreCase);
    for (const [path] of wrong) matched.add(path);
    return pairRow(name, toText(value), wrong.map(([, difference]) => difference), below.size);
  });
  const others = [...below].filter(([path]) => !matched.has(path))
    .map(([path, difference]) => pairRow(path || "(entire value)", null, [difference], true));
  return table(["Name", "Value", ...(below.size ? ["Expected"] : [])], [...rows, ...others], title.toLowerCase());
}

function pairRow(name, value, differences, hasExpected) {
  const differs = differences.length > 0;
  const expected = differences.map(({ kind, expected: text }) => (kind === "extra" ? "not expected" : toText(text)));
  return element("tr", { class: differs ? "differs" : null },
    element("th", { scope: "row" }, element("code", {}, name)),
    element("td", { class: "value" }, value === null ? element("i", {}, "not sent")
      : element("code", {}, differs ? element("mark", {}, value) : value)),
    hasExpected ? element("td", { class: "value" }, differs ? element("code", {}, expected.join("\n")) : null) : null);
}

function bodyPart(title, body, field, below) {
  if (!body && !below.size) return null;
  if (!body) return foldedPart(title, true, pairTable(title, [], below, false));
  const note = Object.hasOwn(NOTES, body.form) ? element("p", { class: "quiet" }, NOTES[body.form]) : null;
  const summary = [isPresent(body.type) ? `${title}: ${body.type}` : title,
    body.length ? formatCount(body.length, "character") : ""].filter(isPresent).join(", ");
  const value = body[field];
  if (body.form === "fields") return foldedPart(summary, true, pairTable(title, asArray(value), below, false));
  const content = body.form === "json" ? jsonTree(title, readJson(value), new Set(below.keys()))
    : isPresent(value) ? textBlock(title, toText(value.text ?? value)) : null;
  return foldedPart(summary, true, differenceTable([...below.values()]), note ?? content);
}

/** JSON without secrets comes as it was sent; any other comes as a tree. */
const readJson = (value) => (typeof value === "string" ? JSON.parse(value) : value);

const textBlock = (title, text) => element("pre", { tabindex: "0", role: "group", "aria-label": title }, text);
