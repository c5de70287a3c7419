"""All fuzz targets: for every reader of what a stranger wrote a function of bytes, and two for the whole path."""

from __future__ import annotations

from tests.fuzz.targets import agentlab as agentlab_targets
from tests.fuzz.targets import answer as answer_targets
from tests.fuzz.targets import browser_use as browser_use_targets
from tests.fuzz.targets import clawbench as clawbench_targets
from tests.fuzz.targets import definition as definition_targets
from tests.fuzz.targets import label_file as label_file_targets
from tests.fuzz.targets import recorded_run as recorded_run_targets
from tests.fuzz.targets import rubric as rubric_targets
from tests.fuzz.targets import stagehand as stagehand_targets
from tests.fuzz.targets import trace as trace_targets
from tests.fuzz.targets import trajectory as trajectory_targets
from tests.fuzz.targets import value as value_targets
from tests.fuzz.targets import verdict_files as verdict_file_targets
from tests.fuzz.targets import whole as whole_targets
from tests.fuzz.targets.target import Target

_ALL = (
    Target("har", trace_targets.read_har, "har"),
    Target("line_trace", trace_targets.read_lines, "lines"),
    Target("zip_trace", trace_targets.read_zip, "text"),
    Target("zipped_trace", trace_targets.read_zipped, "trace_files"),
    Target("folder_trace", trace_targets.read_folder, "trace_files"),
    Target("side_bodies", trace_targets.read_side_bodies, "bodies"),
    Target("trace_actions", trace_targets.read_actions, "text"),
    Target("response", answer_targets.read_response, "response"),
    Target("posted", answer_targets.read_posted, "posted"),
    Target("eval_result", answer_targets.read_result, "result"),
    Target("told", answer_targets.tell, "text"),
    Target("written", answer_targets.write_tree, "json"),
    Target("labels", answer_targets.label, "text"),
    Target("tasks", definition_targets.read_tasks, "tasks"),
    Target("config", definition_targets.read_sites, "json"),
    Target("subset", definition_targets.read_subset, "json"),
    Target("validated", definition_targets.validate, "json"),
    Target("web_surfer_log", trajectory_targets.read_web_surfer_log, "log"),
    Target("core_log", trajectory_targets.read_core, "text"),
    Target("times", trajectory_targets.read_time, "json"),
    Target("final_answer", trajectory_targets.read_final_answer, "json"),
    Target("names", trajectory_targets.read_names, "text"),
    Target("task_data", trajectory_targets.read_data, "payload"),
    Target("usage", trajectory_targets.read_tokens, "json"),
    Target("thought", trajectory_targets.read_thought, "thought"),
    Target("lenient_json", trajectory_targets.read_lenient, "json"),
    Target("exact_json", rubric_targets.read_numbers, "json"),
    Target("score_names", rubric_targets.read_score_names, "text"),
    Target("score_file", rubric_targets.read_scores, "score"),
    Target("rubric", rubric_targets.read_rubric, "payload"),
    Target("stagehand_trajectory", stagehand_targets.read_stagehand_trajectory, "json"),
    Target("stagehand_result", stagehand_targets.read_stagehand_result, "json"),
    Target("browser_use", browser_use_targets.read_browser_use, "json"),
    Target("agentlab_summary", agentlab_targets.read_agentlab_summary, "json"),
    Target("agentlab_log", agentlab_targets.read_agentlab_log, "text"),
    Target("clawbench_run", clawbench_targets.read_run, "json"),
    Target("clawbench_requests", clawbench_targets.read_requests, "lines"),
    Target("clawbench_task", clawbench_targets.read_requested, "json"),
    *recorded_run_targets.TARGETS,
    Target("verdict_file", verdict_file_targets.read_verdicts, "json"),
    Target("label_file", label_file_targets.read_labels, "json"),
    Target("value", value_targets.read_value, "value"),
    Target("url", value_targets.read_urls, "text"),
    Target("projection", value_targets.read_projection, "projection"),
    Target("tree", value_targets.read_trees, "tree"),
    Target("whole", whole_targets.score_directory, "run"),
    Target("session", whole_targets.session, "run", seconds=whole_targets.LONGEST_SESSION),
)
TARGETS = {target.name: target for target in _ALL}
SLOW = ("session",)  # a pytest session for each input
