"""Runs `toolevals send`: sends the conversations of a file as traces, as an agent in production does."""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import orjson

from toolevals.cli.client import ProjectClient, add_server_options
from toolevals.cli.conversation_files import Conversation, conversations_read
from toolevals.cli.conversation_spans import Agent, export_of, spans_of_conversation
from toolevals.cli.exits import CommandError, Exit
from toolevals.cli.inputs import read_input
from toolevals.cli.output import note, say, say_progress
from toolevals.cli.verbs import Verbs
from toolevals.grading.values.problems import InvalidDocument

# Bytes of the spans of one batch, a conversation at least.
BATCH_BYTES = 1_500_000
# Between the beginnings of two conversations, in nanoseconds.
APART_NS = 30 * 10**9
# No conversation of a benchmark is said to take longer.
LONGEST_NS = 600 * 10**9


def add_parser(verbs: Verbs) -> None:
    """Add the verb."""
    parser = verbs.add_parser("send", epilog="exit status: 0 all were taken, 2 some spans were rejected")
    words = "recorded runs of tau-bench or tau2-bench, or a file of another evaluation tool; - is standard input"
    parser.add_argument("file", type=Path, metavar="FILE", help=words)
    parser.add_argument("--agent", required=True, metavar="NAME", help="who is said to have had the conversations")
    parser.add_argument("--agent-version", default="", metavar="VERSION")
    parser.add_argument("--model", default="", metavar="NAME")
    parser.add_argument("--limit", type=int, metavar="N", help="send the first N conversations")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write the batches, one a line, send nothing")
    add_server_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Send, or write, the conversations; return the exit status."""
    agent = Agent(arguments.agent, arguments.agent_version, arguments.model)
    content = read_input(arguments.file)
    try:
        found = list(islice(conversations_read(content), arguments.limit))
    except InvalidDocument as error:
        raise CommandError(Exit.DATA, f"{arguments.file}: {error}") from None
    if not found:
        raise CommandError(Exit.DATA, f"{arguments.file}: holds no conversation")
    if arguments.output:
        with arguments.output.open("wb") as stream:
            for _, batch in _batches(found, agent):
                stream.write(orjson.dumps(batch) + b"\n")
        say(f"{len(found):,} conversations written to {arguments.output}")
        return Exit.OK
    return _send(arguments, found, agent)


def _send(arguments: argparse.Namespace, found: Sequence[Conversation], agent: Agent) -> int:
    client = ProjectClient.from_arguments(arguments)
    rejected, sent = 0, 0
    for count, batch in _batches(found, agent):
        # What comes twice is stored once: a batch whose answer was lost is sent again.
        answer = (client.post_once(f"{client.server}/v1/traces", json=batch) or {}).get("partialSuccess") or {}
        rejected += int(answer.get("rejectedSpans") or 0)
        if answer.get("errorMessage"):
            note(answer["errorMessage"])
        sent += count
        say_progress(f"{sent:,} of {len(found):,} conversations")
    say(f"{len(found):,} conversations sent: {client.page('traces/')}")
    if rejected:
        note(f"{rejected:,} spans were rejected")
    return Exit.FAILED if rejected else Exit.OK


def _batches(found: Sequence[Conversation], agent: Agent) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield exports, each with how many conversations it holds; they end a while ago, one after the other."""
    now = time.time_ns()
    spans: list[dict[str, Any]] = []
    size = count = 0
    for number, conversation in enumerate(found):
        made = spans_of_conversation(conversation, agent, now - LONGEST_NS - (len(found) - number) * APART_NS)
        bytes_of = len(orjson.dumps(made))
        if spans and size + bytes_of > BATCH_BYTES:
            yield count, export_of(spans, agent)
            spans, size, count = [], 0, 0
        spans, size, count = [*spans, *made], size + bytes_of, count + 1
    if spans:
        yield count, export_of(spans, agent)
