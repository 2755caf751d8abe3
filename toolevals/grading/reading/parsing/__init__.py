"""Reads messages of any format and raw text as calls. What cannot be read becomes a MalformedCall or is refused.

Importers read foreign messages with `read_transcript(document, format)`: it returns the transcript, the format that was
found with the reason, and the losses (`Loss`: what, where, count, first). Add those of many documents to a `Tally`
and show them. `Loss.below(prefix)` moves a loss to where the messages stand in the importer's own row, as
`InvalidDocument.below` does for errors. A format is one file in `formats` and one row in `table.FORMATS`.
"""

from toolevals.grading.reading.parsing.calls import CallPieces
from toolevals.grading.reading.parsing.extras import is_count
from toolevals.grading.reading.parsing.format_table import FORMATS, MESSAGE_FORMATS
from toolevals.grading.reading.parsing.formats.openai_chat import first_choice
from toolevals.grading.reading.parsing.json_calls import call_in, printable
from toolevals.grading.reading.parsing.losses import Loss, Tally
from toolevals.grading.reading.parsing.messages import (
    MessageFormat,
    ReadTranscript,
    last_words,
    read_transcript,
    transcript_in,
)
from toolevals.grading.reading.parsing.steps import read_run
from toolevals.grading.reading.parsing.text import calls_in_text

__all__ = [
    "FORMATS",
    "MESSAGE_FORMATS",
    "CallPieces",
    "Loss",
    "MessageFormat",
    "ReadTranscript",
    "Tally",
    "call_in",
    "calls_in_text",
    "first_choice",
    "is_count",
    "last_words",
    "printable",
    "read_run",
    "read_transcript",
    "transcript_in",
]
