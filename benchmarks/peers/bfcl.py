"""Runs the leaderboard's own checker of calls, of `bfcl-eval` without its dependencies."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

DISTRIBUTION = "bfcl-eval"


def steps(_: Path) -> Mapping[str, Callable[..., Any]]:
    """Return `load`, and `right` and `wrong`, which return how many answers passed."""
    # The table of models needs every provider's library; of a model the checker asks only whether "." becomes "_".
    models = ModuleType("bfcl_eval.constants.model_config")
    models.MODEL_CONFIG_MAPPING = {"any": SimpleNamespace(underscore_to_dot=False)}  # type: ignore[attr-defined]
    sys.modules[models.__name__] = models
    from bfcl_eval.constants.enums import Language  # type: ignore[import-not-found]
    from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker  # type: ignore[import-not-found]

    cases: dict[str, list[Any]] = {}

    def load(path: str) -> int:
        rows = [json.loads(line) for line in Path(path).read_text("utf-8").splitlines()]
        for answer in ("right", "wrong"):
            cases[answer] = [
                (
                    row["functions"],
                    [{call["name"]: call["arguments"]} for call in row[answer]],
                    row["gold"],
                    row["category"],
                )
                for row in rows
            ]
        return len(rows)

    def passed(answer: str) -> int:
        return sum(ast_checker(*case[:3], Language.PYTHON, case[3], "any")["valid"] for case in cases[answer])

    return {"load": load, "right": lambda: passed("right"), "wrong": lambda: passed("wrong")}
