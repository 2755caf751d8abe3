# mypy: ignore-errors
"""Write what LangGraph says of the conversation: the state of a graph, and LangChain's two dumps of its messages.

Needs `langgraph` and `langchain-core`. Agent and tool nodes are the library's; a scripted model stands in.
"""

from __future__ import annotations

import json

from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
from langchain_core.load import dumpd
from langchain_core.messages import AIMessage, messages_to_dict
from langchain_core.tools import tool
from langgraph.checkpoint.memory import MemorySaver
from langgraph.prebuilt import create_react_agent
from langgraph.prebuilt.tool_node import ToolNode

from tests.grading.reading.parsing.made import conversation as the
from tests.grading.reading.parsing.made.saving import save


class _Scripted(GenericFakeChatModel):
    def bind_tools(self, tools, **named):
        return self


@tool
def get_order(id: str) -> str:  # noqa: A002 (the argument's name)
    """Look up an order."""
    return json.dumps(the.ORDERS[id], separators=(",", ":"))


@tool
def get_stock(sku: int) -> str:
    """Count what is there."""
    raise the.NoSuchSkuError(the.FAILURE)


def _asking(turn, content):
    calls = [{"id": key, "name": name, "args": args} for key, name, args in the.CALLS[turn]]
    return AIMessage(content=content, tool_calls=calls)


def main() -> None:
    """Write the files."""
    said = [{"type": "reasoning", "reasoning": "Two things to look up."}, {"type": "text", "text": the.LOOKING}]
    script = [_asking(0, said), AIMessage(the.ANSWERS[0]), _asking(1, ""), AIMessage(the.ANSWERS[1])]
    tools = ToolNode([get_order, get_stock], handle_tool_errors=str)
    graph = create_react_agent(_Scripted(messages=iter(script)), tools, checkpointer=MemorySaver())
    config = {"configurable": {"thread_id": "1"}}
    graph.invoke({"messages": [("system", the.SYSTEM), ("user", the.FIRST)]}, config)
    graph.invoke({"messages": [("user", the.SECOND)]}, config)
    state = graph.get_state(config)
    messages = state.values["messages"]
    values = {"messages": [message.model_dump(mode="json") for message in messages]}
    document = {"values": values, "next": list(state.next), "config": state.config, "metadata": state.metadata,
                "created_at": state.created_at}  # fmt: skip
    save("langgraph_state", "langgraph", document)
    save("langchain_dicts", "langchain-core", messages_to_dict(messages))
    save("langchain_dumpd", "langchain-core", json.loads(json.dumps(dumpd(messages))))


main()
