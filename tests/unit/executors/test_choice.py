"""Texts of the option and their engines."""

from __future__ import annotations

import importlib.util

import pytest

from pytest_webeval.errors import SettingsError
from pytest_webeval.executors import choice
from pytest_webeval.executors.choice import Machine, choose_engine
from pytest_webeval.executors.dask_engine import DaskEngine, LocalDaskEngine
from pytest_webeval.executors.processes import ProcessEngine
from tests.support.batch_functions import name_version

MACHINE = Machine(3, name_version, ("json",))


@pytest.mark.parametrize(
    ("text", "engine"),
    [
        ("process", ProcessEngine(3, ("json",))),
        ("process:1", ProcessEngine(1, ("json",))),
        ("process:64", ProcessEngine(64, ("json",))),
        ("local:2", LocalDaskEngine(2, name_version)),
        ("dask://cluster.example:8786", DaskEngine("tcp://cluster.example:8786", name_version)),
        ("dask://[::1]:8786", DaskEngine("tcp://[::1]:8786", name_version)),
        ("tls://10.0.0.1:8786", DaskEngine("tls://10.0.0.1:8786", name_version)),
        ("dask:/shared/a b.json", DaskEngine("", name_version, scheduler_file="/shared/a b.json")),
    ],
)
def test_a_text_names_an_engine(text, engine, monkeypatch):
    monkeypatch.setattr(choice, "find_spec", str)  # as if Dask was installed
    assert choose_engine(text, MACHINE) == engine


@pytest.mark.parametrize(
    "text",
    [
        *("", "x", "process:", "process:0", "process:-1", "process:10000", "process:2 ", "local", "local:0", "local:x"),
        *("dask", "dask://", "dask://host", "dask://host:port", "dask://a/b:1", "tcp://host:1", "dask:file", "Process"),
    ],
)
def test_another_text_is_refused(text):
    with pytest.raises(SettingsError) as caught:
        choose_engine(text, MACHINE)
    assert str(caught.value) == (
        f"invalid executor '{text.strip()}'; use process, process:N, local:N or dask://HOST:PORT"
    )


@pytest.mark.parametrize("text", ["local:2", "dask://host:1", "tls://host:1", "dask:file.json"])
def test_a_missing_library_is_named_with_its_extra(text, monkeypatch):
    monkeypatch.setattr(choice, "find_spec", lambda name: importlib.util.find_spec(f"absent_{name}"))
    with pytest.raises(SettingsError) as caught:
        choose_engine(text, MACHINE)
    assert str(caught.value) == f"executor '{text}' requires dask.distributed; install pytest-webeval[dask]"
    assert choose_engine("process:1", MACHINE) == ProcessEngine(1, ("json",))
