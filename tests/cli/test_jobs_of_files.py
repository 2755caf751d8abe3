"""`toolevals grade` and `gate` by several processes: the same answers in the same order, and nothing left behind."""

from __future__ import annotations

import gzip
import io
import json
import multiprocessing
from itertools import count
from typing import Any

import pytest

from tests.cli.test_grade import ROWS, row
from toolevals.cli import blocks, output
from toolevals.cli.main import main
from toolevals.cli.output import Exit


def _rows(number: int) -> str:
    """Return lines of every kind: several trials, lines that cannot be read, messages with losses."""
    thought = [{"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm."}]}]
    lines = []
    for place in range(number):
        some = ROWS[place % len(ROWS)]
        lines.append(json.dumps({**some, "id": f"{some['id']}-{place // 2}", "trial": place % 2}))
        if place % 9 == 0:
            lines += ["", "{", json.dumps(row(f"talk-{place}", messages=thought))]
    return "\n".join(lines)


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(blocks, "_BLOCK", 3_000)
    monkeypatch.setattr(blocks, "_LEAST_FOR_SEVERAL", 0)


@pytest.fixture
def file(tmp_path, small_blocks):
    path = tmp_path / "rows.jsonl"
    path.write_text("\ufeff" + _rows(300), "utf-8")
    return path


@pytest.mark.parametrize("options", [[], ["--format", "csv"], ["--format", "table"], ["--dialect", "agentevals"]])
@pytest.mark.parametrize("packed", [False, True])
def test_several_processes_say_what_one_says_in_the_same_order(file, options, packed, capfd):
    path = file
    if packed:
        path = file.with_suffix(".jsonl.gz")
        path.write_bytes(gzip.compress(file.read_bytes()))
    said = [(main(["grade", str(path), *options, "--jobs", jobs]), capfd.readouterr()) for jobs in ("1", "3")]
    assert said[0] == said[1]
    status, (out, err) = said[0]
    assert status == Exit.DATA
    assert len(out.splitlines()) > 20
    assert "toolevals: 14 more bad lines" in err
    # A block in the middle knows the numbers of its lines.
    assert "line 3: not JSON" in err
    assert [line for line in err.splitlines() if "not JSON" in line] == sorted(
        (line for line in err.splitlines() if "not JSON" in line), key=lambda line: int(line.split()[2].rstrip(":"))
    )


def test_a_gate_comes_out_the_same_by_several_processes(tmp_path, small_blocks, capfd):
    names = ["track" if place % 7 else "refund" for place in range(300)]
    made = [{"tool_calls": [{"name": name, "arguments": {"order": "A-1"}}], "latency_ms": 5} for name in names]
    made[::50] = [{}] * 6
    path = tmp_path / "rows.jsonl"
    lines = [json.dumps(row(f"ex-{place // 3}", trial=place % 3, **each)) for place, each in enumerate(made)]
    path.write_text("\n".join(lines))
    asked = ["--threshold", "selection=0.9", "--threshold", "step_efficiency=0.5", "--baseline", str(path), "--json"]
    asked += ["--fail-on-regression", "--jobs"]
    said = [(main(["gate", str(path), *asked, jobs]), capfd.readouterr()) for jobs in ("1", "2")]
    assert said[0] == said[1]
    checks = {each["metric"]: each["count"] for each in json.loads(said[0][1].out)["checks"]}
    assert {"selection", "step_efficiency"} <= checks.keys()
    assert 0 < checks["step_efficiency"] < 300


def test_an_example_that_is_there_twice_is_found_across_blocks(tmp_path, small_blocks, capfd):
    path = tmp_path / "rows.jsonl"
    path.write_text("".join(f"{json.dumps(row(f'ex-{place % 40}', tool_calls=[]))}\n" for place in range(50)))
    assert main(["gate", str(path), "--jobs", "2"]) == Exit.DATA
    assert "trial 0 of ex-0 appears twice" in capfd.readouterr().err


def test_an_interrupted_run_leaves_no_half_output_and_no_process(file, monkeypatch, capfd):
    asked = count()

    def answer(crew: Any) -> Any:
        if next(asked) == 3:
            raise KeyboardInterrupt
        return whole(crew)

    whole = blocks._Crew.next_answer
    monkeypatch.setattr(blocks._Crew, "next_answer", answer)
    target = file.with_name("grades.jsonl")
    target.write_text("from before")
    assert main(["grade", str(file), "--jobs", "2", "-o", str(target)]) == Exit.INTERRUPTED
    assert target.read_text() == "from before"
    assert sorted(each.name for each in file.parent.iterdir()) == ["grades.jsonl", "rows.jsonl"]
    assert multiprocessing.active_children() == []
    # What was said before is whole.
    assert main(["grade", str(file), "--jobs", "1", "-o", str(target)]) == Exit.DATA
    assert all(json.loads(line)["id"] for line in target.read_text().splitlines())


def test_the_readable_part_of_a_damaged_file_is_graded_first(file, capfd):
    path = file.with_suffix(".jsonl.gz")
    path.write_bytes(gzip.compress(file.read_bytes())[:-200])
    said = [(main(["grade", str(path), "--jobs", jobs]), capfd.readouterr()) for jobs in ("1", "2")]
    assert said[0] == said[1]
    status, (out, err) = said[0]
    assert status == Exit.DATA
    assert out.count("\n") > 10
    assert "the file is damaged" in err


def test_a_process_that_is_ended_from_outside_is_told(file, monkeypatch, capfd):
    def give(crew: Any, block: blocks.Block) -> None:
        for process in crew._processes:
            process.kill()
            process.join()
        whole(crew, block)

    whole = blocks._Crew.give
    monkeypatch.setattr(blocks._Crew, "give", give)
    assert main(["grade", str(file), "--jobs", "2"]) == Exit.CRASHED
    assert "a process that grades was ended from outside" in capfd.readouterr().err


def test_standard_input_and_small_files_are_graded_by_this_process(tmp_path, monkeypatch):
    monkeypatch.setattr(blocks, "_Crew", None)
    path = tmp_path / "rows.jsonl"
    path.write_text(_rows(10))
    with path.open("rb") as file:
        found = list(blocks.answered(file, lambda: lambda lines, first: (first, len(lines)), 4))
    with io.BytesIO(path.read_bytes()) as piped:
        assert [
            done.answer for done in blocks.answered(piped, lambda: lambda lines, first: (first, len(lines)), 4)
        ] == [done.answer for done in found]
    assert sum(lines for _, lines in (done.answer for done in found)) == len(path.read_text().split("\n"))


@pytest.mark.parametrize("jobs", ["0", "-1", "x", "1000"])
def test_a_wrong_number_of_processes_is_a_wrong_option(file, jobs):
    assert main(["grade", str(file), "--jobs", jobs]) == Exit.CONFIGURATION


@pytest.mark.parametrize("terminal", [True, False])
def test_progress_is_shown_on_a_terminal_alone(file, terminal, monkeypatch, capsys):
    monkeypatch.setattr(output, "_BETWEEN", 0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: terminal)
    main(["grade", str(file), "--jobs", "1"])
    shown = capsys.readouterr()
    assert ("100%" in shown.err) is terminal
    assert ("\033" in shown.err) is terminal
    assert "\033" not in shown.out


def test_a_bar_says_how_much_is_done_and_how_fast(monkeypatch, capsys):
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    times = iter([0.0, 0.1, 0.5, 1.0])
    with output.ProgressBar("grading", 1000, clock=lambda: next(times)) as bar:
        bar.add(100, 100)
        bar.add(100, 500)
        bar.add(300, 1000)
    said = capsys.readouterr().err.split("\r\033[K")
    assert said[1:] == [
        f"grading: [{'#' * 15:<30}]  50%  200 rows, 400 a second",
        f"grading: [{'#' * 30}] 100%  500 rows, 500 a second",
        "",
    ]
