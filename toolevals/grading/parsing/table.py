"""The table of formats of messages. To read another one is one file in `formats` and one row here."""

from __future__ import annotations

from collections.abc import Mapping

from toolevals.grading.parsing.formats.anthropic import ANTHROPIC
from toolevals.grading.parsing.formats.gemini import GEMINI
from toolevals.grading.parsing.formats.langchain import LANGCHAIN
from toolevals.grading.parsing.formats.mcp import MCP
from toolevals.grading.parsing.formats.native import NATIVE
from toolevals.grading.parsing.formats.openai_chat import OPENAI_CHAT
from toolevals.grading.parsing.formats.openai_responses import OPENAI_RESPONSES
from toolevals.grading.parsing.formats.transcript_format import TranscriptFormat

# In the order in which a document is shown to them.
FORMATS: Mapping[str, TranscriptFormat] = {
    each.name: each for each in (NATIVE, MCP, GEMINI, LANGCHAIN, OPENAI_RESPONSES, ANTHROPIC, OPENAI_CHAT)
}
# Plain messages, a role and text, are alike in most formats; this one reads them where nothing tells them apart.
PLAIN = OPENAI_CHAT
MESSAGE_FORMATS: tuple[str, ...] = tuple(FORMATS)
