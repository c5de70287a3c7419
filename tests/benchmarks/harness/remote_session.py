"""A session over runs in a bucket on loopback, where some reads fail once."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

from tests.benchmarks.harness.contestants import Session, session
from tests.benchmarks.harness.corpora import Corpus
from tests.benchmarks.harness.measuring import Cost
from tests.support.faulty_s3 import Faults, S3Server

SHARE = 0.01  # of reads that fail once


@dataclass(frozen=True, kw_only=True)
class RemoteSession(Session):
    """A session of pytest with an empty cache. Its results go to a local directory."""

    @property
    def results(self) -> Path:
        """Where they are."""
        return self.directory / "results"

    def prepare(self) -> None:
        """Remove the results as well."""
        super().prepare()
        shutil.rmtree(self.results, ignore_errors=True)

    def measured(self) -> Cost:
        """What it costs once, without the server. Raises `WrongVerdicts`."""
        self.prepare()
        with TemporaryDirectory(dir=self.directory) as place, S3Server(Path(place), Faults(share=SHARE)) as server:
            server.put_tree(self.corpus.runs, "runs/")
            with patch.dict(os.environ, server.environment | {"XDG_CACHE_HOME": place}):
                return super().measured()


def remote_session(python: Path, corpus: Corpus, directory: Path) -> Session:
    """The session that `session` starts, over the same runs in a bucket."""
    local = session(python, corpus, directory)
    others = (argument for argument in local.command if not argument.startswith("--webeval-runs="))
    command = (*others, "--webeval-runs=s3://bucket/runs", "--webeval-output=results")
    return RemoteSession(command=command, directory=directory, corpus=corpus)
