"""What a run holds in memory, and that it frees it."""

from __future__ import annotations

from functools import cached_property

from pytest_webeval.api import load_run
from pytest_webeval.recordings.run import Run


def test_a_run_that_is_released_is_read_again(bench):
    run = load_run(bench.record(events=[{"url": "http://shop.test/a"}]))
    assert not run.is_trace_loaded
    trace, response = run.trace, run.response
    assert (run.trace, run.response) == (trace, response)
    assert run.is_trace_loaded
    run.release()
    assert not run.is_trace_loaded
    bench.record("another", events=[{"url": "http://shop.test/b"}, {"url": "http://shop.test/c"}])
    assert (run.response, len(run.trace.events), len(trace.events)) == (b"another", 2, 1)


def test_what_a_format_of_a_users_caches_is_released_and_its_fields_are_not(bench):
    class Recorded(Run):
        @cached_property
        def pages(self):
            return object()

    loaded = load_run(bench.record())
    run = Recorded(**{name: getattr(loaded, name) for name in Run.__dataclass_fields__})
    first = run.pages
    assert run.pages is first
    run.release()
    assert run.pages is not first
    assert (run.path, run.load_trace) == (loaded.path, loaded.load_trace)
