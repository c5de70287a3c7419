"""What a piece of Python imports, found out in a process of its own."""

from __future__ import annotations

import subprocess
import sys


def list_loading(module: str, start: str, *steps: str) -> list[bool]:
    """Whether a module is loaded after `start`, and after each further step."""
    shown = f"print({module!r} in sys.modules)"
    program = "\n".join(f"{step}\n{shown}" for step in (f"import sys\n{start}", *steps))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return [line == "True" for line in done.stdout.split()]
