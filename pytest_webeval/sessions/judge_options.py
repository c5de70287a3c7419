"""The rows of the option table that are about judges: which model is asked, how, and what it may cost."""

from __future__ import annotations

from pytest_webeval.sessions.option import Option

# `affects_results=False`: `Fingerprints` knows that only runs which a judge decides depend on them.
JUDGE_OPTIONS: tuple[Option, ...] = (
    Option(
        "judge",
        "let MODEL judge trajectories without a verdict (see --webeval-judge-mode)",
        "MODEL",
        "text",
        in_rerun=True,
        affects_results=False,
    ),
    Option(
        "judge_method",
        "judge by rubric (default), rubric-pipeline, webjudge or webvoyager",
        "NAME",
        "word",
        choices=("rubric", "rubric-pipeline", "webjudge", "webvoyager"),
        in_rerun=True,
        affects_results=False,
    ),
    Option(
        "judge_mode",
        "use remembered replies only (cached), ask a server too (live), or ask nobody",
        "MODE",
        "word",
        choices=("cached", "live", "off"),
        in_rerun=True,
        affects_results=False,
    ),
    Option(
        "judge_replies",
        "remember replies of judges in DIR (default: judge_replies in the rootdir)",
        "DIR",
        "directory",
        in_rerun=True,
        affects_results=False,
    ),
    Option(
        "judge_url",
        "ask the OpenAI-compatible server at URL (default: $OPENAI_BASE_URL, or OpenAI)",
        "URL",
        "text",
        in_rerun=True,
        affects_results=False,
    ),
    Option(
        "judge_text_model",
        "let MODEL answer the questions without pictures (default: the judge)",
        "MODEL",
        "text",
        in_rerun=True,
        affects_results=False,
    ),
    Option(
        "judge_votes",
        "ask the deciding question N times: 1, 3, 5, ... (default: 1)",
        "N",
        "votes",
        in_rerun=True,
        affects_results=False,
    ),
    Option(
        "judge_max_usd",
        "spend at most AMOUNT on replies in this session, e.g. 2.50",
        "AMOUNT",
        "amount",
        in_rerun=True,
        affects_results=False,
    ),
    Option(
        "judge_prices",
        "read prices of models from FILE (TOML), before those that are built in",
        "FILE",
        "file",
        in_rerun=True,
        affects_results=False,
    ),
    Option(
        "judge_concurrency",
        "send at most N requests at a time, divided among processes (default: 8)",
        "N",
        "concurrency",
        affects_results=False,
    ),
    Option(
        "judge_again",
        "judge trajectories with a verdict too, and write score files as webeval does",
        in_rerun=True,
        affects_results=False,
    ),
    Option(
        "judge_requests",
        "let the judge propose patterns where a request came near the expected one",
        in_rerun=True,
        affects_results=False,
    ),
    Option(
        "judge_certificate",
        "show how far the judge agrees with people, from the file of calibrate",
        "FILE",
        "file",
        in_rerun=True,
        affects_results=False,
    ),
)
