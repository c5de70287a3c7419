// The start of the page: nothing else in these modules acts when it is loaded.

import { copyButton } from "./clipboard.js";
import { receiveEvents, receiveRows, receiveTask } from "./details.js";
import { listenToDownloads } from "./downloads.js";
import { byId, element } from "./elements.js";
import { listenToKeys } from "./keys.js";
import { ReportPage } from "./page.js";
import { PartedRows } from "./parted_rows.js";
import { AllRows } from "./row_source.js";
import { parseIndex } from "./task_index.js";
import { startTheme } from "./theme.js";

function startPage() {
  startTheme();
  completeDocument();
  const index = parseIndex(byId("webeval-index").textContent);
  const page = new ReportPage(index, index.parts ? new PartedRows(index) : new AllRows(index));
  addEventListener("resize", () => page.list.measure());
  addEventListener("hashchange", () => page.followAddress());
  addEventListener("popstate", () => page.followAddress());
  listenToKeys(page);
  listenToDownloads(index, () => page.list.rows);
  page.view.readAddress();
  page.list.measure();
  page.show();
}

/** Show what is of use with a script only, and add it where the document cannot have it. */
function completeDocument() {
  document.body.append(element("p", { id: "announcement", class: "unseen", role: "status", "aria-live": "polite" }));
  document.body.classList.add("scripted");
  for (const id of ["tasks", "show-keys", "show-overview"]) byId(id).hidden = false;
  byId("show-overview").addEventListener("click", () => (byId("main").scrollIntoView(), byId("main").focus()));
  byId("show-keys").addEventListener("click", () => byId("keys").showModal());
  for (const code of document.querySelectorAll(".command code")) code.parentElement.append(copyButton(code));
  for (const link of document.querySelectorAll(".skip")) link.addEventListener("click", (event) => skipTo(link, event));
}

/** Move the focus without the fragment, which is the view state. */
function skipTo(link, event) {
  event.preventDefault();
  byId(link.hash.slice(1)).focus();
}

window.webeval = Object.freeze({ task: receiveTask, events: receiveEvents, rows: receiveRows });

if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", startPage);
else startPage();
