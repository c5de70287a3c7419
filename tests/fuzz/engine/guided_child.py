"""One target under atheris: `guided_child TARGET DIRECTORY LIBFUZZER-OPTIONS…`, as `guided` starts it."""

from __future__ import annotations

import hashlib
import pickle
import sys
import warnings
from pathlib import Path
from random import Random

import atheris

with atheris.instrument_imports(include=["pytest_webeval"]):
    from tests.fuzz.engine.corpus import Corpus
    from tests.fuzz.engine.findings import of_crash
    from tests.fuzz.engine.mutation import mutated
    from tests.fuzz.targets.table import TARGETS

_OURS = 0.5  # the share of inputs that are changed by us, who know their structure


def main() -> None:
    """Hand over to libFuzzer, which does not come back."""
    name, place, *options = sys.argv[1:]
    target, seeds, known = TARGETS[name], Corpus(TARGETS[name]).seeds, set()

    def feed(content: bytes) -> None:
        try:
            target.feed(content)
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # noqa: BLE001  (whatever it is, it is what is sought)
            found = of_crash(name, error, content)
            if found.signature not in known:
                known.add(found.signature)
                digest = hashlib.sha256(found.signature.encode()).hexdigest()[:12]
                (Path(place) / "found" / f"{digest}.pickle").write_bytes(pickle.dumps(found))

    def change(content: bytes, longest: int, number: int) -> bytes:
        random = Random(number)
        if random.random() < _OURS:
            return mutated(bytes(content), seeds, random)[:longest]
        return atheris.Mutate(content, longest)

    warnings.simplefilter("ignore")
    atheris.Setup([sys.argv[0], *options], feed, custom_mutator=change)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
