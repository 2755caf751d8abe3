"""Tell which of the offered tools a request is about: BM25 over their names, descriptions and parameters."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from toolevals.grading.values import ToolSpec
from toolevals.runs.baseline.words import words

# The usual constants (Robertson and Zaragoza 2009): how soon repeats stop counting, how much length matters.
K1, B = 1.2, 0.75
# A word of the name says more than one of the description, and that more than one of a parameter's description.
NAME, DESCRIPTION, PARAMETER, DETAIL = 3.0, 1.0, 1.0, 0.5
_MAX_DEPTH = 5


def relevances(request: str, tools: Sequence[ToolSpec]) -> list[float]:
    """Return how relevant each tool is, from 0 to 1: its BM25 score over the best that any tool could have.

    Dividing by that bound makes one threshold fit requests of any length and lists of any size. Words are weighted by
    inverse document frequency over the offered tools, `ln(1 + (N - n + .5) / (n + .5))`.
    """
    documents = [bag(tool) for tool in tools]
    lengths = [sum(document.values()) for document in documents]
    average = sum(lengths) / len(lengths) if lengths else 0.0
    frequency = Counter(word for document in documents for word in document)
    weights = {
        word: math.log(1 + (len(tools) - frequency[word] + 0.5) / (frequency[word] + 0.5))
        for word in set(words(request))
    }
    bound = sum(weights.values()) * (K1 + 1)
    if not bound or not average:
        return [0.0] * len(tools)
    return [
        math.fsum(weight * saturation(document[word], length / average) for word, weight in weights.items()) / bound
        for document, length in zip(documents, lengths, strict=True)
    ]


def saturation(count: float, relative_length: float) -> float:
    """Return what `count` occurrences are worth in a text of that length, the mean length being 1."""
    return count * (K1 + 1) / (count + K1 * (1 - B + B * relative_length)) if count else 0.0


@lru_cache(maxsize=4096)
def bag(tool: ToolSpec) -> Counter[str]:
    """Return a tool's words with their weights; kept, because the same tools are offered again and again."""
    counts: Counter[str] = Counter()
    for text, weight in [(tool.name, NAME), (tool.description, DESCRIPTION), *_parameters(tool.input_schema, 0)]:
        for word in words(text):
            counts[word] += weight  # type: ignore[assignment]  # weights need not be whole
    return counts


def _parameters(schema: Any, depth: int) -> Iterator[tuple[str, float]]:
    """Yield the texts of a schema's parameters, nested ones too."""
    if not isinstance(schema, dict) or depth > _MAX_DEPTH:
        return
    properties = schema.get("properties")
    for name, inner in properties.items() if isinstance(properties, dict) else ():
        yield name, PARAMETER
        if isinstance(inner, dict):
            values = inner.get("enum")
            texts = [inner.get("description"), *(values if isinstance(values, list) else ())]
            yield from ((text, DETAIL) for text in texts if isinstance(text, str))
            yield from _parameters(inner, depth + 1)
            yield from _parameters(inner.get("items"), depth + 1)
