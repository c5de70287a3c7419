// A task as Markdown for an issue tracker, and the button that copies it. Texts of recordings stand in code, where
// nothing is a link or a mention.

import { copyText } from "./clipboard.js";
import { failedChecks, failedEvaluators } from "./difference_section.js";
import { button, byId, element } from "./elements.js";
import { listFields } from "./answer.js";
import { eventNumber } from "./network.js";
import { asArray, escapeHidden, formatNumber, isPresent, toText, truncate } from "./texts.js";

const CELL_CHARACTERS = 300;
const BLOCK_CHARACTERS = 2000; // of an answer or a command
const MOST_ROWS = 30; // of the table
// What people read best, and no tracker takes for a link, a mention or the end of a table's cell.
const PLAIN = /^(?!.*(?::\/\/|www\.))[\p{L}\p{N} .,:;\-_/()[\]{}'"=+?$%^…“”‘’–—→]+$/iu;
// Characters with a meaning in Markdown, HTML, links, mentions and references: entities have none.
const MEANINGFUL = /[&<>`*_[\]!|~:@#\\$.{}^"'%]/g;
// In rendered text, trackers look for names after @ and numbers after #; a comment between them hides both.
const SIGILS = /&#(?:64|35);/g;
const COMMENT = ["<!", "-- -->"].join(""); // in parts: as one text, HTML would take it for a comment

/** A text of a recording as code in one line, which shows as it is. */
export function codeText(text, maximum = CELL_CHARACTERS) {
  const line = escapeHidden(truncate(toText(text).slice(0, 4 * maximum).replace(/\s+/g, " ").trim(), maximum));
  if (!line) return "–";
  if (PLAIN.test(line)) return `\`${line}\``;
  const escaped = line.replace(MEANINGFUL, (character) => `&#${character.codePointAt(0)};`);
  return `<code>${escaped.replace(SIGILS, `$&${COMMENT}`)}</code>`;
}

/** A text as a block of code, with a fence that is longer than any in it. */
export function codeBlock(text, language = "") {
  const content = escapeHidden(truncate(toText(text), BLOCK_CHARACTERS));
  const longest = Math.max(2, ...(content.match(/`+/g) ?? []).map((run) => run.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}${language}\n${content}\n${fence}`;
}

/** The task: what happened, what was asked, what was answered, what differs, and how to score it again. */
export function taskMarkdown(task) {
  const command = asArray(task.commands).find(({ label }) => label === "score this run again");
  const failed = failedEvaluators(task);
  const why = isPresent(task.sentence) ? task.sentence : task.reason;
  return [
    `### ${codeText(task.run)}: ${codeText(task.status)}`,
    isPresent(why) ? codeText(why, 2 * CELL_CHARACTERS) : null,
    isPresent(task.intent) ? `**Intent:** ${codeText(task.intent, 2 * CELL_CHARACTERS)}` : null,
    answerMarkdown(task.answer),
    failed.map(evaluatorMarkdown),
    command ? `**Score it again:**\n\n${codeBlock(command.command, "sh")}` : null,
  ].flat().filter(isPresent).join("\n\n") + "\n";
}

function answerMarkdown(answer) {
  const fields = listFields(answer);
  if (!fields.length) return null;
  return `**Answer:**\n\n${codeBlock(fields.map(({ name, text }) => (name ? `${name}: ${text}` : text)).join("\n"))}`;
}

function evaluatorMarkdown(result) {
  const differences = asArray(result.differences);
  const parts = [`**${codeText(result.name)}:** ${codeText(result.status)}`];
  if (isPresent(result.error)) parts.push(codeText(result.error));
  else if (differences.length) parts.push(differenceMarkdown(differences));
  else parts.push(failedChecks(result).slice(0, MOST_ROWS).map(checkMarkdown).join("\n"));
  if (result.nearest) parts.push(nearestMarkdown(result.nearest));
  return parts.filter(isPresent).join("\n\n");
}

function differenceMarkdown(differences) {
  const rows = differences.slice(0, MOST_ROWS).map(({ path, kind, expected, actual }) =>
    [codeText(path), codeText(kind), kind === "extra" ? "–" : codeText(expected),
      kind === "missing" ? "–" : codeText(actual)]);
  const lines = [["Field", "Difference", "Expected", "Actual"], ["---", "---", "---", "---"], ...rows];
  const more = differences.length - rows.length;
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n")
    + (more > 0 ? `\n\n… and ${formatNumber(more)} more` : "");
}

const checkMarkdown = ({ name, messages }) =>
  `- ${codeText(name)} ${asArray(messages).map((message) => codeText(message)).join(" ")}`;

const nearestMarkdown = ({ index, of: total, method, url, status }) =>
  `**Request ${codeText(eventNumber(index))} of ${codeText(total)}:** ${codeText(`${method} ${url}`)}`
  + (isPresent(status) ? ` → ${codeText(status)}` : "");

/** The button of a task: the text is made when somebody asks for it, and shown where the browser refuses to copy. */
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
