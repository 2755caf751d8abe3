"""Provider messages and raw text, read as calls. What cannot be read becomes a MalformedCall, never an error."""

from toolevals.grading.parsing.json_calls import call_in
from toolevals.grading.parsing.messages import message_in
from toolevals.grading.parsing.text import calls_in_text

__all__ = ["call_in", "calls_in_text", "message_in"]
