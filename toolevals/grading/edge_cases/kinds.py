"""Names the kinds of edge cases and the buckets of failures, each in one sentence."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class EdgeCase(StrEnum):
    """The property of an argument that is easily got wrong though the value is right."""

    NULL_OPTIONAL = "null_optional"
    EMPTY_ARRAY = "empty_array"
    UNICODE_IDENTIFIER = "unicode_identifier"
    TIME_ZONE = "time_zone"
    CURRENCY = "currency"
    TYPE_COERCION = "type_coercion"


class FailureBucket(StrEnum):
    """The sort of failure of an argument."""

    SCHEMA = "schema"
    EDGE_CASE = "edge_case"
    SEMANTIC = "semantic"


EDGE_CASE_SENTENCES: Mapping[EdgeCase, str] = {
    EdgeCase.NULL_OPTIONAL: "Null where an optional argument may as well be left out.",
    EdgeCase.EMPTY_ARRAY: "An empty list where an argument may as well be left out or null.",
    EdgeCase.UNICODE_IDENTIFIER: "An identifier with letters beyond ASCII, which may be spelled in several ways.",
    EdgeCase.TIME_ZONE: "A date and time that is another one in another time zone, or without one.",
    EdgeCase.CURRENCY: "An amount that is another one in another currency, unit or scale.",
    EdgeCase.TYPE_COERCION: 'A value that equals another one only after its type is changed, as "5" and 5.',
}
BUCKET_SENTENCES: Mapping[FailureBucket, str] = {
    FailureBucket.SCHEMA: "The call breaks the tool's schema.",
    FailureBucket.EDGE_CASE: "The argument is as expected but for an edge case.",
    FailureBucket.SEMANTIC: "The argument is another value than the expected one.",
}
