"""Reads Gemini contents: parts with `text`, `functionCall`, `functionResponse`, in camelCase or snake_case.

Source: https://ai.google.dev/api/caching#Content. Calls mostly have no ids: results are put to them by name and order.
A candidate that ends with MALFORMED_FUNCTION_CALL is a call that no one can read.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from toolevals.grading.reading.parsing.content import result_said
from toolevals.grading.reading.parsing.formats.transcript_format import Item, Opened, Placed, TranscriptFormat, listed
from toolevals.grading.reading.parsing.json_calls import LONGEST_SHOWN, call_of, identifier_in
from toolevals.grading.reading.parsing.losses import Account
from toolevals.grading.reading.parsing.provider_run import PROVIDER_RUN, provider_run_key
from toolevals.grading.reading.parsing.turns import Speech, Turn
from toolevals.grading.values import Call, MalformedCall, Message

_ROLES = {"model": "assistant", "function": "user"}
_CONTENT = frozenset({"role", "parts"})
_CANDIDATE = frozenset({
    "content", "finishReason", "finish_reason", "finishMessage", "finish_message", "index", "safetyRatings",
    "safety_ratings", "avgLogprobs", "avg_logprobs", "logprobsResult", "logprobs_result", "tokenCount", "token_count",
    "citationMetadata", "citation_metadata", "groundingMetadata", "grounding_metadata", "groundingAttributions",
    "grounding_attributions", "urlContextMetadata", "url_context_metadata",
})  # fmt: skip
_CITATIONS = ("citationMetadata", "citation_metadata", "groundingMetadata", "grounding_metadata")
_CALL = frozenset({"id", "name", "args", "willContinue", "will_continue"})
_RESPONSE = frozenset({"id", "name", "response", "willContinue", "will_continue", "scheduling"})
_BESIDE = frozenset({
    "functionCall", "function_call", "functionResponse", "function_response", "text", "thought", "thoughtSignature",
    "thought_signature", "videoMetadata", "video_metadata", "partMetadata", "part_metadata",
})  # fmt: skip
_PART_LOSSES: Mapping[str, str] = {
    "inlineData": "file", "inline_data": "file", "fileData": "file", "file_data": "file",
}  # fmt: skip


def _sign(item: Item) -> str | None:
    return "a content has a list of `parts`" if isinstance(item.get("parts"), list) else None


def _accepts(item: Item) -> bool:
    """Tell whether an item can be read: a content, or a candidate that holds one."""
    return (
        "parts" in item
        or isinstance(item.get("content"), dict)
        or _either(item, "finishReason", "finish_reason") is not None
    )


def _turns(items: Iterable[Placed], account: Account) -> Iterator[Turn]:
    """Read contents and candidates."""
    for pointer, item in items:
        inner = item.get("content")
        content, here = (inner, f"{pointer}/content") if isinstance(inner, dict) else (item, pointer)
        if content is item:
            account.rest(item, _CANDIDATE | _CONTENT, pointer)
        else:
            account.rest(item, _CANDIDATE, pointer)
            account.rest(content, _CONTENT, here)
        for key in _CITATIONS:
            if item.get(key):
                account.lost(f"{pointer}/{key}", "citation")
        yield from contents_read(content_role(content), content.get("parts"), _spoilt(item), f"{here}/parts", account)


def contents_read(role: str, parts: object, calls: list[Call], pointer: str, account: Account) -> Iterator[Turn]:
    """Read the parts of one content; `calls` are those that its candidate tells of next to them."""
    speech = Speech(account.role(role, pointer.rpartition("/")[0]), account)
    if not isinstance(parts, list):
        account.unknown(pointer, parts, "parts that are not a list")
        parts = []
    for place, part in enumerate(parts):
        here = f"{pointer}/{place}"
        if not isinstance(part, dict):
            account.unknown_part(here, part)
        elif isinstance(call := _either(part, "functionCall", "function_call"), dict):
            account.rest(part, _BESIDE, here)
            account.rest_of_call(call, _CALL, "args" in call, here)
            speech.call(call_of(call.get("name"), call.get("args"), identifier_in(call, "id"), shown_as=part))
        elif isinstance(response := _either(part, "functionResponse", "function_response"), dict):
            account.rest(part, _BESIDE, here)
            account.rest(response, _RESPONSE, here)
            yield from speech.answered(_result(response, here, account))
        elif (name := provider_run_key(part)) is not None:
            account.provider_run(part, here, name)
        elif key := next((key for key in _PART_LOSSES if part.get(key)), None):
            account.lost(here, _PART_LOSSES[key])
        else:
            speech.say(part, here)
    for spoilt in calls:
        speech.call(spoilt)
    yield from speech.end()


def _result(response: Item, pointer: str, account: Account) -> Turn:
    name, given = response.get("name"), response.get("response")
    failed = isinstance(given, dict) and bool(given.get("error")) and "output" not in given and "result" not in given
    if isinstance(given, dict) and len(given) == 1 and given.keys() <= {"output", "result", "error"}:
        (given,) = given.values()
    text = result_said(given, pointer, account)
    message = Message("tool", text, call_id=identifier_in(response, "id"), is_error=failed)
    return Turn(message, name if isinstance(name, str) else None)


def _spoilt(candidate: Item) -> list[Call]:
    if _either(candidate, "finishReason", "finish_reason") != "MALFORMED_FUNCTION_CALL":
        return []
    said = _either(candidate, "finishMessage", "finish_message")
    text = said[:LONGEST_SHOWN] if isinstance(said, str) else ""
    return [MalformedCall("the provider could not read the call that the model wrote", text=text)]


def content_role(content: Item) -> str:
    """Return whose words a content holds, in our names."""
    role = content.get("role")
    return _ROLES.get(role, role) if isinstance(role, str) and role else "assistant"


def _either(item: Item, *keys: str) -> Any:
    return next((item[key] for key in keys if item.get(key) is not None), None)


def _opens(document: Item) -> Opened | None:
    if isinstance(candidates := document.get("candidates"), list):
        further = tuple((f"/candidates/{place}", "further choice") for place in range(1, len(candidates)))
        items = listed(candidates[:1], "/candidates")
        return Opened(
            items, "/candidates", "the document has `candidates`", read=frozenset({"candidates"}), further=further
        )
    if isinstance(contents := document.get("contents"), list):
        key = next((key for key in ("systemInstruction", "system_instruction") if document.get(key)), None)
        return Opened(
            listed(contents, "/contents"),
            "/contents",
            "the document has `contents`",
            system=None if key is None else (f"/{key}", document[key]),
            read=frozenset({"contents", key or "contents"}),
        )
    return None


GEMINI = TranscriptFormat(
    name="gemini",
    label="Google Gemini",
    sign=_sign,
    accepts=_accepts,
    item="a content with parts",
    turns=_turns,
    calls_at="`functionCall` (`function_call`) of a part",
    keys=frozenset({"contents", "candidates", *_CONTENT, *_BESIDE, *_CALL, *_RESPONSE}),
    made_by="published schema",
    losses=("reasoning", "file", "citation", PROVIDER_RUN, "further choice"),
    opens=_opens,
)
