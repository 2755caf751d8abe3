"""Provider messages and raw text, read as calls. What cannot be read becomes a MalformedCall, never an error."""

from toolevals.grading.parsing.json_calls import call_in
from toolevals.grading.parsing.messages import MESSAGE_FORMATS, MessageFormat, last_words, transcript_in
from toolevals.grading.parsing.step_lists import read_run
from toolevals.grading.parsing.text import calls_in_text

__all__ = ["MESSAGE_FORMATS", "MessageFormat", "call_in", "calls_in_text", "last_words", "read_run", "transcript_in"]
