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

from tests.grading.reading.parsing.made import conversation as the
from tests.grading.reading.telemetry.local_model import local_model_with_logs

FOLDER = Path(__file__).parent / "made"
TOOLS = [
    {
        "type": "function",
        "function": {
            "name": name,
            "description": said,
            "parameters": {"type": "object", "properties": {key: {"type": kind}}, "required": [key]},
        },
    }
    for name, said, key, kind in (
        ("get_order", "Return an order.", "id", "string"),
        ("get_stock", "Return how many there are.", "sku", "integer"),
    )
]
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


def _tool(name, arguments):
    if name == "get_stock":
        return the.FAILURE
    return json.dumps(the.ORDERS[arguments["id"]], separators=(",", ":"))


def _chat(provider, address):
    """Ask both questions by the client, with a loop of ours; a span of ours holds each turn together."""
    from openai import OpenAI

    client = OpenAI(base_url=address)
    tracer = provider.get_tracer("shop")
    messages = [{"role": "system", "content": the.SYSTEM}]
    for question in (the.FIRST, the.SECOND):
        messages.append({"role": "user", "content": question})
        with tracer.start_as_current_span("turn"):
            while True:
                made = client.chat.completions.create(model="model-x", messages=messages, tools=TOOLS)
                message = made.choices[0].message
                messages.append(message.model_dump(exclude_none=True))
                if not message.tool_calls:
                    break
                for call in message.tool_calls:
                    said = _tool(call.function.name, json.loads(call.function.arguments))
                    messages.append({"role": "tool", "tool_call_id": call.id, "content": said})


def openinference_openai(provider, address):
    from openinference.instrumentation.openai import OpenAIInstrumentor

    OpenAIInstrumentor().instrument(tracer_provider=provider)
    _chat(provider, address)


def openllmetry_openai(provider, address):
    from opentelemetry.instrumentation.openai import OpenAIInstrumentor

    OpenAIInstrumentor().instrument(tracer_provider=provider)
    _chat(provider, address)


def _with_logs(provider, address):
    """Ask by the client whose instrumentation sends messages as log records."""
    from opentelemetry import _logs
    from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
    from opentelemetry.instrumentation.openai_v2 import OpenAIInstrumentor
    from opentelemetry.sdk._logs import LoggerProvider
    from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor

    logs = LoggerProvider()
    logs.add_log_record_processor(SimpleLogRecordProcessor(OTLPLogExporter(endpoint=f"{address}/logs")))
    _logs.set_logger_provider(logs)
    OpenAIInstrumentor().instrument(tracer_provider=provider, logger_provider=logs)
    _chat(provider, address)
    logs.force_flush()


def openai_v2(provider, address):
    _with_logs(provider, address)


def openai_v2_details(provider, address):
    _with_logs(provider, address)


def traceai_openai(provider, address):
    from traceai_openai import OpenAIInstrumentor

    OpenAIInstrumentor().instrument(tracer_provider=provider)
    _chat(provider, address)


def pydantic_ai(provider, address, **settings):
    from pydantic_ai import Agent, ModelRetry
    from pydantic_ai.models.instrumented import InstrumentationSettings
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    model = OpenAIChatModel("model-x", provider=OpenAIProvider(base_url=address, api_key="none"))
    traced = InstrumentationSettings(tracer_provider=provider, **settings)
    Agent.instrument_all(traced)
    agent = Agent(model, system_prompt=the.SYSTEM, name="support", retries=2)

    @agent.tool_plain
    def get_order(id: str) -> dict:  # noqa: A002 (the argument's name)
        return the.ORDERS[id]

    @agent.tool_plain
    def get_stock(sku: int) -> dict:
        raise ModelRetry(the.FAILURE)

    first = agent.run_sync(the.FIRST)
    agent.run_sync(the.SECOND, message_history=first.all_messages())


def openai_agents(provider, address):
    from agents import Agent, Runner, function_tool, set_default_openai_client
    from openai import AsyncOpenAI
    from openinference.instrumentation.openai_agents import OpenAIAgentsInstrumentor

    OpenAIAgentsInstrumentor().instrument(tracer_provider=provider)
    set_default_openai_client(AsyncOpenAI(base_url=address), use_for_tracing=False)

    @function_tool
    def get_order(id: str) -> str:  # noqa: A002 (the argument's name)
        return _tool("get_order", {"id": id})

    @function_tool(failure_error_function=lambda _, error: str(error))
    def get_stock(sku: int) -> str:
        raise the.NoSuchSkuError(the.FAILURE)

    agent = Agent(name="support", instructions=the.SYSTEM, model="model-x", tools=[get_order, get_stock])
    first = Runner.run_sync(agent, the.FIRST)
    Runner.run_sync(agent, [*first.to_input_list(), {"role": "user", "content": the.SECOND}])


def langgraph(provider, address):
    from openinference.instrumentation.langchain import LangChainInstrumentor

    LangChainInstrumentor().instrument(tracer_provider=provider)
    _langgraph(address)


def langsmith_otel(provider, address):
    os.environ |= {"LANGSMITH_TRACING": "true", "LANGSMITH_TRACING_MODE": "otel", "LANGSMITH_API_KEY": "none"}
    _langgraph(address)
    from langchain_core.tracers.langchain import wait_for_all_tracers

    wait_for_all_tracers()


def _langgraph(address):
    from langchain_core.tools import tool
    from langchain_openai import ChatOpenAI
    from langgraph.prebuilt import create_react_agent

    @tool
    def get_order(id: str) -> str:  # noqa: A002 (the argument's name)
        """Return an order."""
        return _tool("get_order", {"id": id})

    @tool
    def get_stock(sku: int) -> str:
        """Return how many there are."""
        return the.FAILURE

    model = ChatOpenAI(model="model-x", base_url=address)
    agent = create_react_agent(model, [get_order, get_stock], prompt=the.SYSTEM)
    messages = []
    for question in (the.FIRST, the.SECOND):
        messages = agent.invoke({"messages": [*messages, {"role": "user", "content": question}]})["messages"]


def google_adk(provider, address):
    """Ask Google's ADK, which follows OpenTelemetry's conventions with some attributes of its own."""
    os.environ["OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT"] = "SPAN_ONLY"
    _adk(address)


def google_adk_1(provider, address):
    """Ask Google's ADK in the first version of its spans, which hold a request and a response of Gemini's."""
    os.environ["ADK_TELEMETRY_SCHEMA_VERSION_OPT_IN"] = "1"
    _adk(address)


def _adk(address):
    """Ask by an agent whose model is any behind the chat-completions protocol, by LiteLLM."""
    import asyncio

    from google.adk.agents import LlmAgent
    from google.adk.models.lite_llm import LiteLlm
    from google.adk.runners import InMemoryRunner
    from google.genai import types

    def get_order(id: str) -> dict:  # noqa: A002 (the argument's name)
        """Return an order."""
        return the.ORDERS[id]

    def get_stock(sku: int) -> dict:
        """Return how many there are."""
        raise the.NoSuchSkuError(the.FAILURE)

    def failed(tool, args, tool_context, error):
        return {"error": str(error)}

    model = LiteLlm("openai/model-x", api_base=address)
    agent = LlmAgent(
        name="support", model=model, instruction=the.SYSTEM, tools=[get_order, get_stock], on_tool_error_callback=failed
    )

    async def run():
        runner = InMemoryRunner(agent=agent, app_name="shop")
        session = await runner.session_service.create_session(app_name="shop", user_id="u")
        for question in (the.FIRST, the.SECOND):
            message = types.Content(role="user", parts=[types.Part(text=question)])
            async for _ in runner.run_async(user_id="u", session_id=session.id, new_message=message):
                pass

    asyncio.run(run())


def pydantic_ai_events(provider, address):
    """Ask Pydantic AI below 1, in the convention's first form: events of messages, as one attribute."""
    pydantic_ai(provider, address, event_mode="attributes", version=1)


def azure_ai_inference(provider, address):
    """Ask Azure's client, which writes the convention's first form: an event of the span for each message."""
    from azure.ai.inference import ChatCompletionsClient
    from azure.ai.inference.tracing import AIInferenceInstrumentor
    from azure.core.credentials import AzureKeyCredential
    from azure.core.settings import settings

    settings.tracing_implementation = "opentelemetry"
    AIInferenceInstrumentor().instrument(enable_content_recording=True)
    client = ChatCompletionsClient(endpoint=address, credential=AzureKeyCredential("none"))
    tracer = provider.get_tracer("shop")
    messages = [{"role": "system", "content": the.SYSTEM}]
    for question in (the.FIRST, the.SECOND):
        messages.append({"role": "user", "content": question})
        with tracer.start_as_current_span("turn"):
            while True:
                message = client.complete(messages=messages, model="model-x", tools=TOOLS).choices[0].message
                messages.append(message.as_dict())
                if not message.tool_calls:
                    break
                for call in message.tool_calls:
                    said = _tool(call.function.name, json.loads(call.function.arguments))
                    messages.append({"role": "tool", "tool_call_id": call.id, "content": said})


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
            globals()[name](provider, address)
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
