"""Writes the seed corpus: small documents of each kind, whole and slightly odd. `python -m tests.fuzz.make_seeds`."""

from __future__ import annotations

from tests.fuzz import seed_documents
from tests.fuzz.engine.corpus import SEEDS


def main() -> None:
    """Write each document to its place."""
    for target, documents in seed_documents.all_of_them().items():
        folder = SEEDS / target
        folder.mkdir(parents=True, exist_ok=True)
        for number, content in enumerate(documents, 1):
            (folder / f"{number:02}").write_bytes(content)


if __name__ == "__main__":
    main()
