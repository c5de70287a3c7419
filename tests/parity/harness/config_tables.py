"""Configurations: what becomes of addresses and placeholders (spec §7.1 to §7.4)."""

from __future__ import annotations

from tests.parity.harness.verdicts import ERROR, FAILURE, SUCCESS

ADMIN = {"shopping_admin": ["http://h:7780/admin"], "shopping": ["http://h:7770"]}
SAME_HOST = {"shopping_admin": ["http://h:7770/admin"], "shopping": ["http://h:7770"]}
LONG = {"shopping_admin": ["http://h:7770/admin"], "shopping": ["http://h:7770", "http://a-very-long-name.test:7770"]}

# Addresses of sites, sites of the task, an address in a text, and what is left of it (§7.3).
DERENDERED = [
    ({"shopping": ["http://a:1"]}, ["shopping"], "http://a:12/x", "__SHOPPING__2/x"),
    ({"shopping": ["http://a:1"]}, ["shopping"], "http://z/?u=http://a:1/x", "http://z/?u=__SHOPPING__/x"),
    (ADMIN, ["shopping", "shopping_admin"], "http://h:7780/adminx", "__SHOPPING_ADMIN__x"),
    (SAME_HOST, ["shopping", "shopping_admin"], "http://h:7770/admin/x", "__SHOPPING_ADMIN__/x"),
    (SAME_HOST, ["shopping"], "http://h:7770/admin/x", "__SHOPPING__/admin/x"),
    (LONG, ["shopping", "shopping_admin"], "http://h:7770/admin/x", "__SHOPPING__/admin/x"),
    ({"shopping": ["http://a", "http://a/b"]}, ["shopping"], "http://a/b/x", "__SHOPPING__/b/x"),
    ({"shopping": ["http://h:1/"]}, ["shopping"], "http://h:1", "http://h:1"),
    ({"shopping": ["http://h:1/"]}, ["shopping"], "http://h:1/x", "__SHOPPING__/x"),
    *(
        ({"shopping": ["http://a:1"]}, ["shopping"], url, url)
        for url in ("HTTP://A:1/x", "https://a:1/x", "http://a/x")
    ),
]

SHOP = "http://shop.test:7770"


def shop(*urls, **more):
    """Environments with nothing but a shop."""
    return {"shopping": {"urls": list(urls), **more}}


# Environments as the file has them, address that is wanted, address that is recorded, and verdict (§7.1, §7.2, §5.14).
RENDERED = [
    (shop(SHOP), "__SHOPPING__/x", f"{SHOP}/x", SUCCESS),
    ({"__SHOPPING__": {"urls": [SHOP]}}, "__SHOPPING__/x", f"{SHOP}/x", SUCCESS),
    ({"SHOPPING": {"urls": [SHOP]}}, "__SHOPPING__/x", f"{SHOP}/x", SUCCESS),
    ({"_shopping_": {"urls": [SHOP]}}, "__SHOPPING__/x", f"{SHOP}/x", SUCCESS),
    ({"Shopping": {"urls": [SHOP]}}, "__SHOPPING__/x", f"{SHOP}/x", ERROR),
    ({"market": {"urls": [SHOP]}}, "__SHOPPING__/x", f"{SHOP}/x", ERROR),
    ({"shopping": {}}, "__SHOPPING__/x", f"{SHOP}/x", ERROR),
    (shop(SHOP, use_header_login=True, credentials={"a": "b"}), "__SHOPPING__/x", f"{SHOP}/x", SUCCESS),
    (shop(SHOP + "/"), "__SHOPPING__/x", f"{SHOP}/x", SUCCESS),
    (shop("http://a:1", SHOP), "__SHOPPING__/x", f"{SHOP}/x", SUCCESS),
    (shop("http://a:1", SHOP), "^__SHOPPING__/x$", f"{SHOP}/x", SUCCESS),
    (shop("http://a:1", SHOP), "^http://a:1/x$", f"{SHOP}/x", SUCCESS),
    (shop("http://a:1", SHOP, active_url_idx=1), f"^{SHOP}/x$", "http://a:1/x", SUCCESS),
    (shop("http://a:1", SHOP, active_url_idx=1), "^http://a:1/x$", "http://a:1/x", FAILURE),
    (shop(SHOP, active_url_idx=None), "__SHOPPING__/x", f"{SHOP}/x", SUCCESS),
    (shop(SHOP, active_url_idx=1), "__SHOPPING__/x", f"{SHOP}/x", ERROR),
    (shop(SHOP, active_url_idx=-1), "__SHOPPING__/x", f"{SHOP}/x", ERROR),
    (shop(SHOP), "__shopping__/x", f"{SHOP}/x", ERROR),
    (shop(SHOP), "__GITLAB__/x", f"{SHOP}/x", ERROR),
    (shop("http://Shop.test:7770"), "__SHOPPING__/x", f"{SHOP}/x", ERROR),
    (shop("http://shop.test:80"), "__SHOPPING__/x", "http://shop.test/x", ERROR),
    (shop("http://münchen.test"), "__SHOPPING__/x", "http://münchen.test/x", ERROR),
]

# Environments, sites of the task, address that is wanted, recorded addresses, and verdict (§7.4).
ADDRESS = "http://red.test:9999/"
GUESSED = [
    ({}, ["shopping"], "__SHOPPING__/x", [f"{SHOP}/x"], SUCCESS),
    (shop(), ["shopping"], "__SHOPPING__/x", [f"{SHOP}/x"], SUCCESS),
    ({"reddit": {"urls": [ADDRESS]}}, ["shopping"], "__SHOPPING__/x", [f"{SHOP}/x"], SUCCESS),
    ({}, ["shopping"], "__SHOPPING__/x", ["http://cdn.test/lib", f"{SHOP}/x"], FAILURE),
    ({}, ["shopping"], "__SHOPPING__/x", ["http://cdn.test/lib.js", f"{SHOP}/x"], SUCCESS),
    ({}, ["shopping_admin"], "__SHOPPING_ADMIN__/x", ["http://a:1/", "http://a:1/admin/x"], SUCCESS),
    ({}, ["gitlab", "reddit"], "__REDDIT__/x", ["http://a:1/", "http://b:2/x"], SUCCESS),
    ({}, ["gitlab", "reddit"], "__REDDIT__/x", ["http://a:1/", "http://a:1/", "http://b:2/x"], FAILURE),
    (shop("http://a:1"), ["shopping", "reddit"], "__SHOPPING__/x", ["http://c:3/", "http://a:1/x"], FAILURE),
]
