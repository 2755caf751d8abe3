"""Ask the leaderboard's own checker (`bfcl-eval`) about conversations of several turns, right ones and changed ones.

    python -m tests.grading.dialects.vectors.leaderboard_turns DIR 20 8

reads every twentieth row of each category that `toolevals download bfcl DIR` wrote, makes eight predictions of each,
and writes a line for each row: its id, with the error type of each prediction. What is predicted follows from the row's
gold and the number alone, so that only verdicts are kept. It needs `bfcl-eval` on the path, and `mpmath`.
"""

from __future__ import annotations

import ast
import copy
import json
import random
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from tests.grading.dialects.vectors.originals import stub

CATEGORIES = ("multi_turn_base", "multi_turn_miss_func", "multi_turn_miss_param", "multi_turn_long_context")
KEPT = Path(__file__).parents[1] / "data" / "leaderboard_turns.jsonl"
Turns = list[list[str]]


def prediction_of(gold: Turns, name: str, number: int) -> list[Any]:
    """Return a prediction in the form of the leaderboard's results: turns of steps. The first is the gold itself."""
    chance = random.Random(f"{name} {number}")
    turns = copy.deepcopy(gold)
    for _ in range(chance.choice((1, 1, 1, 2)) if number else 0):
        _change(turns, chance)
    write = (_as_decoded, _as_calls, _as_text)[number % 3]
    return [[write(calls) for calls in _steps(turn, chance)] for turn in turns]


def _change(turns: Turns, chance: random.Random) -> None:
    turn = chance.choice([turn for turn in turns if turn] or [[]])
    place = chance.randrange(len(turn)) if turn else 0
    changes: tuple[Callable[[], Any], ...] = (
        lambda: turn.pop(place),
        lambda: turn.append(chance.choice([call for other in turns for call in other])),
        lambda: turn.insert(0, turn.pop()),
        lambda: turn.append(turn[place]),
        lambda: turn.append("unheard_of(a=1)"),
        turn.clear,
        turns.pop,
        lambda: turns[0].insert(0, turn.pop(place)),
        *[lambda: turn.__setitem__(place, _other_argument(turn[place], chance))] * 5,
    )
    if turn:
        chance.choice(changes)()


def _other_argument(text: str, chance: random.Random) -> str:
    call = _parsed(text)
    if not call.keywords:
        call.keywords.append(ast.keyword("other", ast.Constant(1)))
        return ast.unparse(call)
    keyword = chance.choice(call.keywords)
    value = ast.literal_eval(keyword.value)
    changes: list[Any] = [f"{value}x", None, [value]]
    if isinstance(value, bool | int | float):
        changes += [value + 1, not value, -value, float(value)]
    elif isinstance(value, list):
        changes += [value[::-1], value[1:], [*value, "x"], [*value, 1]]
    keyword.value = ast.Constant("") if chance.random() < 0.1 else _parsed(f"f({chance.choice(changes)!r})").args[0]
    if chance.random() < 0.1:
        keyword.arg = f"{keyword.arg}_"
    return ast.unparse(call)


def _parsed(text: str) -> ast.Call:
    call = ast.parse(text, mode="eval").body
    assert isinstance(call, ast.Call)
    return call


def _steps(turn: list[str], chance: random.Random) -> Iterator[list[str]]:
    """Yield a turn's calls in one step or in several, with an answer in words at the end."""
    cut = chance.randrange(len(turn) + 1)
    yield from (turn[:cut], turn[cut:]) if cut else (turn,)


def _as_decoded(calls: list[str]) -> Any:
    return calls


def _as_text(calls: list[str]) -> Any:
    return f"[{', '.join(calls)}]" if calls else "Which file do you mean? (a or b)"


def _as_calls(calls: list[str]) -> Any:
    """Return calls as a model's interface gives them; such have no arguments without a name."""
    read = [_parsed(call) for call in calls]
    return [
        {ast.unparse(call.func): json.dumps({each.arg: ast.literal_eval(each.value) for each in call.keywords})}
        for call in read
    ]


def checker() -> Callable[[dict[str, Any], Turns, Any], str | None]:
    """Return the leaderboard's own way from a row, its gold and a prediction to an error type."""
    stub("filelock", FileLock=object)
    nothing = dict.fromkeys(("retry_if_exception_message", "retry_if_exception_type", "wait_random_exponential"))
    stub("tenacity", retry=lambda **_: lambda function: function, **nothing)
    for parser, names in {
        "java": ("java_function_call",),
        "js": ("js_function_call", "javascript_function_call"),
        "json": ("json_function_call",),
        "xml": ("concise_xml_function_call", "verbose_xml_function_call"),
    }.items():
        stub(f"bfcl_eval.model_handler.parser.{parser}_parser", **{f"parse_{name}": None for name in names})
    decoding = import_module("bfcl_eval.model_handler.utils")
    check = import_module("bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker")
    count = 0

    def decoded(step: Any) -> Any:
        if isinstance(step, str):
            return decoding.default_decode_execute_prompting(step)
        return step if all(isinstance(call, str) for call in step) else decoding.convert_to_function_call(step)

    def error_type(row: dict[str, Any], gold: Turns, prediction: Any) -> str | None:
        nonlocal count
        if len(prediction) != len(gold):
            return "multi_turn:force_terminated"
        turns: list[list[Any]] = []
        for steps in prediction:
            turns.append([])
            for step in steps:
                try:
                    calls = decoded(step)
                except Exception:  # noqa: BLE001 (the original leaves out what it cannot decode)
                    continue
                if not check.is_empty_execute_response(calls):
                    turns[-1].append(calls)
        # It keeps instances by the model's name.
        count += 1
        result = check.multi_turn_checker(turns, gold, copy.deepcopy(row), "", f"model_{count}")
        return None if result["valid"] else str(result["error_type"])

    return error_type


def entries(folder: Path, every: int) -> Iterator[tuple[dict[str, Any], Turns]]:
    """Yield the rows of a downloaded folder with their gold."""
    for category in CATEGORIES:
        name = f"BFCL_v4_{category}.json"
        golds = {row["id"]: row["ground_truth"] for row in _rows(folder / "possible_answer" / name)}
        for row in _rows(folder / name)[::every]:
            yield row, golds[row["id"]]


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


def main(folder: Path, every: int, each: int, target: Path) -> None:
    error_type = checker()
    with target.open("w", encoding="utf-8") as file:
        for row, gold in entries(folder, every):
            errors = [error_type(row, gold, prediction_of(gold, row["id"], number)) for number in range(each)]
            file.write(json.dumps({"id": row["id"], "error_types": errors}) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]) if len(sys.argv) > 4 else KEPT)
