# mypy: ignore-errors
"""Write what Google's Agent Development Kit says of the conversation: the events of a session.

Needs `google-adk`. Runner and session are the library's; a class stands in for the model.
"""

from __future__ import annotations

import asyncio
import json

from google.adk.agents import LlmAgent
from google.adk.models.base_llm import BaseLlm
from google.adk.models.llm_response import LlmResponse
from google.adk.runners import InMemoryRunner
from google.genai import types

from tests.grading.reading.parsing.made import conversation as the
from tests.grading.reading.parsing.made.saving import save


class _Scripted(BaseLlm):
    turn: int = 0

    async def generate_content_async(self, llm_request, stream=False):
        parts = llm_request.contents[-1].parts
        if any(part.function_response for part in parts):
            made = [types.Part(text=the.ANSWERS[self.turn])]
            self.turn += 1
        else:
            made = [
                types.Part(function_call=types.FunctionCall(id=key, name=name, args=args))
                for key, name, args in the.CALLS[self.turn]
            ]
            if self.turn == 0:
                thought = types.Part(text="Two things to look up.", thought=True)
                made = [thought, types.Part(text=the.LOOKING), *made]
        yield LlmResponse(content=types.Content(role="model", parts=made))


def get_order(id: str) -> dict:  # noqa: A002 (the argument's name)
    """Look up an order."""
    return the.ORDERS[id]


def get_stock(sku: int) -> dict:
    """Count what is there."""
    return {"error": the.FAILURE}


async def _run():
    agent = LlmAgent(name="shop", model=_Scripted(model="local"), instruction=the.SYSTEM, tools=[get_order, get_stock])
    runner = InMemoryRunner(agent, app_name="shop")
    session = await runner.session_service.create_session(app_name="shop", user_id="u")
    for text in (the.FIRST, the.SECOND):
        message = types.Content(role="user", parts=[types.Part(text=text)])
        async for _ in runner.run_async(user_id="u", session_id=session.id, new_message=message):
            pass
    session = await runner.session_service.get_session(app_name="shop", user_id="u", session_id=session.id)
    save("adk_events", "google-adk", [json.loads(event.model_dump_json(exclude_none=True)) for event in session.events])
    save("adk_session", "google-adk", json.loads(session.model_dump_json(exclude_none=True, by_alias=True)))


asyncio.run(_run())
