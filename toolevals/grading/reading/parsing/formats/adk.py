"""Reads events of Google's Agent Development Kit: Gemini's contents with an author, alone or in a session.

Source: google.adk.events.Event. Partial events of a stream are repeated whole by a later one, and are left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from toolevals.grading.reading.parsing.formats.gemini import content_role, contents_read
from toolevals.grading.reading.parsing.formats.transcript_format import Item, Opened, Placed, TranscriptFormat, listed
from toolevals.grading.reading.parsing.json_calls import LONGEST_SHOWN
from toolevals.grading.reading.parsing.losses import Account
from toolevals.grading.reading.parsing.provider_run import PROVIDER_RUN
from toolevals.grading.reading.parsing.turns import Turn
from toolevals.grading.values import Call, MalformedCall, Message

# In the two spellings of its dumps; underscores are dropped before comparing.
_KEYS = frozenset({
    "content", "author", "invocationid", "actions", "nodeinfo", "id", "timestamp", "longrunningtoolids", "branch",
    "partial", "turncomplete", "errorcode", "errormessage", "interrupted", "usagemetadata", "modelversion",
    "finishreason", "avglogprobs", "logprobsresult", "groundingmetadata", "citationmetadata", "custommetadata",
    "cachemetadata", "interactionid", "inputtranscription", "outputtranscription", "liveessionresumptionupdate",
    "livesessionresumptionupdate", "isolationscope", "output",
})  # fmt: skip
_ACTIONS = ("statedelta", "artifactdelta", "transfertoagent", "escalate", "requestedauthconfigs")


def _plain(key: str) -> str:
    return key.replace("_", "").lower()


def _sign(item: Item) -> str | None:
    own = next((key for key in ("invocation_id", "invocationId") if key in item), None)
    if own and "author" in item:
        return f"an event has `author` and `{own}`"
    return "an event has an `author` and a `content` with parts" if "author" in item and _has_parts(item) else None


def _has_parts(item: Item) -> bool:
    content = item.get("content")
    return isinstance(content, dict) and "parts" in content


def _accepts(item: Item) -> bool:
    return isinstance(item.get("author"), str)


def _turns(items: Iterable[Placed], account: Account) -> Iterator[Turn]:
    for pointer, item in items:
        account.rest(item, frozenset(key for key in item if _plain(key) in _KEYS), pointer)
        told = {_plain(key): value for key, value in item.items()}
        if told.get("partial") is True:
            account.lost(pointer, "partial event")
            continue
        _leave(told, pointer, account)
        content = item.get("content")
        spoilt = _spoilt(told)
        if isinstance(content, dict):
            account.rest(content, frozenset({"parts", "role"}), f"{pointer}/content")
            role = content_role(content) if content.get("role") else "user" if item["author"] == "user" else "assistant"
            yield from contents_read(role, content.get("parts") or [], spoilt, f"{pointer}/content/parts", account)
        else:
            account.unknown(f"{pointer}/content", content, "content that is not an object")
            if spoilt:
                yield Turn(Message("assistant", calls=tuple(spoilt)))


def _leave(told: Item, pointer: str, account: Account) -> None:
    actions = told.get("actions")
    if isinstance(actions, dict) and any(value for key, value in actions.items() if _plain(key) in _ACTIONS):
        account.lost(f"{pointer}/actions", "actions on the session")
    if told.get("groundingmetadata") or told.get("citationmetadata"):
        account.lost(pointer, "citation")
    if told.get("inputtranscription") or told.get("outputtranscription"):
        account.lost(pointer, "transcription")
    if told.get("output") is not None:
        account.unknown(f"{pointer}/output", told["output"], "key output")


def _spoilt(told: Item) -> list[Call]:
    if told.get("errorcode") != "MALFORMED_FUNCTION_CALL" and told.get("finishreason") != "MALFORMED_FUNCTION_CALL":
        return []
    said = told.get("errormessage")
    text = said[:LONGEST_SHOWN] if isinstance(said, str) else ""
    return [MalformedCall("the provider could not read the call that the model wrote", text=text)]


def _opens(document: Item) -> Opened | None:
    events = document.get("events")
    if not isinstance(events, list) or not any(isinstance(each, dict) and "author" in each for each in events):
        return None
    read = frozenset({"events", "appName", "app_name", "userId", "user_id", "lastUpdateTime", "last_update_time"})
    further = (("/state", "state of the session"),) if document.get("state") else ()
    return Opened(
        listed(events, "/events"), "/events", "the document has `events` with authors", read=read, further=further
    )


ADK_EVENTS = TranscriptFormat(
    name="adk_events",
    label="Google ADK events",
    sign=_sign,
    accepts=_accepts,
    item="an event with an author",
    turns=_turns,
    calls_at="`functionCall` (`function_call`) of a part of an event's content",
    keys=frozenset({"author", "invocation_id", "invocationId", "actions", "events", "content", "parts", "functionCall",
                    "function_call", "functionResponse", "function_response"}),
    made_by="library: google-adk 2.13",
    losses=("reasoning", "file", "citation", "partial event", "actions on the session", "state of the session",
            PROVIDER_RUN),
    opens=_opens,
)  # fmt: skip
