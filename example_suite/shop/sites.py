"""The Flask applications, and how to have them listen on loopback."""

from __future__ import annotations

import logging
import threading
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from flask import Flask
from werkzeug.serving import BaseWSGIServer, make_server

from shop.admin import admin
from shop.state import ShopState, TrackerState
from shop.storefront import storefront
from shop.tracker import tracker

if TYPE_CHECKING:
    from collections.abc import Iterator

HOST, SHOP_PORT, TRACKER_PORT = "127.0.0.1", 7770, 8023


@dataclass(frozen=True, slots=True)
class SiteUrls:
    """Where each WebArena site of the suite answers, without a trailing slash."""

    shopping: str
    gitlab: str

    @property
    def shopping_admin(self) -> str:
        """The back office lies below the storefront."""
        return f"{self.shopping}/admin"

    @property
    def ports(self) -> tuple[int, int]:
        """Where the shop and the tracker listen."""
        return int(self.shopping.rpartition(":")[2]), int(self.gitlab.rpartition(":")[2])

    def as_config(self) -> dict[str, object]:
        """Tell `--webeval-config` what it wants to know."""
        urls = {"SHOPPING": self.shopping, "SHOPPING_ADMIN": self.shopping_admin, "GITLAB": self.gitlab}
        return {"environments": {f"__{name}__": {"urls": [url]} for name, url in urls.items()}}


def shop_app() -> Flask:
    """Open a storefront with its back office, nobody having bought anything yet."""
    app = Flask(__name__)
    app.secret_key = "not a secret: example data only"
    app.extensions["shop"] = ShopState()
    app.register_blueprint(storefront)
    app.register_blueprint(admin)
    return app


def tracker_app() -> Flask:
    """Open an issue tracker in which nobody did anything yet."""
    app = Flask(__name__)
    app.extensions["tracker"] = TrackerState()
    app.register_blueprint(tracker)
    return app


@contextmanager
def fresh_sites(shop_port: int = SHOP_PORT, tracker_port: int = TRACKER_PORT) -> Iterator[SiteUrls]:
    """All sites in their first state, listening until the block ends; port 0 means any free one."""
    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    with _listening(shop_app(), shop_port) as shop, _listening(tracker_app(), tracker_port) as issues:
        yield SiteUrls(shopping=f"http://{HOST}:{shop}", gitlab=f"http://{HOST}:{issues}")


@contextmanager
def _listening(app: Flask, port: int) -> Iterator[int]:
    server: BaseWSGIServer = make_server(HOST, port, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
