# The public names for type checkers; `__init__.py` has the table of them.

from pytest_webeval.api import find_runs as find_runs
from pytest_webeval.api import load_run as load_run
from pytest_webeval.api import score as score
from pytest_webeval.api import score_run as score_run
from pytest_webeval.api import score_runs as score_runs
from pytest_webeval.errors import EvaluationError as EvaluationError
from pytest_webeval.errors import JudgeFailed as JudgeFailed
from pytest_webeval.errors import RecordingError as RecordingError
from pytest_webeval.errors import RunExcluded as RunExcluded
from pytest_webeval.errors import SettingsError as SettingsError
from pytest_webeval.errors import TaskDefinitionError as TaskDefinitionError
from pytest_webeval.errors import WebEvalError as WebEvalError
from pytest_webeval.evaluators import RequestPatternEvaluator as RequestPatternEvaluator
from pytest_webeval.evaluators import RubricEvaluator as RubricEvaluator
from pytest_webeval.evaluators.base import Evaluator as Evaluator
from pytest_webeval.evaluators.case import Case as Case
from pytest_webeval.evaluators.network.evaluator import NetworkEventEvaluator as NetworkEventEvaluator
from pytest_webeval.evaluators.response import ResponseEvaluator as ResponseEvaluator
from pytest_webeval.exports.loading import LoadedResults as LoadedResults
from pytest_webeval.exports.loading import load_results as load_results
from pytest_webeval.exports.rows import AssertionRow as AssertionRow
from pytest_webeval.exports.rows import TaskRow as TaskRow
from pytest_webeval.judges.calls import Judge as Judge
from pytest_webeval.judges.questions import Question as Question
from pytest_webeval.judges.questions import Reply as Reply
from pytest_webeval.judges.questions import TokenUsage as TokenUsage
from pytest_webeval.recordings.inputs import RunInputs as RunInputs
from pytest_webeval.recordings.network.events import NetworkEvent as NetworkEvent
from pytest_webeval.recordings.network.events import NetworkTrace as NetworkTrace
from pytest_webeval.recordings.network.readers import load_trace as load_trace
from pytest_webeval.recordings.run import Run as Run
from pytest_webeval.recordings.run import RunFormat as RunFormat
from pytest_webeval.recordings.trajectory.recorded import Trajectory as Trajectory
from pytest_webeval.recordings.trajectory.step import Step as Step
from pytest_webeval.redaction.policy import RedactionPolicy as RedactionPolicy
from pytest_webeval.redaction.redactor import Redactor as Redactor
from pytest_webeval.results import Assertion as Assertion
from pytest_webeval.results import EvaluatorResult as EvaluatorResult
from pytest_webeval.results import Status as Status
from pytest_webeval.results import Summary as Summary
from pytest_webeval.results import TaskResult as TaskResult
from pytest_webeval.rubrics.policy import VerdictPolicy as VerdictPolicy
from pytest_webeval.rules import Rules as Rules
from pytest_webeval.safety.limits import Limits as Limits
from pytest_webeval.sessions.placement.score_settings import ScoreSettings as ScoreSettings
from pytest_webeval.summary.results.result_files import find_result as find_result
from pytest_webeval.summary.summarize import summarize as summarize
from pytest_webeval.tasks.dataset import TaskSet as TaskSet
from pytest_webeval.tasks.dataset import load_tasks as load_tasks
from pytest_webeval.tasks.sites import Sites as Sites
from pytest_webeval.tasks.sites import load_sites as load_sites
from pytest_webeval.tasks.task import Expectation as Expectation
from pytest_webeval.tasks.task import Task as Task

__all__ = [
    "Assertion",
    "AssertionRow",
    "Case",
    "EvaluationError",
    "Evaluator",
    "EvaluatorResult",
    "Expectation",
    "Judge",
    "JudgeFailed",
    "Limits",
    "LoadedResults",
    "NetworkEvent",
    "NetworkEventEvaluator",
    "NetworkTrace",
    "Question",
    "RecordingError",
    "RedactionPolicy",
    "Redactor",
    "Reply",
    "RequestPatternEvaluator",
    "ResponseEvaluator",
    "RubricEvaluator",
    "Rules",
    "Run",
    "RunExcluded",
    "RunFormat",
    "RunInputs",
    "ScoreSettings",
    "SettingsError",
    "Sites",
    "Status",
    "Step",
    "Summary",
    "Task",
    "TaskDefinitionError",
    "TaskResult",
    "TaskRow",
    "TaskSet",
    "TokenUsage",
    "Trajectory",
    "VerdictPolicy",
    "WebEvalError",
    "find_result",
    "find_runs",
    "load_results",
    "load_run",
    "load_sites",
    "load_tasks",
    "load_trace",
    "score",
    "score_run",
    "score_runs",
    "summarize",
]
