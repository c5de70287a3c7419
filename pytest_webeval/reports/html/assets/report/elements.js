// Elements of the page. Untrusted texts enter them as text nodes and attribute values, never as HTML.

import { escapeHidden, formatCount, isPresent } from "./texts.js";

const PIECE_CHARACTERS = 5000; // of a longer text the page shows the beginning

export const byId = (id) => document.getElementById(id);

/** An element; attributes that start with "on" are listeners, and absent children are left away. */
export function element(tag, attributes, ...children) {
  const created = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) created.addEventListener(name.slice(2), value);
    else if (value === true) created.setAttribute(name, "");
    else if (value !== false && isPresent(value)) created.setAttribute(name, value);
  }
  created.append(...children.flat(Infinity).filter(isPresent).map(toNode));
  return created;
}

function toNode(child) {
  if (child instanceof Node) return child;
  const text = String(child);
  return text.length > PIECE_CHARACTERS ? abridge(text) : document.createTextNode(escapeHidden(text));
}

/** The beginning of a long text, with a button that shows the rest. */
function abridge(text) {
  const visible = element("span", {}, text.slice(0, PIECE_CHARACTERS));
  const showAll = () => {
    visible.replaceChildren(...splitText(text).map((piece) => element("span", { class: "piece" }, piece)));
    more.remove();
  };
  const more = button(`show all ${formatCount(text.length, "character")}`, showAll);
  return element("span", {}, visible, " … ", more);
}

/** The text in pieces: one line of a megabyte stops a browser. */
export const splitText = (text) =>
  Array.from({ length: Math.ceil(text.length / PIECE_CHARACTERS) }, (_, position) =>
    text.slice(position * PIECE_CHARACTERS, (position + 1) * PIECE_CHARACTERS));

/** A text whose direction does not affect what stands around it. */
export const bdi = (text, kind) => element("bdi", { class: kind }, text);

export const button = (text, onclick, kind = "plain") =>
  element("button", { type: "button", class: kind, onclick }, text);

export const option = (value, text) => Object.assign(element("option", {}, text), { value });
