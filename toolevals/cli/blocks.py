"""Works on a file of JSON Lines block by block, in one process or several, with the answers in the file's order.

A block is some whole lines. Processes read their blocks from the file themselves, so that only places and answers go
between them.
"""

from __future__ import annotations

import argparse
import gzip
import multiprocessing
import os
import signal
import sys
import tempfile
import traceback
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import IO, Any, Generic, NamedTuple, TypeVar

from toolevals.cli.output import CommandError, Exit

Answer = TypeVar("Answer")
# What is asked of a block: its lines, and the number of the first, from 1. Made again in each process.
Work = Callable[[Sequence[bytes], int], Answer]

_BLOCK = 1 << 18
# To start processes takes as long as to grade some thousand rows.
_LEAST_FOR_SEVERAL = 1 << 21
_MOST_JOBS = 256
# Blocks that wait at each process, so that none is idle while answers are written.
_AHEAD = 2


class DamagedFileError(CommandError):
    """A file that cannot be read to its end."""


class Block(NamedTuple):
    """Whole lines of a file: where they begin, how many bytes they take, and the number of the first, from 1."""

    offset: int
    size: int
    line: int


class Done(NamedTuple, Generic[Answer]):
    """The answer to a block, and the bytes of the file that are answered so far."""

    answer: Answer
    bytes: int


def add_jobs_option(parser: argparse.ArgumentParser) -> None:
    """Add how many processes grade."""
    own = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    words = f"number of processes for large files; default: one per CPU core ({own} here)"
    parser.add_argument("-j", "--jobs", type=_count, default=own, metavar="N", help=words)


def _count(said: str) -> int:
    count = int(said)
    if not 1 <= count <= _MOST_JOBS:
        raise ValueError(said)
    return count


def size_of(file: IO[bytes]) -> int | None:
    """Return how many bytes a file holds; None where no one knows before it is read."""
    path = _path(file)
    return None if path is None or _is_packed(file) else Path(path).stat().st_size


def answered(file: IO[bytes], work: Callable[[], Work[Answer]], jobs: int) -> Iterator[Done[Answer]]:
    """Yield the answer to each block of a file, in order.

    `work` makes what answers a block, once in each process. Standard input and small files are worked on by this
    process alone. Raises DamagedFileError where a file is damaged, after the answers to all that could be read.
    """
    path = _path(file)
    if jobs < 2 or path is None or not _is_large(path):
        answer = work()
        for block, content in _blocks(file):
            yield Done(answer(_lines(content), block.line), block.offset + block.size)
        return
    yield from _by_several(file, path, work, jobs)


def _by_several(file: IO[bytes], path: str, work: Callable[[], Work[Answer]], jobs: int) -> Iterator[Done[Answer]]:
    with ExitStack() as stack:
        copy = None
        if _is_packed(file):
            # Packed text cannot be read from its middle.
            copy = stack.enter_context(tempfile.NamedTemporaryFile(prefix="toolevals-"))
            path = copy.name
        crew = stack.enter_context(_Crew(path, work, jobs))
        damage = None
        try:
            for block, content in _blocks(file):
                if copy is not None:
                    copy.write(content)
                    copy.flush()
                if crew.is_busy:
                    yield crew.next_answer()
                crew.give(block)
        except DamagedFileError as error:
            damage = error
        while crew.has_more:
            yield crew.next_answer()
        if damage is not None:
            raise damage


def _blocks(file: IO[bytes]) -> Iterator[tuple[Block, bytes]]:
    """Yield the blocks of a file with their bytes. Raises CommandError where it is damaged."""
    offset, line = 0, 1
    # Of standard input what has come is taken, and the rest is not waited for.
    read = getattr(file, "read1", file.read) if _path(file) is None else file.read
    while True:
        try:
            content = read(_BLOCK)
            content += b"" if content.endswith(b"\n") else file.readline()
        except (OSError, EOFError, zlib.error) as error:
            raise DamagedFileError(Exit.DATA, f"the file is damaged: {error}") from error
        if not content:
            return
        yield Block(offset, len(content), line), content
        offset += len(content)
        line += content.count(b"\n")


def _lines(content: bytes) -> list[bytes]:
    return content.removesuffix(b"\n").split(b"\n")


def _path(file: IO[bytes]) -> str | None:
    """Return the path of a regular file that can be opened again; None where it has none."""
    name = getattr(file, "name", None)
    return name if isinstance(name, str) and Path(name).is_file() else None


def _is_packed(file: object) -> bool:
    return isinstance(file, gzip.GzipFile)


def _is_large(path: str) -> bool:
    packed = 8 if path.endswith(".gz") else 1
    return Path(path).stat().st_size * packed >= _LEAST_FOR_SEVERAL


class _Crew(Generic[Answer]):
    """Processes that answer blocks in turns. They end with this one, however it ends."""

    def __init__(self, path: str, work: Callable[[], Work[Answer]], jobs: int) -> None:
        # A copy of this process begins at once; elsewhere than on Linux that is not safe.
        context: Any = multiprocessing.get_context("fork" if sys.platform == "linux" else "spawn")
        self._pipes: list[Connection] = []
        self._processes = []
        self._given: deque[tuple[Connection, Block]] = deque()
        self._count = 0
        for _ in range(jobs):
            ours, theirs = context.Pipe()
            process = context.Process(target=_serve, args=(theirs, path, work, (*self._pipes, ours)), daemon=True)
            process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)

    def __enter__(self) -> _Crew[Answer]:
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.kill()
        for process in self._processes:
            process.join()

    @property
    def is_busy(self) -> bool:
        """Return whether every process has as many blocks as may wait."""
        return len(self._given) >= _AHEAD * len(self._pipes)

    @property
    def has_more(self) -> bool:
        """Return whether an answer is still to come."""
        return bool(self._given)

    def give(self, block: Block) -> None:
        """Let the next process in turn answer a block."""
        pipe = self._pipes[self._count % len(self._pipes)]
        self._count += 1
        with suppress(ConnectionError):
            # That it was ended is told when its answer is missed.
            pipe.send(block)
        self._given.append((pipe, block))

    def next_answer(self) -> Done[Answer]:
        """Return the answer to the earliest block. Raises CommandError where its process has crashed or was ended."""
        pipe, block = self._given.popleft()
        try:
            answer, failure = pipe.recv()
        except (EOFError, ConnectionError):
            raise CommandError(Exit.CRASHED, "a process that grades was ended from outside") from None
        if failure:
            raise CommandError(Exit.CRASHED, f"a process that grades has crashed: {failure}")
        return Done(answer, block.offset + block.size)


def _serve(pipe: Connection, path: str, work: Callable[[], Work[Any]], others: Sequence[Connection]) -> None:
    """Answer blocks until no one asks any more."""
    # Ctrl-C goes to all processes of a terminal: the one that asks ends the others.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    for other in others:
        # A copy of the asking end would keep the pipe open after the asking process has gone.
        other.close()
    answer = work()
    with Path(path).open("rb") as file, suppress(EOFError, OSError):
        while True:
            block: Block = pipe.recv()
            file.seek(block.offset)
            try:
                said: tuple[Any, str] = answer(_lines(file.read(block.size)), block.line), ""
            except Exception:  # noqa: BLE001 (told to the process that asks)
                said = None, traceback.format_exc()
            pipe.send(said)
