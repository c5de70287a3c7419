"""A task is copied as Markdown, in which no text of a recording is a link, a picture, HTML or a mention."""

# ruff: noqa: E501, RUF001  (rows of data and texts read best in one line)

from __future__ import annotations

import json
import re

import pytest

from tests.browser import pages
from tests.browser.conftest import PHONE
from tests.browser.test_untrusted_texts import TEXTS, poisoned_task

pytestmark = pytest.mark.browser
COPIES = "navigator.clipboard.writeText = async (text) => { window.copied = text; }"
REFUSES = "Object.defineProperty(Navigator.prototype, 'clipboard', {value: undefined})"
MARKDOWN_TEXTS = {
    "link": "[x](javascript:alert(1)) <http://example.invalid> www.example.invalid http://example.invalid a@example.invalid",
    "picture": "![x](http://example.invalid/x.png)",
    "mention": "@admin @org/team #1 !2 ~label %3 $4 &5 GH-6",
    "fence": "```\n```\n~~~\n" + "`" * 60 + "\n# head\n",
    "table": "a | b |\n|---|---|\n| c \\| d \\\\| e",
    "code": "`a` ``b`` </code><code> \\</code>",
    "html": "<details open><summary>x</summary><img src=http://example.invalid/x></details><!-- x",
    "entities": "&#64;admin &lt;b&gt; &commat;admin",
    "blocks": "# h\n\n> q\n\n- [ ] x\n\n1. y\n\n    code\n\n---\r\n\r[a]: http://example.invalid\n\n[a]",
    "math": "$`x`$ $$x$$ ^[note] {{toc}} :smile:",
}
PLAIN = r"`(?![^`\n]*(?:://|(?i:www)\.))[\w .,:;\-/()\[\]{}'\"=+?$%^…“”‘’–—→]+`"
ESCAPED = r"<code>(?:[^&<>`*_\[\]!|~:@#\\$.{}^\"'%\n]|&#(?!64;|35;)\d+;|&#(?:64|35);<!-- -->)+</code>"
CODE = f"(?:{PLAIN}|{ESCAPED}|–)"
LINES = (
    f"### {CODE}: {CODE}",
    CODE,
    rf"\*\*(?:Intent|Answer|Score it again):\*\*(?: {CODE})?",
    rf"\*\*{CODE}:\*\* {CODE}",
    rf"\*\*Request {CODE} of {CODE}:\*\* {CODE}(?: → {CODE})?",
    r"\| Field \| Difference \| Expected \| Actual \|",
    r"\| --- \| --- \| --- \| --- \|",
    rf"\| {CODE} \| {CODE} \| {CODE} \| {CODE} \|",
    rf"- {CODE}(?: {CODE})*",
    r"… and [\d,]+ more",
    "",
)
LINE = re.compile("|".join(f"(?:{line})" for line in LINES))


def list_other_lines(markdown):
    """The lines outside of fenced blocks that are not of the forms above. A fence that is never closed is one."""
    others, fence = [], None
    for line in markdown.split("\n"):
        if fence is not None:
            fence = None if re.fullmatch(rf" {{0,3}}`{{{len(fence)},}}\s*", line) else fence
        elif match := re.fullmatch(r"(`{3,})(?:sh)?", line):
            fence = match[1]
        elif not LINE.fullmatch(line):
            others.append(line)
    return [*others, *([fence] if fence else [])]


@pytest.mark.parametrize("name", [*TEXTS, *MARKDOWN_TEXTS])
def test_every_line_has_a_form_of_ours_whatever_the_texts_are(evaluate, name):
    text = {**TEXTS, **MARKDOWN_TEXTS}[name][:50_000]
    task = poisoned_task(text) | {"rubric": None}
    task["commands"].append({"label": "score this run again", "command": text})
    task["evaluators"].append({"name": text, "status": text, "assertions": [{"name": text, "messages": [text, text]}]})
    task["evaluators"].append({"name": text, "status": text, "error": text})
    markdown = evaluate(f"taskMarkdown(JSON.parse({json.dumps(json.dumps(task))}))")
    assert list_other_lines(markdown) == []
    assert len(markdown) < 60_000  # what trackers take
    assert markdown.count("<code>") + markdown.count("`") // 2 > 20


@pytest.mark.parametrize("value", [7, None, ["x"], {"a": {"b": 1}}, True])
def test_data_of_any_type_are_texts(evaluate, value):
    fields = ("run", "status", "sentence", "intent", "answer", "reason", "evaluators", "commands")
    markdown = evaluate(f"taskMarkdown({json.dumps(dict.fromkeys(fields, value))})")
    assert list_other_lines(markdown) == []


def test_the_lines_of_a_broken_page_would_be_seen():
    assert list_other_lines("### `a`: <code>b</code>\n@admin\n```\n") == ["@admin", "```"]
    assert list_other_lines("`@admin`\n`http://x.invalid`\n- `a`b`") == ["`@admin`", "`http://x.invalid`", "- `a`b`"]
    assert list_other_lines("<code>&#64;admin</code>\n````\n```\n````") == ["<code>&#64;admin</code>"]


def test_a_button_copies_the_task(opened, small):
    page = opened(small, before=COPIES).go("#task=3").page
    page.click("text=Copy as Markdown")
    page.wait_for_selector("text=Copied")
    copied = page.evaluate("window.copied")
    assert list_other_lines(copied) == []
    for part in ("### `runs/00003`: `failure`", 'lacks "$8.00"', "**Intent:** `Post in the forum",
                 'retrieved_data: ["$34.90","$12.50"]', "| `retrieved_data[2]` | `missing` | `$8.00` | – |",
                 "**Request `118` of `240`:** "):  # fmt: skip
        assert part in copied


def test_the_key_m_copies_the_open_task_and_nothing_on_the_first_page(opened, small):
    report = opened(small, before=COPIES).go().pressed("m")
    assert report.page.evaluate("window.copied ?? null") is None
    report.go("#task=3").pressed("m").page.wait_for_selector("text=Copied")
    assert "runs/00003" in report.page.evaluate("window.copied")
    report.pressed("j").page.wait_for_selector("text=Copy as Markdown")
    report.pressed("m").until("window.copied.includes('runs/00006')")


@pytest.mark.parametrize("viewport", [None, PHONE])
def test_without_a_clipboard_the_text_is_selected(opened, small, viewport):
    page = opened(small, before=REFUSES, **({"viewport": viewport} if viewport else {})).go("#task=3").page
    for _ in range(2):
        page.get_by_role("button", name="Markdown").or_(page.get_by_text("Ctrl+C")).first.click()
        page.wait_for_selector("text=Selected: press Ctrl+C to copy")
    assert page.evaluate("getSelection().toString()").startswith("### `runs/00003`: `failure`")
    assert page.locator("[aria-label='The task as Markdown']").count() == 1


def test_the_command_that_is_copied_scores_the_run_again(evaluate):
    commands = [
        {"label": "open the trace", "command": "npx x"},
        {"label": "score this run again", "command": "pytest -k '[3]'"},
    ]
    markdown = evaluate(f"taskMarkdown({json.dumps(pages.task(3, commands=commands))})")
    assert markdown.endswith("**Score it again:**\n\n```sh\npytest -k '[3]'\n```\n")
