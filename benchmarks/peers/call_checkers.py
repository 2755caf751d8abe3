"""Measures the rates of two published checkers of calls, by a Python that has them installed.

`python call_checkers.py FILE` reads one JSON object a line, `{category, functions, gold, right, wrong}`, the last two
lists of `{name, arguments}`, and prints `{name: checks per second of processor time}` for `bfcl-eval` (without its
dependencies: `pip install --no-deps bfcl-eval==2026.3.23`) and `ai-evaluation`. It uses nothing of this project.
"""

from __future__ import annotations

import gc
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

ROUNDS = 5


def main() -> None:
    """Print the rates on the entries of a file."""
    rows = [json.loads(line) for line in Path(sys.argv[1]).read_text("utf-8").splitlines()]
    gc.collect()
    gc.freeze()
    print(json.dumps({**_leaderboard(rows), **_exact_match(rows)}))


def _leaderboard(rows: list[dict[str, Any]]) -> dict[str, float]:
    # The table of models needs every provider's library; of a model the checker asks only whether "." becomes "_".
    models = ModuleType("bfcl_eval.constants.model_config")
    models.MODEL_CONFIG_MAPPING = {"any": SimpleNamespace(underscore_to_dot=False)}  # type: ignore[attr-defined]
    sys.modules[models.__name__] = models
    from bfcl_eval.constants.enums import Language  # type: ignore[import-not-found]
    from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker  # type: ignore[import-not-found]

    def check(answer: str) -> Callable[[], object]:
        cases = [
            (
                row["functions"],
                [{call["name"]: call["arguments"]} for call in row[answer]],
                row["gold"],
                row["category"],
            )
            for row in rows
        ]
        return lambda: [ast_checker(*case[:3], Language.PYTHON, case[3], "any") for case in cases]

    return {f"bfcl_{answer}": _rate(check(answer), len(rows)) for answer in ("right", "wrong")}


def _exact_match(rows: list[dict[str, Any]]) -> dict[str, float]:
    from fi.evals.metrics.function_calling import FunctionCallExactMatch  # type: ignore[import-not-found]
    from fi.evals.metrics.function_calling.types import FunctionCallInput  # type: ignore[import-not-found]

    metric = FunctionCallExactMatch()
    calls = [call for row in rows for call in row["right"]]
    given = [{"response": call, "expected_response": call} for call in calls]

    def compute() -> object:
        return [metric.compute_one(FunctionCallInput(**each)) for each in given]

    return {
        # What its users call: the inputs are dicts, which it checks, and its answer is a list of results.
        "exact_match": _rate(lambda: metric.evaluate(given), len(calls)),
        # The inside of it alone.
        "exact_match_inside": _rate(compute, len(calls)),
    }


def _rate(work: Callable[[], object], count: int) -> float:
    return count / min(_seconds(work) for _ in range(ROUNDS))


def _seconds(work: Callable[[], object]) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


if __name__ == "__main__":
    main()
