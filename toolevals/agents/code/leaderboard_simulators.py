"""Grades the leaderboard's conversations of several turns by state, with its own simulators in the sandbox."""

from __future__ import annotations

import atexit
import importlib.util
import json
from contextlib import ExitStack
from functools import cache
from pathlib import Path

from toolevals.agents.code import leaderboard_turns
from toolevals.agents.code.launching import NoSandboxError
from toolevals.agents.code.leaderboard_turns import CLASSES, FILES, PACKAGE, SIMULATORS
from toolevals.agents.code.simulator import CodeSimulator, files_in
from toolevals.agents.worlds import WorldDiedError
from toolevals.grading.dialects.bfcl import DialectVerdict
from toolevals.grading.dialects.leaderboard_turns import CATEGORIES, Turns, category_of, turns_error, turns_of
from toolevals.grading.dialects.rows import NoFormError
from toolevals.grading.values import ToolCall
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonMapping, JsonObject

_QUESTION = ("involved_classes", "initial_config")


class LeaderboardSimulators:
    """The simulators and the conversations that `toolevals download bfcl` wrote to a folder.

    Its temporary files go with the process that made it. Raises FileNotFoundError where the folder holds none.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._published: dict[str, dict[str, JsonObject]] = {}
        self._simulator: CodeSimulator | None = None
        self._why_none = ""
        inside = PACKAGE.replace(".", "/")
        sources = {name: (folder / SIMULATORS / f"{name}.py").read_text(encoding="utf-8") for name in FILES}
        files = {f"{inside}/{name}.py": text for name, text in sources.items()}
        files["simulator.py"] = Path(leaderboard_turns.__file__).read_text(encoding="utf-8")
        opened = ExitStack()
        try:
            self._simulator = opened.enter_context(CodeSimulator(files | _mpmath()))
        except NoSandboxError as error:
            self._why_none = str(error)
        atexit.register(opened.close)

    def verdict(self, row: JsonMapping) -> DialectVerdict:
        """Grade a row; what it lacks is taken from the published one of its id. Raises InvalidDocument."""
        if not isinstance(name := row.get("id"), str):
            raise InvalidDocument.at("/id", "is not a str")
        if "prediction" not in row and "result" not in row:
            raise InvalidDocument.at("/prediction", "is not there, nor is result, as the benchmark writes it")
        published = self._of_id(row, name)
        if not published and "possible_answer" not in row:
            raise InvalidDocument.at("/id", f"{name} is not in {self._folder}, and the row has no possible_answer")
        whole = {**published, "prediction": row.get("result"), **row}
        if error := turns_error(whole):
            return DialectVerdict(name, False, *error)
        try:
            said = self._checked(turns_of(whole))
        except (NoFormError, WorldDiedError) as error:
            said = {"unscored": str(error)}
        if (unscored := said.get("unscored")) is not None:
            return DialectVerdict(name, None, None, unscored=unscored)
        return DialectVerdict(name, said["error_type"] is None, said["error_type"], said["reason"])

    def _checked(self, turns: Turns) -> JsonObject:
        if others := [name for name in turns.classes if name not in CLASSES]:
            raise NoFormError(f"The class {others[0]} does not run here: {', '.join(CLASSES)} do.")
        if self._simulator is None:
            raise NoFormError(self._why_none)
        arguments = {
            "classes": turns.classes,
            "configs": turns.configs,
            "long_context": turns.long_context,
            "expected": turns.expected,
            "made": turns.made,
        }
        with self._simulator.world({}) as world:
            answer = world.call(ToolCall("check", arguments))
        if answer.is_error:
            raise NoFormError(f"The simulators failed: {answer.content}")
        said: JsonObject = json.loads(answer.content)
        return said

    def _of_id(self, row: JsonMapping, name: str) -> JsonObject:
        """Return what was published of an id; nothing where it is not in the folder."""
        if (category := category_of(row)) not in CATEGORIES:
            raise InvalidDocument.at("/category", f"{category} is not one of {', '.join(CATEGORIES)}")
        if category not in self._published:
            self._published[category] = self._read(f"BFCL_v4_{category}.json")
        return self._published[category].get(name, {})

    def _read(self, name: str) -> dict[str, JsonObject]:
        answers = {row["id"]: row["ground_truth"] for row in _rows(self._folder / "possible_answer" / name)}
        return {
            row["id"]: {**{key: row[key] for key in _QUESTION}, "possible_answer": answers[row["id"]]}
            for row in _rows(self._folder / name)
        }


@cache
def leaderboard_simulators(folder: Path) -> LeaderboardSimulators:
    """Return those of a folder, made once for this process and its copies. Raises FileNotFoundError."""
    return LeaderboardSimulators(folder)


def _rows(path: Path) -> list[JsonObject]:
    return [load_json(line) for line in path.read_bytes().splitlines() if line.strip()] if path.exists() else []


def _mpmath() -> dict[str, str]:
    """Return the files of `mpmath`, for which the simulator of mathematics asks, where it is installed with us."""
    found = importlib.util.find_spec("mpmath")
    if found is None or found.origin is None:
        return {}
    return {f"mpmath/{name}": text for name, text in files_in(Path(found.origin).parent).items()}
