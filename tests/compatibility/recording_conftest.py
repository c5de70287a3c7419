"""The conftest.py of a session under test: writes down what plugins of others are called with."""

import json
import os
from pathlib import Path

OURS = {"_pytest", "pytest", "pytest_webeval", "conftest"}
HOOKS = (
    "pytest_runtest_",
    "pytest_exception_interact",
    "pytest_report_teststatus",
    "pytest_fixture_",
    "pytest_pyfunc_",
    "pytest_collection_modifyitems",
    "pytest_collectreport",
    "pytest_deselected",
    "pytest_itemcollected",
    "pytest_sessionfinish",
    "pytest_warning_recorded",
)


def pytest_configure(config):
    name = os.environ.get("PYTEST_XDIST_WORKER", "main")
    log = Path(__file__).with_name(f"calls-{name}.jsonl").open("w")
    counts = {"pytest_fixture_setup": 0}

    def before(hook_name, hook_impls, kwargs):
        if hook_name in counts:
            counts[hook_name] += 1
        if hook_name.startswith(HOOKS) and any(map(is_foreign, hook_impls)):
            log.write(json.dumps([hook_name, *describe(kwargs)]) + "\n")

    def after(outcome, hook_name, hook_impls, kwargs):
        if hook_name == "pytest_unconfigure":
            log.close()
            Path(__file__).with_name(f"count-{name}.json").write_text(json.dumps(counts))

    config.pluginmanager.add_hookcall_monitoring(before, after)


def is_foreign(implementation):
    plugin = implementation.plugin
    module = getattr(plugin, "__name__", None) if hasattr(plugin, "__file__") else type(plugin).__module__
    return str(module).partition(".")[0] not in OURS


def describe(arguments):
    for name in ("nodeid", "location", "exitstatus", "warning_message"):
        if name in arguments:
            yield str(arguments[name])
    if "item" in arguments:
        yield arguments["item"].nodeid
    if "items" in arguments:
        yield [item.nodeid for item in arguments["items"]]
    if "call" in arguments:
        call = arguments["call"]
        yield [call.when, None if call.excinfo is None else call.excinfo.typename]
    if "report" in arguments:
        yield from describe_report(arguments["report"])


def describe_report(report):
    properties = [[key, value] for key, value in getattr(report, "user_properties", ()) if "time" not in key]
    yield [report.nodeid, getattr(report, "when", None), report.outcome, str(report.longrepr), list(report.sections)]
    yield [sorted(map(str, getattr(report, "keywords", ()))), json.dumps(properties, default=str)]
