"""`./dev bench side-by-side`: tools in turns, what is not measured, and the table; with tools made up here."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from benchmarks.peers import driver as peer_driver
from benchmarks.side_by_side import command, environments, measuring
from benchmarks.side_by_side.command import document, markdown
from benchmarks.side_by_side.drivers import Driver, StepError, took
from benchmarks.side_by_side.environments import CannotInstallError, installation, python_for
from benchmarks.side_by_side.measuring import Found, Sizes, measure
from benchmarks.side_by_side.tools import GRADING, LABELLING, NEVER, OTHERS, OURS, PEERS, Tool

GRADER = """
import json, time
from pathlib import Path
VERSION = "{version}"
def steps(folder):
    rows = []
    def load(path):
        rows.extend(json.loads(line) for line in Path(path).read_text().splitlines())
        print("noise that is no answer")
        return len(rows)
    def graded(answer):
        def work():
            until = time.process_time() + {seconds}
            while time.process_time() < until:
                pass
            return sum(row[answer] == row["right"] for row in rows)
        return work
    return {{name: graded(name.partition("_")[0]) for name in ("right", "wrong", "right_once", "wrong_once")}} | {{
        "load": load
    }}
"""
LABELLER = """
import json
from pathlib import Path
VERSION = "1"
def steps(folder):
    kept = {}
    def make(wanted):
        kept["wanted"] = wanted
    def take_in(path):
        text = Path(path).read_text()
        kept["count"] = len(json.loads(text)) if path.endswith(".json") else len(text.splitlines())
        return kept["count"]
    return {
        "make": make, "take_in": take_in, "label": lambda times: times, "annotate": lambda: 2 * kept["count"],
        "export": lambda: 10, "exported": lambda: [kept["count"], LABELS * kept["count"]],
        "overlap": lambda people: {"2": kept["count"] - 1, "3": 1, "refused": 0},
    }
"""


def made_up(folder: Path, key: str, kind: str, source: str, **more: Any) -> Tool:
    folder.mkdir(exist_ok=True)
    (folder / f"{key}.py").write_text(source)
    return Tool(key, key.title(), kind, folder, **more)


@pytest.fixture
def tools(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Put tools that are made up in the place of the real ones, in the Python of the tests."""

    def use(kind: str, ours: str, **others: str) -> None:
        folder = tmp_path / "adapters"
        monkeypatch.setattr(measuring, "OURS", {kind: made_up(folder, OURS[kind].key, kind, ours)})
        named = tuple(made_up(folder, key, kind, source) for key, source in others.items())
        monkeypatch.setattr(measuring, "OTHERS", named)
        monkeypatch.setattr("benchmarks.side_by_side.command.OTHERS", named)
        monkeypatch.setattr(measuring, "python_for", lambda *_, **__: sys.executable)

    return use


def measured(tmp_path: Path, kind: str, **sizes: int) -> Found:
    work = tmp_path / "work"
    work.mkdir()
    return measure([kind], Sizes(**sizes), peers=tmp_path, folder=work, seconds=60)


def test_the_table_shows_what_wins_and_what_loses(tools: Any, tmp_path: Path) -> None:
    tools(
        GRADING,
        GRADER.format(version="here", seconds=0.02),
        quick=GRADER.format(version="1.0", seconds=0.005),
        slow=GRADER.format(version="2.0", seconds=0.08),
    )
    found = measured(tmp_path, GRADING, entries=3, rounds=2)
    made = document(found, commit="0" * 40, began="now", load=(1.0, 2.0))
    ratios = {row["other"]: row["processor"]["ratio"]["median"] for row in made["rows"]}
    assert ratios["Quick"] < 0.6
    assert ratios["Slow"] > 2
    assert {row["passed"]["ours"] for row in made["rows"] if row["row"].startswith("right")} == {3}
    assert {row["rounds"] for row in made["rows"]} == {2}
    assert made["versions"] == {"toolevals": "here", "Quick": "1.0", "Slow": "2.0"}
    text = markdown(json.loads(json.dumps(made)))
    assert len([line for line in text.splitlines() if "| Quick |" in line and "the other is faster" in line]) == 4
    assert not [line for line in text.splitlines() if "| Slow |" in line and "the other is faster" in line]
    assert "at a load average of 1.0 before and 2.0 after" in text


def test_a_tool_that_does_less_is_not_measured_but_named(tools: Any, tmp_path: Path) -> None:
    tools(
        LABELLING,
        LABELLER.replace("LABELS", "2"),
        honest=LABELLER.replace("LABELS", "2"),
        loses_labels=LABELLER.replace("LABELS", "1"),
        broken="VERSION = '1'\ndef steps(folder): raise OSError('no room')\n",
    )
    found = measured(tmp_path, LABELLING, examples=4, labels=2, contested=5, rounds=2)
    assert ("Loses_Labels", "a step came to [4, 4], not to [4, 8]") in found.missing
    [reason] = [reason for title, reason in found.missing if title == "Broken"]
    assert "no room" in reason
    made = document(found, commit="0" * 40, began="now", load=(1.0, 2.0))
    exported = [row["other"] for row in made["rows"] if row["row"].startswith("export")]
    assert exported == ["Honest"]
    assert made["overlap"]["Honest"] == {"2": 4, "3": 1, "refused": 0}
    text = markdown(made)
    assert "| Honest | 4 with 2, 1 with 3 | 1 | 0 |" in text
    assert "- Loses_Labels a step came to" in text


def test_each_round_begins_with_another_tool() -> None:
    class Named:
        def __init__(self, key: str) -> None:
            self.tool = Tool(key, key, GRADING)

    order: list[str] = []
    drivers: Any = [Named("a"), Named("b"), Named("c")]
    for number in range(3):
        measuring._each(drivers, Found(), number, lambda each: order.append(each.tool.key))
    assert "".join(order) == "abcbcacab"


def test_a_tool_that_hangs_is_ended(tmp_path: Path) -> None:
    tool = made_up(
        tmp_path, "hangs", GRADING, "VERSION='1'\nimport time\nsteps = lambda f: {'load': lambda: time.sleep(99)}\n"
    )
    with Driver(tool, sys.executable, tmp_path / "work", seconds=60) as started:
        # It has started, however slow the machine is.
        started.seconds = 1
        with pytest.raises(StepError, match="took longer than 1 seconds"):
            started.do("load")
        with pytest.raises(StepError, match="it has ended"):
            started.do("load")


@pytest.mark.parametrize("answer", [{"result": 1}, {"result": 1, "processor": None, "clock": 1}, {"error": "no"}])
def test_an_answer_that_is_none_is_no_measurement(answer: dict[str, Any]) -> None:
    with pytest.raises(StepError, match=r"cannot be read|no"):
        took(answer)


def test_what_a_tool_names_itself_breaks_no_table() -> None:
    found = Found(missing=[("a|b", "<b>\nline `two`")])
    text = markdown(document(found, commit="0" * 40, began="now", load=(0.0, 0.0)))
    assert "- a\\|b &lt;b> line \\`two\\`" in text


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
    requirements = tmp_path / "peer.txt"
    requirements.write_text("one==1\n")
    monkeypatch.setattr(Tool, "requirements", property(lambda _: requirements))
    ran: list[list[str]] = []

    def run(words: list[str], seconds: float) -> None:
        ran.append(words)
        (tmp_path / "made" / "bfcl" / "bin").mkdir(parents=True, exist_ok=True)
        (tmp_path / "made" / "bfcl" / "bin" / "python").touch()

    monkeypatch.setattr(environments, "_run", run)
    monkeypatch.setattr(environments, "interpreter", lambda: "python3.11")
    for expected in (2, 2):
        python_for(Tool("bfcl", "B", GRADING), tmp_path / "made", seconds=1)
        assert len(ran) == expected
    requirements.write_text("one==2\n")
    python_for(Tool("bfcl", "B", GRADING), tmp_path / "made", seconds=1)
    assert len(ran) == 4
    assert "--require-hashes" in installation(tmp_path, requirements)


def test_what_cannot_be_installed_says_why() -> None:
    with pytest.raises(CannotInstallError, match="no such package"):
        environments._run([sys.executable, "-c", "import sys; sys.exit('no such package')"], 30)
    with pytest.raises(CannotInstallError, match=r"within 0\.1 seconds"):
        environments._run([sys.executable, "-c", "import time; time.sleep(30)"], 0.1)


@pytest.mark.parametrize("tool", [tool for tool in OTHERS if not tool.is_ours], ids=lambda tool: tool.key)
def test_every_tool_has_an_adapter_and_hashed_requirements_of_one_version(tool: Tool) -> None:
    adapter = peer_driver.loaded(tool.adapter)
    pins = re.findall(r"^([a-z0-9.\-]+)==(\S+) \\$", tool.requirements.read_text(), re.MULTILINE)
    asked = tool.requirements.with_suffix(".in").read_text().splitlines()
    assert f"{adapter.DISTRIBUTION}=={dict(pins)[adapter.DISTRIBUTION]}" in asked
    blocks = re.split(r"^(?=\S+==)", tool.requirements.read_text(), flags=re.MULTILINE)
    assert [block for block in blocks if block.strip() and "--hash=sha256:" not in block] == []
    assert callable(adapter.steps)


def fake_module(monkeypatch: pytest.MonkeyPatch, name: str, **members: Any) -> None:
    parts = name.split(".")
    for place in range(1, len(parts)):
        if ".".join(parts[:place]) not in sys.modules:
            monkeypatch.setitem(sys.modules, ".".join(parts[:place]), ModuleType(parts[place - 1]))
    module = ModuleType(name)
    for key, value in members.items():
        setattr(module, key, value)
    monkeypatch.setitem(sys.modules, name, module)


@pytest.fixture
def entries(tmp_path: Path) -> str:
    right, wrong = ([{"name": "f", "arguments": {"a": value}}] for value in (1, 2))
    row = {"category": "simple", "functions": [], "gold": [{"f": {"a": [1]}}], "right": right, "wrong": wrong}
    (tmp_path / "entries.jsonl").write_text(json.dumps(row) + "\n")
    return str(tmp_path / "entries.jsonl")


def passed(key: str, entries: str) -> tuple[int, int, int]:
    steps = peer_driver.loaded(PEERS / f"{key}.py").steps(Path())
    return steps["load"](path=entries), steps["right"](), steps["wrong"]()


def test_agentevals_is_given_messages_with_arguments_as_text(monkeypatch: pytest.MonkeyPatch, entries: str) -> None:
    def create(**_: str) -> Any:
        def evaluator(outputs: Any, reference_outputs: Any) -> dict[str, bool]:
            assert json.loads(outputs[0]["tool_calls"][0]["function"]["arguments"])["a"] in (1, 2)
            return {"score": outputs == reference_outputs}

        return evaluator

    fake_module(monkeypatch, "agentevals.trajectory.match", create_trajectory_match_evaluator=create)
    assert passed("agentevals", entries) == (1, 1, 0)


def test_the_leaderboard_is_given_calls_by_name_and_the_gold(monkeypatch: pytest.MonkeyPatch, entries: str) -> None:
    def checker(functions: Any, calls: Any, gold: Any, language: str, category: str, model: str) -> dict[str, bool]:
        assert (language, category, model) == ("python", "simple", "any")
        return {"valid": calls[0]["f"]["a"] in gold[0]["f"]["a"]}

    fake_module(monkeypatch, "bfcl_eval.constants.enums", Language=type("Language", (), {"PYTHON": "python"}))
    fake_module(monkeypatch, "bfcl_eval.eval_checker.ast_eval.ast_checker", ast_checker=checker)
    # The adapter puts it there itself.
    monkeypatch.setitem(sys.modules, "bfcl_eval.constants.model_config", ModuleType("before"))
    assert passed("bfcl", entries) == (1, 1, 0)


def test_the_exit_status_says_that_a_tool_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    results = [Found(missing=list(NEVER)), Found(missing=[*NEVER, ("doccano", "could not be installed")])]
    monkeypatch.setattr(command, "measure", lambda *_, **__: results.pop(0))
    words = ["grading", "--smoke", "--output", str(tmp_path / "made" / "table")]
    assert [command.main(words), command.main(words)] == [0, 1]
    assert "could not be installed" in (tmp_path / "made" / "table.md").read_text()
    assert json.loads((tmp_path / "made" / "table.json").read_text())["not_measured"][-1]["tool"] == "doccano"


@pytest.mark.parametrize("words", [["nonsense"], ["--rounds", "0"], ["--people", "9"], ["--examples", "x"]])
def test_bad_options_are_refused(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        command.main(words)
