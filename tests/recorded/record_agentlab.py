"""Write `tests/recorded/agentlab` with AgentLab's own experiment loop. Run by hand; no test imports it.

It needs a virtual environment of its own and Debian's `chromium`:

    python3 -m venv /tmp/venv-agentlab
    /tmp/venv-agentlab/bin/pip install browsergym-experiments==0.14.3 tqdm dataclasses-json
    /tmp/venv-agentlab/bin/pip install --no-deps agentlab==0.4.2
    /tmp/venv-agentlab/bin/python tests/recorded/record_agentlab.py

`agentlab` without its dependencies is enough for its loop. They hold ten benchmarks, one of which builds an old numpy.
The tasks are toys of one page and the agent reads its actions from a list. Everything else is the library's code. In
the files, paths of this project and of the environment are replaced, and the pickles are removed.
"""

from __future__ import annotations

import logging
import shutil
import site
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agentlab.experiments import loop
from browsergym.core.action.highlevel import HighLevelActionSet
from browsergym.core.registration import register_task
from browsergym.core.task import AbstractBrowserTask
from browsergym.experiments.agent import Agent
from playwright.sync_api import BrowserType

OUTPUT = Path(__file__).parent / "agentlab"
ROOT = Path("/tmp/runs")
CHROMIUM = "/usr/bin/chromium"
PAGE = "<title>Shop</title><h1>Reports</h1><p>Hydro Bottle: 12 reviews</p><button>More</button>"
GOAL = "How many reviews has the Hydro Bottle?"
RIGHT, HALF, WRONG = (f"send_msg_to_user('{text}')" for text in ("It has 12 reviews.", "About 10.", "It\\'s 3."))
REWARDS = {"It has 12 reviews.": 1, "About 10.": 0.5}
AGENT_RAISES, REPORTED, INTERRUPTED = "raise", "report an error", "interrupt"


TASKS = (
    *("success", "failure", "partial", "last-step", "too-long", "no-action", "agent-error", "reported-error", "quiet"),
    *("interrupted", "crash", "browser-lost"),
)


class Toy(AbstractBrowserTask):
    """A page with the answer on it; the last message of the agent decides."""

    starts = True

    def setup(self, page: Any) -> tuple[str, dict[str, Any]]:
        if not self.starts:
            raise RuntimeError("net::ERR_CONNECTION_REFUSED at https://shop.example/")
        page.set_content(PAGE)
        return GOAL, {}

    def validate(self, page: Any, chat_messages: list[dict[str, Any]]) -> tuple[float, bool, str, dict[str, Any]]:
        if "gone" in page.url:
            raise RuntimeError("Target page, context or browser has been closed")
        answers = [message["message"] for message in chat_messages if message["role"] == "assistant"][1:]
        return (REWARDS.get(answers[-1], 0), True, "", {}) if answers else (0, False, "", {})


class Closed(Toy):
    """The same, without a server."""

    starts = False


class Scripted(Agent):
    """Does what is in its list, and counts tokens as AgentLab's trackers do."""

    def __init__(self, actions: list[str | None]) -> None:
        self.actions = list(actions)
        self.action_set = HighLevelActionSet(["chat", "infeas", "bid", "nav"], strict=False)

    def obs_preprocessor(self, obs: dict[str, Any]) -> dict[str, Any]:
        return {name: obs[name] for name in ("screenshot", "goal_object", "url", "last_action_error")}

    def get_action(self, obs: dict[str, Any]) -> tuple[str | None, dict[str, Any]]:  # noqa: ARG002  (it is scripted)
        action = self.actions.pop(0)
        if action == AGENT_RAISES:
            raise ValueError("the model returned no choices")
        if action == INTERRUPTED:
            raise KeyboardInterrupt
        stats = {"input_tokens": 1000, "output_tokens": 50, "cost": 0.01}
        info: dict[str, Any] = {"think": "The report lists reviews.\nI use it.", "stats": stats}
        if action == REPORTED:
            return WRONG, info | {"err_msg": "the memory could not be written", "stack_trace": "in memory.py"}
        return action, info


@dataclass
class ScriptedArgs(loop.AbstractAgentArgs):
    """The arguments of the agent."""

    agent_name: str = "ScriptedAgent-example-model-1"
    actions: tuple[str | None, ...] = ()

    def make_agent(self) -> Agent:
        return Scripted(list(self.actions))


def run(task: str, *actions: str | None, seed: int = 0, steps: int = 9, level: int = logging.INFO) -> loop.ExpArgs:
    """Run one experiment."""
    env = loop.EnvArgs(task_name=f"toy.{task}", task_seed=seed, max_steps=steps, viewport={"width": 240, "height": 160})
    experiment = loop.ExpArgs(agent_args=ScriptedArgs(actions=actions), env_args=env, logging_level=level)
    experiment.prepare(ROOT)
    with suppress(KeyboardInterrupt):
        experiment.run()
    return experiment


def run_again(experiment: loop.ExpArgs, *actions: str) -> None:
    """Run an experiment as a study does that found an error: the loop moves the old directory away."""
    experiment = loop.ExpResult(experiment.exp_dir).exp_args
    experiment.agent_args.actions = actions
    experiment.prepare(ROOT)
    experiment.run()


def record() -> None:
    """All experiments."""
    more, gone = "click('6')", "goto('data:text/html,gone')"
    run("success", more, RIGHT)
    run("success", more, RIGHT, seed=3)
    run("failure", more, WRONG)
    run("partial", HALF)
    run("last-step", more, RIGHT, steps=2)
    run("too-long", more, more, more, steps=3, level=logging.DEBUG)
    run("no-action", more, None)
    run("agent-error", more, AGENT_RAISES)
    run("reported-error", more, REPORTED)
    run("quiet", more, RIGHT, level=logging.WARNING)
    run("interrupted", more, INTERRUPTED)
    run("no-server")
    run("crash", more, gone)
    run_again(run("browser-lost", more, gone, seed=7), more, RIGHT)


def clean(directory: Path) -> None:
    """Remove pickles, and paths of this machine."""
    replaced = {site.getsitepackages()[0]: "/site-packages", str(Path(__file__).parents[2]): "/project"}
    for path in sorted(directory.rglob("*")):
        if ".pkl" in path.name:
            path.unlink()
        elif path.suffix in (".json", ".log"):
            text = path.read_text()
            for name, neutral in replaced.items():
                text = text.replace(name, neutral)
            path.write_text(text)


def main() -> None:
    """Replace the output directory."""
    launch = BrowserType.launch
    BrowserType.launch = lambda self, **options: launch(self, **{"executable_path": CHROMIUM} | options)
    loop.count_tokens = lambda text: len(text.split())  # the library's own one downloads a vocabulary
    for name in TASKS:
        register_task(f"toy.{name}", Toy)
    register_task("toy.no-server", Closed)
    shutil.rmtree(ROOT, ignore_errors=True)
    record()
    shutil.rmtree(OUTPUT, ignore_errors=True)
    shutil.copytree(ROOT, OUTPUT)
    clean(OUTPUT)


if __name__ == "__main__":
    main()
