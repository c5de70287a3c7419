"""Texts of the option and their executors."""

from __future__ import annotations

import importlib.util

import pytest

from pytest_webeval.errors import SettingsError
from pytest_webeval.executors import choice
from pytest_webeval.executors.choice import choose_executor
from pytest_webeval.executors.dask_executor import DaskExecutor, LocalDaskExecutor
from pytest_webeval.executors.processes import ProcessExecutor
from tests.support.batch_functions import name_version

PRELOADED = ("json",)


@pytest.fixture(autouse=True)
def _three_processors(monkeypatch):
    monkeypatch.setattr(choice, "count_processors", lambda: 3)


def describe(executor):
    """Its kind and what it was made of."""
    settings = {name: value for name, value in vars(executor).items() if not name.startswith("_")}
    return type(executor), settings


@pytest.mark.parametrize(
    ("text", "executor"),
    [
        ("process", ProcessExecutor(3, PRELOADED)),
        ("process:1", ProcessExecutor(1, PRELOADED)),
        ("process:64", ProcessExecutor(64, PRELOADED)),
        ("local:2", LocalDaskExecutor(2, name_version)),
        ("dask://cluster.example:8786", DaskExecutor("tcp://cluster.example:8786", name_version)),
        ("dask://[::1]:8786", DaskExecutor("tcp://[::1]:8786", name_version)),
        ("tls://10.0.0.1:8786", DaskExecutor("tls://10.0.0.1:8786", name_version)),
        ("dask:/shared/a b.json", DaskExecutor("", name_version, scheduler_file="/shared/a b.json")),
    ],
)
def test_a_text_names_an_executor(text, executor, monkeypatch):
    monkeypatch.setattr(choice, "find_spec", str)  # as if Dask was installed
    assert describe(choose_executor(text, name_version, PRELOADED)) == describe(executor)


@pytest.mark.parametrize(
    "text",
    [
        *("", "x", "process:", "process:0", "process:-1", "process:10000", "process:2 ", "local", "local:0", "local:x"),
        *("dask", "dask://", "dask://host", "dask://host:port", "dask://a/b:1", "tcp://host:1", "dask:file", "Process"),
    ],
)
def test_another_text_is_refused(text):
    with pytest.raises(SettingsError) as caught:
        choose_executor(text, name_version, PRELOADED)
    assert str(caught.value) == (
        f"invalid executor '{text.strip()}'; use process, process:N, local:N or dask://HOST:PORT"
    )


@pytest.mark.parametrize("text", ["local:2", "dask://host:1", "tls://host:1", "dask:file.json"])
def test_a_missing_library_is_named_with_its_extra(text, monkeypatch):
    monkeypatch.setattr(choice, "find_spec", lambda name: importlib.util.find_spec(f"absent_{name}"))
    with pytest.raises(SettingsError) as caught:
        choose_executor(text, name_version, PRELOADED)
    assert str(caught.value) == f"executor '{text}' requires dask.distributed; install pytest-webeval[dask]"
    assert describe(choose_executor("process:1", name_version, PRELOADED)) == describe(ProcessExecutor(1, PRELOADED))
