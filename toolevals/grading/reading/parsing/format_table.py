"""Lists the formats of messages in a table. To read another one is one file in `formats` and one row here."""

from __future__ import annotations

from collections.abc import Mapping

from toolevals.grading.reading.parsing.formats.adk import ADK_EVENTS
from toolevals.grading.reading.parsing.formats.ai_sdk import AI_SDK
from toolevals.grading.reading.parsing.formats.ai_sdk_ui import AI_SDK_UI
from toolevals.grading.reading.parsing.formats.anthropic import ANTHROPIC
from toolevals.grading.reading.parsing.formats.bedrock import BEDROCK_CONVERSE
from toolevals.grading.reading.parsing.formats.gemini import GEMINI
from toolevals.grading.reading.parsing.formats.langchain import LANGCHAIN
from toolevals.grading.reading.parsing.formats.llama_index import LLAMA_INDEX
from toolevals.grading.reading.parsing.formats.mcp import MCP
from toolevals.grading.reading.parsing.formats.native import NATIVE
from toolevals.grading.reading.parsing.formats.openai_chat import OPENAI_CHAT
from toolevals.grading.reading.parsing.formats.openai_responses import OPENAI_RESPONSES
from toolevals.grading.reading.parsing.formats.otel_genai import OTEL_GENAI
from toolevals.grading.reading.parsing.formats.pydantic_ai import PYDANTIC_AI
from toolevals.grading.reading.parsing.formats.semantic_kernel import SEMANTIC_KERNEL
from toolevals.grading.reading.parsing.formats.transcript_format import TranscriptFormat

# In the order in which a document is shown to them.
FORMATS: Mapping[str, TranscriptFormat] = {
    each.name: each
    for each in (
        NATIVE, MCP, PYDANTIC_AI, OTEL_GENAI, AI_SDK_UI, ADK_EVENTS, GEMINI, SEMANTIC_KERNEL, LLAMA_INDEX, LANGCHAIN,
        BEDROCK_CONVERSE, OPENAI_RESPONSES, AI_SDK, ANTHROPIC, OPENAI_CHAT,
    )
}  # fmt: skip
# Plain messages, a role and text, are alike in most formats; this one reads them where nothing tells them apart.
PLAIN = OPENAI_CHAT
MESSAGE_FORMATS: tuple[str, ...] = tuple(FORMATS)
