"""Who judges the runs of a session without a verdict: the judge of the options, or that of a user's fixture."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING
from typing import Any

from msgspec import Struct
from msgspec import field
from msgspec import structs

from pytest_webeval.errors import RecordingError
from pytest_webeval.errors import SettingsError
from pytest_webeval.judges.calls import Judge
from pytest_webeval.judges.certificates import Certificate
from pytest_webeval.judges.certificates import read_certificate
from pytest_webeval.judges.judging import Judging
from pytest_webeval.judges.methods import load_method
from pytest_webeval.judges.prices import PriceTable
from pytest_webeval.judges.prices import load_prices
from pytest_webeval.judges.questions import Role
from pytest_webeval.judges.remembering import MemoryJudge
from pytest_webeval.judges.remembering import RememberingJudge
from pytest_webeval.judges.reply_store import ReplyStore
from pytest_webeval.judges.spending import SpendingLimit
from pytest_webeval.judges.verdicts import JudgeSettings
from pytest_webeval.plugin.snapshots import SNAPSHOTS
from pytest_webeval.recordings.run import Run
from pytest_webeval.recordings.trajectory.files import MAX_FILE_BYTES
from pytest_webeval.recordings.trajectory.layout import SCORES
from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.redaction.redactor import Redactor
from pytest_webeval.redaction.session import Redacting
from pytest_webeval.results import Summary
from pytest_webeval.rubrics.verdict import DEFAULT_THRESHOLD
from pytest_webeval.safety.files import exists_no_follow
from pytest_webeval.safety.files import read_file_inside
from pytest_webeval.safety.json import list_texts
from pytest_webeval.safety.json import replace_texts
from pytest_webeval.safety.text import to_line
from pytest_webeval.storage import to_json_bytes
from pytest_webeval.storage import write_bytes

if TYPE_CHECKING:
    import pytest

    from pytest_webeval.plugin.settings import Settings

REPLIES = "judge_replies"  # the directory in the rootdir
LEDGER = "judge_spending"  # the name of the file
CACHED, LIVE, OFF = "cached", "live", "off"
LONGEST_MODEL = 200  # characters of a name
_LONGEST_NAME = 80
_CHOOSE_OUTPUT = "choose another directory with --webeval-output"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


class SessionJudges(Struct, frozen=True, eq=False, dict=True):
    """One per process. A session has one judge, unless users give several directories judges of their own."""

    config: pytest.Config
    settings: Settings
    prices: PriceTable
    _by_judge: dict[int, tuple[Judge, Judging]] = field(default_factory=dict)

    @classmethod
    def of(cls, config: pytest.Config, settings: Settings) -> SessionJudges:
        """Read the prices. Raises `SettingsError`."""
        return cls(config, settings, load_prices(settings.judge_prices))

    def build_judge(self) -> Judge | None:
        """The judge that the options name, or None. Raises `SettingsError` where it cannot be asked."""
        model, mode = self.settings.judge, self.settings.judge_mode
        if model is None or mode == OFF:
            return None
        if mode == CACHED:
            if self.settings.judge_replies is not None and not self.replies.is_dir():
                problem = f"--webeval-judge-replies: directory not found: {self.replies}"
                raise SettingsError(f"{problem}; check the path, or ask with --webeval-judge-mode=live")
            return MemoryJudge(model, ReplyStore(self.replies))
        for name in (model, self.settings.judge_text_model or model):
            if self.settings.judge_max_usd is not None and self.prices.find(name) is None:
                problem = (
                    f"no price for model '{to_line(name, _LONGEST_NAME)}', so --webeval-judge-max-usd cannot be kept"
                )
                raise SettingsError(f"{problem}; add it to a file for --webeval-judge-prices")
        from pytest_webeval.judges.openai_judge import OpenAIJudge  # a user may have another one

        return OpenAIJudge(model, base_url=self.settings.judge_url)

    @cached_property
    def certificate(self) -> Certificate | None:
        """How far people agree with the judge, if the options name a file. Raises `SettingsError`."""
        path = self.settings.judge_certificate
        return None if path is None else read_certificate(path)

    def add_certificate(self, summary: Summary) -> Summary:
        """The summary with what the certificate says of its judges."""
        if self.certificate is None:
            return summary
        from pytest_webeval.summary.judge_certificate import describe_certificate  # only where summaries are made

        judging = summary.webeval["judging"]
        described = judging | {"certificate": describe_certificate(self.certificate, judging)}
        return summary.with_changes(webeval=summary.webeval | {"judging": described})

    def close(self) -> None:
        """Close the connections of judges."""
        for judge, _ in self._by_judge.values():
            if callable(close := getattr(judge, "close", None)):
                close()

    def judging(self, judge: Judge | None) -> Judging | None:
        """How a judge judges runs; None without one, or if the session asks nobody."""
        if judge is None or self.settings.judge_mode == OFF:
            return None
        model = getattr(judge, "model", None)
        if not (isinstance(model, str) and 0 < len(model) <= LONGEST_MODEL):
            problem = f"invalid model of the judge that webeval_judge returns: {to_line(repr(model), _LONGEST_NAME)}"
            raise SettingsError(
                f"{problem}; give it a name of at most {LONGEST_MODEL} characters, as in model = 'my-judge-1'"
            )
        if id(judge) not in self._by_judge:
            self._by_judge[id(judge)] = judge, self._build(judge)
        return self._by_judge[id(judge)][1]

    def _build(self, judge: Judge) -> Judging:
        settings, store = self.settings, ReplyStore(self.replies)
        threshold = DEFAULT_THRESHOLD if settings.rubric_threshold is None else settings.rubric_threshold
        is_live = settings.judge_mode == LIVE
        asked = RememberingJudge(judge, store, self._limit) if is_live else MemoryJudge(judge.model, store)
        return Judging(
            answer=asked.answer,
            models={Role.VISION: judge.model, Role.TEXT: settings.judge_text_model or judge.model},
            method=load_method(settings.judge_method),
            settings=JudgeSettings(votes=settings.judge_votes, threshold=threshold),
            redact=Redactor(RedactionPolicy() if settings.redaction.is_off else settings.redaction).texts,
            find_cost=self.prices.cost,
            concurrency=max(1, settings.judge_concurrency // self._process_count),
            is_again=settings.judge_again,
            proposes_patterns=settings.judge_requests,
        )

    @property
    def replies(self) -> Path:
        """The directory of remembered replies."""
        return self.settings.judge_replies or self.config.rootpath / REPLIES

    @property
    def _process_count(self) -> int:
        """How many processes of the session ask."""
        return int(getattr(self.config, "workerinput", {}).get("workercount", 1))

    @cached_property
    def _limit(self) -> SpendingLimit | None:
        """What all processes may spend together. They note it in a file of the session's own directory."""
        if self.settings.judge_max_usd is None:
            return None
        if SNAPSHOTS in self.config.stash:
            place = self.config.stash[SNAPSHOTS].place
        else:
            directory = TemporaryDirectory(prefix="pytest-webeval-", ignore_cleanup_errors=True)
            self.config.add_cleanup(directory.cleanup)
            place = Path(directory.name)
        return SpendingLimit(self.settings.judge_max_usd, place / LEDGER, self.prices)


def write_score_file(run: Run, judging: Judging, directory: Path, redacting: Redacting) -> None:
    """Write the verdict of a judge as its benchmark does, into `scores/` of a directory. Raises `SettingsError`.

    What is there stays: beside another score file, the name says by which judge it is. Secrets that a judge quotes are
    redacted outside of the run directory, as in results.
    """
    live = judging.find_latest(run)
    if live is None:
        return
    place = directory / SCORES
    if place.is_symlink():
        raise SettingsError(f"{place} is a link, and nothing is written through it; {_CHOOSE_OUTPUT}")
    verdict = live.verdict
    if redacting.is_leaving:
        verdict = structs.replace(verdict, response=_redact(verdict.response, redacting))
    content = to_json_bytes(verdict.to_score_file())
    name = _choose_name(place, verdict.file_name, content, live.facts)
    if exists_no_follow(place / name):
        if _read(place, name) != content:
            raise SettingsError(f"{place / name} holds another verdict; {_CHOOSE_OUTPUT}")
        return
    write_bytes(place / name, content, _CHOOSE_OUTPUT)


def _redact(response: str | Mapping[str, Any], redacting: Redacting) -> str | Mapping[str, Any]:
    redactor = Redactor(redacting.policy)
    if isinstance(response, str):
        return redactor.text(response)
    replaced: Mapping[str, Any] = replace_texts(response, iter(redactor.texts(list_texts(response))))
    return replaced


def _choose_name(place: Path, name: str, content: bytes, facts: Mapping[str, Any]) -> str:
    """The name of the benchmark; with other score files in the directory, one that names method and model as well."""
    names: list[str] = []
    with suppress(OSError):
        names = [entry.name for entry in place.iterdir() if entry.name.endswith(".json")]
    if not names or (names == [name] and _read(place, name) == content):
        return name
    own = _UNSAFE.sub("_", f"{facts['method']}-{facts['model']}")[:_LONGEST_NAME]
    return f"{name.removesuffix('.json')}.{own}.json"


def _read(place: Path, name: str) -> bytes | None:
    """The bytes of a score file; None of a link, a pipe or one that is too large."""
    with suppress(RecordingError):
        return read_file_inside(place, name, MAX_FILE_BYTES)
    return None
