"""A body that no decoder takes costs its own run at most, and never the session."""

from __future__ import annotations

import pytest

HAR = b"""{"log": {"entries": [{"request": {"method": "POST", "url": "http://localhost:7770/",
"headers": [{"name": "content-type", "value": "multipart/form-data; boundary=x"}], "postData": %s},
"response": {"status": 200}}]}}"""


@pytest.mark.parametrize("how", [(), pytest.param(("-n2",), marks=pytest.mark.whole)], ids=["serial", "parallel"])
def test_bodies_that_no_decoder_takes_do_not_end_the_session(runs, webeval, how):
    for number, body in enumerate(
        (b'{"mimeType": null, "text": "", "x": 1e999999}', b'{"mimeType": 1, "text": "\xff"}')
    ):
        (runs.add(107 + number, passes=False) / "network.har").write_bytes(HAR % body)
    runs.add(109)
    result = webeval(*how)
    result.assert_outcomes(passed=1, failed=2)
    assert "INTERNALERROR" not in result.stdout.str() + result.stderr.str()
