"""Lists the forms of calls in raw text. To read another one is one file in `text_formats` and one row here."""

from __future__ import annotations

from collections.abc import Mapping

from toolevals.grading.reading.parsing.text_formats.code import CODE
from toolevals.grading.reading.parsing.text_formats.cohere import COHERE
from toolevals.grading.reading.parsing.text_formats.deepseek import DEEPSEEK
from toolevals.grading.reading.parsing.text_formats.gemma import GEMMA
from toolevals.grading.reading.parsing.text_formats.glm import GLM
from toolevals.grading.reading.parsing.text_formats.harmony import HARMONY
from toolevals.grading.reading.parsing.text_formats.kimi import KIMI, KIMI_K3
from toolevals.grading.reading.parsing.text_formats.minimax_m3 import MINIMAX_M3
from toolevals.grading.reading.parsing.text_formats.mistral import MISTRAL
from toolevals.grading.reading.parsing.text_formats.plamo import PLAMO
from toolevals.grading.reading.parsing.text_formats.react import REACT
from toolevals.grading.reading.parsing.text_formats.solar import SOLAR
from toolevals.grading.reading.parsing.text_formats.source import TextFormat
from toolevals.grading.reading.parsing.text_formats.tagged import TAGGED
from toolevals.grading.reading.parsing.text_formats.xml_functions import XML_FUNCTIONS
from toolevals.grading.reading.parsing.text_formats.xml_invocations import XML_INVOCATIONS

# In the order in which a place in a text is shown to them.
TEXT_FORMATS: Mapping[str, TextFormat] = {
    each.name: each
    for each in (
        HARMONY, DEEPSEEK, KIMI, KIMI_K3, SOLAR, PLAMO, MINIMAX_M3, MISTRAL, COHERE, GEMMA, XML_INVOCATIONS,
        XML_FUNCTIONS, GLM, TAGGED, REACT, CODE,
    )
}  # fmt: skip
