"""Which answers are bad, and of which class; and which only look so."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolevals.grading.recovery import ERROR_CLASSES, trouble_in

BAD = [
    ("Error: 503 Service Unavailable", "5xx"),
    ("HTTP 404: no such order", "404"),
    ("Request failed with status code 401", "401"),
    ("429 Too Many Requests", "429"),
    ("403 Forbidden", "403"),
    ("HTTP/1.1 408 Request Timeout", "408"),
    ("ValueError: date must be in the form YYYY-MM-DD", "400"),
    ("Error: payment amount does not add up, total price is 503, but paid 429", "400"),
    ("Error: user not found", "404"),
    ("TimeoutError: read timed out", "timeout"),
    ("Permission denied", "403"),
    ("Error", "unknown"),
    ('{"error": {"code": 429, "message": "slow down"}}', "429"),
    ('{"error": "invalid date"}', "400"),
    ('{"success": false, "message": "Rate limit exceeded"}', "429"),
    ('{"status": 500, "title": "Internal Server Error"}', "5xx"),
    ('{"status": "error", "message": "boom"}', "unknown"),
    ('{"statusCode": "504"}', "timeout"),
    ('{"result": {"ok": false, "reason": "expired token"}}', "401"),
    ('"Error: not found"', "404"),
    ("[]", "empty"),
    ("{}", "empty"),
    ("null", "empty"),
    ('{"results": [], "total": 0}', "empty"),
    ("No results found", "empty"),
    ("No matching flights found for SEA", "empty"),
    ('{"rows": [1], "truncated": true}', "partial"),
    ('{"data": {"a": 1}, "errors": [{"message": "b failed"}]}', "partial"),
    ('{"status_code": 206, "rows": [1]}', "partial"),
    ("line 1\nline 2\n[truncated]", "partial"),
]
GOOD = [
    "yusuf_rossi_9620",
    "299.0",
    "0",
    "false",
    "Transfer successful",
    '{"status": "delivered", "address1": "503 Elm Avenue"}',
    '{"status": 200, "message": "fine"}',
    '{"error": null, "rows": [1]}',
    '{"error_rate": 0.5, "errors": 0, "rows": [1]}',
    '{"error": 0.02, "estimate": 4.1}',
    '{"code": 404, "product": "lamp"}',
    '{"id": 1, "tags": []}',
    '{"payment": "card", "status": "failed"}',
    "The error log of yesterday holds three entries.",
    "Nothing gives more joy than a partial eclipse.",
    "404 Elm Street",
    "No. 5",
]


@pytest.mark.parametrize(("content", "error_class"), BAD)
def test_bad_answers(content, error_class):
    trouble = trouble_in(content)
    assert trouble is not None
    assert (trouble.error_class, trouble.is_error) == (error_class, error_class not in ("empty", "partial"))


@pytest.mark.parametrize("content", GOOD)
def test_good_answers(content):
    assert trouble_in(content) is None


@pytest.mark.parametrize(("content", "error_class"), [("boom", "unknown"), ("", "unknown"), ("[]", "unknown"),
                                                      ('{"code": 403, "message": "no"}', "403")])  # fmt: skip
def test_a_flagged_answer_is_an_error_whatever_it_says(content, error_class):
    trouble = trouble_in(content, is_error=True)
    assert trouble is not None
    assert trouble.error_class == error_class


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                ["error", "errors", "status", "code", "data", "result", "message", "success", "partial", "x"]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=8,
)


@given(st.text() | st.characters() | _json.map(json.dumps), st.booleans())
def test_any_text_has_a_class_or_none(content, is_error):
    trouble = trouble_in(content, is_error=is_error)
    assert (trouble is not None) or not is_error
    assert trouble is None or trouble.error_class in ERROR_CLASSES


@pytest.mark.parametrize(
    ("content", "error_class"), [case for case in BAD if case[0].startswith("{") and case[1] != "empty"]
)
def test_a_long_body_is_no_different(content, error_class):
    body = json.loads(content) | {"padding": ["x" * 50] * 20, "more": 1}
    trouble = trouble_in(json.dumps(body))
    assert trouble is not None
    assert trouble.error_class == error_class
