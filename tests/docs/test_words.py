"""The README, the manual and SECURITY.md use plain words: none that has another meaning in this project's past."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MANUAL = [path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts]
PAGES = [ROOT / "README.md", ROOT / "SECURITY.md", *sorted(MANUAL)]
CODE = re.compile(r"```.*?```|`[^`\n]+`", re.DOTALL)
REFUSED = re.compile(
    r"\b(told|found|odd|oddity|beside|aside|elsewhere|strangers?|mend(?:ed)?|spared|bare|whole|"
    r"what became of|looked (?:at|into)|in no (?:mean|count)|is none)\b",
    re.IGNORECASE,
)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_a_page_uses_no_refused_word(page):
    prose = CODE.sub("", page.read_text("utf-8"))
    assert not REFUSED.findall(prose)
