"""No command prints or writes a secret of a recording, and no function of the Python API returns one unasked."""

from __future__ import annotations

import json

import pytest

from pytest_webeval import ScoreSettings, SettingsError, load_run, load_tasks, score, score_run, score_runs
from pytest_webeval.__main__ import main
from tests.support.leaks import PASSWORD, TEXTS, list_leaks, secret_result
from tests.support.runs import Runs
from tests.support.traffic import send, visit, write_traffic

pytestmark = pytest.mark.unchecked_files("some results have only what the exports read")
HOME = visit("/")


@pytest.fixture(params=TEXTS.values(), ids=TEXTS)
def secret_text(request):
    """A text with a secret."""
    return request.param


@pytest.fixture
def root(tmp_path, secret_text):
    """Runs that answer a secret and a password that they posted, in which two attempts at a task pass."""
    runs = Runs(tmp_path / "runs")
    for task_id, answers in ((1, ["lamp"]), (2, [secret_text]), (3, [PASSWORD])):
        runs.define(Runs.definition(task_id))
        fields = {"task_type": "RETRIEVE", "status": "SUCCESS", "retrieved_data": answers}
        for attempt, note in (("a", secret_text), ("b", "lamp")):
            posted = send("/login", [("email", "ida@example.com"), ("password", PASSWORD)], status=302)
            sent = send(f"/note/{attempt}", [("title", note), (note, "x")], status=302)
            write_traffic(runs.root / attempt / str(task_id), fields, HOME, posted, sent)
    return runs.root


@pytest.fixture
def results(root):
    """The root, with a result in each run directory."""
    assert len(list(score_runs(root))) == 6
    stored = [path.read_text() for path in root.rglob("eval_result.json")]
    assert list_leaks(*stored) != set()
    return root


@pytest.fixture
def shown(capsys, tmp_path):
    """All that a command prints and writes to `tmp_path / "out"`."""

    def run(*arguments):
        main(list(map(str, arguments)))
        printed = capsys.readouterr()
        files = [path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()]
        return [printed.out, printed.err, *files]

    return run


FACTS = ("--benchmark=shop", "--model=lab/m", "--organization=lab", "--relationship=first_party")
EXPORTS = {
    "csv": (),
    "jsonl": ("--rows=assertions",),
    "inspect": (),
    "files": ("--output=out",),
    "every-eval-ever": ("--output=out", *FACTS),
}


@pytest.mark.thinned(every=5)
@pytest.mark.parametrize(("target", "options"), EXPORTS.items(), ids=EXPORTS)
def test_exports_have_no_secret_unless_they_are_to(results, shown, monkeypatch, tmp_path, target, options):
    monkeypatch.chdir(tmp_path)
    arguments = ("export", results, f"--to={target}", *options)
    assert list_leaks(*shown(*arguments)) == set()
    assert list_leaks(*shown(*arguments, "--redact=off")) != set()


def test_comparisons_and_histories_have_no_secret(results, shown, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    first, second = results / "a", results / "b"
    assert list_leaks(*shown("compare", first, second, "--json=out/a.json", "--report=out")) == set()
    assert list_leaks(*shown("history", first, second, "--json=out/b.json", "--report=out")) == set()


def test_side_effects_audits_and_proposals_have_no_secret(root, shown, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    tasks = root / "tasks.json"
    assert list_leaks(*shown("side-effects", root, "--tasks", tasks)) == set()
    assert list_leaks(*shown("side-effects", root, "--tasks", tasks, "--format=json")) == set()
    assert list_leaks(*shown("audit", root, "--notes", "--json=out/audit.json", "--report=out")) == set()
    for task_id in (1, 2, 3):
        runs = [root / attempt / str(task_id) for attempt in ("a", "b")]
        assert list_leaks(*shown("new-task", *runs, f"--output=out/{task_id}.json")) == set()


def test_what_is_wrong_with_a_file_is_said_without_its_secrets(tmp_path, shown, secret_text):
    path = tmp_path / "runs" / "eval_result.json"
    path.parent.mkdir()
    path.write_text(json.dumps(secret_result(secret_text) | {"status": secret_text, "sites": secret_text}))
    assert list_leaks(*shown("validate", path.parent)) == set()
    assert list_leaks(*shown("export", path.parent, "--to=csv")) == set()
    assert list_leaks(*shown("compare", path.parent, path.parent)) == set()
    assert list_leaks(*shown("history", path.parent)) == set()


def test_disagreements_with_labels_have_no_secret(tmp_path, shown, monkeypatch, secret_text):
    monkeypatch.chdir(tmp_path)
    content = secret_result(secret_text)
    for evaluation in content["evaluators_results"]:
        evaluation |= {"evaluator_name": "RubricEvaluator", "actual": {"reason": secret_text}}
    (tmp_path / "eval_result.json").write_text(json.dumps(content))
    (tmp_path / "labels.csv").write_text("task_id,label\n1,success\n")
    texts = shown("calibrate", tmp_path, "--labels=labels.csv", "--disagreements=out/open.jsonl", "--json=out/all.json")
    assert any(b"redacted-" in text for text in texts if isinstance(text, bytes))
    assert list_leaks(*texts) == set()


SCORED = {
    "score_runs": lambda root, **redact: list(score_runs(root, **redact)),
    "score_runs with output": lambda root, **redact: list(score_runs(root, output=root.parent / "out", **redact)),
    "score_run": lambda root, **redact: [
        score_run(root, f"a/{task_id}", ScoreSettings(tasks=load_tasks(root / "tasks.json")), **redact)
        for task_id in (1, 2, 3)
    ],
    "score": lambda root, **redact: [
        score(load_run(root / "a" / str(task_id)), load_tasks(root / "tasks.json"), **redact) for task_id in (1, 2, 3)
    ],
}


@pytest.mark.thinned(every=5)
@pytest.mark.parametrize("scored", SCORED.values(), ids=SCORED)
def test_scoring_from_python_returns_no_secret_unless_it_is_to(root, scored):
    def read(**redact):
        return [json.dumps(result.to_json()) for result in scored(root, **redact)]

    assert list_leaks(*read()) == set()
    assert list_leaks(*read(redact="off")) != set()


@pytest.mark.parametrize("scored", SCORED.values(), ids=SCORED)
def test_an_unknown_mode_is_refused(tmp_path, scored):
    write_traffic(tmp_path / "a" / "1", "NAVIGATE", HOME)
    (tmp_path / "tasks.json").write_text("[]")
    with pytest.raises(SettingsError, match="invalid redact 'none'; use default, off or strict"):
        scored(tmp_path, redact="none")
