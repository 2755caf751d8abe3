"""The check of words finds what it is for, at its place, and lets through what is right."""

from __future__ import annotations

from pathlib import Path
from textwrap import fill

import pytest

from scripts.dev import prose

LONG = "A sentence " + "of many words " * 10 + "ends here."


def found(folder: Path, name: str, text: str) -> list[tuple[int, str]]:
    (folder / name).parent.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    return [(fault.line, fault.words) for fault in prose.faults(folder, [name])]


@pytest.mark.parametrize(
    ("name", "text", "faults"),
    [
        ("docs/a.md", "A line.\n\nIt takes `whoever`, and whoever asks.\n", [(3, "whoever")]),
        ("docs/a.md", "```\nwhoever\n```\n", []),
        ("docs/a.md", f"Short.\n\n- {fill(LONG, 90)}\n", [(3, LONG)]),
        ("docs/a.md", fill(LONG.replace(" of", "; of"), 90), []),
        ("docs/a.md", fill("A list: " + "`name`, " * 40 + "and more.", 90), []),
        ("docs/a.md", "Short.\n" + "long. " * 17 + "\n", [(2, ("long. " * 17)[:60])]),
        ("docs/a.md", "```\n" + "long. " * 17 + "\n```\n# " + "long. " * 17 + "\n" + "l" * 120, []),
        ("docs/a.md", f"| a | {LONG} |\n", [(1, LONG)]),
        ("docs/a.md", "## How it goes\n\n## How to go\n", [(1, "How it goes")]),
        ("docs/a.md", "# Rows are locked\n", [(1, "Rows are locked")]),
        ("docs/a.md", "It is locked. What a day!\n", []),
        ("docs/a.md", "The colored cell.\n", [(1, "colored")]),
        (
            "docs/a.md",
            "Beside it stands in the table, besides two that stand for it.\n",
            [(1, "Beside"), (1, "stands in")],
        ),
        (
            "docs/a.md",
            "Nobody asks anew,\nand somebody is told.\n",
            [(1, "Nobody"), (1, "somebody"), (1, "anew"), (1, "is told")],
        ),
        ("docs/a.md", "It was not due; work is due.\n", [(1, "was not due")]),
        ("docs/a.md", "A run is held against a gate, the one at hand.\n", [(1, "held against"), (1, "at hand")]),
        ("a.html", "<p>\n{% if nobody %}Nobody rated.{% endif %}</p>", [(2, "Nobody")]),
        ("a.html", '<a title="nobody" class="nobody">x</a>', [(1, "nobody")]),
        ("a.html", "<h2>What <b>it</b> took</h2><h2>How to read it</h2>", [(1, "What it took")]),
        ("a.html", '<h2 class="say">Grading has not finished.</h2><h2>It is graded</h2>', [(1, "It is graded")]),
        ("a.js", '// whoever\nsay("whoever asks");\nconst whoever = "whoever";\n', [(2, "whoever")]),
        ("a.py", '"""Asks."""\n\nWORDS = "whoever asks", "ANALYZE it", "whoever"\n', [(3, "whoever")]),
        ("a.py", 'def a():\n    """Asks `whoever`, "nobody",\n\n    and somebody."""\n', [(4, "somebody")]),
        ("a.py", 'class A:\n    """What stands in a cell."""\n', [(2, "What")]),
        ("a.py", 'def a():\n    """Return of each cell its count."""\n', [(2, "Return of")]),
    ],
)
def test_faults_are_found_at_their_places(tmp_path: Path, name: str, text: str, faults: list[tuple[int, str]]) -> None:
    assert found(tmp_path, name, text) == faults


def test_what_is_excepted_is_there_and_would_be_found(monkeypatch: pytest.MonkeyPatch) -> None:
    excepted = dict(prose.EXCEPTED)
    monkeypatch.setattr(prose, "EXCEPTED", {})
    names = {name for name, _ in excepted}
    assert excepted.keys() <= {(fault.file, fault.words) for fault in prose.faults(names=sorted(names))}
