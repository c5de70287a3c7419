// The colours of the page: the system's, light or dark. The browser remembers the choice where it allows that.

import { byId } from "./elements.js";

const STORAGE_KEY = "pytest-webeval-theme";
const THEMES = ["light", "dark"]; // anything else is the system's

/** Use the remembered theme, and let the reader choose another. */
export function startTheme() {
  const select = byId("theme");
  select.parentElement.hidden = false;
  select.value = knownTheme(recallTheme());
  applyTheme(select.value);
  select.addEventListener("change", () => {
    applyTheme(select.value);
    rememberTheme(select.value);
  });
}

/** The theme if the page has it, else "" for that of the system. */
export const knownTheme = (theme) => (THEMES.includes(theme) ? theme : "");

/** Colour the page. The pages without a script take the theme from the fragment of the links to them. */
function applyTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
  else delete document.documentElement.dataset.theme;
  for (const link of document.querySelectorAll("a.static")) link.hash = theme && `theme-${theme}`;
}

function recallTheme() {
  try {
    return localStorage.getItem(STORAGE_KEY);
  } catch { // a browser may forbid to remember anything
    return null;
  }
}

function rememberTheme(theme) {
  try {
    if (theme) localStorage.setItem(STORAGE_KEY, theme);
    else localStorage.removeItem(STORAGE_KEY);
  } catch { // then it lasts as long as the page is open
  }
}
