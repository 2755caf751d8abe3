"""Runs one adapter in the Python of its tool: `python driver.py ADAPTER FOLDER`; answers one line of JSON to each line.

An adapter is a file with DISTRIBUTION, the name that the tool is published under (or VERSION), and `steps(folder)`,
which returns functions by name. The first line that is printed says versions. After that each line read is
`{"step", "given"}`, and the answer `{"result", "processor", "clock"}` with the seconds that the step took, its child
processes included, or `{"error"}`. It uses nothing of this project.
"""

from __future__ import annotations

import gc
import importlib.util
import json
import os
import platform
import resource
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any, TextIO


def main() -> None:
    """Answer until the input ends."""
    # Names of files in this folder must not hide packages, and what a tool prints must not be taken for an answer.
    del sys.path[0]
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    adapter = loaded(Path(sys.argv[1]))
    named = getattr(adapter, "VERSION", None) or version(adapter.DISTRIBUTION)
    _say(answers, {"version": named, "python": platform.python_version()})
    steps = adapter.steps(Path(sys.argv[2]))
    for line in sys.stdin:
        _say(answers, answer(steps, json.loads(line)))


def loaded(path: Path) -> ModuleType:
    """Return a file as a module. Raises ImportError."""
    spec = importlib.util.spec_from_file_location(f"adapter_{path.stem}", path)
    if spec is None or spec.loader is None:
        raise ImportError(str(path))
    module = importlib.util.module_from_spec(spec)
    # Child processes and dataclasses look it up by its name.
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


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


def _say(answers: TextIO, document: Mapping[str, Any]) -> None:
    answers.write(f"{json.dumps(document)}\n")
    answers.flush()


if __name__ == "__main__":
    main()
