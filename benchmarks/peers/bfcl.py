# /// script
# requires-python = "==3.11.*"
# dependencies = [
#   "bfcl-eval==2026.3.23",
# ]
# ///
"""Runs the leaderboard's own checker of calls, of `bfcl-eval` without its dependencies (compiled with `--no-deps`)."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

DISTRIBUTION, TITLE, KIND = "bfcl-eval", "the leaderboard's checker", "grading"


def graders() -> dict[str, Any]:
    """Return its one grader."""
    # The table of models needs every provider's library; of a model the checker asks only whether "." becomes "_".
    models = ModuleType("bfcl_eval.constants.model_config")
    models.MODEL_CONFIG_MAPPING = {"any": SimpleNamespace(underscore_to_dot=False)}  # type: ignore[attr-defined]
    sys.modules[models.__name__] = models
    from bfcl_eval.constants.enums import Language  # type: ignore[import-not-found]
    from bfcl_eval.eval_checker.ast_eval.ast_checker import ast_checker  # type: ignore[import-not-found]

    def made(row: Any, calls: Any) -> Any:
        named = [{call["name"]: call["arguments"]} for call in calls]
        return row["functions"], named, row["gold"], Language.PYTHON, row["category"], "any"

    return {"": (made, lambda cases: sum(ast_checker(*case)["valid"] for case in cases))}
