# mypy: ignore-errors
"""Write what Semantic Kernel says of the conversation: `ChatHistory.serialize()`.

Needs `semantic-kernel`. The history is the library's own type, put together here.
"""

from __future__ import annotations

import json

from semantic_kernel.contents import (
    ChatHistory,
    ChatMessageContent,
    FunctionCallContent,
    FunctionResultContent,
    TextContent,
)

from tests.grading.reading.parsing.made import conversation as the
from tests.grading.reading.parsing.made.saving import save


def _calls(turn):
    return [FunctionCallContent(id=key, name=name, arguments=json.dumps(args)) for key, name, args in the.CALLS[turn]]


def _text(result):
    return result if isinstance(result, str) else json.dumps(result, separators=(",", ":"))


def main() -> None:
    """Write the file."""
    history = ChatHistory(system_message=the.SYSTEM)
    history.add_user_message(the.FIRST)
    history.add_message(ChatMessageContent(role="assistant", items=[TextContent(text=the.LOOKING), *_calls(0)]))
    for call, result in zip(_calls(0), (the.ORDERS["A-1"], the.FAILURE), strict=True):
        made = FunctionResultContent.from_function_call_content_and_result(call, _text(result))
        history.add_message(made.to_chat_message_content())
    history.add_assistant_message(the.ANSWERS[0])
    history.add_user_message(the.SECOND)
    (call,) = _calls(1)
    history.add_message(ChatMessageContent(role="assistant", items=[call]))
    made = FunctionResultContent.from_function_call_content_and_result(call, _text(the.ORDERS["A-2"]))
    history.add_message(made.to_chat_message_content())
    history.add_assistant_message(the.ANSWERS[1])
    save("semantic_kernel", "semantic-kernel", json.loads(history.serialize()))


main()
