# mypy: ignore-errors
"""Write what the OpenAI Agents SDK says of the conversation: the items of `RunResult.to_input_list()`.

Needs `openai-agents`. The runner is the library's; a class stands in for the model.
"""

from __future__ import annotations

import asyncio
import json

from agents import Agent, Model, ModelResponse, Runner, Usage, function_tool, set_tracing_disabled
from openai.types.responses import (
    ResponseFunctionToolCall,
    ResponseOutputMessage,
    ResponseOutputText,
    ResponseReasoningItem,
)
from openai.types.responses.response_reasoning_item import Summary

from tests.grading.reading.parsing.made import conversation as the
from tests.grading.reading.parsing.made.saving import save


def _words(text):
    part = ResponseOutputText(annotations=[], text=text, type="output_text")
    return ResponseOutputMessage(id="msg", content=[part], role="assistant", status="completed", type="message")


class _Scripted(Model):
    def __init__(self):
        self.turn = 0

    async def get_response(self, system_instructions, input, *given, **named):  # noqa: A002 (the name is theirs)
        answered = input[-1].get("type") == "function_call_output"
        if answered:
            output = [_words(the.ANSWERS[self.turn])]
            self.turn += 1
        else:
            output = [
                ResponseFunctionToolCall(call_id=key, name=name, arguments=json.dumps(args), type="function_call")
                for key, name, args in the.CALLS[self.turn]
            ]
            if self.turn == 0:
                summary = [Summary(text="Two things to look up.", type="summary_text")]
                output = [
                    ResponseReasoningItem(id="rs", summary=summary, type="reasoning"),
                    _words(the.LOOKING),
                    *output,
                ]
        return ModelResponse(output=output, usage=Usage(), response_id=None)

    def stream_response(self, *given, **named):
        raise NotImplementedError


def _failed(context, error):
    return str(error)


@function_tool
def get_order(id: str) -> str:  # noqa: A002 (the argument's name)
    """Look up an order."""
    return json.dumps(the.ORDERS[id], separators=(",", ":"))


@function_tool(failure_error_function=_failed)
def get_stock(sku: int) -> str:
    """Count what is there."""
    raise the.NoSuchSkuError(the.FAILURE)


async def _run():
    set_tracing_disabled(True)
    agent = Agent(name="shop", instructions=the.SYSTEM, model=_Scripted(), tools=[get_order, get_stock])
    first = await Runner.run(agent, [{"role": "system", "content": the.SYSTEM}, {"role": "user", "content": the.FIRST}])
    second = await Runner.run(agent, [*first.to_input_list(), {"role": "user", "content": the.SECOND}])
    save("openai_agents", "openai-agents", second.to_input_list())


asyncio.run(_run())
