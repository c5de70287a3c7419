"""What commands have in common: which of them take the location of a store."""

from __future__ import annotations

import pytest

from pytest_webeval.__main__ import main


@pytest.mark.parametrize(
    ("arguments", "location"),
    [
        (["audit", "hf://datasets/u/n"], "hf://datasets/u/n"),
        (["calibrate", "s3://bucket/results", "--labels=labels.csv"], "s3://bucket/results"),
        (["compare", "earlier", "s3://bucket/results"], "s3://bucket/results"),
        (["compare", "a", "b", "--json=gs://bucket/c.json"], "gs://bucket/c.json"),
        (["export", "S3://bucket/results", "--to=csv"], "S3://bucket/results"),
        (["history", "s3://bucket/\x1b[31m"], "s3://bucket/\\u001b[31m"),
        (["lint", "https://host/tasks.json"], "https://host/tasks.json"),
        (["merge", "az://container/shard"], "az://container/shard"),
        (["new-task", "s3://bucket/runs/1"], "s3://bucket/runs/1"),
        (["record", "--task=1", "--output=s3://bucket/runs"], "s3://bucket/runs"),
        (["side-effects", "zip:///data/runs.zip"], "zip:///data/runs.zip"),
        (["validate", "s3://bucket/results"], "s3://bucket/results"),
    ],
)
def test_a_command_that_cannot_use_a_store_says_so_on_one_line(capsys, arguments, location):
    assert main(arguments) == 4
    advice = "copy it to a directory first"
    assert capsys.readouterr().err == f"ERROR: {arguments[0]} cannot use a store: '{location}'; {advice}\n"


def test_the_credentials_of_a_location_are_not_repeated(capsys):
    assert main(["compare", "s3://user:hunter2@bucket/results"]) == 4
    message = capsys.readouterr().err
    assert message.startswith("ERROR: the s3:// location has credentials")
    assert "hunter2" not in message


@pytest.mark.parametrize("option", ["--intent=https://host/", "--id=1"])
def test_a_text_may_be_a_url(capsys, tmp_path, option):
    assert main(["new-task", str(tmp_path / "none"), option]) == 4
    assert "store" not in capsys.readouterr().err
