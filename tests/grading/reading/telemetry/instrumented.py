# mypy: ignore-errors
"""Hold the conversation under each instrumentation, for `make_fixtures`: the libraries' own clients and tracers."""

from __future__ import annotations

import json
import os

from tests.grading.reading.parsing.made import conversation as the

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


def _tool(name, arguments):
    if name == "get_stock":
        return the.FAILURE
    return json.dumps(the.ORDERS[arguments["id"]], separators=(",", ":"))


def _chat(provider, address):
    """Ask by the client, with a loop of ours; a span of ours holds each turn together."""
    from openai import OpenAI

    client = OpenAI(base_url=address)

    def ask(messages):
        message = client.chat.completions.create(model="model-x", messages=messages, tools=TOOLS).choices[0].message
        return message, message.model_dump(exclude_none=True)

    _turns(provider, ask)


def _turns(provider, ask):
    """Ask both questions; `ask` returns the message that answers, and the same as a document."""
    tracer = provider.get_tracer("shop")
    messages = [{"role": "system", "content": the.SYSTEM}]
    for question in (the.FIRST, the.SECOND):
        messages.append({"role": "user", "content": question})
        with tracer.start_as_current_span("turn"):
            while True:
                message, document = ask(messages)
                messages.append(document)
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

    def ask(messages):
        message = client.complete(messages=messages, model="model-x", tools=TOOLS).choices[0].message
        return message, message.as_dict()

    _turns(provider, ask)
