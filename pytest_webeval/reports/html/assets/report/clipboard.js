// Copying of texts.

import { byId, button, element } from "./elements.js";

const ANSWER_MILLISECONDS = 1500;

/**
 * Copy a text and answer on the button. If the browser refuses, select the text for the reader to copy: `code` is the
 * element that has it, or a function that makes one.
 */
export function copyText(text, pressedButton, code) {
  const label = pressedButton.textContent;
  const answer = (message) => {
    pressedButton.textContent = message;
    byId("announcement").textContent = message;
    setTimeout(() => (pressedButton.textContent = label), ANSWER_MILLISECONDS);
  };
  const copyByHand = () => {
    if (code) getSelection().selectAllChildren(typeof code === "function" ? code() : code);
    answer(code ? "Selected: press Ctrl+C to copy" : "Copy it from the address bar");
  };
  if (navigator.clipboard?.writeText) navigator.clipboard.writeText(text).then(() => answer("Copied"), copyByHand);
  else copyByHand();
}

/** The button that copies the text of a code element. */
export const copyButton = (code) => button("Copy", (event) => copyText(code.textContent, event.target, code));

/** A command with its button. What is copied is the command itself, without the escapes that the page shows. */
export function commandLine(command) {
  const code = element("code", {}, command);
  return element("div", { class: "command" }, code, button("Copy", (event) => copyText(command, event.target, code)));
}
