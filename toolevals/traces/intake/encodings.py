"""Reads OTLP's two encodings as the JSON form, and answers in the form that the request had.

Source: https://opentelemetry.io/docs/specs/otlp/. The generic reader of protobuf's JSON takes ids for base64, while
OTLP writes them in hexadecimal digits: so neither direction uses it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import orjson
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest, ExportLogsServiceResponse
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)

from toolevals.grading.reading.telemetry.otlp_protobuf import logs_in_json, traces_in_json
from toolevals.grading.values.problems import InvalidDocument

PROTOBUF: Final = "application/x-protobuf"
JSON: Final = "application/json"
CONTENT_TYPES: Final = (PROTOBUF, JSON)


@dataclass(frozen=True, slots=True)
class Signal:
    """Says what one address takes: names in OTLP's JSON for its export, from the outside in, and protobuf's messages.

    `rejected` is what counts the items that are not taken in an answer, in JSON's form and in protobuf's.
    """

    holders: str
    scopes: str
    items: str
    rejected: tuple[str, str]
    request: Any
    response: Any


def document_of(body: bytes, content_type: str, signal: Signal | None = None) -> dict[str, Any]:
    """Return an export as the JSON form of OTLP, of traces unless said otherwise.

    Raises InvalidDocument where the body is none.
    """
    read = _of_protobuf if content_type == PROTOBUF else _of_json
    return read(body, signal or TRACES)


def _of_json(body: bytes, signal: Signal) -> dict[str, Any]:
    try:
        document = orjson.loads(body)
    except ValueError as error:
        raise InvalidDocument.at("", f"The body cannot be read as JSON: {error}") from None
    if not isinstance(document, dict):
        raise InvalidDocument.at("", f"The body is not an object with {signal.holders}.")
    wrong = signal.holders.replace("S", "_s").replace("L", "_l")
    if wrong in document:
        raise InvalidDocument.at(f"/{wrong}", f"OTLP writes its keys in camel case in JSON: {signal.holders}.")
    return document


def _of_protobuf(body: bytes, signal: Signal) -> dict[str, Any]:
    message = message_of(body, signal)
    return logs_in_json(message) if signal is LOGS else traces_in_json(message)


def message_of(body: bytes, signal: Signal | None = None) -> Any:
    """Return an export as the message of protobuf that it is, of traces unless said otherwise.

    Raises InvalidDocument where the body is none.
    """
    request = (signal or TRACES).request
    message = request()
    try:
        message.ParseFromString(body)
    except (DecodeError, RecursionError) as error:
        raise InvalidDocument.at("", f"The body cannot be read as an {request.DESCRIPTOR.name}: {error}") from None
    return message


def answer(content_type: str, *, rejected: int = 0, message: str = "", signal: Signal | None = None) -> bytes:
    """Return the answer to an export, of traces unless said otherwise.

    It speaks of partial success only where something was rejected.
    """
    signal = signal or TRACES
    in_json, in_protobuf = signal.rejected
    if content_type == JSON:
        partial = {"partialSuccess": {in_json: str(rejected), "errorMessage": message}}
        return orjson.dumps(partial if rejected or message else {})
    response = signal.response()
    if rejected or message:
        setattr(response.partial_success, in_protobuf, rejected)
        response.partial_success.error_message = message
    return bytes(response.SerializeToString())


def failure(content_type: str, *, code: int, message: str) -> bytes:
    """Return a google.rpc.Status; `code` is one of gRPC's."""
    if content_type == JSON:
        return orjson.dumps({"code": code, "message": message})
    # Two fields: an integer, and text with its length. None of our packages has the message.
    text = message.encode()
    return bytes((0x08, code)) + delimited(2, text)


def delimited(number: int, content: bytes) -> bytes:
    """Return a text, or a message, as the field of a message of protobuf: its number up to 15, its length, itself."""
    return bytes((number << 3 | 2,)) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes((*found, number))


TRACES: Final = Signal(
    "resourceSpans",
    "scopeSpans",
    "spans",
    ("rejectedSpans", "rejected_spans"),
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
LOGS: Final = Signal(
    "resourceLogs",
    "scopeLogs",
    "logRecords",
    ("rejectedLogRecords", "rejected_log_records"),
    ExportLogsServiceRequest,
    ExportLogsServiceResponse,
)
