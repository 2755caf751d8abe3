"""Messages of any format and raw text, read as calls. What cannot be read becomes a MalformedCall or is refused.

Importers read foreign messages with `read_transcript(document, format)`: it returns the transcript, the format that was
found with the reason, and the losses (`Loss`: what, where, count, first). Add those of many documents to a `Tally`
and show them. `Loss.below(prefix)` moves a loss to where the messages stand in the importer's own row, as
`InvalidDocument.below` does for errors. A format is one file in `formats` and one row in `table.FORMATS`.
"""

from toolevals.grading.parsing.json_calls import call_in
from toolevals.grading.parsing.losses import Loss, Tally
from toolevals.grading.parsing.messages import (
    MessageFormat,
    ReadTranscript,
    last_words,
    read_transcript,
    transcript_in,
)
from toolevals.grading.parsing.step_lists import read_run
from toolevals.grading.parsing.table import FORMATS, MESSAGE_FORMATS
from toolevals.grading.parsing.text import calls_in_text

__all__ = [
    "FORMATS",
    "MESSAGE_FORMATS",
    "Loss",
    "MessageFormat",
    "ReadTranscript",
    "Tally",
    "call_in",
    "calls_in_text",
    "last_words",
    "read_run",
    "read_transcript",
    "transcript_in",
]
