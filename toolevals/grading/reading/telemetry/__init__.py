"""OpenTelemetry's traces, read: the spans of OTLP, and the tool calls, messages and tools that their attributes hold.

`otlp.spans_in(document)` yields the spans of an export. `conventions.reading_of(span)` says what a span is by the
convention that its instrumentation follows, and which attributes no reader knows.
"""
