"""`./dev bench side-by-side`: tools in turns, what is not measured, and the table; with tools made up here."""

from __future__ import annotations

import json
import re
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from benchmarks import side_by_side
from benchmarks.peers import driver as peer_driver
from benchmarks.side_by_side import GRADING, LABELLING, PEERS, Driver, Found, Sizes, StepError, Tool, table

GRADER = """
import time
VERSION = "{version}"
def graders():
    def passed(cases):
        print("noise that is not an answer")
        until = time.process_time() + {seconds}
        while time.process_time() < until:
            pass
        return sum(cases)
    made = lambda row, calls: calls == row["right"]
    return {{"": (made, passed), "_once": (made, passed)}}
"""
LABELLER = """
import json
from pathlib import Path
VERSION = "1"
class labeller:
    def __init__(self, folder): pass
    def make(self, wanted): return 1
    def take_in(self, path):
        text = Path(path).read_text()
        self.count = len(json.loads(text)) if path.endswith(".json") else len(text.splitlines())
        return self.count
    def label(self, times): return times
    def annotate(self): return 2 * self.count
    def export(self): return 10
    def exported(self): return [self.count, LABELS * self.count]
"""


@pytest.fixture
def measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Measure tools that are made up, in the Python of the tests."""

    def measure(kind: str, sizes: Sizes, **sources: str) -> Found:
        found, tools = Found(), []
        for name, source in sources.items():
            path = tmp_path / f"{name}.py"
            path.write_text(source)
            tools.append(Tool(path, kind, "toolevals" if name == "ours" else name.title(), lines=name != "honest"))
        monkeypatch.setattr(side_by_side, "tools", lambda _: tools)
        monkeypatch.setattr(side_by_side, "python_for", lambda _: sys.executable)
        (tmp_path / "work").mkdir()
        side_by_side.measure(kind, sizes, found, tmp_path / "work")
        return found

    return measure


def test_the_table_shows_what_wins_and_what_loses(measured: Any) -> None:
    found = measured(
        GRADING,
        Sizes(entries=3, rounds=2),
        ours=GRADER.format(version="here", seconds=0.02),
        quick=GRADER.format(version="1.0", seconds=0.005),
        slow=GRADER.format(version="2.0", seconds=0.08),
    )
    lines = table(found).splitlines()
    assert len([line for line in lines if "| Quick |" in line and "the other is faster" in line]) == 4
    assert len([line for line in lines if "| Slow |" in line and "the other is faster" not in line]) == 4
    assert all(line.endswith("| 3 and 3 |") for line in lines if line.startswith("| right answer"))
    assert "Versions: toolevals here, Quick 1.0, Slow 2.0." in lines


def test_a_tool_that_does_less_is_not_measured_but_named(measured: Any) -> None:
    found = measured(
        LABELLING,
        Sizes(examples=4, labels=2, rounds=2),
        ours=LABELLER.replace("LABELS", "2"),
        honest=LABELLER.replace("LABELS", "2"),
        loses=LABELLER.replace("LABELS", "1"),
        broken="VERSION = '1'\ndef labeller(folder): raise OSError('no room')\n",
    )
    assert found.missing["Loses"] == "a step came to [4, 4], not to [4, 8]"
    assert "no room" in found.missing["Broken"]
    text = table(found)
    assert [line.split(" | ")[1] for line in text.splitlines() if line.startswith("| export")] == ["Honest"]
    assert "Not measured: Loses a step came to" in text


def test_each_round_begins_with_another_tool() -> None:
    order: list[Any] = []
    drivers: Any = ["a", "b", "c"]
    for number in range(3):
        side_by_side.each(drivers, Found(), number, order.append)
    assert "".join(order) == "abcbcacab"


def test_a_tool_that_hangs_is_ended(tmp_path: Path) -> None:
    path = tmp_path / "hangs.py"
    path.write_text("VERSION='1'\nimport time\ngraders = lambda: {'': (print, lambda _: time.sleep(99))}\n")
    (tmp_path / "rows").write_text('{"right": 1, "wrong": 2}\n')
    with Driver(Tool(path, GRADING, "Hangs"), sys.executable, tmp_path / "work") as started:
        assert started.do("load", path=str(tmp_path / "rows")).result == 1
        # It has started, however slow the machine is.
        started.seconds = 1
        with pytest.raises(StepError, match="took longer than 1 seconds"):
            started.do("right")
        with pytest.raises(StepError, match="ended"):
            started.do("load")


def test_what_a_tool_names_itself_breaks_no_table() -> None:
    text = table(Found(missing={"a|b": "<b>\nline `two`"}))
    assert "Not measured: a\\|b &lt;b> line \\`two\\`" in text


def test_a_step_that_raises_is_an_error_and_the_driver_goes_on() -> None:
    def broken() -> None:
        raise ValueError("bad input")

    assert peer_driver.answer({"load": broken}, {"step": "load"}) == {"error": "ValueError: bad input"}
    assert peer_driver.answer({"load": lambda path: path}, {"step": "load", "given": {"path": "x"}})["result"] == "x"


def test_the_processor_time_of_children_counts() -> None:
    import subprocess

    burn = "import time\nwhile time.process_time() < 0.3: pass"
    done = peer_driver.answer(
        {"run": lambda: subprocess.run([sys.executable, "-c", burn], check=True).returncode}, {"step": "run"}
    )
    assert done["processor"] >= 0.3


def test_an_environment_is_made_once_and_anew_where_its_requirements_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool, ran = Tool(tmp_path / "peer.py", GRADING, "Peer"), []
    tool.requirements.parent.mkdir()

    def install(*words: str) -> None:
        ran.append(words)
        (tmp_path / "made" / "peer").mkdir(parents=True, exist_ok=True)

    monkeypatch.setattr(side_by_side, "install", install)
    monkeypatch.setattr("shutil.which", lambda _: "python3.11")
    for pins, expected in (("one==1\n", 2), ("one==1\n", 2), ("one==2\n", 4)):
        tool.requirements.write_text(pins)
        side_by_side.python_for(tool, tmp_path / "made")
        assert len(ran) == expected
    assert "--require-hashes" in ran[-1]


def test_what_cannot_be_installed_says_why() -> None:
    with pytest.raises(StepError, match="no such package"):
        side_by_side.install(sys.executable, "-c", "import sys; sys.exit('no such package')")
    with pytest.raises(StepError, match=r"within 0\.1 seconds"):
        side_by_side.install(sys.executable, "-c", "import time; time.sleep(30)", seconds=0.1)


@pytest.mark.parametrize("name", side_by_side.NAMES)
def test_every_tool_has_hashed_requirements_of_the_versions_that_its_file_says(name: str) -> None:
    path = PEERS / f"{name}.py"
    tool = peer_driver.loaded(path)
    header = path.read_text().split("# ///\n")[0].removeprefix("# /// script\n")
    asked = tomllib.loads(re.sub("^# ", "", header, flags=re.MULTILINE))["dependencies"]
    pins = Tool(path, tool.KIND, tool.TITLE).requirements.read_text()
    versions = dict(re.findall(r"^([a-z0-9.\-]+)==(\S+) \\$", pins, re.MULTILINE))
    assert f"{tool.DISTRIBUTION}=={versions[tool.DISTRIBUTION]}" in asked
    blocks = re.split(r"^(?=\S+==)", pins, flags=re.MULTILINE)
    assert [block for block in blocks if block.strip() and "--hash=sha256:" not in block] == []
    assert callable(tool.labeller if tool.KIND == LABELLING else tool.graders)


def fake_module(monkeypatch: pytest.MonkeyPatch, name: str, **members: Any) -> None:
    parts = name.split(".")
    for place in range(1, len(parts)):
        if ".".join(parts[:place]) not in sys.modules:
            monkeypatch.setitem(sys.modules, ".".join(parts[:place]), ModuleType(parts[place - 1]))
    module = ModuleType(name)
    for key, value in members.items():
        setattr(module, key, value)
    monkeypatch.setitem(sys.modules, name, module)


def test_the_leaderboard_is_given_calls_by_name_and_the_gold(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def checker(functions: Any, calls: Any, gold: Any, language: str, category: str, model: str) -> dict[str, bool]:
        assert (language, category, model) == ("python", "simple", "any")
        return {"valid": calls[0]["f"]["a"] in gold[0]["f"]["a"]}

    fake_module(monkeypatch, "bfcl_eval.constants.enums", Language=type("Language", (), {"PYTHON": "python"}))
    fake_module(monkeypatch, "bfcl_eval.eval_checker.ast_eval.ast_checker", ast_checker=checker)
    # The tool's file puts it there itself.
    monkeypatch.setitem(sys.modules, "bfcl_eval.constants.model_config", ModuleType("before"))
    right, wrong = ([{"name": "f", "arguments": {"a": value}}] for value in (1, 2))
    row = {"category": "simple", "functions": [], "gold": [{"f": {"a": [1]}}], "right": right, "wrong": wrong}
    (tmp_path / "entries.jsonl").write_text(json.dumps(row) + "\n")
    steps = peer_driver.steps_of(peer_driver.loaded(PEERS / "bfcl.py"), tmp_path, GRADING)
    assert (steps["load"](path=str(tmp_path / "entries.jsonl")), steps["right"](), steps["wrong"]()) == (1, 1, 0)


def test_the_exit_status_says_that_a_tool_is_missing(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(side_by_side, "measure", lambda *_: None)
    assert side_by_side.main(["grading", "--smoke"]) == 0
    monkeypatch.setattr(side_by_side, "measure", lambda *given: given[2].missing.update(doccano="no"))
    assert side_by_side.main(["grading"]) == 1
    assert "Not measured: doccano no" in capsys.readouterr().out


@pytest.mark.parametrize("words", [["nonsense"], ["--rounds", "0"], ["--examples", "x"]])
def test_bad_options_are_refused(words: list[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        side_by_side.main(words)
