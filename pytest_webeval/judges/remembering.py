"""Judges with a memory: one answers from it alone, one asks what is not in it, and pays for each question once."""

from __future__ import annotations

from msgspec import Struct

from pytest_webeval.errors import JudgeFailed, WebEvalError
from pytest_webeval.judges.calls import Judge, KeyRefused, ReplyLost
from pytest_webeval.judges.prices import is_version_of
from pytest_webeval.judges.questions import Question, Reply, TokenUsage
from pytest_webeval.judges.reply_store import InvalidReplyFile, ReplyStore
from pytest_webeval.judges.spending import SpendingLimit
from pytest_webeval.safety.text import to_line

NO_KEY = "the judge has no valid key"
_LONGEST_PROBLEM = 300  # characters


class MemoryJudge(Struct, eq=False):
    """Answers from memory alone. Nobody is asked, so that neither a key nor a network is needed."""

    model: str
    store: ReplyStore

    def answer(self, question: Question) -> Reply:
        """The remembered reply.

        Raises `JudgeFailed`: `forgotten` where there is none, and `InvalidReplyFile` where its file is damaged.
        """
        reply = self.store.get(question)
        if reply is None:
            problem = f"no remembered reply of {question.model} @ {question.method}.{question.step}"
            raise JudgeFailed(f"{problem}; ask for it with --webeval-judge-mode=live", "forgotten")
        return reply


class RememberingJudge(Struct, eq=False):
    """Answers from memory, and asks `judge` what is not there. Threads and processes may share a store.

    Each complete reply is in the store, on the disk, before `answer` returns it. A question is locked while it is
    asked, so that nobody else asks it at the same time.

    What a kill, even with `kill -9`, leaves behind: a reply that was stored is never asked for again. For each question
    that was on its way, between its sending and its storing, the reply may be lost, and the next session sends it again
    with the same `Idempotency-Key`: at most one question of each thread that asks. The money that was reserved for it
    stays reserved in the ledger of that session.

    A damaged file of the store is asked for again, and replaced.

    After a `refusal` of the key nothing is sent any more. The session gives its text once; that of runs is short.
    """

    judge: Judge
    store: ReplyStore
    limit: SpendingLimit | None = None
    refusal: str | None = None

    @property
    def model(self) -> str:
        return self.judge.model

    def answer(self, question: Question) -> Reply:
        """The remembered reply, or a new one.

        Raises `JudgeFailed` as the judge does, and with `over_limit` where the session may spend no more.
        """
        reply = self._recall(question)
        if reply is not None:
            return reply
        with self.store.lock(question):
            return self._recall(question) or self._ask(question)

    def _recall(self, question: Question) -> Reply | None:
        try:
            return self.store.get(question)
        except InvalidReplyFile:
            return None

    def _ask(self, question: Question) -> Reply:
        """A new reply. An interruption leaves its money reserved, for the server may charge for it."""
        if self.refusal is not None:
            raise KeyRefused(NO_KEY)
        reservation = self.limit and self.limit.reserve(question)
        try:
            reply = _answer(self.judge, question)
        except ReplyLost:
            raise
        except WebEvalError as error:
            if reservation:
                reservation.release()
            if isinstance(error, KeyRefused):
                self.refusal = error.reason
                raise KeyRefused(NO_KEY) from error
            raise
        if reply.is_complete:
            self.store.put(question, reply)
        if reservation:
            reservation.settle(reply)
        return reply


def _answer(judge: Judge, question: Question) -> Reply:
    """The reply of a judge. One of a user's own may raise or return anything, which says nothing about the agent."""
    try:
        raw: object = judge.answer(question)
    except WebEvalError:
        raise
    except Exception as error:
        problem = f"the judge raised {type(error).__name__}: {to_line(str(error), _LONGEST_PROBLEM)}"
        raise ReplyLost(f"{problem}; fix its method answer()") from error
    if not (isinstance(raw, Reply) and isinstance(raw.text, str) and isinstance(raw.usage, TokenUsage)):
        problem = f"the judge returned {type(raw).__name__}"
        raise JudgeFailed(f"{problem}; return Reply(text=..., model=...)", "unparseable")
    if not is_version_of(str(raw.model), question.model):
        problem = f"the judge replied with model '{to_line(str(raw.model), _LONGEST_PROBLEM)}'"
        raise JudgeFailed(f"{problem}, not with {question.model}", "unreachable")
    return raw
