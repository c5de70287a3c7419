"""Who judges the runs of a session without a verdict: the judge of the options, or that of a user's fixture."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, cast

from msgspec import Struct, field

from pytest_webeval.errors import SettingsError
from pytest_webeval.extensions import check_name, load_extensions
from pytest_webeval.judges.calls import Judge
from pytest_webeval.judges.certificates import Certificate, read_certificate
from pytest_webeval.judges.judging import Judging
from pytest_webeval.judges.methods import load_method
from pytest_webeval.judges.prices import PriceTable, load_prices
from pytest_webeval.judges.questions import Role
from pytest_webeval.judges.remembering import MemoryJudge, RememberingJudge
from pytest_webeval.judges.reply_store import ReplyStore
from pytest_webeval.judges.spending import SpendingLimit
from pytest_webeval.judges.verdicts import JudgeSettings
from pytest_webeval.plugin.snapshots import SNAPSHOTS
from pytest_webeval.redaction.policy import RedactionPolicy
from pytest_webeval.redaction.redactor import Redactor
from pytest_webeval.results import Summary
from pytest_webeval.rubrics.verdict import DEFAULT_THRESHOLD
from pytest_webeval.safety.text import to_line

if TYPE_CHECKING:
    import pytest

    from pytest_webeval.sessions.settings.settings import Settings

REPLIES = "judge_replies"  # the directory in the rootdir
LEDGER = "judge_spending"  # the name of the file
CACHED, LIVE, OFF = "cached", "live", "off"
LONGEST_MODEL = 200  # characters of a name
_LONGEST_NAME = 80


class SessionJudges(Struct, frozen=True, eq=False, dict=True):
    """One per process. A session has one judge, unless users give several directories judges of their own."""

    config: pytest.Config
    settings: Settings
    prices: PriceTable
    _by_judge: dict[int, tuple[Judge, Judging]] = field(default_factory=dict)
    _asking: list[RememberingJudge] = field(default_factory=list)

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
        if self.settings.judge_max_usd is not None:  # before anything is paid for
            for name in (model, self.settings.judge_text_model or model):
                self.prices.require(name)
        if (judge := load_extensions("judges", (), _build_judge).get(model)) is not None:
            return cast("Judge", judge)
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
        from pytest_webeval.summary.judges.calibration import describe_certificate  # only where summaries are made

        judging = summary.webeval["judging"]
        described = judging | {"certificate": describe_certificate(self.certificate, judging)}
        return summary.with_changes(webeval=summary.webeval | {"judging": described})

    @property
    def refusal(self) -> str | None:
        """The message of a server that does not accept the key, if one did not."""
        return next((asking.refusal for asking in self._asking if asking.refusal is not None), None)

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
        processes = int(getattr(self.config, "workerinput", {}).get("workercount", 1))  # of the session that ask
        threshold = DEFAULT_THRESHOLD if settings.rubric_threshold is None else settings.rubric_threshold
        if settings.judge_mode == LIVE:
            self._asking.append(RememberingJudge(judge, store, self._limit))
        asked: Judge = self._asking[-1] if settings.judge_mode == LIVE else MemoryJudge(judge.model, store)
        return Judging(
            answer=asked.answer,
            models={Role.VISION: judge.model, Role.TEXT: settings.judge_text_model or judge.model},
            method=load_method(settings.judge_method),
            settings=JudgeSettings(votes=settings.judge_votes, threshold=threshold),
            redact=Redactor(RedactionPolicy() if settings.redaction.is_off else settings.redaction).texts,
            find_cost=self.prices.cost,
            concurrency=max(1, settings.judge_concurrency // processes),
            judges_again=settings.judge_again,
            proposes_patterns=settings.judge_requests,
        )

    @property
    def replies(self) -> Path:
        """The directory of remembered replies."""
        return self.settings.judge_replies or self.config.rootpath / REPLIES

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


def _build_judge(name: str, found: Any) -> Judge:
    judge = check_name(name, found, object, "model")
    if not callable(getattr(judge, "answer", None)):
        raise SettingsError("it has no method answer(question)")
    return cast("Judge", judge)
