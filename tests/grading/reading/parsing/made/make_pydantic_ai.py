# mypy: ignore-errors
"""Write what Pydantic AI says of the conversation: its own messages and those of OpenTelemetry.

Needs `pydantic-ai-slim`. The agent's loop is the library's; a function stands in for the model.
"""

from __future__ import annotations

import json

from pydantic_ai import Agent, ModelRetry
from pydantic_ai.messages import ModelMessagesTypeAdapter, ModelResponse, TextPart, ThinkingPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel
from pydantic_ai.models.instrumented import InstrumentationSettings

from tests.grading.reading.parsing.made import conversation as the
from tests.grading.reading.parsing.made.saving import save


def _respond(messages, info):
    asked = sum(part.part_kind == "user-prompt" for message in messages for part in message.parts)
    answered = messages[-1].parts[-1].part_kind != "user-prompt"
    if answered:
        return ModelResponse(parts=[TextPart(the.ANSWERS[asked - 1])])
    calls = [ToolCallPart(name, json.dumps(args), tool_call_id=key) for key, name, args in the.CALLS[asked - 1]]
    said = [ThinkingPart("Two things to look up."), TextPart(the.LOOKING)] if asked == 1 else []
    return ModelResponse(parts=[*said, *calls])


def _agent(**prompt):
    agent = Agent(FunctionModel(_respond), retries=2, **prompt)

    @agent.tool_plain
    def get_order(id: str) -> dict:  # noqa: A002 (the argument's name)
        return the.ORDERS[id]

    @agent.tool_plain
    def get_stock(sku: int) -> dict:
        raise ModelRetry(the.FAILURE)

    return agent


def main() -> None:
    """Write the files."""
    for name, prompt in (("pydantic_ai", "system_prompt"), ("pydantic_ai_instructions", "instructions")):
        agent = _agent(**{prompt: the.SYSTEM})
        first = agent.run_sync(the.FIRST)
        second = agent.run_sync(the.SECOND, message_history=first.all_messages())
        save(name, "pydantic-ai-slim", json.loads(second.all_messages_json()))
        if prompt == "system_prompt":
            messages = ModelMessagesTypeAdapter.validate_json(second.all_messages_json())
            save("otel_genai", "pydantic-ai-slim", InstrumentationSettings().messages_to_otel_messages(messages))


main()
