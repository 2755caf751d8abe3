"""Make fresh predictions for the leaderboard's entries and ask its own checker (`bfcl-eval`) about them.

    python -m tests.grading.dialects.vectors.bfcl 3 50

makes three predictions of each of the first fifty entries of every Python category in the folder that
TOOLEVALS_BENCHMARK_DATA names. An output line is an entry with its predictions, each beside the checker's error type;
a tuple is written `{"$tuple": [...]}`.
"""

from __future__ import annotations

import copy
import gzip
import json
import os
import random
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from tests.grading.dialects.vectors.originals import stub

SEED = 7
CATEGORIES = (
    "simple_python",
    "multiple",
    "parallel",
    "parallel_multiple",
    "live_simple",
    "live_multiple",
    "live_parallel",
    "live_parallel_multiple",
)
Calls = list[dict[str, dict[str, Any]]]


def right_answer(gold: list[dict[str, Any]], chance: random.Random) -> Calls:
    """Return calls of allowed values; a parameter that may be left out often is."""
    return [
        {name: {key: _inside(chance.choice(values)) for key, values in allowed.items() if _kept(values, chance)}}
        for call in gold
        for name, allowed in call.items()
    ]


def _kept(values: list[Any], chance: random.Random) -> bool:
    return bool(values) and not ("" in values and chance.random() < 0.5)


def _inside(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: items[0] if isinstance(items, list) and items else items for key, items in value.items()}
    return [_inside(item) for item in value] if isinstance(value, list) else value


def mutated(calls: Calls, chance: random.Random) -> Any:
    """Return a prediction with one change: of the calls, of a name, of the parameters, or of a value."""
    made = copy.deepcopy(calls)
    what = chance.choice(("calls", "name", "parameters", "value", "value", "value"))
    if what == "calls" or not made:
        return _other_calls(made, chance)
    at = chance.randrange(len(made))
    ((name, arguments),) = made[at].items()
    if what == "name":
        made[at] = {chance.choice((name.replace(".", "_"), name.replace("_", "."), name.upper(), "other")): arguments}
    elif what == "parameters" or not arguments:
        _other_parameters(arguments, chance)
    else:
        key = chance.choice(list(arguments))
        arguments[key] = _other_value(arguments[key], chance)
    return made


def _is_calls(prediction: Any) -> bool:
    return isinstance(prediction, list) and all(isinstance(call, dict) for call in prediction)


def _other_calls(made: Calls, chance: random.Random) -> Any:
    changes: tuple[Callable[[], Any], ...] = (
        lambda: made[::-1],
        lambda: made[1:],
        lambda: made + made[:1],
        lambda: [made[0] for _ in made],
        list,
        lambda: {name: arguments for call in made for name, arguments in call.items()},
        lambda: [list(call) for call in made],
    )
    return chance.choice(changes)()


def _other_parameters(arguments: dict[str, Any], chance: random.Random) -> None:
    key = chance.choice(list(arguments) or ["new"])
    value = arguments.pop(key, 1)
    change = chance.choice(("drop", "rename", "add", "order"))
    if change == "rename":
        arguments[f"{key}_"] = value
    elif change != "drop":
        arguments[key] = value
    if change == "add":
        arguments["unheard_of"] = value


def _other_value(value: Any, chance: random.Random) -> Any:
    if isinstance(value, str):
        changes: tuple[Any, ...] = (
            value.upper(),
            value.replace(" ", ""),
            f"{value}.",
            f"-{value}_",
            value.replace("'", '"'),
            "",
            f"{value}!",
            1,
            [value],
            value[:-1],
            None,
        )
    elif isinstance(value, bool | int | float):
        changes = (not value, float(value), int(value), value + 1, str(value), [value], None, -value)
    elif isinstance(value, list):
        changes = (
            (
                [],
                value[::-1],
                value[1:],
                value + value[:1],
                {"$tuple": value},
                json.dumps(value),
                [*value, {"a": 1}],
                [*value, 1],
                value[0],
                [each.upper() if isinstance(each, str) else each for each in value],
                [*value[:-1], None],
            )
            if value
            else ([""], [[]], "", None)
        )
    else:
        changes = ({}, [value], json.dumps(value), None)
        if isinstance(value, dict) and value:
            first, *_ = value
            changed = {**value, first: _other_value(value[first], chance)}
            changes += (changed, changed, {**value, "new": 1}, {key: value[key] for key in list(value)[1:]})
    return chance.choice(changes)


def with_tuples(value: Any) -> Any:
    """Return a value as the checker gets it."""
    if isinstance(value, dict):
        if value.keys() == {"$tuple"}:
            return tuple(with_tuples(item) for item in value["$tuple"])
        return {key: with_tuples(item) for key, item in value.items()}
    return [with_tuples(item) for item in value] if isinstance(value, list) else value


def checker() -> Callable[[str, list[Any], list[Any], Any, bool], str | None]:
    """Return the leaderboard's own checker; its models' handlers, which want every provider's library, stay out."""

    class Model:
        def __init__(self, underscore_to_dot: bool) -> None:
            self.underscore_to_dot = underscore_to_dot

    stub("bfcl_eval.constants.model_config", MODEL_CONFIG_MAPPING={"plain": Model(False), "under": Model(True)})
    check = import_module("bfcl_eval.eval_checker.ast_eval.ast_checker").ast_checker
    python = import_module("bfcl_eval.constants.enums").Language.PYTHON
    stub("filelock", FileLock=object)
    well_formed = import_module("bfcl_eval.utils").is_function_calling_format_output

    def error_type(category: str, functions: list[Any], gold: list[Any], prediction: Any, under: bool) -> str | None:
        prediction = with_tuples(copy.deepcopy(prediction))
        if not well_formed(prediction):
            return "ast_decoder:decoder_wrong_output_format"
        model = "under" if under else "plain"
        try:
            result = check(functions, prediction, copy.deepcopy(gold), python, category, model)
        except Exception as crash:  # noqa: BLE001 (whatever it raises is its verdict)
            return f"checker_exception:{type(crash).__name__}"
        return None if result["valid"] else str(result["error_type"])

    return error_type


def entries(limit: int) -> Iterator[tuple[str, list[Any], list[Any]]]:
    """Yield category, functions and gold of the first entries of every category."""
    for category in CATEGORIES:
        name = f"BFCL_v4_{category}.json"
        golds = {row["id"]: row["ground_truth"] for row in _rows(f"possible_answer/{name}")}
        for row in _rows(name)[:limit]:
            yield category, row["function"], golds[row["id"]]


def _rows(name: str) -> list[dict[str, Any]]:
    path = Path(os.environ["TOOLEVALS_BENCHMARK_DATA"]) / "bfcl" / name
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def main(each: int, limit: int, path: Path) -> None:
    chance = random.Random(SEED)
    error_type = checker()
    lines = [json.dumps({"package": "bfcl-eval", "version": version("bfcl-eval")})]
    for category, functions, gold in entries(limit):
        under = chance.random() < 0.3
        found = []
        for _ in range(each):
            prediction: Any = right_answer(gold, chance)
            for _ in range(chance.choice((0, 1, 1, 1, 2))):
                prediction = mutated(prediction, chance) if _is_calls(prediction) else prediction
            found.append([prediction, error_type(category, functions, gold, prediction, under)])
        entry = {"category": category, "functions": functions, "possible_answer": gold, "underscore_names": under}
        lines.append(json.dumps({**entry, "predictions": found}))
    path.write_bytes(gzip.compress("\n".join(lines).encode() + b"\n", mtime=0))
    print(f"{path}: {len(lines) - 1} entries, {path.stat().st_size} bytes")  # noqa: T201


if __name__ == "__main__":
    target = Path(sys.argv[3]) if len(sys.argv) > 3 else Path(__file__).parents[1] / "data" / "bfcl.jsonl.gz"
    main(int(sys.argv[1]), int(sys.argv[2]), target)
