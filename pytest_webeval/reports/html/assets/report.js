"use strict";
// The task list and the task view. All content is untrusted text: it enters the page as text nodes only.
(() => {
const MOST_SHOWN = 5000; // characters of one text before "show all"
const MOST_LINES = 1500; // lines of one JSON tree before "show all"
const MOST_EVENTS = 500; // rows of the network table at a time
const MOST_STEPS = 300; // steps of the filmstrip at first
const MOST_KEPT = 50; // tasks whose data stay in memory
const MOST_OF_RUN = 26; // characters of a label in the list
const SIGNS = { success: "✓", failure: "✕", error: "!", partial_match: "◐", excluded: "–" };
const MARKS = { nearest: "◆ nearest", candidate: "◇ candidate", match: "✓ match" };
// Control characters, direction marks and lone surrogates, which are not visible as such.
const HIDDEN =
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]/gu;

// ── texts and elements ──────────────────────────────────────────────────────────────────────────────────────────

const $ = (id) => document.getElementById(id);
const listed = (value) => (Array.isArray(value) ? value : []);
const given = (value) => value !== null && value !== undefined && value !== "";
const spelled = (text) =>
  String(text).replace(HIDDEN, (found) => "\\u" + found.codePointAt(0).toString(16).padStart(4, "0"));
/** How many characters of labels are directories that all of them begin with. */
function sharedDirectories(labels) {
  let shared = labels[0] ?? "";
  for (const label of labels) while (!label.startsWith(shared)) shared = shared.length > 1 ? shared.slice(0, shared.lastIndexOf("/", shared.length - 2) + 1) : "";
  return shared.lastIndexOf("/") + 1;
}

const short = (text, most) => (text.length > most ? text.slice(0, most) + "…" : text);
const numbered = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

function el(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && given(value)) made.setAttribute(name, value);
  }
  made.append(...children.flat(Infinity).filter(given).map(node));
  return made;
}

function node(child) {
  if (child instanceof Node) return child;
  const text = String(child);
  return text.length > MOST_SHOWN ? cut(text) : document.createTextNode(spelled(text));
}

/** The beginning of a long text, with a button that shows the rest. */
function cut(text) {
  const shown = el("span", {}, text.slice(0, MOST_SHOWN));
  const all = () => {
    const pieces = Array.from({ length: Math.ceil(text.length / MOST_SHOWN) }, (_, at) => text.slice(at * MOST_SHOWN, (at + 1) * MOST_SHOWN));
    shown.replaceChildren(...pieces.map((one) => el("span", { class: "piece" }, one))); // one line of a megabyte stops a browser
    more.remove();
  };
  const more = el("button", { type: "button", class: "plain", onclick: all }, `show all ${numbered(text.length, "character")}`);
  return el("span", {}, shown, " … ", more);
}

const bdi = (text, kind) => el("bdi", { class: kind }, text);
const badge = (status, text) =>
  el("span", { class: `badge ${Object.hasOwn(SIGNS, status) ? status : ""}` }, SIGNS[status] || "", " ", text || status);
const button = (text, onclick, kind = "plain") => el("button", { type: "button", class: kind, onclick }, text);

/** A URL of a file of this report, or null: recorded URLs are never followed. */
function ours(address) {
  if (typeof address !== "string" || /^[\s/\\]|[\u0000-\u001f\\]|^[^/?#]*:/.test(address)) return null;
  try {
    const whole = new URL(address, document.baseURI);
    return whole.protocol === location.protocol && whole.host === location.host ? address : null;
  } catch {
    return null;
  }
}

const picture = (address) =>
  typeof address === "string" && /^data:image\/(jpeg|png|webp);base64,[A-Za-z0-9+/=]*$/.test(address)
    ? address
    : ours(address);

// ── the index: a row per task, with its filter values computed once ─────────────────────────────────────────────

const index = JSON.parse($("webeval-index").textContent);
const rows = index.rows.map(asRow);
const pageTitle = spelled(short(index.title, 200));
const byRun = new Map(rows.map((row) => [row.run, row]));
const common = sharedDirectories(rows.map((row) => row.run));

function asRow(cells, number) {
  const row = { number };
  index.columns.forEach((name, at) => Object.defineProperty(row, name, { value: cells[at] }));
  row.facets = {
    status: [row.status],
    group: row.group < 0 ? [] : [String(row.group)],
    site: [String(row.site ?? "")],
    type: [String(row.type ?? "")],
    template: [String(row.template ?? -1)],
    evaluator: listed(row.evaluators).map((one) => String(index.evaluators[one])),
    warning: listed(row.warnings).map((one) => String(index.warnings[one])),
    flip: given(row.flip) ? [row.flip] : [],
  };
  row.search = [row.run, row.task_id, row.intent ?? "", row.reason ?? ""].join("\n").toLowerCase();
  return row;
}

const FILTERS = [
  ["status", "Status", (value) => value],
  ["group", "Reason", (value) => groupText(index.groups[value]) ?? value],
  ["site", index.headings.site.one, (value) => value || index.headings.site.none],
  ["type", index.headings.type.one, (value) => value || index.headings.type.none],
  ["template", "Template", (value) => (value === "-1" ? "no template" : value)],
  ["evaluator", "Evaluator", (value) => value],
  ["warning", "Warning", (value) => value],
  ["flip", "Flip", (value) => value],
];
const groupText = (group) => group && (group.evaluator ? `${group.text} · ${group.evaluator}` : group.text);
const natural = new Intl.Collator("en", { numeric: true });
const WORST = ["error", "failure", "partial_match", "success", "excluded"];
const SORTS = {
  "": ["as recorded", (a, b) => a.number - b.number],
  status: ["worst status", (a, b) => WORST.indexOf(a.status) - WORST.indexOf(b.status)],
  task: ["task id", (a, b) => natural.compare(a.task_id, b.task_id)],
  site: [index.headings.site.one.toLowerCase(), (a, b) => natural.compare(a.site, b.site)],
  reason: ["reason", (a, b) => (a.group < 0) - (b.group < 0) || a.group - b.group],
  seconds: ["slowest", (a, b) => (b.seconds ?? 0) - (a.seconds ?? 0)],
};

// ── the view state lives in the URL, so that links to it can be shared ──────────────────────────────────────────

let state = { filters: new Map(), words: "", sort: "", task: "" };
let written = null;
let writing = 0;

function readState() {
  const asked = new URLSearchParams(location.hash.slice(1));
  const filters = new Map(FILTERS.filter(([key]) => asked.has(key)).map(([key]) => [key, asked.get(key)]));
  const sort = asked.get("sort") ?? "";
  return { filters, words: asked.get("q") ?? "", sort: Object.hasOwn(SORTS, sort) ? sort : "", task: asked.get("task") ?? "" };
}

function addressOf({ filters, words, sort, task }) {
  const told = new URLSearchParams(filters);
  for (const [key, value] of [["q", words], ["sort", sort], ["task", task]]) if (value) told.set(key, value);
  return "#" + told.toString();
}

/** Change the view state: as a new history entry, or in place of the present one while the user types. */
function change(changes, inPlace) {
  state = { ...state, ...changes };
  clearTimeout(writing);
  if (inPlace) writing = setTimeout(remember, 150, true);
  else remember(false);
  show();
}

function remember(inPlace) {
  const address = addressOf(state);
  if (address === written) return;
  try {
    history[inPlace ? "replaceState" : "pushState"](null, "", address);
    written = address;
  } catch { // some browsers limit the rate of these calls: the next change writes the URL
    written = null;
  }
}

function follow() {
  if ((location.hash || "#") === written) return;
  clearTimeout(writing);
  const before = state;
  state = readState();
  written = location.hash || "#";
  show();
  if (!state.task && state.filters.size && before.filters.size + before.task.length === 0) $("tasks").scrollIntoView();
}

// ── filters ─────────────────────────────────────────────────────────────────────────────────────────────────────

let shown = rows;
let shownFor = null;

function fitting() {
  const wanted = [...state.filters];
  const words = state.words.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (row) =>
    wanted.every(([key, value]) => row.facets[key].includes(value)) && words.every((word) => row.search.includes(word));
  const found = rows.filter(fits);
  return state.sort ? found.sort(SORTS[state.sort][1]) : found;
}

function set(key, value) {
  const filters = new Map(state.filters);
  if (value === null) filters.delete(key);
  else filters.set(key, value);
  change({ filters });
}

const clearFilters = () => change({ filters: new Map(), words: "" });

function counted(key) {
  const counts = new Map();
  for (const row of rows) for (const value of row.facets[key]) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

function statusButtons() {
  const counts = counted("status");
  const made = (value, text, count) =>
    el("button", { type: "button", class: `chip ${value ?? ""}`, "data-value": value ?? "", "aria-pressed": "false",
      onclick: () => set("status", value) }, value ? `${SIGNS[value]} ` : "", text, " ", el("b", {}, count.toLocaleString("en")));
  const known = ["failure", "error", "partial_match", "success", "excluded"].filter((status) => counts.has(status));
  $("statuses").append(made(null, "all", rows.length), ...known.map((status) => made(status, status, counts.get(status))));
}

function selects() {
  for (const [key, label, text] of FILTERS.slice(1)) {
    const counts = [...counted(key)];
    if (counts.length === 0 || (counts.length === 1 && ["site", "type", "template"].includes(key))) continue;
    counts.sort(key === "group" ? ([a], [b]) => a - b : ([a], [b]) => natural.compare(a, b));
    const options = counts.map(([value, count]) => option("=" + value, `${short(text(value), 80)} (${count})`));
    const select = el("select", { id: `filter-${key}`, onchange: () => set(key, select.value ? select.value.slice(1) : null) },
      option("", `any ${label.toLowerCase()}`), options);
    $("selects").append(el("label", {}, el("span", { class: "unseen" }, label), select));
  }
}

const option = (value, text) => Object.assign(el("option", {}, text), { value });

function drawFilters() {
  for (const one of $("statuses").children)
    one.setAttribute("aria-pressed", String((state.filters.get("status") ?? "") === one.dataset.value));
  for (const [key] of FILTERS.slice(1)) {
    const select = $(`filter-${key}`);
    if (!select) continue;
    const value = state.filters.has(key) ? "=" + state.filters.get(key) : "";
    if (![...select.options].some((one) => one.value === value)) select.append(option(value, short(value.slice(1), 80) + " (0)"));
    select.value = value;
    select.parentElement.classList.toggle("used", value !== "");
  }
  if ($("search").value !== state.words) $("search").value = state.words; // while the user types, both are equal
  $("sort").value = state.sort;
  $("clear").hidden = !state.filters.size && !state.words;
  $("count").textContent = shown.length === rows.length
    ? numbered(rows.length, "task")
    : `${shown.length.toLocaleString("en")} of ${numbered(rows.length, "task")}`;
}

// ── the list: only rows that can be seen are in the document ────────────────────────────────────────────────────

const list = $("list");
const spacer = list.firstElementChild;
const drawn = new Map();
let active = 0;
let height = 60;

function drawList() {
  spacer.style.height = `${shown.length * height}px`;
  $("none").hidden = shown.length > 0;
  list.hidden = shown.length === 0;
  for (const one of drawn.values()) one.remove();
  drawn.clear();
  drawRows();
}

function drawRows() {
  const first = Math.max(0, Math.floor(list.scrollTop / height) - 6);
  const last = Math.min(shown.length, Math.ceil((list.scrollTop + list.clientHeight) / height) + 6);
  for (const [at, one] of drawn) if ((at < first || at >= last) && at !== active) one.remove() || drawn.delete(at);
  for (let at = first; at < last; at++) drawRow(at);
  if (active < shown.length) drawRow(active);
  for (const [at, one] of drawn) {
    one.classList.toggle("active", at === active);
    one.setAttribute("aria-selected", String(shown[at] === opened));
  }
  if (drawn.has(active)) list.setAttribute("aria-activedescendant", drawn.get(active).id);
  else list.removeAttribute("aria-activedescendant");
}

/** The label of a run without the directories that all runs share; of a long label the end. */
function ending(run) {
  const own = run.slice(common);
  return own.length > MOST_OF_RUN ? "…" + own.slice(-MOST_OF_RUN) : own;
}

/** Of several runs of a task, the first that did not succeed. */
function ofTask(id) {
  const found = rows.filter((one) => String(one.task_id) === id);
  return found.find((one) => one.status !== "success") ?? found[0];
}

function drawRow(at) {
  if (drawn.has(at)) return;
  const row = shown[at];
  const about = [row.site, row.type, row.flip].filter(given).join(" · ");
  const made = el("div", { role: "option", id: `row-${row.number}`, class: `row ${row.status}`, "aria-setsize": shown.length,
    "aria-posinset": at + 1, onclick: () => openAt(at) },
    el("span", { class: `sign ${row.status}`, title: row.status }, SIGNS[row.status] ?? "", el("span", { class: "unseen" }, row.status)),
    bdi(ending(row.run), "run"), bdi(short(about, 100), "meta"),
    bdi(short(row.reason || row.intent || "", 300), "reason"));
  made.style.top = `${at * height}px`;
  spacer.append(made);
  drawn.set(at, made);
}

function moveTo(at) {
  active = Math.max(0, Math.min(shown.length - 1, at));
  const top = active * height;
  if (top < list.scrollTop) list.scrollTop = top;
  else if (top + height > list.scrollTop + list.clientHeight) list.scrollTop = top + height - list.clientHeight;
  drawRows();
}

const openAt = (at, inPlace) => {
  moveTo(at);
  if (shown[active]) change({ task: shown[active].run }, inPlace);
};

// ── showing the view state ──────────────────────────────────────────────────────────────────────────────────────

let opened = null;

function show() {
  const key = JSON.stringify([[...state.filters], state.words, state.sort]);
  const row = byRun.get(state.task) ?? ofTask(state.task);
  const moved = row !== opened;
  if (key !== shownFor) {
    shownFor = key;
    shown = fitting();
    list.scrollTop = 0;
    active = Math.max(0, row ? shown.indexOf(row) : 0);
    drawList();
  }
  drawFilters();
  if (!moved) return state.task && !row ? showUnknown() : undefined;
  opened = row;
  const at = row ? shown.indexOf(row) : -1;
  moveTo(at < 0 ? active : at);
  if (row) showTask(row);
  else if (state.task) showUnknown();
  else showOverview();
}

function showOverview() {
  document.title = pageTitle;
  const within = $("task").contains(document.activeElement);
  turnTo("overview");
  $("task").replaceChildren();
  if (within) list.focus({ preventScroll: true });
}

function turnTo(part) {
  document.body.classList.toggle("reading", part === "task");
  $("task").hidden = part !== "task";
  $("overview").hidden = part !== "overview";
  $("main").scrollTop = 0;
}

function showUnknown() {
  turnTo("task");
  $("task").replaceChildren(bar(), el("h2", {}, "No such task"),
    el("p", {}, "This report has no task ", el("code", {}, short(state.task, 200)), ": search for it in the list."));
}

const closeTask = () => change({ task: "" });

const bar = () => el("div", { class: "bar-of-task" },
  button("← All tasks", closeTask, "back"),
  el("span", { class: "gap" }),
  button("Previous", () => step(-1)), button("Next", () => step(1)), button("Copy link", (event) => copy(location.href, event.target)));

function showTask(row) {
  document.title = `${spelled(short(row.run, 100))} · ${row.status} · ${pageTitle}`;
  const within = $("task").contains(document.activeElement);
  turnTo("task");
  const body = el("div", { class: "body", "aria-busy": "true" });
  $("task").replaceChildren(bar(), el("h2", { id: "task-title", tabindex: "-1" }, bdi(row.run), " ", badge(row.status)), reasonOf(row), body);
  if (within || document.body.matches(".reading") && innerWidth <= 700) $("task-title").focus({ preventScroll: true });
  $("announcement").textContent = `${short(row.run, 100)}, ${row.status}`;
  const put = (...parts) => {
    if (opened !== row) return;
    body.replaceChildren(...parts.flat(Infinity).filter(given));
    body.removeAttribute("aria-busy");
    for (const one of body.querySelectorAll("[data-start]")) one.dispatchEvent(new Event("shown"));
  };
  const told = (task) => {
    if (opened === row && given(task.reason)) $("task").querySelector(".why")?.replaceWith(reasonOf(task)); // the list has its beginning
    put(parts(task));
  };
  dataOf(row).then(told, (why) => put(el("p", { class: "notice error" }, why), asIndexed(row)));
}

const reasonOf = (row) => (given(row.reason) ? el("p", { class: "why" }, bdi(row.reason)) : null) ?? "";

const asIndexed = (row) => facts([["Intent", row.intent], [index.headings.site.one, row.site], [index.headings.type.one, row.type]]);

// ── the data of one task come as a script: pages opened from a disk may load nothing else ───────────────────────

const within = new Map(); // what came with the page
const kept = new Map(); // what was loaded since, most recent last
const waiting = new Set();

window.webeval = Object.freeze({
  task(label, text) {
    (waiting.has(label) ? kept : within).set(label, text);
  },
});

function dataOf(row) {
  const known = within.get(row.run) ?? kept.get(row.run);
  if (known !== undefined) return Promise.resolve(keep(row.run, known));
  if (!/^task-[0-9a-f]{16}$/.test(row.data ?? "")) return Promise.reject("This report holds no details of this task.");
  return new Promise((resolve, reject) => {
    const missing = `The details could not be loaded from data/${row.data}.js: copy the folder "data" along with this page.`;
    const script = el("script", { src: `data/${row.data}.js` });
    const done = () => {
      script.remove();
      waiting.delete(row.run);
      if (kept.has(row.run)) resolve(keep(row.run, kept.get(row.run)));
      else reject(missing);
    };
    script.addEventListener("load", done);
    script.addEventListener("error", done);
    waiting.add(row.run);
    document.head.append(script);
  });
}

function keep(label, text) {
  if (kept.delete(label)) kept.set(label, text);
  for (const oldest of kept.keys()) if (kept.size > MOST_KEPT) kept.delete(oldest);
  return JSON.parse(text);
}

// ── the parts of the task view ──────────────────────────────────────────────────────────────────────────────────

function parts(task) {
  const network = task.network ? networkPart(task.network) : null;
  return [
    given(task.error) && task.error !== task.reason ? el("p", { class: "notice error" }, bdi(task.error)) : null,
    warnings(listed(task.warnings)),
    facts([["Intent", given(task.intent) ? el("span", { class: "intent" }, bdi(task.intent)) : null],
      ["Start URLs", listed(task.start_urls).map((one) => el("div", {}, el("code", {}, one)))],
      ["Task", [task.task_id, listed(task.sites).join(", "), task.type].filter(given).join(" · ")],
      ["Template", given(task.template) ? [bdi(task.template), task.template_id >= 0 ? ` (${task.template_id})` : ""] : null]]),
    commands(listed(task.commands)),
    listed(task.evaluators).map((one) => evaluatorPart(one, network)),
    task.rubric ? rubricPart(task.rubric) : null,
    task.steps ? stepsPart(listed(task.steps), network) : null,
    network ? network.part : null,
    aboutPart(task),
  ];
}

const section = (title, ...children) => el("section", { class: "part" }, el("h3", {}, title), children);
const folded = (summary, ...children) => el("details", {}, el("summary", {}, summary), children);

function facts(pairs) {
  const told = pairs.filter(([, value]) => given(value) && !(Array.isArray(value) && !value.length));
  return told.length ? el("dl", { class: "facts-of" }, told.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value)))) : null;
}

function warnings(found) {
  if (!found.length) return null;
  return el("ul", { class: "warnings", "aria-label": "Warnings" },
    found.map((one) => el("li", {}, el("span", { class: "kind" }, "⚠ ", one.kind === "other" ? null : one.kind), " ", bdi(one.text))));
}

function table(heads, lines, kind) {
  return el("div", { class: "wide", tabindex: "0", role: "group", "aria-label": kind },
    el("table", { class: kind.replaceAll(" ", "-") }, el("thead", {}, el("tr", {}, heads.map((one) => el("th", { scope: "col" }, one)))), el("tbody", {}, lines)));
}

function evaluatorPart(one, network) {
  const checks = listed(one.assertions);
  const failed = checks.filter((check) => check.status !== "success");
  const passed = checks.filter((check) => check.status === "success");
  const differences = listed(one.differences);
  const paths = new Set(differences.map((found) => found.path));
  return el("section", { class: "part evaluator" },
    el("h3", {}, bdi(one.name), " ", badge(one.status)),
    given(one.error) ? el("p", { class: "notice error" }, bdi(one.error)) : null,
    differences.length ? table(["Field", "Difference", "Expected", "Actual"], differences.map(difference), "differences") : null,
    nearest(one.nearest, network),
    given(one.expected) || given(one.actual)
      ? el("div", { class: "side-by-side" }, tree("Expected", one.expected, paths), tree("Actual", one.actual, paths)) : null,
    failed.length ? el("ul", { class: "checks" }, failed.map(check)) : null,
    passed.length ? folded(`${numbered(passed.length, "check")} passed`, el("ul", { class: "checks" }, passed.map(check))) : null);
}

const check = (one) => el("li", {}, badge(one.status), " ", el("code", {}, one.name),
  listed(one.messages).map((message) => el("div", { class: "message" }, bdi(message))));

function difference(one) {
  const [expected, actual] = apart(one.expected, one.actual);
  return el("tr", {}, el("th", { scope: "row" }, el("code", {}, one.path || "(entire value)")), el("td", { class: "kind" }, one.kind),
    el("td", { class: "expected" }, one.kind === "extra" ? "–" : expected), el("td", { class: "actual" }, one.kind === "missing" ? "–" : actual));
}

const told = (value) => (typeof value === "string" ? value : json(value));

/** Both values as texts, with what lies between their common beginning and their common end marked. */
function apart(expected, actual) {
  const [a, b] = [told(expected), told(actual)];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  if (/[\ud800-\udbff]/.test(a[start - 1] ?? "")) start--;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end]) end++;
  if (/[\udc00-\udfff]/.test(a[a.length - end] ?? "")) end--;
  const marked = (text) => el("code", {}, text.slice(0, start), el("mark", {}, text.slice(start, text.length - end)), text.slice(text.length - end));
  return [marked(a), marked(b)];
}

function json(value) {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "(nested too deeply to be shown)";
  }
}

/** JSON as indented lines, those of the differing paths marked. */
function tree(title, value, paths) {
  const pre = el("pre", { tabindex: "0", role: "group", "aria-label": title });
  const draw = (most) => {
    const found = [];
    for (const line of lines(value, "", "", "", "", false, paths)) {
      if (found.length === most) {
        found.push(button("show all lines", () => draw(Infinity)));
        break;
      }
      found.push(line);
    }
    pre.replaceChildren(...found);
  };
  draw(MOST_LINES);
  return el("div", {}, el("h4", {}, title), pre);
}

function* lines(value, path, indent, lead, tail, marked, paths) {
  const here = marked || (path !== "" && paths.has(path));
  const line = (text) => el("span", {}, indent, el(here ? "mark" : "span", {}, text), "\n");
  const inner = value !== null && typeof value === "object" && indent.length < 120 ? branches(value, path) : [];
  if (!inner.length) return yield line(lead + json(value) + tail);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  yield line(lead + open);
  for (const [at, [below, name, one]] of inner.entries())
    yield* lines(one, below, indent + "  ", name, at === inner.length - 1 ? "" : ",", here, paths);
  yield line(close + tail);
}

// Results have names of the reference, paths those of the definitions.
const DEFINED_AS = new Map([["query_string", "query_params"], ["results", "retrieved_data"], ["action", "task_type"]]);
const branches = (value, path) => Array.isArray(value)
  ? value.map((one, at) => [`${path}[${at}]`, "", one])
  : Object.entries(value).map(([key, one]) => [path ? `${path}.${key}` : DEFINED_AS.get(key) ?? key, `${JSON.stringify(key)}: `, one]);

/** The number of an event in the page counts from 1, in the data from 0. */
const eventNumber = (at) => Number(at) + 1;

function nearest(one, network) {
  if (!one) return null;
  return el("p", { class: "nearest" }, el("b", {}, "Nearest event"), ` ${eventNumber(one.index)} of ${one.of}: `, el("code", {}, `${one.method} ${one.url}`), ` → ${one.status} `,
    network ? button("show in network", () => network.go(one.index, one.index), "link") : null);
}

// ── network ─────────────────────────────────────────────────────────────────────────────────────────────────────

function networkPart(network) {
  const events = listed(network.events);
  const marked = events.filter((event) => MARKS[event[6]]);
  const body = el("tbody");
  const holder = el("div", { class: "wide events", tabindex: "0", role: "group", "aria-label": "Recorded events", "data-start": true },
    el("table", { class: "network" }, el("thead", {}, el("tr", {}, ["#", "Time", "Method", "Status", "Type", "URL", "Mark"].map((one) => el("th", { scope: "col" }, one)))), body));
  const only = el("input", { type: "checkbox", onchange: () => draw(0) });
  const more = el("span", { class: "more" });
  const draw = (from) => {
    const all = only.checked ? marked : events;
    const start = Math.max(0, Math.min(from, all.length - MOST_EVENTS));
    body.replaceChildren(...all.slice(start, start + MOST_EVENTS).map(eventRow));
    more.replaceChildren(
      ...(start > 0 ? [button(`${MOST_EVENTS} earlier`, () => draw(start - MOST_EVENTS))] : []),
      ...(start + MOST_EVENTS < all.length ? [button(`${MOST_EVENTS} later`, () => draw(start + MOST_EVENTS))] : []));
  };
  const reach = (number) => {
    const at = events.findIndex((event) => event[0] >= number);
    if (at < 0) return;
    only.checked = false;
    draw(at - MOST_EVENTS / 2);
    const row = body.querySelector(`[data-event="${events[at][0]}"]`);
    holder.scrollTop = row.offsetTop - holder.clientHeight / 2;
  };
  const go = (first, last) => {
    reach(first);
    for (const row of body.children) row.classList.toggle("pointed", Number(row.dataset.event) >= first && Number(row.dataset.event) <= last);
    holder.scrollIntoView({ block: "nearest" });
    holder.focus({ preventScroll: true });
  };
  draw(0);
  const start = marked.find((event) => event[6] !== "candidate") ?? marked[0];
  if (start) holder.addEventListener("shown", () => reach(start[0]));
  const counts = [numbered(network.total ?? events.length, "event"), network.assets ? `${numbered(network.assets, "static asset")} not listed` : "", network.left_out ? `${network.left_out} omitted` : ""];
  const part = section("Network", el("div", { class: "tools" }, el("span", { class: "quiet" }, counts.filter(Boolean).join(", ")),
    marked.length ? el("label", {}, only, ` only marked (${marked.length})`) : null, more), holder);
  return { part, go };
}

function eventRow([number, method, url, status, type, seconds, mark]) {
  return el("tr", { class: MARKS[mark] ? mark : "", "data-event": Number(number) }, el("th", { scope: "row" }, eventNumber(number)), el("td", {}, typeof seconds === "number" && seconds >= 0 ? seconds.toFixed(2) : ""),
    el("td", {}, method), el("td", {}, status), el("td", {}, type), el("td", { class: "url" }, el("code", {}, url)), el("td", { class: "mark" }, MARKS[mark] ?? ""));
}

// ── trajectory ──────────────────────────────────────────────────────────────────────────────────────────────────

function stepsPart(steps, network) {
  if (!steps.length) return null;
  const strip = el("ol", { class: "filmstrip", tabindex: "0", "aria-label": "Steps" });
  const card = (one, at) => stepCard(one, steps[at + 1], network);
  strip.append(...steps.slice(0, MOST_STEPS).map(card));
  const rest = steps.length - MOST_STEPS;
  const more = button(`show ${numbered(rest, "step")} more`, () => {
    strip.append(...steps.slice(MOST_STEPS).map((one, at) => card(one, at + MOST_STEPS)));
    more.remove();
  });
  return section("Trajectory", el("p", { class: "tools quiet" }, numbered(steps.length, "step"), rest > 0 ? more : null), strip);
}

function stepCard(one, next, network) {
  const name = `step ${one.index}: ${short(String(one.action ?? "no action"), 80)}`;
  const later = given(one.after) && one.after !== one.before && (!given(one.before) || !next || next.before !== one.after) ? one.after : null;
  const events = listed(one.events);
  return el("li", { class: "step" },
    given(one.before) ? shot(one.before, name) : null,
    later ? shot(later, `${name}, afterwards`) : null,
    given(one.before) || later ? null : el("div", { class: "no-shot" }, "no screenshot"),
    el("h4", {}, el("span", { class: "quiet" }, one.index, " "), bdi(one.action ?? "no action")),
    given(one.arguments) && Object.keys(one.arguments).length ? el("div", { class: "arguments" }, foldedText(told(one.arguments), "code")) : null,
    given(one.thought) ? el("div", { class: "thought" }, foldedText(one.thought, "bdi")) : null,
    given(one.observation) ? el("div", { class: "observation" }, foldedText(one.observation, "bdi")) : null,
    given(one.url) ? el("div", { class: "at" }, el("code", { title: short(spelled(one.url), 500) }, short(one.url, 120))) : null,
    events.length === 2 && network ? button(`events ${eventNumber(events[0])}–${eventNumber(events[1])}`, () => network.go(events[0], events[1]), "link") : null);
}

function foldedText(text, tag) {
  const whole = String(text);
  if (whole.length <= 240) return el(tag, {}, whole);
  return el("details", {}, el("summary", {}, el(tag, {}, whole.slice(0, 200), "…")), el(tag, {}, whole));
}

function shot(address, name) {
  const source = picture(address);
  const gone = () => el("div", { class: "no-shot" }, source ? "screenshot not found: " : "screenshot not shown: ", bdi(short(String(address), 100)));
  if (!source) return gone();
  const image = el("img", { loading: "lazy", decoding: "async", width: "272", height: "170", alt: spelled(name) });
  const holder = el("button", { type: "button", class: "shot", "aria-label": spelled(`enlarge ${name}`), onclick: () => enlarge(source, name) }, image);
  image.addEventListener("error", () => holder.replaceWith(gone()));
  image.src = source;
  return holder;
}

function enlarge(source, name) {
  const dialog = $("picture");
  dialog.querySelector("figure")?.remove();
  dialog.prepend(el("figure", {}, el("img", { src: source, alt: spelled(name) }), el("figcaption", {}, name)));
  dialog.showModal();
}

// ── rubric, commands and the rest ───────────────────────────────────────────────────────────────────────────────

function rubricPart(one) {
  const points = (item) => el("tr", {}, el("th", { scope: "row" }, bdi(item.text), item.conditional ? el("span", { class: "quiet" }, item.counts === false ? " (does not count)" : " (conditional)") : null),
    el("td", { class: "number" }, given(item.earned) ? item.earned : "–", el("span", { class: "quiet" }, " of ", item.max)),
    el("td", {}, given(item.note) ? bdi(item.note) : ""));
  const items = listed(one.items);
  return section(["Rubric: ", one.criterion, " ", badge(one.status)],
    given(one.reason) ? el("p", {}, bdi(one.reason)) : null,
    items.length ? table(["Criterion", "Points", "Reason"], items.map(points), "rubric points") : null,
    facts([["Score", one.score], ["Source", given(one.source) ? el("code", {}, one.source) : null]]),
    one.verdict && Object.keys(one.verdict).length ? folded("The judge's verdict", tree("Verdict", one.verdict, new Set())) : null);
}

function commands(found) {
  if (!found.length) return null;
  return section("Commands", found.map((one) => el("div", { class: "labelled" }, el("span", { class: "quiet" }, one.label), copyable(one.command))));
}

function copyable(command) {
  const code = el("code", {}, command);
  return el("div", { class: "command" }, code, button("Copy", (event) => copy(command, event.target, code)));
}

/** Copy a text; if the browser refuses, select it for the reader to copy. */
function copy(text, pressed, code) {
  const before = pressed.textContent;
  const say = (word) => {
    pressed.textContent = word;
    $("announcement").textContent = word;
    setTimeout(() => (pressed.textContent = before), 1500);
  };
  const byHand = () => {
    if (code) getSelection().selectAllChildren(code);
    say(code ? "Selected: press Ctrl+C to copy" : "Copy it from the address bar");
  };
  if (navigator.clipboard?.writeText) navigator.clipboard.writeText(text).then(() => say("Copied"), byHand);
  else byHand();
}

function aboutPart(task) {
  const links = listed(task.links).map((one) => ours(one.href) && !index.embedded
    ? el("li", {}, el("a", { href: one.href, target: "_blank", rel: "noopener noreferrer" }, bdi(one.label)))
    : el("li", {}, bdi(one.label)));
  const entries = (tree) => Object.entries(tree ?? {}).filter(([, value]) => given(value))
    .flatMap(([name, value]) => typeof value === "object" ? entries(value).map(([inner, text]) => [`${name}: ${inner}`, text]) : [[name, el("code", {}, value)]]);
  const checksums = facts(entries(task.checksums));
  const about = facts(entries(task.about));
  return [links.length ? section("Files", el("ul", { class: "links" }, links)) : null,
    about || checksums ? section("About this result", about, checksums ? folded("Checksums", checksums) : null) : null].filter(Boolean);
}

// ── keys ────────────────────────────────────────────────────────────────────────────────────────────────────────

function step(by) {
  const at = shown.indexOf(opened);
  if (shown.length) openAt(at < 0 ? (opened ? 0 : active) : at + by, opened !== null && opened !== undefined);
}

function openActive() {
  if (document.activeElement !== list && opened) return;
  openAt(active);
  $("task-title")?.focus({ preventScroll: true });
}

const page = () => Math.max(1, Math.floor(list.clientHeight / height) - 1);
const KEYS = { j: () => step(1), k: () => step(-1), o: openActive, "/": () => $("search").focus(), "?": () => $("keys").showModal(), Escape: closeTask };
const LIST_KEYS = { ArrowDown: () => moveTo(active + 1), ArrowUp: () => moveTo(active - 1), Home: () => moveTo(0), End: () => moveTo(shown.length - 1),
  PageDown: () => moveTo(active + page()), PageUp: () => moveTo(active - page()), Enter: openActive };

function pressed(event) {
  const typing = event.target.matches("input:not([type=checkbox]), select, textarea, [contenteditable]");
  if (event.ctrlKey || event.altKey || event.metaKey || event.defaultPrevented || document.querySelector("dialog[open]")) return;
  if (typing) return event.key === "Escape" ? event.target.blur() : undefined;
  const keys = event.target === list && Object.hasOwn(LIST_KEYS, event.key) ? LIST_KEYS : KEYS;
  const known = Object.hasOwn(keys, event.key) && (event.key !== "Escape" || state.task);
  if (!known) return;
  event.preventDefault();
  keys[event.key]();
}

// ── beginning ───────────────────────────────────────────────────────────────────────────────────────────────────

function measure() {
  height = Math.round(parseFloat(getComputedStyle(document.documentElement).fontSize) * 3.75);
  document.documentElement.style.setProperty("--row", `${height}px`);
  drawList();
}

function begin() {
  document.body.append(el("p", { id: "announcement", class: "unseen", role: "status", "aria-live": "polite" }));
  document.body.classList.add("scripted");
  $("tasks").hidden = $("show-keys").hidden = false;
  statusButtons();
  selects();
  $("sort").append(...Object.entries(SORTS).map(([value, [text]]) => option(value, text)));
  $("sort").addEventListener("change", (event) => change({ sort: event.target.value }));
  $("search").addEventListener("input", (event) => change({ words: event.target.value }, true));
  $("clear").addEventListener("click", clearFilters);
  $("clear-all").addEventListener("click", clearFilters);
  $("show-keys").addEventListener("click", () => $("keys").showModal());
  for (const one of document.querySelectorAll(".command")) {
    const code = one.querySelector("code");
    one.append(button("Copy", (event) => copy(code.textContent, event.target, code)));
  }
  for (const one of document.querySelectorAll(".skip"))
    one.addEventListener("click", (event) => {
      event.preventDefault();
      $(one.hash.slice(1)).focus();
    });
  list.addEventListener("scroll", () => requestAnimationFrame(drawRows), { passive: true });
  new ResizeObserver(drawRows).observe(list);
  addEventListener("resize", measure);
  addEventListener("hashchange", follow);
  addEventListener("popstate", follow);
  document.addEventListener("keydown", pressed);
  state = readState();
  written = location.hash || "#";
  measure();
  show();
  performance.mark("webeval-shown");
}

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
else begin();
})();
