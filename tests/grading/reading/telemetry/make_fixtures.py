# mypy: ignore-errors
"""Write what real instrumentations export of the conversation, as OTLP in JSON.

    python -m tests.grading.reading.telemetry.make_fixtures openinference_openai pydantic_ai

Each name needs its libraries, with `opentelemetry-exporter-otlp-proto-http`, in an environment of its own. The model is
a server of ours on this machine; clients, tracers and exporters are the libraries' own. A trace is one turn.
"""

from __future__ import annotations

import base64
import json
import os
import sys
from importlib.metadata import version
from pathlib import Path

from tests.grading.reading.telemetry import instrumented
from tests.grading.reading.telemetry.local_model import local_model_with_logs

FOLDER = Path(__file__).parent / "made"
SETTINGS = {
    "OTEL_SERVICE_NAME": "shop-support",
    "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "true",
    "TRACELOOP_TRACE_CONTENT": "true",
    "OPENAI_API_KEY": "none",
}


def _provider(address):
    from opentelemetry import trace
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor

    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(OTLPSpanExporter(endpoint=f"{address}/traces")))
    trace.set_tracer_provider(provider)
    return provider


# Those that send log records, and the settings under which they send them.
WITH_LOGS = {
    "openai_v2": {},
    "openai_v2_details": {
        "OTEL_SEMCONV_STABILITY_OPT_IN": "gen_ai_latest_experimental",
        "OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT": "EVENT_ONLY",
    },
}
_PLACES = ("revision_id", "stacktrace")
PACKAGES = {
    "openai_v2": "opentelemetry-instrumentation-openai-v2",
    "openai_v2_details": "opentelemetry-instrumentation-openai-v2",
    "azure_ai_inference": "azure-ai-inference",
    "google_adk": "google-adk",
    "google_adk_1": "google-adk",
    "pydantic_ai_events": "pydantic-ai-slim",
    "openinference_openai": "openinference-instrumentation-openai",
    "openllmetry_openai": "opentelemetry-instrumentation-openai",
    "traceai_openai": "traceAI-openai",
    "pydantic_ai": "pydantic-ai-slim",
    "openai_agents": "openinference-instrumentation-openai-agents",
    "langgraph": "openinference-instrumentation-langchain",
    "langsmith_otel": "langsmith",
}


def main() -> None:
    """Write the files that are named."""
    from google.protobuf.json_format import MessageToDict
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    for name in sys.argv[1:]:
        with local_model_with_logs() as (address, bodies, logs):
            os.environ |= SETTINGS | WITH_LOGS.get(name, {}) | {"OPENAI_BASE_URL": address}
            provider = _provider(address)
            getattr(instrumented, name)(provider, address)
            provider.force_flush()
            exports = [MessageToDict(ExportTraceServiceRequest.FromString(body)) for body in bodies]
        made = {
            "made_by": f"{PACKAGES[name]} {version(PACKAGES[name])}",
            "exports": [_hexadecimal(each) for each in exports],
        }
        if name in WITH_LOGS:
            made["logs"] = [_hexadecimal(MessageToDict(ExportLogsServiceRequest.FromString(body))) for body in logs]
        folder = FOLDER / "logs" if name in WITH_LOGS else FOLDER
        (folder / f"{name}.json").write_text(json.dumps(made, indent=1, ensure_ascii=False) + "\n")
        os._exit(0)


def _hexadecimal(value):
    """Return an export with its ids as OTLP's JSON has them, without places of this machine: protobuf has base64."""
    if isinstance(value, list):
        return [_hexadecimal(item) for item in value if not str(item.get("key")).endswith(_PLACES)]
    if not isinstance(value, dict):
        return value
    ids = ("traceId", "spanId", "parentSpanId")
    return {key: base64.b64decode(inner).hex() if key in ids else _hexadecimal(inner) for key, inner in value.items()}


if __name__ == "__main__":
    main()
