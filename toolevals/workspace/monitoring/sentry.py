"""Sends errors that are logged to Sentry: what happened in which line of code, and nothing of what people wrote.

Every error of a request, of a batch and of a regular duty is a record of the log with its traceback. So the SDK's
integration with the log is all that is loaded of it: nothing of Django, of the database or of models is patched.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final

import sentry_sdk
from sentry_sdk.integrations.logging import LoggingIntegration

from toolevals.workspace.monitoring.json_log import about

# What is kept of an event. A message of an exception, an address or a breadcrumb may hold a conversation or a key.
_EVENT: Final = ("event_id", "timestamp", "platform", "level", "logger", "release", "environment", "server_name", "sdk")
_EXCEPTION: Final = ("type", "module")
_FRAME: Final = ("filename", "abs_path", "function", "module", "lineno", "in_app")


def sentry_start(dsn: str, release: str) -> None:
    """Begin to send errors of this process, and of those that it forks."""
    sentry_sdk.init(
        dsn=dsn,
        release=release,
        send_default_pii=False,
        include_local_variables=False,
        include_source_context=False,
        max_request_body_size="never",
        max_breadcrumbs=0,
        default_integrations=False,
        auto_enabling_integrations=False,
        auto_session_tracking=False,
        integrations=[LoggingIntegration(level=None, event_level=logging.ERROR)],
        before_send=event_stripped,
    )


def event_stripped(event: Any, hint: Mapping[str, Any]) -> Any:
    """Return a new event with the fields of an event that say nothing of what people wrote, and ids of the work.

    The message is the template in the code, without what was put into it.
    """
    stripped = {name: event[name] for name in _EVENT if name in event}
    if (record := hint.get("log_record")) is not None:
        stripped["logentry"] = {"message": record.msg if _is_template(record) else "An error."}
        match = getattr(getattr(record, "request", None), "resolver_match", None)
        stripped["transaction"] = match.view_name if match is not None else record.name
    stripped["tags"] = about()
    values = (event.get("exception") or {}).get("values") or []
    if values:
        stripped["exception"] = {"values": [_exception(each) for each in values]}
    return stripped


def _is_template(record: logging.LogRecord) -> bool:
    """Return whether the message is a text of the code: values are put into it later, or it is ours."""
    ours = record.name.partition(".")[0] in ("toolevals", "labeling", "reports")
    return isinstance(record.msg, str) and (bool(record.args) or ours)


def _exception(value: Mapping[str, Any]) -> dict[str, Any]:
    frames = (value.get("stacktrace") or {}).get("frames") or []
    kept = [{name: frame[name] for name in _FRAME if name in frame} for frame in frames]
    return {name: value[name] for name in _EXCEPTION if name in value} | {"stacktrace": {"frames": kept}}
