"""`python -m shop`, from `example_suite/`: serve the sites for your own browser."""

from __future__ import annotations

import threading
from contextlib import suppress

from shop.sites import fresh_sites

with fresh_sites() as urls:
    print(f"{urls.shopping}  {urls.shopping_admin}  {urls.gitlab}   (Ctrl-C to stop)")
    with suppress(KeyboardInterrupt):
        threading.Event().wait()
