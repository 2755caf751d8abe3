"""Runs one tool in its own Python: `python driver.py FILE FOLDER KIND`; answers one line of JSON to each line.

The file has DISTRIBUTION, the name that the tool is published under (or VERSION). For the kind `grading` it has
`graders()`: a suffix of steps -> how a case is made of a row and its answer, and how many of such cases pass. For
`labelling` it has `labeller(folder)`, whose methods are steps. The first line that is printed says the version. After
that each line read is `{"step", "given"}`, and the answer `{"result", "processor", "clock"}` with the seconds that the
step took, its child processes included, or `{"error"}`. It uses nothing of this project.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import resource
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from functools import partial
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

LABELLING = ("make", "take_in", "label", "annotate", "export", "exported")


def main() -> None:
    """Answer until the input ends."""
    # Names of files in this folder must not hide packages, and what a tool prints must not be taken for an answer.
    del sys.path[0]
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    tool = loaded(Path(sys.argv[1]))
    said: Mapping[str, Any] = {"version": getattr(tool, "VERSION", None) or version(tool.DISTRIBUTION)}
    steps = steps_of(tool, Path(sys.argv[2]), sys.argv[3])
    while True:
        answers.write(f"{json.dumps(said)}\n")
        answers.flush()
        if not (line := sys.stdin.readline()):
            return
        said = answer(steps, json.loads(line))


def loaded(path: Path) -> ModuleType:
    """Return a file as a module. Raises ImportError."""
    spec = importlib.util.spec_from_file_location(f"tool_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(str(path))
    module = importlib.util.module_from_spec(spec)
    # Child processes and dataclasses look it up by its name.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def steps_of(tool: ModuleType, folder: Path, kind: str) -> Mapping[str, Callable[..., Any]]:
    """Return the steps of a tool by name."""
    if kind == "labelling":
        labeller = tool.labeller(folder)
        return {name: getattr(labeller, name) for name in LABELLING}
    graders, cases = tool.graders(), {}

    def load(path: str) -> int:
        rows = [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]
        for suffix, (made, _) in graders.items():
            for answer in ("right", "wrong"):
                cases[answer + suffix] = [made(row, row[answer]) for row in rows]
        return len(rows)

    def graded(suffix: str, answer: str) -> int:
        return int(graders[suffix][1](cases[answer + suffix]))

    return {"load": load} | {
        answer + suffix: partial(graded, suffix, answer) for suffix in graders for answer in ("right", "wrong")
    }


def answer(steps: Mapping[str, Callable[..., Any]], asked: Mapping[str, Any]) -> dict[str, Any]:
    """Do one step, and return its result with the seconds that it took, or its error."""
    gc.collect()
    processor, clock = _processor(), time.perf_counter()
    try:
        result = steps[asked["step"]](**asked.get("given", {}))
    except Exception as error:  # noqa: BLE001 - whatever a tool raises is its result
        traceback.print_exc()
        return {"error": f"{type(error).__name__}: {str(error)[:300]}"}
    return {"result": result, "processor": _processor() - processor, "clock": time.perf_counter() - clock}


def _processor() -> float:
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


if __name__ == "__main__":
    main()
