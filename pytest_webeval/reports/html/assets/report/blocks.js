// The blocks that all parts of a task's page are made of: sections, tables, lists of facts.

import { element } from "./elements.js";
import { isPresent } from "./texts.js";

export const section = (title, ...children) =>
  element("section", { class: "part" }, element("h3", {}, title), children);

export const foldedBlock = (summary, ...children) => element("details", {}, element("summary", {}, summary), children);

/** A folded block that is filled when somebody unfolds it for the first time. */
export function lazyBlock(summary, create) {
  const block = foldedBlock(summary);
  const fill = () => block.append(...[create()].flat(Infinity).filter(isPresent));
  block.addEventListener("toggle", fill, { once: true });
  return block;
}

export const errorNotice = (text) => element("p", { class: "notice error" }, text);

/** Names and values, without the values that are absent; null if all of them are. */
export function factList(pairs) {
  const facts = pairs.filter(([, value]) => isPresent(value) && !(Array.isArray(value) && !value.length));
  if (!facts.length) return null;
  return element("dl", { class: "facts-of" },
    facts.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))));
}

export const tableHead = (names) =>
  element("thead", {}, element("tr", {}, names.map((name) => element("th", { scope: "col" }, name))));

/** A table that scrolls in itself; its kind is its accessible name and its class. */
export const table = (names, rows, kind) =>
  element("div", { class: "wide", tabindex: "0", role: "group", "aria-label": kind },
    element("table", { class: kind.replaceAll(" ", "-") }, tableHead(names), element("tbody", {}, rows)));
