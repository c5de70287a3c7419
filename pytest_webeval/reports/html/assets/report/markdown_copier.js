// The button that copies a task as Markdown. Where the browser refuses to copy, it shows the text, selected.

import { copyText } from "./clipboard.js";
import { button, byId, element } from "./elements.js";
import { taskMarkdown } from "./markdown.js";

/** One for each task that is opened: the text is made when somebody asks for it. */
export class MarkdownCopier {
  button = button("Copy as Markdown", () => this.copy());
  #task;
  #box = null;

  constructor(task) {
    this.#task = task;
  }

  copy() {
    const text = taskMarkdown(this.#task);
    copyText(text, this.button, () => this.#show(text));
  }

  #show(text) {
    this.#box?.remove();
    this.#box = element("pre", { tabindex: "0", role: "group", "aria-label": "The task as Markdown" }, text);
    byId("task").querySelector(".body").prepend(this.#box);
    return this.#box;
  }
}
