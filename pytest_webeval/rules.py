"""Rule sets: what `reference`, `default` and `strict` do differently, as one table. `auto` chooses one by the task."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from pytest_webeval.errors import SettingsError

DEFAULT = ("default", "strict")
STRICT = ("strict",)


@dataclass(frozen=True, slots=True)
class Quirk:
    """One row. `number` is that of spec §10, or a section where the specification gives no number.

    `behaviour` says what the reference does, `instead` what we do where a rule set repairs it, `tasks` which tasks of
    the data set it touches. `switch` is the field of `Rules` that repairs it; every rule set keeps rows without one,
    or, where `instead` says so, differ in no verdict.
    """

    number: str
    behaviour: str
    tasks: str = "-"
    switch: str = ""
    instead: str = ""
    repaired_in: tuple[str, ...] = ()

    def column(self, rules: str) -> str:
        """What a rule set does: `kept`, `repaired`, or `no verdict` for what only texts and speed depend on."""
        if self.switch:
            return "repaired" if rules in self.repaired_in else "kept"
        return "no verdict" if self.instead else "kept"


# fmt: off
QUIRKS: tuple[Quirk, ...] = (
    # False positives: a wrong run passes
    Quirk("Q1", "a text ^…$ from an agent or a site is a pattern", "102 of the 297 retrieve tasks with data",
          "no_recorded_patterns", "text from an agent or a site is never a pattern", DEFAULT),
    Quirk("Q2", "a list from an agent or a site is a list of guesses", "15 boolean and 40 number tasks",
          "no_recorded_alternatives",
          "data from an agent or a site is one value or the whole expected list, never a list of guesses", DEFAULT),
    Quirk("Q56", "NaN and infinities in an answer are data: [NaN] is true", "15 boolean, 9 of which expect true",
          "finite_numbers", "NaN and infinity are invalid values", DEFAULT),
    Quirk("Q3", "0, false, {} and null are read as the empty string if a string is expected",
          "16 with a zero or false answer"),
    Quirk("Q4", "a trace without events is valid, and forbidden events count as absent", "all",
          "events_required", "a trace without a single event is an error", DEFAULT),
    Quirk("Q5", "number words and the first value in a text count: 'five apples' is 5, '$10 - $20' is 10",
          "120 with numbers or currency",
          "one_value", "a text of an agent or a site that names two different values is invalid", STRICT),
    Quirk("Q6", "of a repeated form field only the first value counts, and one value never makes an array",
          "357 that expect a POST", "repeated_fields",
          "the values of a repeated form field all count; where an array is expected, one value is an array", STRICT),
    Quirk("§4.5", "of a repeated query parameter without a schema only the smallest value counts",
          "64 with query parameters"),
    Quirk("Q60", "a query is decoded twice: C%2B%2B is 'C  ', and %2526 is &", "64 with query parameters",
          "single_decoding", "a query is decoded once, as it was sent", STRICT),
    Quirk("Q7", "names of places that are 80% alike are equal: 'Terminal 1' is 'Terminal 2'", "15 with location-name"),
    Quirk("Q8", "an expected header Referer (capital) is a text, referer is a URL", "-"),
    Quirk("Q9", "ignore patterns search, so ['_'] hides label_name[] as well", "70 with ignore patterns"),
    Quirk("Q10", "patterns of the data set that match too much: ^.*(?!delete$).*$", "411-414, 610, 736"),
    Quirk("§4.8", "the URL of a site is not escaped in a pattern: http://shopxtest matches http://shop.test",
          "103 with a site in a URL pattern", "escaped_hosts", "a URL in a pattern is literal", DEFAULT),
    Quirk("§5.14", "%2F and dot segments in a recorded path are resolved: /x%2F..%2Fcart is /cart",
          "488 with network checks", "unresolved_paths",
          "the path as it was sent must match, too", DEFAULT),
    Quirk("§4.7", "a forbidden request counts only in the spelling that a required one may have, and is absent if "
          "nothing can be read", "528-530, 689-693",
          "forbidden_readings", "it counts in any reading, at any known address; what cannot be read is an error",
          DEFAULT),
    Quirk("§5.7", "an infinite measure is within 2% or 10% of any: 'inf km'", "51 with distance or duration",
          "finite_quantities", "an infinite measure is invalid", DEFAULT),
    # False negatives and tasks that nothing can pass
    Quirk("Q11", "a response with action and results, as documented, lacks its keys", "all",
          "documented_dialect", "action and results are read as task_type and retrieved_data", DEFAULT),
    Quirk("Q12", "a code fence inside valid JSON is read as the answer", "all",
          "json_before_fence", "a response that is valid JSON is used as it is", STRICT),
    Quirk("Q13", "a byte order mark, a fence tagged JSON, or an answer in the second fence makes a response unreadable",
          "all", "tolerant_decoding", "the mark and these tags are accepted; the first JSON object counts", STRICT),
    Quirk("Q14", "unordered lists are matched greedily, so that their order decides", "68 with several answers",
          "maximum_matching", "a matching is found if there is one", STRICT),
    Quirk("Q15", "two or more evaluators of the same URL and method all use the last event",
          "567-570, 742, 743, 745, 746: none passes"),
    Quirk("Q16", "an expectation without retrieved_data fails every response", "319: none passes"),
    Quirk("Q17", "two navigate GET evaluators both use the last navigation", "429: none passes"),
    Quirk("Q18", "URLs in markdown are not replaced by placeholders", "562-566: none passes"),
    Quirk("Q19", "bodies in side files or in base64 are not read",
          "342 that check a body", "external_bodies", "all bodies of a recording are read", DEFAULT),
    Quirk("§3.3", "of a body only the text is read, and of three types: no params, no arrays, no JSON as text/plain",
          "342 that check a body", "recorded_bodies",
          "fields in params, types in headers or in capitals, and JSON of any type are read", DEFAULT),
    Quirk("§3.2", "a cookie that only a header Set-Cookie has is not read", "511-515",
          "recorded_cookies", "cookies of Set-Cookie headers count as those of the list", DEFAULT),
    Quirk("§4.3", "what the recorder omitted was not sent or received", "488 with network checks",
          "recording_gaps", "a body, header, cookie, status or page that was not recorded is an error", DEFAULT),
    Quirk("Q20", "an expected null needs a body of any kind", "34 that expect a null"),
    Quirk("Q53", "an empty or blank multipart field is ignored; a file name may be read as the name",
          "19 that expect a null in a form", "browser_forms",
          "a multipart form is read as browsers write it; an expected null matches an empty field", DEFAULT),
    Quirk("Q21", "a JSONPath filter with exactly one hit equals nothing unless an array is expected", "547-550"),
    Quirk("Q22", "'$1,234' is 1.234, '$-50' and '(50)' are 50", "51 with currency",
          "signed_currency", "money keeps its sign and its thousands separators", STRICT),
    Quirk("Q57", "an amount of more than 17 digits is rounded: 12345678901234567890 is ...891", "51 with currency",
          "exact_money", "every digit of an amount counts", DEFAULT),
    Quirk("Q66", "an integer beyond 2**53 is rounded to a float, and the exponent of money is ignored: 5e-05 is 5",
          "120 with numbers or currency",
          "exact_numbers", "every digit and the exponent of a number count", STRICT),
    Quirk("Q68", "an expected header that is a number or a list of one equals nothing; an empty redirect_url is a text",
          "-", "header_values", "a number is compared as a text; a list of one is an error of the definition", STRICT),
    Quirk("Q67", "letters of other scripts in what was sent are read as Latin ones: a Cyrillic \u0430 is an a",
          "488 with network checks", "foreign_letters",
          "a letter of another script in what was sent equals only itself", STRICT),
    Quirk("Q23", "query patterns are lower-cased, \\D becomes \\d", "-"),
    Quirk("Q24", "without sec-fetch headers an iframe or a fetched fragment is the last page", "113 navigate tasks",
          "resource_types",
          "the recording's marks identify pages; cached and posted ones count, cancelled ones and downloads do not",
          STRICT),
    Quirk("§4.4", "a request that writes, and whose expectation names no response_status, must be answered with 200",
          "77 that name none", "redirected_posts", "any status from 200 to 399 counts", STRICT),
    Quirk("Q25", "URLs of only one site are replaced in a text", "48 with two sites"),
    Quirk("§2.1", "a site other than the seven of the benchmark is an error", "-",
          "any_sites", "a site may have any name", DEFAULT),
    Quirk("§7.4", "if a site of a task has no URL, the URLs of all its sites are inferred from the recording", "all",
          "declared_sites", "only the URL of a single site is, and only without a configuration; except for a "
          "published task", DEFAULT),
    Quirk("§0", "the same for a published task", "all",
          "published_sites", "a site without a URL is an error, too", STRICT),
    Quirk("Q26", "a transformed response cannot hold points", "248-252", instead="responses are not transformed"),
    Quirk("Q27", "a URL pattern that ends in / never matches", "-"),
    Quirk("Q28", "a referer pattern with a capital letter never matches", "-"),
    Quirk("Q29", "a saved form is expected as a GET", "423: no natural recording passes"),
    Quirk("Q30", "answers are transliterated, patterns are not", "146"),
    Quirk("Q31", "a page from the cache (304) or a redirect as last event is not 200", "113 navigate tasks"),
    # Errors
    Quirk("Q32", "data for a task whose schema is null is an error", "8, 22, 24, 101 and 23 more",
          "null_schema_fails", "unexpected data are a failure", STRICT),
    Quirk("Q33", "a status or task type that is not a string is an error", "all"),
    Quirk("Q34", "two empty lists in one answer are an error", "-",
          "separate_lists", "they are two empty lists", STRICT),
    Quirk("Q35", "an expected list of one item without an array schema is an error", "699, 700, 811: none passes"),
    Quirk("Q36", "an expectation that lists error_details compares it", "-"),
    Quirk("Q37", "the error of a HAR without entries hides its cause", "-", instead="the message names the cause"),
    Quirk("Q38", "should_not_exist of a GET on a navigate task fails on any navigation", "-",
          "forbidden_pages", "only the forbidden page fails it", STRICT),
    Quirk("Q39", "an ignore pattern that leaves no expected field is an error", "-"),
    Quirk("Q40", "a configured URL that normalization changes makes every expected URL an error", "-",
          "folded_addresses", "configured URLs are normalized", DEFAULT),
    Quirk("Q61", "a recorded URL with a user before its host is at another address", "488 with network checks",
          "ignored_users", "the address has no user", STRICT),
    Quirk("Q41", "query_params_schema supports only arrays", "704-713"),
    Quirk("Q42", "one invalid URL in a recording is an error of every network evaluator", "488 with network checks"),
    Quirk("Q43", "a blank line, a raw U+2028, a byte that is not UTF-8, a byte order mark, a request that is null, "
          "several network logs or a HAR in an archive make a trace unreadable", "all",
          "repaired_traces", "readable data are read", DEFAULT),
    Quirk("§3.1", "the network log of a trace chunk counts as a whole, with the requests of earlier chunks", "all",
          "own_requests", "requests from before the chunk began are not part of the run", DEFAULT),
    Quirk("§4.2", "requests count in the order of the file, whatever their times", "all",
          "time_order", "requests count in the order of their times", STRICT),
    Quirk("Q55", "a request header whose value is null is an error of every network evaluator that checks its event",
          "488 with network checks", "null_headers", "such a header is ignored", DEFAULT),
    # Determinism, side effects, cost
    Quirk("Q44", "missing parts of a date are taken from the day of the evaluation", "20 with dates"),
    Quirk("Q45", "the order of assertions depends on the hash seed", "-", instead="everything is sorted"),
    Quirk("Q46", "validating a task changes the caller's dict", "-", instead="nothing is changed"),
    Quirk("Q47", "runs with missing files are not counted", "-", instead="errors; see --webeval-require-all"),
    Quirk("Q48", "a wrong path of the data set is replaced silently", "-", instead="it is an error, exit code 4"),
    Quirk("Q49", "arithmetic and an agent's patterns may never end", "-", instead="arithmetic is bounded; see Q1"),
    Quirk("Q50", "unordered comparison is quadratic, every URL is read twice", "-", instead="each value is read once"),
    Quirk("Q51", "packaging crashes, the command line always exits 0", "-", instead="exit codes are pytest's own"),
    Quirk("Q52", "versions of libraries change verdicts without changing a checksum", "-", instead="results name them"),
    Quirk("Q58", "an unknown key of an expectation is ignored: post_dta checks nothing", "-",
          "known_keys", "an unknown key is an error, except in a published task", DEFAULT),
    Quirk("§2.3", "a definition that nothing can meet, or that checks something else than it says, is a failure", "-",
          "sound_definitions", "it is an error of the definition, except in a published task", STRICT),
    Quirk("Q59", "a wrong site URL in the configuration is a failure of the agent", "488 with network checks",
          "visited_sites", "a failure without a request to a configured URL is an error", DEFAULT),
    # Fara's webeval (fara_webeval.md §8); its numbers have an F before them
    Quirk("F4", "a second *_answer.json is an error of the run, whatever it is named after", "trajectories"),
    Quirk("F12", "a run that ends with the action stop gets no points, whatever it answered", "trajectories",
          "stop_terminates", "stop ends a run normally", STRICT),
    Quirk("F27", "a judge's free text is searched for parts of words: 'unsuccessful' is a success", "trajectories",
          "whole_word_verdicts", "the judge's last word counts", STRICT),
    Quirk("F§4.3", "a stored success counts although the log holds no action, or other screenshots than belong to it",
          "trajectories", "proven_verdicts", "it is an error: a stored success counts only on evidence", DEFAULT),
    Quirk("F46", "a step budget counts screenshots minus one", "trajectories",
          "budgets_in_steps", "it counts steps", DEFAULT),
)

# fmt: on


# Called with the switch of a rule set that changed something on the way to a verdict, and with the path where it did.
RuleListener = Callable[[str, str], None]
REFERENCE_VERSION = "1.2.3"


@dataclass(frozen=True, slots=True)
class Rules:
    """One rule set. Each switch is on where the rule set departs from the reference; `QUIRKS` says how and why."""

    name: str
    documented_dialect: bool = False
    no_recorded_patterns: bool = False
    no_recorded_alternatives: bool = False
    events_required: bool = False
    external_bodies: bool = False
    recorded_bodies: bool = False
    recorded_cookies: bool = False
    recording_gaps: bool = False
    browser_forms: bool = False
    repaired_traces: bool = False
    own_requests: bool = False
    time_order: bool = False
    null_headers: bool = False
    escaped_hosts: bool = False
    unresolved_paths: bool = False
    finite_quantities: bool = False
    finite_numbers: bool = False
    exact_money: bool = False
    null_schema_fails: bool = False
    json_before_fence: bool = False
    tolerant_decoding: bool = False
    signed_currency: bool = False
    exact_numbers: bool = False
    one_value: bool = False
    foreign_letters: bool = False
    header_values: bool = False
    maximum_matching: bool = False
    resource_types: bool = False
    repeated_fields: bool = False
    separate_lists: bool = False
    whole_word_verdicts: bool = False
    stop_terminates: bool = False
    budgets_in_steps: bool = False
    proven_verdicts: bool = False
    known_keys: bool = False
    visited_sites: bool = False
    sound_definitions: bool = False
    redirected_posts: bool = False
    folded_addresses: bool = False
    any_sites: bool = False
    declared_sites: bool = False
    published_sites: bool = False
    single_decoding: bool = False
    ignored_users: bool = False
    forbidden_readings: bool = False
    forbidden_pages: bool = False

    def without(self, *switches: str) -> Rules:
        """The same rules, with the reference's ways where these switches stand."""
        changes: dict[str, Any] = dict.fromkeys(switches, False)
        return replace(self, **changes)

    def choose(self, *, is_published: bool) -> Rules:
        """The rules that judge a task: of `auto` those of its origin, of any other rule set itself."""
        if self.name != AUTO:
            return self
        return RULES["default" if is_published else "strict"]


RULE_SETS = ("reference", "default", "strict")
AUTO = "auto"  # by the origin of the task: `default` for a published one, `strict` for any other
RULE_CHOICES = (AUTO, "default", "reference", "strict")
RULES = {
    name: Rules(name, **{quirk.switch: name in quirk.repaired_in for quirk in QUIRKS if quirk.switch})
    for name in RULE_SETS
}
# A run is read by it until its task is known: what is read of a recording is the same under both of its rule sets.
AUTO_RULES = replace(RULES["strict"], name=AUTO)


def find_rules(name: str) -> Rules:
    """The rule set of that name, or `auto`. Raises `SettingsError`."""
    if name not in RULE_CHOICES:
        raise SettingsError(f"unknown rules {name!r}; use one of {', '.join(RULE_CHOICES)}")
    return AUTO_RULES if name == AUTO else RULES[name]


def find_quirk(switch: str) -> Quirk:
    """The row of the table that a switch stands for."""
    return next(quirk for quirk in QUIRKS if quirk.switch == switch)


def ignore_rule(switch: str, where: str) -> None:
    """A `RuleListener` that does nothing."""
