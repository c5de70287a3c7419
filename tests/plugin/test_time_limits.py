"""A run that takes too long is an error, and the session goes on."""

from __future__ import annotations

import pytest

STUCK = """
    import time, pytest
    import pytest_webeval as webeval

    class Stuck(webeval.ResponseEvaluator):
        def evaluate(self, expectation, case):
            while case.run.task_id == 108:
                try:
                    time.sleep(60) if {asleep} else sum(range(10**6))
                except Exception:
                    pass
            return super().evaluate(expectation, case)

    @pytest.fixture
    def webeval_response(webeval_response):
        return webeval_response.using(Stuck())
    """
TOLD = "scoring timed out after 0.3 s; inspect the run or raise --webeval-timeout"


@pytest.mark.parametrize("asleep", [True, False])
@pytest.mark.parametrize("options", [[], pytest.param(["-n2"], marks=pytest.mark.whole)])
def test_a_stuck_task_is_an_error_and_the_others_go_on(runs, webeval_apart, pytester, asleep, options):
    for number in (107, 108, 109):
        runs.add(number, passes=number != 109)
    pytester.makeconftest(STUCK.format(asleep=asleep))
    result = webeval_apart("--webeval-timeout=0.3", *options)
    assert runs.counts == (1, 1, 1)
    assert (runs.result(108)["status"], runs.result(108)["error_msg"]) == ("error", TOLD)
    result.stdout.fnmatch_lines([f"*{TOLD}*"])
    result.assert_outcomes(passed=1, failed=2)


def test_a_recording_that_is_stuck_while_it_is_read_is_an_error(runs, webeval, pytester):
    runs.add(107)
    runs.add(108)
    pytester.makeconftest(
        """
        import time, pytest
        from pytest_webeval.recordings.webarena_verified import WebArenaVerified

        class Slow(WebArenaVerified):
            def load(self, path, label, rules):
                run = super().load(path, label, rules)
                if path.name == "108":
                    object.__setattr__(run, "load_trace", lambda inputs: time.sleep(60))
                return run

        def pytest_webeval_recognize(path, config):
            return Slow() if path.name in ("107", "108") else None
        """
    )
    webeval("--webeval-timeout=0.3").assert_outcomes(passed=1, errors=1)
    assert runs.result(108)["error_msg"] == TOLD


def test_a_python_test_that_is_stuck_ends_as_well_and_its_run_is_scored(runs, webeval, pytester):
    runs.add(107)
    pytester.makepyfile(
        test_stuck="""
        import time
        def test_stuck(webeval_response):
            webeval_response.check()
            time.sleep(60)
        """
    )
    webeval("--webeval-timeout=0.3", "test_stuck.py", "runs").assert_outcomes(passed=1, failed=1)
    assert runs.result(107)["status"] == "success"


def test_a_run_that_nobody_can_describe_in_time_is_told_all_the_same(runs, webeval, pytester):
    runs.add(107)
    runs.add(108)
    pytester.makeconftest(
        """
        import time, pytest
        import pytest_webeval as webeval
        from pytest_webeval.recordings.webarena_verified import WebArenaVerified

        class Told(webeval.Run):
            def describe(self, task):
                time.sleep(60 if self.task_id == 108 else 0)
                return {}

        class Slow(WebArenaVerified):
            def load(self, path, label, rules):
                run = super().load(path, label, rules)
                return Told(**{name: getattr(run, name) for name in run.__dataclass_fields__})

        def pytest_webeval_recognize(path, config):
            return Slow() if path.name in ("107", "108") else None
        """
    )
    webeval("--webeval-timeout=0.3").assert_outcomes(passed=1, failed=1)
    assert runs.result(108)["error_msg"] == TOLD


@pytest.mark.thinned(every=5)
@pytest.mark.parametrize("given", ["soon", "-1", "inf", "1e10", "nan"])
def test_a_time_that_is_none_is_a_usage_error(runs, webeval, given):
    runs.add(107)
    result = webeval(f"--webeval-timeout={given}")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    wanted = "use a number of seconds, e.g. 120 (0 for no limit)"
    result.stderr.fnmatch_lines([f"ERROR: invalid --webeval-timeout '{given}'; {wanted}"])


@pytest.mark.parametrize("options", [["--webeval-timeout=0"], ["--pdb"]])
def test_without_a_limit_a_task_takes_its_time(runs, webeval, pytester, options):
    runs.add(107)
    pytester.makeini("[pytest]\nwebeval_timeout = 0.2")
    pytester.makeconftest(
        """
        import time, pytest
        @pytest.fixture
        def webeval_response(webeval_response):
            class Slow(type(webeval_response.evaluator)):
                def evaluate(self, expectation, case):
                    time.sleep(0.5)
                    return super().evaluate(expectation, case)
            return webeval_response.using(Slow())
        """
    )
    webeval().assert_outcomes(failed=1)
    webeval(*options).assert_outcomes(passed=1)


def test_limits_come_from_the_ini_file_and_stand_in_the_result(runs, webeval, pytester):
    runs.add(107)
    runs.add(108)
    (runs.root / "108" / "agent_response.json").write_text(" " * 3000)
    pytester.makeini("[pytest]\nwebeval_limits =\n    file_size = 2 KiB\n    nesting = 100")
    webeval().assert_outcomes(passed=1, errors=1)
    assert runs.result(107)["webeval"]["limits"] == {"file_size": 2048, "nesting": 100}
    assert runs.result(108)["error_msg"].endswith(
        "has 3,000 bytes; the limit is 2,048; see file_size in webeval_limits"
    )


def test_a_limit_that_is_none_is_a_usage_error(runs, webeval, pytester):
    runs.add(107)
    pytester.makeini("[pytest]\nwebeval_limits = size = 5")
    result = webeval()
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*webeval_limits: unknown limit 'size'; use one of file_size, answer_size, *"])
