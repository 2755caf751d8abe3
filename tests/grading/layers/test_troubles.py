"""Trouble in answers of tools: found with its class and its evidence, and not where it only looks so."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.fixtures.effort import best_seconds
from toolevals.grading.layers.troubles import ERROR_CLASSES, trouble_in
from toolevals.grading.values import ToolCall


def seen(content: Any, tool: str = "", **arguments: Any) -> str | None:
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    trouble = trouble_in(text, call=ToolCall(tool, arguments) if tool else None)
    return None if trouble is None else trouble.error_class


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
    # MCP
    ({"content": [{"type": "text", "text": "Failed to fetch: 404"}], "isError": True}, "404"),
    ({"content": [{"type": "text", "text": "Tool execution failed"}], "isError": True}, "unknown"),
    ([{"type": "text", "text": "Error: rate limit exceeded"}], "429"),
    ({"content": [{"type": "text", "text": "MCP error -32602: Invalid arguments"}], "isError": True}, "400"),
    ({"jsonrpc": "2.0", "id": 3, "error": {"code": -32601, "message": "Method not found"}}, "404"),
    # codes alone
    ({"error": {"code": 403}}, "403"),
    ({"error": 503}, "5xx"),
    ({"status": 404}, "404"),
    ({"code": 429, "msg": "slow"}, "429"),
    ({"statusCode": 500}, "5xx"),
    ({"errorCode": "409", "errorMessage": "version mismatch"}, "400"),
    ({"fehler": "Zugriff verweigert", "code": 403}, "403"),
    ({"code": 404, "mensaje": "No se encontró el pedido"}, "404"),
    ({"erreur": {"code": 500, "message": "Erreur interne"}}, "5xx"),
    ({"code": 401, "message": "未授权"}, "401"),
    ("Fehler 404: Auftrag nicht gefunden", "404"),
    ("エラー: 503", "5xx"),
    ("Erreur 429 : trop de requêtes", "429"),
    # GraphQL
    ({"data": None, "errors": [{"message": "Not authorised", "extensions": {"code": "FORBIDDEN"}}]}, "403"),
    ({"errors": [{"message": "Syntax Error: Expected Name, found }."}]}, "400"),
    ({"data": {"a": {"id": 1}, "b": None}, "errors": [{"message": "b timed out", "path": ["b"]}]}, "partial"),
    # gRPC
    ('rpc error: code = Unavailable desc = transport is closing', "5xx"),
    ("14 UNAVAILABLE: No connection established", "5xx"),
    ({"code": 5, "message": "entity not found", "details": []}, "404"),
    ({"error": {"status": "RESOURCE_EXHAUSTED", "message": "x"}}, "429"),
    ("5 NOT_FOUND: no such document", "404"),
    # SQL
    ('ERROR:  relation "orderz" does not exist\nLINE 1: SELECT * FROM orderz', "400"),
    ("SQLSTATE[23505]: Unique violation", "400"),
    ("ORA-00942: table or view does not exist", "404"),
    ("sqlite3.OperationalError: no such column: prise", "400"),
    ('near "FORM": syntax error', "400"),
    # exceptions
    ('Traceback (most recent call last):\n  File "a.py", line 3, in <module>\n    x()\nKeyError: \'sku\'', "400"),
    ("java.net.SocketTimeoutException: Read timed out", "timeout"),
    ("Uncaught TypeError: Cannot read properties of undefined", "400"),
    ("requests.exceptions.ConnectionError: Connection refused", "5xx"),
    ("bash: fooctl: command not found", "400"),
    ("cat: /etc/shadow: Permission denied", "403"),
    ("ls: cannot access '/data/in': No such file or directory", "404"),
    # pages
    ("<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>", "5xx"),
    ("<!DOCTYPE html><html><head><title>Access Denied</title></head><body>You may not.</body></html>", "403"),
    ("<?xml version='1.0'?><Error><Code>NoSuchKey</Code><Message>The key does not exist.</Message></Error>", "404"),
    ("<soap:Envelope><soap:Body><soap:Fault><faultcode>soap:Server</faultcode>"
     "<faultstring>Internal error</faultstring></soap:Fault></soap:Body></soap:Envelope>", "5xx"),
    # in friendly words, or flagged as no error
    ("Oops! Something went wrong on our side.", "unknown"),
    ("Oops, that did not stick.", "unknown"),
    ("upstream request timeout", "408"),
    ("STATUS=ERR;CODE=910;TEXT=backend timed out", "timeout"),
    ("SlowDown: Please reduce your request rate. (429)", "429"),
    ("550 5.1.1 <a@b.example>: Recipient address rejected: User unknown", "5xx"),
    ("The probe did not answer within 15 seconds.", "unknown"),
    ("Termin nicht gefunden: z-14", "unknown"),
    ({"content": [{"type": "text", "text": "Error: no such queue"}], "isError": False}, "404"),
    ({"content": [{"type": "text", "text": "could not post: no queue 'suport'"}], "isError": False}, "unknown"),
    ({"content": [{"type": "text", "text": "No transcript available yet."}], "isError": False}, "unknown"),
    ({"errors": [{"status": 400, "detail": "x"}]}, "400"),
    ({"errors": [{"status": 400}]}, "400"),
    ({"estado": "error", "detalle": "sin datos"}, "unknown"),
    ({"code": "ACCOUNT_REQUIRED", "detail": "State 'from'."}, "400"),
    ({"type": "validation_error", "loc": ["date"], "msg": "date must not lie in the past"}, "400"),
    ("T1 ok\nT2 ok\nT3 ERROR 401 session expired", "partial"),
    # bare
    ("503 Service Unavailable", "5xx"),
    ("HTTP/1.1 401 Unauthorized", "401"),
    ("timeout", "timeout"),
    ("Timed out after 30000 ms", "timeout"),
    ("ETIMEDOUT", "timeout"),
    ("No response within 20 s", "timeout"),
    ("Unable to reach the printer.", "unknown"),
    ("Order 77 does not exist.", "404"),
    # flags
    ({"ok": False, "err": 12, "txt": "ECONNREFUSED"}, "5xx"),
    ({"success": "false", "reason": "invalid IBAN"}, "400"),
    ({"status": "failed", "message": "insufficient funds"}, "400"),
    ({"result": {"status": "error", "detail": "Token has expired"}}, "401"),
    ({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}, "5xx"),
    ({"exit_code": 2, "stdout": "", "stderr": "ls: cannot open directory '/root': Permission denied"}, "403"),
    # batches and parts
    ({"results": [{"id": "a", "ok": True}, {"id": "b", "ok": False, "error": "locked"}]}, "partial"),
    ([{"id": "a", "status": 201}, {"id": "b", "status": 422, "error": "bad vat"}], "partial"),
    ({"results": [{"id": "a", "error": "quota exceeded"}, {"id": "b", "error": "quota exceeded"}]}, "429"),
    ({"hits": [{"x": 1}], "_shards": {"total": 5, "failed": 2}}, "partial"),
    ('{"rows": [{"id": 1, "name": "Ann"}, {"id": 2, "na', "partial"),
    ({"status": 207, "items": [{"id": 1}]}, "partial"),
    # nothing
    ("", "empty"),
    ("  \n", "empty"),
    ({"data": {"orders": []}}, "empty"),
    ({"user": None}, "empty"),
    ({"matches": [], "page": 1, "per_page": 20}, "empty"),
]  # fmt: skip
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
    "I can't make it today, sorry.",
    "503",
    # A record about an error, and a page with more to come.
    '{"title": "Error: a novel"}',
    '[{"id": 71, "title": "Error: token expired"}, {"id": 74, "title": "Failed payments"}]',
    '[{"id": 71, "text": "Error: it does not start"}]',
    '{"items": ["a"], "next": "eyJv", "partial": true}',
    '{"items": ["a"], "next_cursor": "c2", "truncated": true}',
    # MCP says that it is none: lines of a log, a help text, a record.
    '{"content": [{"type": "text", "text": "12:01 ERROR disk full\\n12:02 INFO ok\\n12:03 WARN x"}], "isError": false}',
    '{"content": [{"type": "text", "text": "usage: sync [-h]\\n  --fail  exit on the first error"}], "isError": false}',
    '{"content": [{"type": "text", "text": "Ticket 7: login error on Mondays"}], "isError": false}',
]
ASKED_BAD = [
    ({"updated": 3, "failed": 2}, "update_prices", {}, "partial"),
    ({"city": "Paris", "day": "2027-09-30", "error": "no forecast beyond 10 days"}, "get_forecast",
     {"city": "Paris", "day": "2027-09-30"}, "unknown"),
    ({"query": "zz", "hits": []}, "search_books", {"query": "zz"}, "empty"),
    ({"error": "Permission denied"}, "get_logs", {"host": "a"}, "403"),
    ({"found": ["a"], "not_found": ["b"]}, "get_stock", {"skus": ["a", "b"]}, "partial"),
    ({"id": "P1", "status": "failed", "amount": 20, "currency": "EUR", "message": "card declined"}, "create_payment",
     {"amount": 20}, "400"),
]  # fmt: skip
ASKED_GOOD = [
    ({"id": "b7", "state": "FAILED", "failed_step": "unit tests", "exit_code": 1}, "get_build", {"id": "b7"}),
    ({"id": "P1", "status": "failed", "amount": 20, "reason": "card declined"}, "get_payment", {"id": "P1"}),
    ({"errors": []}, "list_errors", {}),
    ([], "list_alerts", {"host": "a"}),
    ({"errors": [{"time": "10:02", "message": "disk full"}], "host": "a"}, "get_error_log", {"host": "a"}),
    ("2027-01-05 10:02:11 ERROR db: connection refused\n2027-01-05 10:02:12 INFO retry\n2027-01-05 ok", "tail", {}),
    ("ERROR 2027-01-05 10:02 timeout\nINFO 2027-01-05 10:03 fine", "get_logs", {}),
    ({"url": "https://a", "status": 404, "latency_ms": 21, "checked": "now"}, "check_link", {"url": "https://a"}),
    ({"valid": False, "errors": ["line 3: missing comma"]}, "validate_config", {}),
    ({"passed": 118, "failed": 2, "duration_s": 31}, "run_tests", {}),
    ({"available": False}, "check_availability", {"day": "2027-01-01"}),
    ([{"order": 1, "status": "failed", "reason": "card"}, {"order": 2, "status": "sent"}], "list_orders", {}),
    ({"vulnerabilities": [], "scanned": 120}, "scan_image", {}),
    ("usage: fooctl [-h] [--error-limit N]\n\noptions:\n  -h  show this help", "shell", {"cmd": "fooctl -h"}),
    ("a.c: compiling\nb.c: warning: not found in cache, rebuilding\ndone", "shell", {"cmd": "make"}),
    ({"sku": "A1", "stock": 0}, "get_stock", {"sku": "A1"}),
    ({"count": 0}, "count_open_tickets", {}),
]  # fmt: skip


@pytest.mark.parametrize(("content", "error_class"), BAD)
def test_trouble_is_found_with_its_class(content, error_class):
    assert seen(content) == error_class


@pytest.mark.parametrize(("content", "tool", "arguments", "error_class"), ASKED_BAD)
def test_trouble_is_found_with_the_help_of_the_call(content, tool, arguments, error_class):
    assert seen(content, tool, **arguments) == error_class


@pytest.mark.parametrize(("content", "tool", "arguments"), ASKED_GOOD)
def test_what_was_asked_about_is_no_trouble_of_the_call(content, tool, arguments):
    assert seen(content, tool, **arguments) is None


@pytest.mark.parametrize(
    ("content", "asked"),
    [
        ("Error: a novel / Quist, Lene\nshelf: F QUI", {"q": "Error: a novel"}),
        ("Hata! Bir şeyler ters gitti.", {"text": "Oops, something went wrong.", "to": "tr"}),
    ],
)
def test_a_text_about_an_error_that_was_asked_for_is_no_trouble(content, asked):
    assert seen(content, "catalogue", **asked) is None
    assert seen(content, "catalogue", q="404", n=500) is not None


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
    ("content", "error_class"),
    [
        case
        for case in BAD
        if isinstance(case[0], str) and case[0][:1] == "{" and case[0][-1] == "}" and case[1] != "empty"
    ],
)
def test_a_long_body_is_no_different(content, error_class):
    body = json.loads(content) | {"padding": ["x" * 50] * 20, "more": 1}
    trouble = trouble_in(json.dumps(body))
    assert trouble is not None
    assert trouble.error_class == error_class


@pytest.mark.parametrize(
    ("content", "pointer", "words"),
    [
        ('{"data": {"a": 1}, "errors": [{"message": "b timed out"}]}', "/errors", "b timed out"),
        ('{"result": {"ok": false, "reason": "expired token"}}', "/result/ok", "expired token"),
        ('[{"id": 1}, {"id": 2, "error": "locked"}]', "/1/error", "locked"),
        ('{"error": {"code": 403}}', "/error", ""),
        ("503 Service Unavailable\nfoo", "", "503 Service Unavailable"),
    ],
)
def test_what_tells_is_named(content, pointer, words):
    trouble = trouble_in(content)
    assert trouble is not None
    assert trouble.pointer == pointer
    assert words in trouble.words


@pytest.mark.parametrize(
    "piece",
    [
        " ", "error ", "a: ", "a.", "<title>", "<", "x-y ",
        '{"error":', '[{"a":1},', "not found ", "404 ", "(((", "Traceback ", "\n",
        '{"content": [{"type": "text", "text": "', "unable to ", "no ",
    ],
)  # fmt: skip
def test_time_is_linear_in_the_length_of_hostile_text(piece):
    def cost(times: int) -> float:
        text = piece * times
        return best_seconds(lambda: trouble_in(text))

    # A longer text does not fit into a processor's cache: then memory is measured, and no work.
    most = min(80_000, 640_000 // len(piece))
    assert cost(most) < cost(most // 8) * 8 * 4 + 0.001
