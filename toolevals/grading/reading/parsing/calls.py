"""Reads calls in the forms of OpenAI and its imitators, with account of every key."""

from __future__ import annotations

from typing import Any

from toolevals.grading.reading.parsing.json_calls import ARGUMENT_KEYS, call_in
from toolevals.grading.reading.parsing.losses import Account
from toolevals.grading.values import Call

_BESIDE = frozenset({
    "id", "type", "index", "name", "function", "call_id", "status", "extra_content", "provider_specific_fields",
    "extras", "error", "title", "caller",
})  # fmt: skip
_INSIDE = frozenset({"name", "description", "strict", "parsed_arguments"})
_NOTHING = frozenset({"id", "name", "arguments"})


def called(item: Any, pointer: str, account: Account) -> Call:
    """Read one call as `call_in` does. Raises InvalidDocument where its arguments may stand under an unknown key."""
    if isinstance(item, dict) and not _NOTHING.issuperset(item):
        _account(item, pointer, account)
    return call_in(item)


def calls_in(given: Any, pointer: str, account: Account) -> tuple[Call, ...]:
    """Read a list of calls; none where there is nothing, and one that cannot be read where it is no list."""
    if given is None or given in ("", []):
        return ()
    if not isinstance(given, list):
        return (called(given, pointer, account),)
    return tuple(
        called(item, f"{pointer}/{place}", account)
        for place, item in enumerate(given)
        if not account.provider_run(item, f"{pointer}/{place}")
    )


def _account(item: dict[str, Any], pointer: str, account: Account) -> None:
    if isinstance(item.get("malformed"), dict):
        account.rest(item, _BESIDE | {"malformed"}, pointer)
        return
    if item.get("type") == "custom" and isinstance(item.get("custom"), dict):
        account.rest(item, _BESIDE | {"custom"}, pointer)
        account.rest_of_call(
            item["custom"], frozenset({"name", "input"}), "input" in item["custom"], f"{pointer}/custom"
        )
        return
    if isinstance(inner := item.get("function"), dict):
        key = _arguments_key(inner)
        account.rest_of_call(inner, _INSIDE | {key}, key in inner, f"{pointer}/function")
        account.rest_of_call(item, _BESIDE, key in inner, pointer)
        return
    key = _arguments_key(item)
    account.rest_of_call(item, _BESIDE | {key}, key in item, pointer)


def _arguments_key(holder: dict[str, Any]) -> str:
    """Return the key that `call_in` reads arguments from; the usual one where there are none."""
    return next((key for key in ARGUMENT_KEYS if key in holder), ARGUMENT_KEYS[0])
