"""The functions of the report's modules, called in a browser: what they return for which arguments."""

# ruff: noqa: E501, RUF001  (rows of data and expressions of JavaScript read best in one line)

from __future__ import annotations

import json
from urllib.parse import unquote

import pytest

from pytest_webeval.reports.html.writer import START, read_modules
from tests.browser.conftest import EXPORTS, ORIGIN

pytestmark = pytest.mark.browser
HEADINGS = "{site: {one: 'Site', none: 'no site'}, type: {one: 'Type', none: 'no type'}}"
INDEX = f"""parseIndex(JSON.stringify({{
    title: 't\\u202e', embedded: true, headings: {HEADINGS}, evaluators: ['Agent', 'Network'], warnings: ['cut'],
    groups: [{{text: 'wrong price', evaluator: 'Agent'}}, {{text: 'crash'}}],
    columns: ['run', 'task_id', 'status', 'group', 'site', 'type', 'template', 'evaluators', 'warnings', 'flip', 'intent', 'reason', 'seconds'],
    rows: [
        ['r/a/1', 10, 'success', -1, 'shop', null, null, [0, 1], [], null, 'Buy a LAMP', null, 2],
        ['r/a/2', 9, 'error', 1, 'map', 'find', 7, [], [0], 'regressed', null, 'Timeout', null],
        ['r/b/3', 9, 'failure', 0, null, 'find', 7, null, null, '', null, null, 9],
        ['9', 'x', 'partial_match', 0, 'Shop', 'find', 0, [1], [], null, null, null, 3]],
}}))"""
STATE = "{{filters: new Map({filters}), words: '{words}', sort: '{sort}'}}"


def selected(filters="[]", words="", sort=""):
    """Which runs of the index a view state selects."""
    state = STATE.format(filters=filters, words=words, sort=sort)
    return f"selectRows({INDEX}.rows, {state}, listSorts({{headings: {HEADINGS}}})).map((row) => row.run)"


def test_each_module_exports_what_the_joined_script_takes_from_it(script_page):
    assert script_page.evaluate("window.exported") == EXPORTS


def test_details_that_are_asked_for_again_before_they_came_are_requested_once(script_page, evaluate):
    def fulfill(route):
        route.fulfill(body="window.functions.receiveTask('r/1', '{\"id\": 7}')", content_type="text/javascript")

    script_page.route(f"{ORIGIN}data/*", fulfill)
    twice = "[1, 2].map(() => loadTask({ run: 'r/1', data: 'task-00000000000000ff' }))"
    scripts = "[...document.head.querySelectorAll('script[src]')].map((script) => script.getAttribute('src'))"
    loaded = evaluate(f"(() => {{ const both = {twice}; return Promise.all([{scripts}, ...both]); }})()")
    assert loaded == [["data/task-00000000000000ff.js"], {"id": 7}, {"id": 7}]
    assert evaluate(f"Promise.all([...{twice}, {scripts}])") == [{"id": 7}, {"id": 7}, []]


def test_a_module_changes_nothing_when_it_is_loaded(script_page):
    assert script_page.evaluate("[document.body.innerHTML.trim(), 'webeval' in window]") == [
        '<p id="announcement"></p>',
        False,
    ]


TEXTS = [
    ("asArray([1])", [1]),
    ("[null, undefined, 'ab', {length: 1}].map(asArray)", [[], [], [], []]),
    ("[0, false, ' ', []].every(isPresent)", True),
    ("[null, undefined, ''].some(isPresent)", False),
    (r"escapeHidden('a\u202eb\u0000\ud800c\u200b')", r"a\u202eb\u0000\ud800c\u200b"),
    (r"escapeHidden('tab\t line\n é 😀 שלום')", "tab\t line\n é 😀 שלום"),
    ("escapeHidden(12)", "12"),
    ("truncate('abcd', 4)", "abcd"),
    ("truncate('abcde', 4)", "abcd…"),
    ("formatNumber(1234567)", "1,234,567"),
    ("formatCount(1, 'step')", "1 step"),
    ("formatCount(0, 'step')", "0 steps"),
    ("formatCount(1200, 'step')", "1,200 steps"),
    ("toJson({a: [1, null]})", '{"a":[1,null]}'),
    ("toJson(undefined)", ""),
    ("(() => { const endless = []; endless.push(endless); return toJson(endless); })()", "(nested too deeply to be shown)"),
    ("toText('a')", "a"),
    ("toText(['a'])", '["a"]'),
]  # fmt: skip

LABELS = [
    ("measureSharedDirectories([])", 0),
    ("measureSharedDirectories(['runs/1'])", 5),
    ("measureSharedDirectories(['runs/a/1', 'runs/a/2'])", 7),
    ("measureSharedDirectories(['runs/a/1', 'runs/ab/2'])", 5),
    ("measureSharedDirectories(['runs/a/1', 'other'])", 0),
    ("measureSharedDirectories(['107', '108'])", 0),
    ("measureSharedDirectories(['/a', '/b'])", 1),
    ("measureSharedDirectories(['a/b', 'a/b/c'])", 2),
    ("compactLabel('runs/a/1', 7)", "1"),
    ("compactLabel('runs/' + 'x'.repeat(26), 5)", "x" * 26),
    ("compactLabel('runs/abc' + 'x'.repeat(24), 5)", "…bc" + "x" * 24),
]

LOCAL = ["eval_result.json", "../runs/1/network.har", "./a b.png", "a.png?x=1:2#y", "?x", "#task=3", "a/b:c"]
FOREIGN = ["javascript:alert(1)", " a.png", "\ta.png", "a\nb", "//example.invalid/a", "/etc/passwd", "\\\\example.invalid", "a\\b", "http://example.invalid/", "http://report.test/a", "data:image/png;base64,AAAA", "x:y", "", 7, None, ["a"]]  # fmt: skip
ADDRESSES = [
    *((f"localAddress({address!r})", address) for address in LOCAL),
    *((f"localAddress(JSON.parse({json.dumps(json.dumps(address))}))", None) for address in FOREIGN if address != ""),
    ("localAddress('')", ""),
    ("imageAddress('shots/1.png')", "shots/1.png"),
    ("imageAddress('data:image/webp;base64,AA+/=')", "data:image/webp;base64,AA+/="),
    ("imageAddress('data:image/svg+xml;base64,AAAA')", None),
    ("imageAddress('data:image/png;base64,AA\\nAA')", None),
    ("imageAddress('data:image/png,AAAA')", None),
    ("imageAddress(3)", None),
]  # fmt: skip

ELEMENTS = [
    ("element('p', {id: 'x', hidden: true, title: false, lang: null, class: ''}, 'a', null, ['b', [3, 0]]).outerHTML", '<p id="x" hidden="">ab30</p>'),
    ("element('p', null, '<b>', element('i')).outerHTML", "<p>&lt;b&gt;<i></i></p>"),
    (r"element('p', {}, '\u202e').textContent", r"\u202e"),
    ("(() => { let count = 0; element('b', {onclick: () => count++}).click(); return count; })()", 1),
    ("element('p', {}, 'x'.repeat(5000)).outerHTML.length", 5007),
    ("element('p', {}, 'x'.repeat(5001)).textContent.slice(4999)", "x … show all 5,001 characters"),
    ("(() => { const p = element('p', {}, 'x'.repeat(12000)); p.querySelector('button').click(); return [p.textContent.trim(), p.querySelectorAll('.piece').length, p.querySelector('button')]; })()", ["x" * 12000 + " …", 3, None]),
    ("splitText('a'.repeat(5000) + 'b').map((piece) => piece.length)", [5000, 1]),
    ("bdi('a', 'run').outerHTML", '<bdi class="run">a</bdi>'),
    ("button('Go', null).outerHTML", '<button type="button" class="plain">Go</button>'),
    ("option('=a', 'A').outerHTML", '<option value="=a">A</option>'),
    ("badge('error').outerHTML", '<span class="badge error">! error</span>'),
    ("SIGNS", {"success": "✓", "failure": "✕", "error": "!", "partial_match": "◐", "excluded": "–"}),
    ("STATUS_BUTTONS", ["failure", "error", "partial_match", "success", "excluded"]),
    ("badge('toString').className", "badge "),
    ("badge('<b>').outerHTML", '<span class="badge "> &lt;b&gt;</span>'),
    ("foldedBlock('more', 'text').outerHTML", "<details><summary>more</summary>text</details>"),
    ("section('Title', 'a', 'b').outerHTML", '<section class="part"><h3>Title</h3>ab</section>'),
    ("factList([['a', 1], ['b', null], ['c', []], ['d', ['x', 'y']]]).outerHTML", '<dl class="facts-of"><div><dt>a</dt><dd>1</dd></div><div><dt>d</dt><dd>xy</dd></div></dl>'),
    ("factList([['a', ''], ['b', []]])", None),
    ("table(['A'], [], 'rubric points').outerHTML", '<div class="wide" tabindex="0" role="group" aria-label="rubric points"><table class="rubric-points"><thead><tr><th scope="col">A</th></tr></thead><tbody></tbody></table></div>'),
]  # fmt: skip

FACETS = f"{INDEX}.rows.map((row) => row.facets)"
INDEXES = [
    (f"{INDEX}.title", "t\\u202e"),
    (f"{INDEX}.isEmbedded", True),
    (f"{INDEX}.sharedLength", 0),
    (f"[...{INDEX}.rowsByRun.keys()]", ["r/a/1", "r/a/2", "r/b/3", "9"]),
    (f"{INDEX}.rows.map((row) => [row.number, row.run])", [[0, "r/a/1"], [1, "r/a/2"], [2, "r/b/3"], [3, "9"]]),
    (f"{FACETS}[0]", {"status": ["success"], "group": [], "site": ["shop"], "type": [""], "template": ["-1"], "evaluator": ["Agent", "Network"], "warning": [], "flip": []}),
    (f"{FACETS}[1]", {"status": ["error"], "group": ["1"], "site": ["map"], "type": ["find"], "template": ["7"], "evaluator": [], "warning": ["cut"], "flip": ["regressed"]}),
    (f"{FACETS}[2]", {"status": ["failure"], "group": ["0"], "site": [""], "type": ["find"], "template": ["7"], "evaluator": [], "warning": [], "flip": []}),
    (f"{FACETS}[3].template", ["0"]),
    (f"{INDEX}.rows.map((row) => row.searchText)", ["r/a/1\n10\nbuy a lamp\n", "r/a/2\n9\n\ntimeout", "r/b/3\n9\n\n", "9\nx\n\n"]),
    (f"findRow({INDEX}, 'r/b/3').run", "r/b/3"),
    (f"findRow({INDEX}, '10').run", "r/a/1"),
    (f"findRow({INDEX}, '9').run", "9"),
    (f"findRow({INDEX}, 'nothing')", None),
    ("findRow({rowsByRun: new Map(), rows: [{task_id: 9, status: 'success', n: 1}, {task_id: 9, status: 'error', n: 2}, {task_id: 9, status: 'failure', n: 3}]}, '9').n", 2),
    ("findRow({rowsByRun: new Map(), rows: [{task_id: 9, status: 'success', n: 1}, {task_id: 9, status: 'success', n: 2}]}, '9').n", 1),
]  # fmt: skip

FORMATS = f"Object.fromEntries(listFilters({{headings: {HEADINGS}, groups: [{{text: 'a', evaluator: 'E'}}, {{text: 'b'}}], templates: [{{name: '7', text: 'Buy'}}]}}).map(({{key, format}}) => [key, format]))"
FILTERS = [
    (selected("[['status', ['error']]]"), ["r/a/2"]),
    (selected("[['type', ['find']], ['group', ['0']]]"), ["r/b/3", "9"]),
    (selected("[['site', ['']]]"), ["r/b/3"]),
    (selected("[['evaluator', ['Network']]]"), ["9", "r/a/1"]),
    (selected("[['flip', ['']]]"), []),
    (selected("[['status', ['error', 'success']]]"), ["r/a/2", "r/a/1"]),
    (selected("[['status', ['error', 'success', 'none']], ['site', ['shop', 'Shop']]]"), ["r/a/1"]),
    (selected("[['evaluator', ['Agent', 'Network']]]"), ["9", "r/a/1"]),
    ("toggleValue(['a', 'b'], 'a')", ["b"]),
    ("toggleValue(['a'], '')", ["a", ""]),
    ("summarizeChoice({label: 'Site', format: (value) => value || 'none'}, [])", "Site"),
    ("summarizeChoice({label: 'Site', format: (value) => value || 'none'}, [''])", "Site: none"),
    ("summarizeChoice({label: 'Site', format: (value) => 'x'.repeat(81)}, ['a'])", "Site: " + "x" * 80 + "…"),
    ("summarizeChoice({label: 'Site', format: (value) => value}, ['a', 'b'])", "Site: 2 values"),
    ("[...labelTemplates([{name: '1', text: 'A'}, {name: '2', text: 'B'}, {name: '3', text: 'B'}, {name: '4', text: null}, {name: '5'}])]", [["1", "A"], ["2", "2: B"], ["3", "3: B"], ["4", "4"], ["5", "5"]]),
    (selected(words="  LAMP  buy "), ["r/a/1"]),
    (selected(words="lamp timeout"), []),
    (selected("[['type', ['find']]]", words="r/"), ["r/a/2", "r/b/3"]),
    (selected(), ["r/a/2", "r/b/3", "9", "r/a/1"]),
    (selected(sort="recorded"), ["r/a/1", "r/a/2", "r/b/3", "9"]),
    (selected(sort="task"), ["r/a/2", "r/b/3", "r/a/1", "9"]),
    (selected(sort="reason"), ["r/b/3", "9", "r/a/2", "r/a/1"]),
    (selected(sort="seconds"), ["r/b/3", "9", "r/a/1", "r/a/2"]),
    (f"Object.entries(listSorts({{headings: {HEADINGS}}})).map(([name, [label]]) => [name, label])", [["", "worst status"], ["recorded", "as recorded"], ["task", "task id"], ["site", "site"], ["reason", "reason"], ["seconds", "slowest"]]),
    *((f"listSorts({{headings: {HEADINGS}}})['{sort}'][1]({{status: 'failure', number: 3}}, {{status: 'failure', number: 1}})", 2) for sort in ("", "recorded")),
    (f"listSorts({{headings: {HEADINGS}}}).site[1]({{site: 'shop 10'}}, {{site: 'shop 9'}})", 1),
    (f"[null, 0.5].map((seconds) => ({{seconds}})).sort(listSorts({{headings: {HEADINGS}}}).seconds[1]).map(({{seconds}}) => seconds)", [0.5, None]),
    ("['case 10', 'case 9', 'Case 1'].sort(compareNaturally)", ["Case 1", "case 9", "case 10"]),
    ("['success', 'excluded', 'failure', 'error', 'partial_match'].sort(compareStatuses)", ["error", "failure", "partial_match", "success", "excluded"]),
    (f"[...countValues({INDEX}.rows, 'type')]", [["", 1], ["find", 3]]),
    (f"[...countValues({INDEX}.rows, 'evaluator')]", [["Agent", 1], ["Network", 2]]),
    (f"listFilters({{headings: {HEADINGS}, groups: []}}).map(({{key, label}}) => [key, label])", [["status", "Status"], ["group", "Reason"], ["site", "Site"], ["type", "Type"], ["template", "Template"], ["evaluator", "Evaluator"], ["warning", "Warning"], ["flip", "Flip"]]),
    (f"['0', '1', '2'].map({FORMATS}.group)", ["a · E", "b", "2"]),
    (f"['', 'x'].flatMap((value) => [{FORMATS}.site(value), {FORMATS}.type(value)])", ["no site", "no type", "x", "x"]),
    (f"['-1', '0', '7'].map({FORMATS}.template)", ["no template", "0", "Buy"]),
    (f"['status', 'evaluator', 'warning', 'flip'].map((key) => {FORMATS}[key]('v'))", ["v"] * 4),
    ("formatSelection(1, 1)", "1 task"),
    ("formatSelection(1200, 10000)", "1,200 of 10,000 tasks"),
]  # fmt: skip

PARSED = "(({{filters, ...others}}) => [[...filters], others])(parseFragment('{fragment}', ['status', 'site'], {{'': 0, seconds: 0}}))"
VIEWS = [
    (PARSED.format(fragment=""), [[], {"words": "", "sort": "", "part": "", "task": "", "step": "", "event": ""}]),
    (PARSED.format(fragment="#"), [[], {"words": "", "sort": "", "part": "", "task": "", "step": "", "event": ""}]),
    (PARSED.format(fragment="#site=&task=runs%2F3&q=a+b%26&sort=seconds&status=error"), [[["status", ["error"]], ["site", [""]]], {"words": "a b&", "sort": "seconds", "part": "", "task": "runs/3", "step": "", "event": ""}]),
    (PARSED.format(fragment="#sort=status"), [[], {"words": "", "sort": "", "part": "", "task": "", "step": "", "event": ""}]),  # of old links: the worst first
    (PARSED.format(fragment="#status=error&status=failure&site=a&status=error"), [[["status", ["error", "failure"]], ["site", ["a"]]], {"words": "", "sort": "", "part": "", "task": "", "step": "", "event": ""}]),
    *((PARSED.format(fragment=f"#task=3&event={event}") + "[1].event", shown) for event, shown in [
        ("118", "118"), ("1", "1"), ("0", ""), ("-1", ""), ("1e3", ""), ("12345678", ""), ("x", ""), ("", "")]),
    (PARSED.format(fragment="#sort=toString&kind=x"), [[], {"words": "", "sort": "", "part": "", "task": "", "step": "", "event": ""}]),
    ("formatFragment({filters: new Map(), words: '', sort: '', task: ''})", "#"),
    ("formatFragment({filters: new Map([['site', ['']], ['status', ['a&b']]]), words: 'a b', sort: 'seconds', task: 'runs/3'})", "#site=&status=a%26b&q=a+b&sort=seconds&task=runs%2F3"),
    (PARSED.format(fragment="#task=runs%2F3&step=12"), [[], {"words": "", "sort": "", "part": "", "task": "runs/3", "step": "12", "event": ""}]),
    ("formatFragment({filters: new Map(), words: '', sort: '', task: 'runs/3', step: '12'})", "#task=runs%2F3&step=12"),
    *((f"formatFragment(parseFragment('{fragment}', ['status', 'site'], {{'': 0, seconds: 0}}))", fragment)
      for fragment in ("#", "#task=3&event=118", "#status=error", "#status=error&status=failure&site=&site=b", "#site=&q=%C3%A9", "#status=%3D&site=b&sort=seconds&task=%23+%25")),
]  # fmt: skip

LISTS = [
    {"kind": kind, "value": value, "status": status, "count": count, "parts": parts}
    for kind, value, status, count, parts in [
        ("all", "", "error", 3, [1]),
        ("all", "", "failure", 25, [2, 5, 9]),
        ("all", "", "success", 20, [3, 4]),
        ("site", "shop", "error", 3, [6]),
        ("site", "shop", "success", 5, [7]),
        ("group", "0", "error", 2, [8]),
    ]
]
SELECTED = (
    "(({{kind, lists, keys}}) => [kind, lists.flatMap(({{parts}}) => parts), keys])(selectLists(mapLists("
    + json.dumps(LISTS).replace("{", "{{").replace("}", "}}")
    + "), ['error', 'failure', 'success'], new Map({filters})))"
)
PAGES = f"groupPages({json.dumps(LISTS[:3])}, 10)"
ROW_PARTS = [
    (SELECTED.format(filters="[]"), ["all", [1, 2, 5, 9, 3, 4], ["status"]]),
    (SELECTED.format(filters="[['status', ['success', 'error']]]"), ["all", [1, 3, 4], ["status"]]),
    (SELECTED.format(filters="[['status', ['none']]]"), ["all", [], ["status"]]),
    (SELECTED.format(filters="[['type', ['find']], ['site', ['shop']]]"), ["site", [6, 7], ["status", "site"]]),
    (SELECTED.format(filters="[['site', ['shop', 'rare']]]"), ["all", [1, 2, 5, 9, 3, 4], ["status"]]),
    (SELECTED.format(filters="[['site', ['shop']], ['group', ['0']]]"), ["group", [8], ["status", "group"]]),
    (PAGES, [{"start": 0, "count": 13, "parts": [1, 2]}, {"start": 13, "count": 15, "parts": [5, 9]}, {"start": 28, "count": 20, "parts": [3, 4]}]),
    ("groupPages([], 10)", []),
    *((f"findPage({PAGES}, '{part}', {position})", page) for part, position, page in [
        ("", -1, 0), ("", 12, 0), ("", 13, 1), ("", 47, 2), ("3", 0, 2), ("4", 0, 0), ("all", 0, 0), ("1", 47, 0)]),
    *((f"findPosition({json.dumps(LISTS[:3])}, '{status}', 4)", position) for status, position in [("error", 4), ("success", 32), ("none", -1)]),
    ("formatRange({start: 4000, count: 4000})", "4,001–8,000"),
    *((f"findPart({first}, {value}, compareTaskIds, {str(or_equal).lower()})", part) for first, value, or_equal, part in [
        ("[]", 1, True, 0), ("[5]", 1, True, 0), ("[1, 5, 5, 9]", 5, True, 2), ("[1, 5, 5, 9]", 5, False, 0), ("[1, 5, 9, 'a']", "'b'", False, 3), ("[1, 5, 9]", 7, True, 1)]),
    ("['b', 'a', 'ab', '\\uffff', '\\u{1f600}', ''].sort(compareCodePoints)", ["", "a", "ab", "b", "\uffff", "\U0001f600"]),
    ("['10', 9, 'b', 10, -1].sort(compareTaskIds)", [-1, 9, 10, "10", "b"]),
    *((f"listTaskIds('{text}')", ids) for text, ids in [("107", [107, "107"]), ("007", ["007"]), ("-1", [-1, "-1"]), ("a", ["a"]), ("1e3", ["1e3"]), ("9" * 16, ["9" * 16])]),
    *((PARSED.format(fragment=f"#part={part}") + "[1].part", kept) for part, kept in [("3", "3"), ("all", "all"), ("0", ""), ("x", ""), ("1234567890", "")]),
]  # fmt: skip

DIFFERENCES = [
    (f"commonEnds({first!r}, {second!r})", {"start": start, "end": end})
    for first, second, start, end in [
        ("asc", "desc", 0, 2),
        ("$34.99", "$34.90", 5, 0),
        ("same", "same", 4, 0),
        ("aa", "aaa", 2, 0),
        ("", "x", 0, 0),
        ("abXcd", "abYYcd", 2, 2),
        ("😀", "😁", 0, 0),  # both start with the same half of a pair
        ("a😀", "a😁", 1, 0),
        ("\U0001f600b", "\U0001fa00b", 0, 1),  # both end with the same half
    ]
] + [
    ("differenceRow({path: 'a.b', kind: 'different', expected: 'asc', actual: 'desc'}).innerHTML", '<th scope="row"><code>a.b</code></th><td class="kind">different</td><td class="expected"><code><mark>a</mark>sc</code></td><td class="actual"><code><mark>de</mark>sc</code></td>'),
    ("differenceRow({path: 'x', kind: 'different', expected: null, actual: '/cancel'}).querySelector('.actual').innerHTML", "<code><mark>/cancel</mark></code>"),
    ("differenceRow({path: 'x', kind: 'different', expected: '$1', actual: '$2'}).querySelector('.actual').innerHTML", "<code>$<mark>2</mark></code>"),
    ("differenceRow({path: '', kind: 'extra', expected: null, actual: [1]}).textContent", "(entire value)extra–[1]"),
    ("differenceRow({path: 'x', kind: 'missing', expected: 1, actual: null}).textContent", "xmissing1–"),
]  # fmt: skip

FAILED = "{name: 'A', status: 'failure', differences: [{path: 'x', kind: 'different', expected: 'a', actual: 'b'}], assertions: [{name: 'c', status: 'failure', messages: ['m']}]}"
NO_TABLE = "{name: 'B', status: 'error', differences: [], assertions: [{name: 'c', status: 'failure', messages: ['m', 'n']}, {name: 'd', status: 'success'}]}"
FORBIDDEN = "{name: 'A', status: 'failure', differences: [{path: 'network_event', kind: 'extra', expected: null, actual: '/c'}], nearest: {index: 3, of: 9, method: 'POST', url: '/c', status: null}}"
GLANCE = [
    ("listFields(null)", []),
    ("listFields({value: 'x'})", [{"name": "", "text": "x"}]),
    ("listFields({value: ''})", []),
    ("listFields({fields: [{name: 'a', value: 0}, {name: 'b', value: null}, {name: 'c', value: ['x']}, null, 7]})", [{"name": "a", "text": "0"}, {"name": "c", "text": '["x"]'}]),
    ("listFields({fields: 'x', value: 1})", [{"name": "", "text": "1"}]),
    ("[null, undefined, 'x', 7].map(answerBox)", [None] * 4),
    ("answerBox({value: ''}).textContent", "no answer"),
    ("answerBox({fields: [], more: 0}).textContent", "no answer"),
    ("answerBox({fields: [{name: '<b>', value: '<i>'}], more: 2}).innerHTML", '<div><code class="quiet">&lt;b&gt;</code> <bdi>&lt;i&gt;</bdi></div><div class="quiet">2 fields more</div>'),
    ("[600, 601].map((length) => answerBox({value: 'x'.repeat(length)}).getAttribute('tabindex'))", [None, "0"]),
    ("intentAndAnswer({})", None),
    ("intentAndAnswer({intent: 'do', answer: {value: 'done'}}).textContent", "IntentdoAnswerdone"),
    (f"failedEvaluators({{evaluators: [{FAILED}, {{status: 'success'}}, {{status: 'failure', name: 'RubricEvaluator'}}]}}).map(({{name}}) => name)", ["A", "RubricEvaluator"]),
    (f"failedEvaluators({{rubric: {{}}, evaluators: [{FAILED}, {{status: 'failure', name: 'RubricEvaluator'}}]}}).map(({{name}}) => name)", ["A"]),
    ("[{}, {evaluators: 'x'}, {evaluators: [{status: 'success'}]}].map((task) => differenceSection(task, null))", [None] * 3),
    (f"[...differenceSection({{evaluators: [{FAILED}, {NO_TABLE}]}}, null).querySelectorAll('tbody tr')].map((row) => row.textContent)", ["A ✕ failure", "xdifferentab", "B ! error", "cmn"]),
    ("[...differenceSection({evaluators: [{name: 'A', status: 'error', error: 'no <b>', assertions: [{name: 'c', status: 'failure'}]}]}, null).querySelectorAll('tbody tr')].map((row) => row.textContent)", ["A ! error", "no verdictno <b>"]),
    (f"differenceSection({{evaluators: [{FORBIDDEN}]}}, null).querySelector('.nearest').textContent", "Forbidden request 4 of 9: POST /c "),
    (f"differenceSection({{evaluators: [{FORBIDDEN.replace('extra', 'missing')}]}}, null).querySelector('.nearest').textContent", "Nearest request 4 of 9: POST /c "),
    (f"[checkSection({{evaluators: [{FAILED}]}}), checkSection({{}})]", [None, None]),
    ("checkSection({evaluators: [{status: 'success', assertions: [{name: 'c', status: 'success'}]}]}).textContent", "Checks1 check passed"),
    (f"[[{FAILED}], [{FAILED}, {NO_TABLE}], [{{assertions: [{{status: 'success'}}]}}]].map(formatChecks)", ["1 check failed", "2 checks failed, 1 passed", "1 check passed"]),
    ("(async () => { let count = 0; const block = lazyBlock('s', () => [++count]); document.body.append(block); for (const open of [true, false, true]) { block.open = open; await new Promise((done) => setTimeout(done, 50)); } block.remove(); return block.textContent; })()", "s1"),
    ("(async () => { const evaluators = [['failure', 1], ['failure', 0.5], ['failure', 0], ['failure', undefined]].map(([status, score]) => ({name: 'A', status, score, assertions: [{name: 'c', status}]})); const section = differenceSection({evaluators}, null); document.body.append(section); section.querySelectorAll('details').forEach((block) => { block.open = true; }); await new Promise((done) => setTimeout(done, 50)); section.remove(); return [...section.querySelectorAll('h4')].map((heading) => heading.textContent); })()", ["A ✕ failure score 1.00", "A ✕ failure score 0.50", "A ✕ failure", "A ✕ failure"]),
    ("(async () => { const evaluators = [1, 0.25, 0].map((score) => ({name: 'A', status: 'success', score, assertions: [{name: 'c', status: 'success'}]})); const section = checkSection({evaluators}); document.body.append(section); section.querySelectorAll('details').forEach((block) => { block.open = true; }); await new Promise((done) => setTimeout(done, 50)); section.remove(); return [...section.querySelectorAll('h4')].map((heading) => heading.textContent); })()", ["A ✓ success", "A ✓ success score 0.25", "A ✓ success score 0.00"]),
    ("rubricSection({criterion: 'c', status: 's', reason: 'No Atlas.'}, 'Not achieved: no atlas.').textContent", "Rubric: c  s"),
    ("rubricSection({criterion: 'c', status: 's', reason: 'No atlas.'}, null).textContent", "Rubric: c  sNo atlas."),
]  # fmt: skip

MARKDOWN = [
    ("codeText('price_asc')", "`price_asc`"),
    ("codeText('@a #1')", "<code>&#64;<!-- -->a &#35;<!-- -->1</code>"),
    ("codeText(' a\\n\\n b ')", "`a b`"),
    ("['', '  ', null].map((text) => codeText(text ?? ''))", ["–", "–", "–"]),
    ("codeText(['a'])", '`["a"]`'),
    ("codeText('x'.repeat(400))", f"`{'x' * 300}…`"),
    (r"codeText('a\u202eb')", "<code>a&#92;u202eb</code>"),
    ("codeBlock('a')", "```\na\n```"),
    ("codeBlock('a ``` b ```` c', 'sh')", "`````sh\na ``` b ```` c\n`````"),
    (r"codeBlock('a\rb')", "```\na\\u000db\n```"),
    ("codeBlock('x'.repeat(3000)).length", 2000 + 1 + 8),
    ("taskMarkdown({run: 'r', status: 'success'})", "### `r`: `success`\n"),
    (f"taskMarkdown({{run: 'r', status: 'failure', reason: 'no', evaluators: [{FAILED}]}})", "### `r`: `failure`\n\n`no`\n\n**`A`:** `failure`\n\n| Field | Difference | Expected | Actual |\n| --- | --- | --- | --- |\n| `x` | `different` | `a` | `b` |\n"),
    (f"taskMarkdown({{evaluators: [{NO_TABLE}]}}).split('\\n').slice(-2)[0]", "- `c` `m` `n`"),
    (f"taskMarkdown({{evaluators: [{FORBIDDEN}]}}).split('\\n').slice(-2)[0]", "**Request `4` of `9`:** `POST /c`"),
    ("taskMarkdown({evaluators: [{name: 'A', status: 'error', error: 'why'}]}).split('\\n').slice(-2)[0]", "`why`"),
    ("taskMarkdown({sentence: 'S.', reason: 'R', intent: 'I', answer: {fields: [{name: 'a', value: 1}]}, commands: [{label: 'open the trace', command: 'x'}, {label: 'score this run again', command: 'pytest -k 1'}]}).split('\\n\\n').slice(1)", ["`S.`", "**Intent:** `I`", "**Answer:**", "```\na: 1\n```", "**Score it again:**", "```sh\npytest -k 1\n```\n"]),
    ("taskMarkdown({evaluators: [{status: 'failure', differences: Array.from({length: 32}, (_, path) => ({path, kind: 'missing', expected: path}))}]}).split('\\n').slice(-4, -1)", ["| `29` | `missing` | `29` | – |", "", "… and 2 more"]),
]  # fmt: skip

LINES = "[...listLines({value}, new Set({paths}))].map(({{indent, text, isMarked}}) => indent + text + (isMarked ? ' !' : ''))"
TREES = [
    (LINES.format(value="{a: [1, 'x'], b: {}}", paths="[]"), ["{", '  "a": [', "    1,", '    "x"', "  ],", '  "b": {}', "}"]),
    (LINES.format(value="[]", paths="[]"), ["[]"]),
    (LINES.format(value="null", paths="['']"), ["null"]),
    (LINES.format(value="{a: [1, {b: 2}]}", paths="['a[1].b']"), ["{", '  "a": [', "    1,", "    {", '      "b": 2 !', "    }", "  ]", "}"]),
    (LINES.format(value="{a: [1], b: 2}", paths="['a']"), ["{", '  "a": [ !', "    1 !", "  ], !", '  "b": 2', "}"]),
    ("(() => { let deep = 1; for (let i = 0; i < 70; i++) deep = [deep]; return [...listLines(deep, new Set())].length; })()", 121),
    ("listChildren(['x'], 'a')", [{"path": "a[0]", "before": "", "value": "x"}]),
    ("listChildren({b: 1}, 'a')", [{"path": "a.b", "before": '"b": ', "value": 1}]),
    ("listChildren({query_string: 1, results: 2, action: 3, b: 4}, '').map(({path}) => path)", ["query_params", "retrieved_data", "task_type", "b"]),
    ("listChildren({results: 1}, 'a')[0].path", "a.results"),
    ("jsonTree('T', Array.from({length: 1499}, () => 0), new Set()).querySelectorAll('pre > span').length", 1500),
    ("jsonTree('T', Array.from({length: 1499}, () => 0), new Set()).querySelector('button').textContent", "show all lines"),
    ("(() => { const tree = jsonTree('T', Array.from({length: 1499}, () => 0), new Set()); tree.querySelector('button').click(); return [tree.querySelectorAll('pre > span').length, tree.querySelector('button')]; })()", [1501, None]),
    ("jsonTree('T', {a: 1}, new Set(['a'])).innerHTML", '<h4>T</h4><pre tabindex="0" role="group" aria-label="T"><span><span>{</span>\n</span><span>  <mark>"a": 1</mark>\n</span><span><span>}</span>\n</span></pre>'),
]  # fmt: skip

REQUESTS = """[[1, 'GET', 'http://a.test/', 200], [2, 'POST', 'http://a.test/cart', 201], [3, 'GET', '/x', -1], [4, 'PUT', 'http://b.test/', 404]]
    .map(([n, method, url, status]) => ({n, method, url, status, isMarked: n === 2, searchText: `${method}\\n${url}`.toLowerCase()}))"""
DIFFERENCES_OF = (
    "differencesOf(differencesBelow({paths}.map((path) => ({{path}})), 'headers'), {name}, true).map(([path]) => path)"
)
EVENTS = [
    ("evaluatorsOf([{nearest: {index: 3}, status: 'failure', n: 1}, {nearest: {index: 3}, status: 'success'}, {nearest: null}, {nearest: {index: 4}}], 3).map(({n}) => n)", [1]),
    ("evaluatorsOf(null, 3)", []),
    ("[...differencesBelow(['post_data', 'post_data.a.b', 'post_data.$.c[0]', 'post_data_x.y', 'url', 7].map((path) => ({path})), 'post_data').keys()]", ["", "a.b", "c[0]"]),
    (DIFFERENCES_OF.format(paths="['headers.referer', 'headers.referer.query_params.q', 'headers.referer2', 'headers.x[0]']", name="'Referer'"), ["referer", "referer.query_params.q"]),
    (DIFFERENCES_OF.format(paths="['headers.x[0]', 'headers.xy']", name="'x'"), ["x[0]"]),
    ("detailParts({index: 0}, []).length", 0),
    ("detailParts({index: 0, request: 7, response: {headers: 'x', body: {form: 'toString'}}}, null)[0].outerHTML", '<details open=""><summary>Response body</summary></details>'),
    ("detailParts({index: 0, request: {query_params: [{name: 'a', value: '1'}]}}, [])[0].querySelector('tbody').innerHTML", '<tr><th scope="row"><code>a</code></th><td class="value"><code>1</code></td></tr>'),
    *((f"detailParts({{index: 0, request: {{query_params: {sent}}}}}, [{{nearest: {{index: 0}}, status: 'failure', differences: [{difference}]}}])[0].querySelector('tbody').innerHTML", html)
      for sent, difference, html in [
        ("[{name: 'a', value: '1'}]", "{path: 'query_params.a', kind: 'different', expected: '2', actual: '1'}", '<tr class="differs"><th scope="row"><code>a</code></th><td class="value"><code><mark>1</mark></code></td><td class="value"><code>2</code></td></tr>'),
        ("[]", "{path: 'query_params.a', kind: 'missing', expected: ['2'], actual: null}", '<tr class="differs"><th scope="row"><code>a</code></th><td class="value"><i>not sent</i></td><td class="value"><code>["2"]</code></td></tr>'),
        ("null", "{path: 'query_params.a', kind: 'missing', expected: '2'}", '<tr class="differs"><th scope="row"><code>a</code></th><td class="value"><i>not sent</i></td><td class="value"><code>2</code></td></tr>'),
        ("[{name: 'a', value: '1'}]", "{path: 'query_params.a', kind: 'extra', expected: null, actual: '1'}", '<tr class="differs"><th scope="row"><code>a</code></th><td class="value"><code><mark>1</mark></code></td><td class="value"><code>not expected</code></td></tr>'),
    ]),
    ("detailParts({index: 0, request: {body: {form: 'json', type: 'application/json', length: 7, post_data: {a: {b: 1}}}}}, [{nearest: {index: 0}, status: 'error', differences: [{path: 'post_data.a.b', kind: 'different', expected: 2, actual: 1}]}])[0].querySelector('pre mark').textContent", '"b": 1'),
    ("detailParts({index: 0, request: {body: {form: 'binary', type: 'image/png'}}, response: {body: {form: 'unreadable'}, lacks_body: true}}, []).map(({textContent}) => textContent)", ["Posted data: image/pngThe body is not text, and is not shown.", "Response bodyThe body cannot be read.", "The recording does not have the response body."]),
    ("[0, '7', 339].map(eventNumber)", [1, 8, 340]),
    ("formatEvents(10, 17)", "events 11–18"),
    ("[1.5, 0, -3.25, null, 'x', NaN].map(formatSeconds)", ["1.50", "0.00", "", "", "", ""]),
    ("eventWindow(0, 1300)", {"start": 0, "hasEarlier": False, "hasLater": True}),
    ("eventWindow(500, 1300)", {"start": 500, "hasEarlier": True, "hasLater": True}),
    ("eventWindow(1000, 1300)", {"start": 800, "hasEarlier": True, "hasLater": False}),
    ("eventWindow(1, 502)", {"start": 1, "hasEarlier": True, "hasLater": True}),
    ("eventWindow(-250, 3)", {"start": 0, "hasEarlier": False, "hasLater": False}),
    ("eventWindow(0, 500)", {"start": 0, "hasEarlier": False, "hasLater": False}),
    ("formatEventCounts({total: 340, assets: 1, left_out: 5}, 7)", "340 events, 1 static asset not listed, 5 omitted"),
    ("formatEventCounts({}, 1)", "1 event"),
    ("lastMoment([{seconds: 1, duration: 2}, {seconds: 2.5}, {seconds: -9, duration: 1}, {seconds: null}])", 3),
    ("lastMoment([])", 0),
    ("barOf({seconds: 1, duration: 2}, 4)", {"start": 25, "width": 50}),
    ("barOf({seconds: 4}, 4)", {"start": 99, "width": 1}),
    ("barOf({seconds: 3, duration: 90}, 4)", {"start": 75, "width": 25}),
    ("[[{seconds: -1, duration: 1}, 4], [{seconds: null, duration: 1}, 4], [{seconds: 0}, 0]].map((args) => barOf(...args))", [None, None, None]),
    ("['http://joe:x@Shop.test:77/a@b', 'https://h.test?x', '/a', null, 7, 'data:x'].map(hostOf)", ["shop.test:77", "h.test", "", "", "", ""]),
    ("[200, '404', 99, -1, 0, null, 'x', 1000].map(statusClass)", ["2xx", "4xx", *["no response"] * 6]),
    ("['post', 'PUT', 'PATCH', 'DELETE', 'GET', 'toString', null].map((method) => isChanging({method}))", [True] * 4 + [False] * 3),
    ("countFacet([{a: 'x'}, {a: 'y'}, {a: 'z'}, {a: 'y'}], ({a}) => a)", [["y", 2], ["x", 1], ["z", 1]]),
    *((f"selectEvents({REQUESTS}, {{marked: false, changed: false, words: '', values: {{}}, {state}}}{', ' + repr(but) if but else ''}).map(({{n}}) => n)", numbers)
      for state, but, numbers in [
        ("", "", [1, 2, 3, 4]), ("marked: true", "", [2]), ("changed: true", "", [2, 4]), ("words: ' POST  cart '", "", [2]),
        ("values: {method: 'GET'}", "", [1, 3]), ("values: {host: 'b.test', status: '4xx'}", "", [4]), ("values: {host: 'none'}", "", [3]),
        ("values: {host: 'b.test', status: '4xx'}", "host", [4]), ("values: {method: 'GET', host: 'a.test'}", "method", [1, 2]),
        ("changed: true, values: {status: '2xx'}", "", [2]), ("values: {status: '5xx'}", "", []),
    ]),
    ("new NetworkTable({events: [[4, 'GET', '/a', 200, 'html', 1, 'match'], [5, 'PUT', '/b', 404, 'json', null, 'x']]}).section.querySelector('tbody').innerHTML",
     '<tr class="match" data-event="4"><th scope="row"><button type="button" class="event" tabindex="0" aria-expanded="false" aria-label="Event 5">5</button></th><td>1.00</td><td>GET</td><td>200</td><td>html</td><td class="url"><code>/a</code></td><td class="took"><span class="waterfall" aria-hidden="true"><span class="span" style="margin-inline-start: 99%; width: 1%;"></span></span></td><td class="mark">✓ match</td></tr><tr data-event="5"><th scope="row"><button type="button" class="event" tabindex="-1" aria-expanded="false" aria-label="Event 6">6</button></th><td></td><td>PUT</td><td>404</td><td>json</td><td class="url"><code>/b</code></td><td class="took"></td><td class="mark"></td></tr>'),
]  # fmt: skip

THREE = "[{index: 6, events: [0, 4]}, {index: 7, events: [5, 5]}, {index: 8, events: null}]"
FAILING = "findFailingStep({{status: '{status}', {more}}}, {steps})"
LAST, NEAREST = "last step of a task that failed", "made the nearest event of a failed check"
JUDGED = "rubric: {verdict: {failure: {first_step: 7}}}"
NEAR = "evaluators: [{status: 'failure', nearest: null}, {status: 'failure', nearest: {index: 99}}, {status: 'failure', nearest: {index: 4}}]"
STEPS = [
    (f"['7', '8', '1', '', 'x'].map((number) => findStep({THREE}, number))", [1, 2, -1, -1, -1]),
    (FAILING.format(status="failure", more="", steps=THREE), {"position": 2, "reason": LAST}),
    (FAILING.format(status="failure", more=NEAR, steps=THREE), {"position": 0, "reason": NEAREST}),
    (FAILING.format(status="partial_match", more=f"{NEAR}, {JUDGED}", steps=THREE), {"position": 1, "reason": "first failure that the judge saw"}),
    (FAILING.format(status="error", more="rubric: {verdict: {failure: {first_step: 1}}}", steps=THREE), {"position": 2, "reason": LAST}),
    (FAILING.format(status="failure", more="evaluators: [{status: 'success', nearest: {index: 4}}]", steps=THREE), {"position": 2, "reason": LAST}),
    (FAILING.format(status="success", more=f"{NEAR}, {JUDGED}", steps=THREE), None),
    (FAILING.format(status="excluded", more="", steps=THREE), None),
    (FAILING.format(status="failure", more="", steps="[]"), None),
    ("[{before: 'a', after: 'b'}, {before: 'a', after: 'a'}, {before: null, after: 'b'}, {before: '', after: null}, {}].map(listSides)", [["before", "after"], ["before"], ["after"], [], []]),
    ("placeMark([320, 100, 0, 0], [640, 400])", {"left": 50, "top": 25, "width": 0, "height": 0}),
    ("placeMark([64, 40, 128, 80], [640, 400])", {"left": 10, "top": 10, "width": 20, "height": 20}),
    ("placeMark([-64, 360, 128, 80], [640, 400])", {"left": 0, "top": 90, "width": 10, "height": 10}),
    ("placeMark([0, 0, 0, 0], [640, 400])", {"left": 0, "top": 0, "width": 0, "height": 0}),
    *((f"placeMark({target}, [640, 400])", None)
      for target in ("[640, 100, 0, 0]", "[1, 400, 9, 9]", "[-1, 5, 0, 0]", "[-90, 5, 50, 9]", "null", "[1, 2]", "[1, 2, NaN, 0]", "['1', 2, 0, 0]", "{}", "'1234'")),
    ("[[0, 0], [NaN, 1], [-1, 5]].map((size) => placeMark([1, 1, 0, 0], size))", [None, None, None]),
    ("markElement({left: 50, top: 25, width: 0, height: 0}).outerHTML", '<span class="mark-of-point" aria-hidden="true" style="left: 50%; top: 25%;"></span>'),
    ("markElement({left: 1, top: 2, width: 3, height: 4}).outerHTML", '<span class="mark-of-box" aria-hidden="true" style="left: 1%; top: 2%; width: 3%; height: 4%;"></span>'),
    ("[[-40, 0], [40, 20], [-39, 0], [100, 51], [-100, -50], [0, 0]].map(([across, down]) => swipeDirection(across, down))", [1, -1, 0, 0, 1, 0]),
    ("actionName({action: 'x'.repeat(81)})", "x" * 80 + "…"),
    ("[{action: ''}, {}, {action: 7}].map(actionName)", ["no action", "no action", "7"]),
    ("stepDetails({index: 1}, null).filter(Boolean).map((part) => part.outerHTML)", ['<h4><span class="quiet">1 </span><bdi>no action</bdi></h4>']),
    ("stepDetails({index: 1, thought: 'x'.repeat(601)}, null)[1].querySelector('summary').textContent", "x" * 200 + "…"),
    ("stepDetails({index: 1, thought: 'x'.repeat(600)}, null)[1].querySelector('summary')", None),
    ("stepDetails({index: 1, arguments: {}, events: [1, 2]}, null)[1]", None),
    ("stepDetails({index: 1, events: [1, 2]}, {eventsBetween: () => []})[1].textContent", "Requestsevents 2–3"),
    ("stepDetails({index: 1, events: [0, 40]}, {eventsBetween: () => Array.from({length: 41}, (_, position) => ({position, method: 'GET', url: 'u'.repeat(300), status: 200}))})[1].querySelectorAll('li').length", 30),
    ("stepDetails({index: 1, events: [0, 40]}, {eventsBetween: () => Array.from({length: 41}, (_, position) => ({position}))})[1].textContent.slice(-16)", "11 requests more"),
    ("new NetworkTable({events: [[4, 'GET', '/a'], [5, 'PUT', '/b'], [9, 'GET', '/c']]}).eventsBetween(5, 8).map(({url}) => url)", ["/b"]),
    ("new Filmstrip(Array.from({length: 302}, (_, index) => ({index, before: '/'})), {position: 301, reason: 'why'}, () => {}).element.querySelectorAll('.thumb').length", 302),
    ("new Filmstrip([{index: 1, action: 'a'}, {index: 2, action: 'b'}], {position: 1, reason: 'why'}, () => {}).element.lastChild.textContent", "✕ 2 b"),
    ("(() => { const holder = document.createElement('p'); loadImage(holder, '/a.png', {}); return holder.innerHTML; })()", '<span class="no-shot">screenshot not shown: <bdi>/a.png</bdi></span>'),
    ("(() => { const stage = new StepStage(); stage.show({problem: 'too <b>large</b>'}, 'n'); return stage.element.textContent; })()", "no screenshot: too <b>large</b>"),
    ("(() => { const stage = new StepStage(); stage.show({}, 'n'); return [stage.element.textContent, stage.tools.hidden]; })()", ["no screenshot", True]),
]  # fmt: skip

PARTS = [
    ("flattenObject({a: 1, b: '', c: {d: 2, e: null, f: {g: 3}}})", [["a", 1], ["c: d", 2], ["c: f: g", 3]]),
    ("flattenObject(null)", []),
    ("aboutSections({links: [{label: 'l', href: 'a'}]}, {isEmbedded: false})[0].querySelector('a').getAttribute('href')", "a"),
    ("aboutSections({links: [{label: 'l', href: 'a'}]}, {isEmbedded: true})[0].querySelector('a')", None),
    ("aboutSections({links: [{label: 'l', href: '/a'}]}, {isEmbedded: false})[0].querySelector('a')", None),
    ("aboutSections({}, {})", [None, None]),
    ("aboutSections({checksums: {a: 'b'}}, {})[1].querySelector('details').textContent", "Checksumsab"),
    ("[['Why.', 'why.'], ['Why. More', 'Why.\\n More'], ['Why…', 'Why not'], [null, 'x']].map(([sentence, reason]) => hasReason(sentence, reason))", [True, True, False, False]),
    ("[{counts: false}, {counts: true}, {}].map(formatCondition)", [" (does not count)", " (conditional)", " (conditional)"]),
    ("[0, 1.5, null, ''].map(formatEarned)", [0, 1.5, "–", "–"]),
    ("listCells({site: 's', type: '', flip: null, seconds: 0})", [["site", "s"], ["seconds", "0.00 s"]]),
    ("listCells({site: 's', type: 't', flip: 'fixed', seconds: null})", [["site", "s"], ["type", "t"], ["flip", "fixed"]]),
    ("visibleRange(0, 600, 60, 400)", [0, 16]),
    ("visibleRange(6030, 600, 60, 400)", [94, 117]),
    ("visibleRange(23400, 600, 60, 400)", [384, 400]),
    ("visibleRange(0, 600, 60, 0)", [0, 0]),
    ("['light', 'dark', '', 'x', null, 7].map(knownTheme)", ["light", "dark", "", "", "", ""]),
    ("[findAction({j: 7}, 'j'), findAction({j: 7}, 'k'), findAction({}, 'toString')]", [7, None, None]),
    ("loadTask({run: 'r', data: '../task-0123456789abcdef'}).catch((problem) => problem)", "This report holds no details of this task."),
    ("loadTask({run: 'r', data: null}).catch((problem) => problem)", "This report holds no details of this task."),
    ("loadEvents({run: 'r', data: '../task-0123456789abcdef'}).catch((problem) => problem)", "This report holds no details of these requests."),
    ("loadEvents({run: 'r', data: null}).catch((problem) => problem)", "This report holds no details of these requests."),
    ("""(receiveEvents('e', '{"headers": [], "events": [{"index": 4, "__proto__": 1}]}'), loadEvents({run: 'e'}).then((details) => [...details.keys()]))""", [4]),
    ("""(receiveTask('e', '{"__proto__": 1}'), loadTask({run: 'e'}).then((task) => JSON.stringify(task)))""", '{"__proto__":1}'),
]  # fmt: skip

ONE_ROW = '{run: "r", task_id: 7, status: "failure", score: 0.5, site: null, template: 3, group: 0, reason: "=1", flip: undefined, facets: {template: ["3"], evaluator: ["A", "B"], warning: []}}'
NAMES = [
    "run",
    "task_id",
    "status",
    "score",
    "site",
    "type",
    "template",
    "template_text",
    "group",
    "reason",
    "evaluators",
    "warnings",
    "intent",
    "seconds",
    "flip",
]
DOWNLOADS = [
    *((f"csvCell({json.dumps(text)})", cell) for text, cell in [
        ("a", '"a"'), ('a "b",\nc', '"a ""b"",\nc"'), ("=1+1", '"\'=1+1"'), ("+1", '"\'+1"'), ("-1", '"\'-1"'), ("@a", '"\'@a"'), ("\ta", '"\'\ta"'),
        ("\n=a", '"\'\n=a"'), ("  =a", '"\'  =a"'), ("＝a", '"\'＝a"'), ("\u200b=a", '"\\u200b=a"'), ("a=1", '"a=1"'), ("\r=a", '"\'\\u000d=a"'), ("", ""),
    ]),
    ("[-1.5, 0, null, undefined].map(csvCell)", ["-1.5", "0", "", ""]),
    ("csvCell(['=a', 'b'])", '"\'=a | b"'),
    ("csvCell([])", '""'),
    ("formatCsv([])", "\r\n"),
    ("formatCsv([{a: 1, b: 'x'}, {a: null, b: ''}])", 'a,b\r\n1,"x"\r\n,\r\n'),
    (f"describeRows([{ONE_ROW}], {{groups: [{{text: 'G'}}], templates: [{{name: '3', text: 'T'}}]}})",
     [dict(zip(NAMES, ["r", 7, "failure", 0.5, None, None, 3, "T", "G", "=1", ["A", "B"], [], None, None, None], strict=True))]),
    (f"describeRows([{{...{ONE_ROW}, template: -1, group: -1}}], {{groups: [], templates: []}}).map(({{template, group}}) => [template, group])", [[None, None]]),
]  # fmt: skip

CASES = [*TEXTS, *LABELS, *ADDRESSES, *ELEMENTS, *INDEXES, *FILTERS, *VIEWS, *ROW_PARTS, *DIFFERENCES, *GLANCE, *MARKDOWN, *TREES, *EVENTS, *STEPS, *PARTS, *DOWNLOADS]  # fmt: skip


@pytest.mark.parametrize(
    ("expression", "value"),
    [pytest.param(*case, id=f"{number} {case[0][:60]}") for number, case in enumerate(CASES)],
)
def test_an_expression_has_a_value(evaluate, expression, value):
    assert evaluate(expression) == value


def test_the_page_works_from_its_modules_too(opened, small):
    """A name that a module forgets to import would be there in the joined script only."""
    report = opened(f"{ORIGIN}index.html")

    def fulfill(route):
        name = unquote(route.request.url.removeprefix(ORIGIN).partition("?")[0])
        if name == "report.js":
            route.fulfill(body=f"import('/modules/{START}');", content_type="text/javascript")
        elif name.startswith("modules/"):
            source = read_modules()[name.removeprefix("modules/")]
            route.fulfill(body=source, content_type="text/javascript; charset=utf-8")
        else:
            path = small.parent / name
            route.fulfill(path=path) if path.is_file() else route.abort()

    report.page.route(f"{ORIGIN}**", fulfill)
    report.go("#task=3&sort=recorded")
    assert report.task == "runs/00003"
    report.page.click("text=show in network")
    assert report.page.locator("tr.pointed th").all_inner_texts() == ["118"]
    assert report.pressed("j").task == "runs/00004"
    assert report.pressed("Escape").page.locator("#overview").is_visible()
    report.choose("site", "gitlab")
    assert 0 < report.count < 400
    assert [notice for notice in report.noticed if "Failed to load" not in notice] == []
