"""``__SHOPPING__`` placeholders and real URLs, either way, from the configuration file (spec §7)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from msgspec import Struct, field

from pytest_webeval.errors import EvaluationError, SettingsError
from pytest_webeval.safety.text import describe_unknown_keys, pluralize
from pytest_webeval.tasks.addresses import find_address_problem, normalize_address

# What a configuration of WebArena-Verified may say (spec §7.1); all but the addresses is for programs that record.
CONFIG_KEYS = (
    "environments",
    "test_data_file",
    "agent_response_file_name",
    "trace_file_name",
    "eval_result_file_name",
    "storage_state_file_name",
)
ENVIRONMENT_KEYS = ("urls", "active_url_idx", "use_header_login", "credentials", "extra", "container")
# The sites of WebArena-Verified, which rules `reference` allow alone.
SITE_NAMES = ("gitlab", "map", "reddit", "shopping_admin", "shopping", "wikipedia", "homepage")
LONGEST_NAME = 60
INVENTED = ".invalid"  # the end of the host of a site that nobody configured
# Without two underscores in a row, so that no placeholder begins with another one.
_NAME = re.compile(r"[a-z][a-z0-9]*(?:_[a-z0-9]+)*")
PLACEHOLDER = re.compile(r"__[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*__")


def is_site_name(name: str) -> bool:
    """Whether a site may have the name."""
    return name in SITE_NAMES or (len(name) <= LONGEST_NAME and _NAME.fullmatch(name) is not None)


def site_name(spelling: str) -> str:
    """`bookshop` for `bookshop`, `BOOKSHOP`, `__BOOKSHOP__` and `_bookshop_`. Raises `ValueError`."""
    stripped = spelling.strip("_")
    name = stripped.lower() if stripped in (stripped.lower(), stripped.upper()) else stripped
    if not is_site_name(name):
        raise ValueError(
            f"invalid site {spelling!r:.80}; use lower-case letters, digits and single underscores, such as 'bookshop'"
        )
    return name


def placeholder(site: str) -> str:
    """`__SHOPPING__` for `shopping`."""
    return f"__{site.upper()}__"


class Environment(Struct, frozen=True):
    """Addresses under which one site was reached; `active` is the index of the one that expectations mean.

    `spellings` are others that a recorded text may have.
    """

    urls: tuple[str, ...]
    active: int = 0
    spellings: tuple[str, ...] = ()

    @property
    def folded(self) -> Environment:
        """The same with the addresses as normalized URLs have them, and the configured ones as other spellings."""
        if not 0 <= self.active < len(self.urls):  # which stays an error
            return self
        urls = tuple(map(_fold, self.urls))
        raw = {url for url in self.urls if url and url.rstrip("/") not in urls}
        return Environment(urls, self.active, tuple(sorted(raw, key=lambda url: (-len(url), url))))

    @property
    def recorded_urls(self) -> tuple[str, ...]:
        """All spellings of the addresses, in the order in which they are looked for in a text."""
        return (*self.spellings, *self.urls)

    @property
    def url(self) -> str:
        """The address that replaces the placeholder. Raises `EvaluationError`."""
        if not self.urls:
            raise EvaluationError("no URL is configured for a site of the task; add it to environments.*.urls")
        if not 0 <= self.active < len(self.urls):
            count = pluralize(len(self.urls), "URL")
            raise EvaluationError(f"active_url_idx {self.active} is out of range for {count}; fix the configuration")
        return self.urls[self.active]


def invent_environments(names: Iterable[str]) -> dict[str, Environment]:
    """An address for each site of a task for which nobody configured any; no browser can have gone there."""
    return {name: Environment((f"http://{name.replace('_', '-')}{INVENTED}",)) for name in names}


def _fold(url: str) -> str:
    try:
        return normalize_address(url)
    except ValueError:  # `load_sites` refuses it; in Python anything can be passed
        return url


class Sites(Struct, frozen=True, dict=True):
    """Where the sites of a benchmark were reached. Empty until a configuration or a recording says so.

    `source` is the name of the configuration file, for messages.
    """

    environments: Mapping[str, Environment] = field(default_factory=dict)
    source: str = ""

    def render(self, text: str, sites: Iterable[str]) -> str | None:
        """The text with the placeholder that it starts with replaced by the active URL, or None if it has none."""
        urls_by_site = {site: self._find_environment(site).url for site in sites}
        for site, url in urls_by_site.items():
            if text.startswith(placeholder(site)):
                return text.replace(placeholder(site), url)
        return None

    def find_start_url(self, start_urls: Sequence[str], sites: Sequence[str]) -> str | None:
        """The first start page with the address of its site; without one, the address of the first site, or None.

        Raises `EvaluationError` for a site of the task without an address.
        """
        if start_urls:
            return self.render(start_urls[0], sites) or start_urls[0]
        return self.environments[sites[0]].url if sites and sites[0] in self.environments else None

    def render_pattern(self, pattern: str, sites: Iterable[str], *, escape: bool) -> str | None:
        """A ``^…$`` pattern with the placeholder that it starts with replaced by the active URL, or None if unknown."""
        if not pattern.startswith("^__"):
            return pattern
        for site in sites:
            url, mark = self._find_environment(site).url, placeholder(site)
            if pattern.startswith(mark, 1):
                return pattern.replace(mark, re.escape(url) if escape else url)
        return None

    def find_undeclared(self, sites: Iterable[str]) -> str | None:
        """What is wrong with sites that no environment is about, with the nearest that has one; None for no problem.

        Without any environment, addresses are inferred from recordings, and there is nothing to declare.
        """
        if not self.environments:
            return None
        return describe_unknown_keys(sites, tuple(self.environments), "sites", noun="site")

    def derender(self, text: str, sites: Iterable[str]) -> str:
        """The text with the addresses of the first site that occurs in it replaced by its placeholder (spec §7.3)."""
        urls_by_site = [(site, self.environments[site].recorded_urls) for site in sites if site in self.environments]
        for site, urls in sorted(urls_by_site, key=lambda pair: -max(map(len, pair[1]), default=0)):
            for url in urls:
                if url and url in text:
                    return text.replace(url.rstrip("/"), placeholder(site))
        return text

    def mentions(self, text: str, sites: Iterable[str]) -> bool:
        """Whether an address of one of the sites stands anywhere in the text."""
        return any(url in text for site in sites for url in self.environments[site].recorded_urls)

    def covers(self, sites: Iterable[str]) -> bool:
        """Whether each of the sites has an address, and there is any at all."""
        return bool(self.environments) and all(
            site in self.environments and self.environments[site].urls for site in sites
        )

    @cached_property
    def folded(self) -> Sites:
        """The same sites with folded addresses; these very sites where that changes nothing."""
        changed = {name: environment.folded for name, environment in self.environments.items()}
        return self if changed == dict(self.environments) else Sites(changed, self.source)

    def find_missing_url(self, sites: Sequence[str]) -> str | None:
        """Why the URLs of these sites are unknown and not inferred, and what to configure; None for no problem.

        They are inferred only for one site that no configuration is about.
        """
        if problem := self.find_undeclared(sites):
            return f"{problem}; add it to environments in --webeval-config"
        without = [site for site in sites if site in self.environments and not self.environments[site].urls]
        if without:
            where = " and ".join(f"environments.{site}.urls" for site in without)
            source = self.source or "the configuration"
            return f"no URL for {', '.join(without)} in {source}: {where} is empty; write the URL of the site there"
        if len(sites) > 1 and not self.environments:
            names = ", ".join(sites)
            problem = f"no URL configured for {names}: only those of tasks with one site are inferred from a recording"
            return f"{problem}; pass a file with the site URLs: --webeval-config=FILE"
        return None

    def _find_environment(self, site: str) -> Environment:
        if site not in self.environments:
            raise EvaluationError(f"no URL for site {site}; add it to environments in --webeval-config")
        return self.environments[site]


def load_sites(path: str | Path) -> Sites:
    """The `environments` of a WebArena-Verified configuration file. Raises `SettingsError`.

    An address that no browser can have gone to is refused: with it, nothing that an agent did would be found.
    """
    try:
        sites = parse_sites(Path(path).read_bytes(), str(path))
    except OSError as error:
        raise SettingsError(
            f"cannot read the configuration {path}: {error.strerror}; check --webeval-config"
        ) from error
    for site, environment in sites.environments.items():
        if problem := _find_problem(environment):
            raise SettingsError(f"invalid configuration {path}: {problem[0]} @ environments.{site}.{problem[1]}")
    return sites


def _find_problem(environment: Environment) -> tuple[str, str] | None:
    """What is wrong with the addresses of a site, and the key that says so."""
    count = len(environment.urls)
    if count and not 0 <= environment.active < count:
        problem = f"active_url_idx {environment.active} is out of range for {pluralize(count, 'URL')}"
        return f"{problem}; use 0 to {count - 1}", "active_url_idx"
    problems = ((find_address_problem(url), f"urls[{index}]") for index, url in enumerate(environment.urls))
    return next(((problem, key) for problem, key in problems if problem), None)


def parse_sites(content: bytes, source: str) -> Sites:
    """The `environments` in the bytes of a configuration, whatever their addresses are. Raises `SettingsError`."""
    try:
        config = _require_object(json.loads(content), "the top level")
        _check_keys(config, CONFIG_KEYS, "the top level")
        environments = _require_object(config.get("environments") or {}, "environments").items()
        parsed = {site_name(spelling): _parse_environment(spelling, raw) for spelling, raw in environments}
        return Sites(parsed, Path(source).name)
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"invalid configuration {source}: {error}; see 'Score your own runs'") from error


def _parse_environment(spelling: str, raw: Any) -> Environment:
    where = f"environments.{spelling}"
    environment = _require_object(raw, where)
    _check_keys(environment, ENVIRONMENT_KEYS, where)
    urls = environment.get("urls")
    if not isinstance(urls, list) or not all(isinstance(url, str) for url in urls):
        raise ValueError(f"{where}.urls must be a list of URLs")
    active = environment.get("active_url_idx") or 0
    if not isinstance(active, int):
        raise ValueError(f"{where}.active_url_idx must be an integer")
    return Environment(tuple(urls), active)


def _require_object(raw: object, where: str) -> dict[str, Any]:
    if not isinstance(raw, dict):
        raise ValueError(f"expected a JSON object, got {raw!r:.80} @ {where}")
    return raw


def _check_keys(raw: Mapping[str, Any], allowed: Sequence[str], where: str) -> None:
    if problem := describe_unknown_keys(raw, allowed, where):
        raise ValueError(problem)
