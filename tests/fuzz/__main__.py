"""`python -m tests.fuzz TARGET SECONDS`: fuzz one target, by atheris where it is installed, else by random changes.

Ends with status 1 at the first input that raises or takes longer than it may, and keeps that input in a file.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import importlib.util
import random
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

from tests.fuzz.mutation import mutated

MOST_SECONDS = 5.0


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("target")
    parser.add_argument("seconds", type=int)
    parser.add_argument("--seed", type=int, default=0, help="of the random changes (default 0)")
    arguments = parser.parse_args()
    atheris: Any = importlib.import_module("atheris") if importlib.util.find_spec("atheris") else None
    if atheris is not None:
        with atheris.instrument_imports(include=["toolevals.grading"]):
            importlib.import_module("tests.fuzz.targets")
    from tests.fuzz.targets import TARGETS

    if arguments.target not in TARGETS:
        parser.error(f"no such target; there are: {', '.join(TARGETS)}")
    target = TARGETS[arguments.target]
    if atheris is not None:
        return _by_atheris(atheris, target, arguments.seconds)
    return _by_chance(target, arguments.seconds, arguments.seed)


def _by_atheris(atheris: Any, target: Any, seconds: int) -> int:
    folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
    for number, seed in enumerate(target.seeds):
        (folder / f"seed-{number}").write_bytes(seed)
    limits = [f"-max_total_time={seconds}", f"-timeout={MOST_SECONDS:.0f}", "-max_len=20000"]

    def change(data: bytes, longest: int, seed: int) -> bytes:
        # The engine knows bytes, we know JSON: each has every second turn.
        return (
            atheris.Mutate(data, longest) if seed % 2 else mutated(random.Random(seed), (data, *target.seeds), longest)
        )

    options = [sys.argv[0], *limits, f"-artifact_prefix={folder}/found-", str(folder)]
    atheris.Setup(options, target.check, custom_mutator=change)
    atheris.Fuzz()
    return 0


def _by_chance(target: Any, seconds: int, seed: int) -> int:
    chance = random.Random(seed)
    end = time.monotonic() + seconds
    count = 0
    while time.monotonic() < end:
        data = mutated(chance, target.seeds)
        count += 1
        start = time.process_time()
        try:
            target.check(data)
        except Exception:  # noqa: BLE001 (whatever escapes is what we look for)
            return _found(data, traceback.format_exc())
        if (took := time.process_time() - start) > MOST_SECONDS:
            return _found(data, f"took {took:.1f} seconds\n")
    sys.stdout.write(f"{count:,} inputs, nothing found (seed {seed})\n")
    return 0


def _found(data: bytes, what: str) -> int:
    path = Path(tempfile.gettempdir()) / f"fuzz-{hashlib.sha256(data).hexdigest()[:16]}"
    path.write_bytes(data)
    sys.stdout.write(f"{what}the input is in {path}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
