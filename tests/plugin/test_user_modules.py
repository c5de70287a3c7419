"""Which modules of users count as what decides a verdict."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import pytest

import pytest_webeval
from pytest_webeval.evaluators.response import ResponseEvaluator
from pytest_webeval.sessions.runs import user_modules
from pytest_webeval.sessions.runs.fingerprints import UNKNOWN, describe_evaluators
from pytest_webeval.sessions.runs.user_modules import checksum_modules
from pytest_webeval.tasks.sites import Environment, Sites
from tests.support import made_records

OURS = Path(pytest_webeval.__file__).parent
MODULES = {
    "user_top": "import json\nimport user_used\nfrom user_named import thing\ndef function(): pass\nclass Kind: pass\n",
    "user_used": "import user_deep\n",
    "user_named": "def thing(): pass\n",
    "user_deep": "import user_top\nNUMBER = 1\n",  # in a circle
    "user_other": "",
}


@pytest.fixture
def load(tmp_path, monkeypatch):
    """Writes the modules, with other texts for some, and loads the top one afresh."""
    monkeypatch.syspath_prepend(str(tmp_path))

    def write_and_load(**changed):
        for name, text in (MODULES | changed).items():
            (tmp_path / f"{name}.py").write_text(text)
            monkeypatch.delitem(importlib.sys.modules, name, raising=False)
        importlib.invalidate_caches()
        return importlib.import_module("user_top")

    yield write_and_load
    for name in MODULES:
        importlib.sys.modules.pop(name, None)


@pytest.mark.parametrize("attribute", ["function", "Kind"])
@pytest.mark.parametrize(
    ("name", "decides"),
    [("user_top", True), ("user_used", True), ("user_named", True), ("user_deep", True), ("user_other", False)],
)
def test_a_module_counts_if_it_is_used_directly_or_not(load, name, decides, attribute):
    before = checksum_modules([getattr(load(), attribute)])
    after = checksum_modules([getattr(load(**{name: f"{MODULES[name]}# changed\n"}), attribute)])
    assert (before != after, before != "") == (decides, True)


def test_modules_of_pytest_and_ours_do_not_count():
    assert checksum_modules([pytest.fixture, pytest.Function, ResponseEvaluator, len]) == ""


def test_a_module_next_to_our_package_is_one_of_a_user():
    assert Path(made_records.__file__).is_relative_to(OURS.parent)
    assert checksum_modules([made_records.make_records]) != ""


def test_an_installed_module_counts_alone():
    hypothesis = importlib.import_module("hypothesis.core")
    assert checksum_modules([hypothesis.given]) != ""
    assert checksum_modules([json.loads]) == checksum_modules([json.loads, json.loads]) != ""


@pytest.mark.parametrize("place", ["site-packages", "dist-packages", "standard"])
@pytest.mark.parametrize("function", ["installed", "local"])
def test_what_an_installed_module_uses_does_not_count(load, tmp_path, monkeypatch, place, function):
    monkeypatch.setattr(user_modules, "_STANDARD", str(tmp_path / "standard"))
    (tmp_path / place).mkdir()
    monkeypatch.syspath_prepend(str(tmp_path / place))
    (tmp_path / place / "user_installed.py").write_text("import user_other\ndef installed(): pass\n")
    top = "from user_installed import installed\ndef local(): pass\n"

    def checksum(**changed):
        monkeypatch.delitem(importlib.sys.modules, "user_installed", raising=False)
        return checksum_modules([getattr(load(user_top=top, **changed), function)])

    before = checksum()
    assert checksum(user_other="# changed\n") == before
    (tmp_path / place / "user_installed.py").write_text("import user_other\ndef installed(): return 1\n")
    assert (checksum() != before) == (function == "installed")
    importlib.sys.modules.pop("user_installed")


def test_the_order_of_functions_does_not_matter(load):
    module = load()
    functions = [module.function, module.thing]
    assert checksum_modules(functions) == checksum_modules(functions[::-1])


def test_a_package_whose_name_begins_like_ours_is_one_of_a_user(load, tmp_path, monkeypatch):
    ours = tmp_path / "ours"
    monkeypatch.setattr(user_modules, "_OURS", user_modules._OURS.replace(str(OURS), str(ours)))
    (tmp_path / "ours_of_a_user").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path / "ours_of_a_user"))
    (tmp_path / "ours_of_a_user" / "user_beginning.py").write_text("def function(): pass\n")
    module = importlib.import_module("user_beginning")
    importlib.sys.modules.pop("user_beginning")
    assert checksum_modules([module.function]) != ""


def test_a_module_that_is_gone_counts_by_its_name_alone(load, tmp_path):
    module = load()
    (tmp_path / "user_named.py").unlink()
    assert checksum_modules([module.function]) != ""


class Slotted(ResponseEvaluator):
    __slots__ = ("level",)

    def __init__(self, level):
        object.__setattr__(self, "level", level)


def test_the_state_of_evaluators_is_that_of_their_fields():
    first, second = describe_evaluators([Slotted(1)], None), describe_evaluators([Slotted(2)], None)
    assert first != second
    assert first == describe_evaluators([Slotted(1), ResponseEvaluator()], None)
    assert describe_evaluators([ResponseEvaluator()], None) == ""
    assert describe_evaluators([Slotted(object())], None) == UNKNOWN


class MoreSlotted(Slotted):
    __slots__ = ("more",)


class AlsoSlotted(Slotted):
    __slots__ = ()


class Free(ResponseEvaluator):
    def __init__(self, level):
        object.__setattr__(self, "level", level)


@pytest.mark.parametrize(
    ("first", "second"),
    [(MoreSlotted(1), MoreSlotted(2)), (Free(1), Free(2)), (Slotted(1), AlsoSlotted(1))],
    ids=["inherited slot", "field", "class"],
)
def test_inherited_fields_and_the_class_are_a_part_of_the_state(first, second):
    assert describe_evaluators([first], None) != describe_evaluators([second], None)


def test_sites_of_a_fixture_are_a_part_of_the_state():
    sites = [Sites({"shopping": Environment((f"http://{name}.test",))}) for name in ("a", "b")]
    states = {describe_evaluators([], each) for each in sites}
    assert len(states) == 2
    assert "" not in states
