"""Reads OpenTelemetry's traces: the spans of OTLP, and the tool calls, messages and tools in their attributes.

`otlp.spans_in(document)` yields the spans of an export. `conventions.reading_of(span)` says what a span is by the
convention that its instrumentation follows, and which attributes no reader knows.
"""
