"""Short documents of the seed corpus, a table for each kind."""

from __future__ import annotations

BODIES = b"\n".join(
    (
        b'{"mimeType": "application/json", "_file": "a.json"}',
        b'{"mimeType": "application/x-www-form-urlencoded", "_sha1": "a"}',
        b'{"mimeType": "application/json", "text": "eyJhIjogMX0=", "encoding": "base64"}',
        b'{"mimeType": "multipart/form-data; boundary=x", "text": "--x\\r\\nname=\\"a\\"\\r\\n\\r\\n1\\r\\n--x--"}',
        b"null",
    )
)
RESPONSES = (
    b'{"action": "retrieve", "status": "SUCCESS", "results": [{"name": "a", "price": 1.5}], "error_details": null}',
    b'Here it is:\n```json5\n{"task_type": "NAVIGATE"}\n```\n and ```{"status": "SUCCESS"}```',
    b"\xef\xbb\xbf[1, 2]",
    b"no JSON at all",
)
POSTED = (
    b"application/x-www-form-urlencoded; charset=utf-8\nproduct=mug&quantity=3&quantity=4&empty=&a%5Bb%5D=%C3%A9",
    b'application/json\n{"issue": {"title": "a", "labels": ["b"]}, "n": 1e3}',
    b'multipart/form-data; boundary=x\n--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--x--\r\n',
)
AGENTLAB_LOGS = (
    b'2026-01-31 10:00:00,500 - agentlab.experiments.loop - INFO - None\n\naction:\nsend_msg_to_user("""a"b\n""")\n',
    b"2026-01-31 10:00:00,500 - 7 - browsergym.experiments.loop - INFO - action:\nreport_infeasible(reason='no \\n')\n",
    b"2026-01-31 10:00:00,500 - 7 - agentlab.experiments.loop - DEBUG - Agent chose action:\n click('6')\nnoop()\n",
)
TEXTS = (b"a plain text", "línea\u202e\x1b[31m\n".encode(), b"a\tb\r\nc\0d\xff", b"x" * 400)
TREES = (
    b'{"a": [1, 2.50, -0.0, 1e5, "b", null, true], "b": {"c": {}, "d": []}, "e": "\\u00e9\\n"}',
    b'[[[[{"a": {"b": [{"c": 1}]}}]]]]',
    b'{"a": 1, "a": 2, "n": NaN, "m": -Infinity, "x": 123456789012345678901234567890}',
    b'{"text": "\\ud83d\\ude00 {}"}',
)
NAMES = (b"7\x00a b\x00shopping/107\x00a%20b", "é\0日本/1\0x:y::z[1]\0".encode(), b"\xff\xfe\0-\0...\0a\nb")
BENCHMARKS = (
    b'[{"task_id": "a1", "confirmed_task": "Find it", "website": "https://a.test", "reference_length": 3}]',
    b'{"id": "Shop--1", "ques": "?", "web": "https://a.test", "web_name": "Shop"}\n{"id": "Shop--2", "ques": "?"}\n',
    (
        b"id\ttask_summary\tinit_url\tbenchmark\tprecomputed_rubric\ttask_rephrasings\nbooks_1\tFind\thttps://a.test\tshop\t"
        b'"{""items"": [{""criterion"": ""c"", ""max_points"": 2}]}"\t"[""one"", ""two""]"\n'
    ),
    (
        b'{"id": "tea_1", "category": "shop", "ques": "?\\r", "web": "", "precomputed_rubric": {"items": [{'
        b'"criterion": "c", "max_points": 2, "earned_points": "", "condition": "d"}]}}\n'
        b'{"id": "tea_2", "ques": "?", "source_suite": "s", "precomputed_rubric": {"items": [{'
        b'"criterion": "c", "maxPoints": 2}]}}\n'
    ),
)
CONFIGS = (
    b'{"environments": {"shopping_admin": {"urls": ["http://a.test/admin", "http://b.test"], "active_url_idx": 1}}}',
    b'{"environments": null}',
)
SUBSETS = (b'{"task_ids": [7, 11, "books_find_7"]}', b'{"task_ids": [7], "checksum": "x"}', b'"__GITLAB__"')
LOGS = (
    (
        b'{"timestamp": "2026-03-01T10:00:01", "source": "s", "message": "Thought #1: t\\nAction #1: executing tool'
        b' \'click\' with arguments {\\"id\\": 3}"}\n{"message": "Observation#1: seen"}\n'
    ),
    b'{"source": "GPTSolver", "action": "click", "arguments": "{\\"x\\": 1}", "message": "m"}{"source": "summary"}\n',
)
CORES = (
    (
        b"2026-03-01 10:00:00.5 [ERROR] webeval.core.7 - Web surfing error: x\nTraceback (most recent call last):\n"
        b"ValueError: https://a.test/?token=1\n"
    ),
)
LISTINGS = (
    b"runs/WebSurfer-fara-3-max_n_images-3/fara-7b/ana/WebTailBench_hf/r1/traj/7\n7_final_answer.json\nscreenshot1.png",
    b"7\nother_final_answer.json\n._7_answer.json\nscreenshot_scaled.png\nscreenshot12_pre.png",
)
USAGES = (
    b'{"FaraAgent": {"prompt_tokens": 9100, "completion_tokens": 240, "num_calls": 3}, "j": {"prompt_tokens": 1.0}}',
    b'{"prompt_tokens": 1, "completion_tokens": 2, "reasoning_tokens": null}',
)
THOUGHTS = (
    b"Action #2: executing tool 'type' with arguments {'text': 'a', 'press_enter': True} and more",
    b"Observation #3: saw it",
)
SCORE_NAMES = (
    b"mmrubric_0.8-5-3.json\n0.8-5-3.json\ngpt_eval.json\nWebJudge_eval-3.json\nx.json\n0.8-5-3",
    b"mmrubric_0.80-05-3.0.json\nmmrubric_1-5-3.json\n1.5",
)
SCORES = (
    b'{"score": 1, "gpt_response_text": "Verdict: SUCCESS. I saw the price."}',
    b'{"score": 0.0, "gpt_response_text": "Thoughts: ...\\nStatus: \\"failure\\""}',
    b'{"score": null, "gpt_response_text": {"verifier_success": false, "verifier_reasoning": "no terminate"}}',
)
_BY_TYPE = (
    (b"A", b"  Blue M\xc3\xbcg\xe2\x84\xa2 - 'it' ", b'["a", "b"]'),
    (b"B", b"1,234.5", b"twenty two thousand"),
    (b"C", b"12", b"1e3"),
    (b"D", b"yes", b"false"),
    (b"E", b"March 3rd, 2022 5pm", b"31/12/2021", b'["2022-01-01", "Jan 2"]'),
    (b"F", b"2h32m", b"1.5 hours", b"0:34:00"),
    (b"G", b"$1,234.50", b"(EUR 1.234,5)", b"-5 free"),
    (b"H", b"Mar", b"5", b"2022-05-01"),
    (b"I", b"null", b"N/A"),
    (b"J", b"http://shop.test:7770/a?b=^c$&d=e", b"git.test:8023/x"),
    (b"K", b"5 km 3 m", b"3,5 miles", b"1e3 ft"),
    (b"L", b"[40.4424, -79.9397]", b"40 26' 33\" N, 79 56' W", b'{"lat": 1, "lng": "2"}'),
    (b"M", b"Carnegie Mellon University, Pittsburgh", b"0"),
    (b"N", b'{"house_number": "5", "street": "Main St", "city": "Pittsburgh", "state": "PA", "postcode": "15213"}'),
    (b"O", b"# A\n\n* b [c\nd]( e )\n\n\n\n- f"),
    (b"P", b'"{\\"b\\": 1, \\"a\\": [1.0]}"'),
    (b"Q", b"a, b,c", b'["a", "b"]'),
    (b"R", b"aGVsbG8=", b"^aGV.*$"),
)
VALUES = tuple(letter + one for letter, *data in _BY_TYPE for one in data)
URLS = (
    b"__SHOPPING__/search?q=a\nsort\nhttp://shop.test:7770/search/?q=A&sort=b#c\nhttp://SHOP.test:7770/a%2fb/../search?q=a",
    b"^__SHOPPING__/p/\\d+$\n^s\nhttp://shop.test:7770/p/12\nhttp://shopXtest:7770/p/1\nssh://git@git.test:22/a/b.git",
    b"http://git.test:8023/x/cT0xJnI9Mg==\nq\nhttp://git.test:8023/x/cT0xJnI9Mg==?a=%20b\ngit@git.test:a/b\nhttp://[::1]:80/",
)
PROJECTIONS = (
    b'a\t$.issue.title\t^is.*$\t$.issue.labels[0]\n{"a": 1, "issue": {"title": "t", "labels": ["x"]}, "is": "[2]"}',
    b'$..b\t$.a[?(@.b > 1)].c\t$.a[*]\t$.^x$\n{"a": [{"b": 2, "c": 3}, {"b": "2"}], "x": "[1]", "b": "{\\"t\\": 1}"}',
)
COMPARED = (
    (
        b'{"schema": {"type": "array", "items": {"type": "object", "properties": {"a": {"type": "number"}, "b": {'
        b'"type": "array", "items": {"type": "string"}}}}}, "expected": [{"a": 1, "b": ["x"]}], "actual": [{"a": "1"}]}'
    ),
    (
        b'{"schema": {"type": "array", "items": {"type": "string", "format": "date"}}, "expected": ["2022-01-01"],'
        b' "actual": ["Jan 1 2022", "1"]}'
    ),
    (
        b'{"schema": {"type": "object", "properties": {"a": {"type": "object"}}}, "expected": {"a": {"b": []}},'
        b' "actual": {"a": "{\\"b\\": []}"}}'
    ),
)

# Tasks of ClawBench.
CLAWBENCH_TASKS = (
    {
        "metadata": {"task_id": 47, "metaclass": "shopping"},
        "instruction": "Order two mugs.",
        "eval_schema": {
            "url_pattern": "/cart(\\?|$)",
            "method": "POST",
            "body": {"quantity": "2"},
            "params": {"page": "2"},
        },
        "time_limit": 30,
    },
    [
        {
            "test_case": "v2-1",
            "instruction": "Order",
            "eval_schema": {
                "url_pattern": "^https://[a-z.]+/graphql",
                "method": "POST",
                "body": {"operationName": "Order"},
            },
        },
        {"test_case": "v2-2", "instruction": "", "eval_schema": {"url_pattern": "x", "body": {"n": [1, None]}}},
    ],
)
