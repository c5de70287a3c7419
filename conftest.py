"""What all sessions in this repository share."""

from __future__ import annotations

import signal

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as of a job in the background: tests interrupt themselves
    signal.signal(signal.SIGINT, signal.default_int_handler)
