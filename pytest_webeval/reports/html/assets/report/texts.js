// Values of untrusted data as texts of the page.

const HIDDEN_CHARACTERS = // control characters, direction marks and lone surrogates, which are not visible as such
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]/gu;

/** The value if it is a list: recorded data may have any type anywhere. */
export const asArray = (value) => (Array.isArray(value) ? value : []);

/** Whether there is something to show; `false` and 0 are. */
export const isPresent = (value) => value !== null && value !== undefined && value !== "";

/** The text with each hidden character as its escape, so that nothing can pretend to be other text. */
export const escapeHidden = (text) => String(text).replace(HIDDEN_CHARACTERS, escapeCharacter);

const escapeCharacter = (character) => "\\u" + character.codePointAt(0).toString(16).padStart(4, "0");

export const truncate = (text, maximum) => (text.length > maximum ? text.slice(0, maximum) + "…" : text);

export const formatNumber = (number) => number.toLocaleString("en");

/** A number and its noun: "1 step", "1,200 steps". */
export const formatCount = (count, noun) => `${formatNumber(count)} ${noun}${count === 1 ? "" : "s"}`;

export function toJson(value) {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "(nested too deeply to be shown)";
  }
}

/** A text as it is, anything else as JSON. */
export const toText = (value) => (typeof value === "string" ? value : toJson(value));
