"""Tell what a live run will take at least, before it begins."""

from __future__ import annotations

import json
from dataclasses import dataclass

from labeling.models import DatasetVersion, VersionEntry
from toolevals.agents.connectors import Connector
from toolevals.agents.prices import Prices
from toolevals.registry.tool_lists import tools_in

# Characters of one token, roughly, in English text and JSON.
CHARACTERS_PER_TOKEN = 4
# So many examples are looked at, spread over the version; the others are taken to be like them.
MOST_READ = 200


@dataclass(frozen=True, slots=True)
class Estimate:
    """The least that a run asks for: one request a conversation, with the example's messages and tools.

    Agents that call simulated tools ask several times, each time with more; what they answer is not counted.
    `input_tokens` is None where no one knows what the agent makes of an example. `cost` is in the currency of the
    prices, None without any.
    """

    conversations: int
    input_tokens: int | None
    cost: float | None


def estimate_of(
    version: DatasetVersion, conversations: int, connector: Connector, prices: Prices | None = None
) -> Estimate:
    """Return what so many conversations over a version take at least."""
    if not connector.counts_input:
        return Estimate(conversations, None, None)
    tokens = round(_tokens_of_one(version) * conversations)
    return Estimate(conversations, tokens, prices.cost({"input_tokens": tokens}) if prices else None)


def _tokens_of_one(version: DatasetVersion) -> float:
    """Return the tokens of an example's messages and tools, on average."""
    step = max(1, version.size // MOST_READ)
    places = range(0, version.size, step)
    entries = VersionEntry.objects.filter(version=version, position__in=places).select_related("revision__tools")
    sizes: list[int] = []
    tools: dict[str, int] = {}
    for entry in entries:
        offered = entry.revision.tools
        if offered.digest not in tools:
            tools[offered.digest] = len(json.dumps([tool.to_document() for tool in tools_in(offered)]))
        sizes.append(tools[offered.digest] + len(json.dumps(entry.revision.input.get("messages", []))))
    return sum(sizes) / len(sizes) / CHARACTERS_PER_TOKEN if sizes else 0
