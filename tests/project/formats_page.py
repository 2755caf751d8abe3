"""The table of docs/formats.md, from the tables of the code. `python -m tests.project.formats_page` writes it anew."""

from __future__ import annotations

import os
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "formats.md"
BEGIN, END = "<!-- the table begins -->", "<!-- the table ends -->"


def table() -> str:
    """Return the table: a row for each format, with what comes in, what goes out and what is left out."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    import django

    django.setup()
    from labeling.exports import FORMATS as EXPORTS
    from labeling.imports.formats import SOURCES
    from toolevals.grading.files.evaluation_files.formats import FORMATS as FILES
    from toolevals.grading.reading.parsing import FORMATS as MESSAGES
    from toolevals.grading.reading.specs import FORMATS as TOOLS

    rows = ["| format | name | tools | examples | predictions | left out | its tests read files |"]
    rows.append("| --- | --- | --- | --- | --- | --- | --- |")
    for source in SOURCES.values():
        if source.file_format is None:
            examples = "in, out" if source.name in EXPORTS else "in"
            predictions = "in" if source.name in ("jsonl", "tau", "tau2") else ""
            rows.append(_row(source.title, source.name, "", examples, predictions, _loss(source.name), "of its schema"))
    written = (export for export in EXPORTS.values() if export.name not in SOURCES)
    rows += (_row(export.title, export.name, "", "out", "", "", "of its schema") for export in written)
    for each in FILES.values():
        marks = ("in" if kind in each.gives else "" for kind in ("tools", "examples", "predictions"))
        rows.append(_row(each.title, each.name, *marks, each.leaves, each.fixture))
    for tool in TOOLS:
        out = "in, out" if tool == "native" else "in"
        rows.append(_row(f"tools: {tool}", tool, out, "", "", "listed with the version", "of its schema"))
    for message in MESSAGES.values():
        left = "; ".join(message.losses)
        rows.append(_row(f"messages: {message.label}", message.name, "", "", "in", left, message.made_by))
    return "\n".join(rows)


def _loss(name: str) -> str:
    export = {"jsonl": "nothing", "csv": "nothing that has a column"}
    return export.get(name, "named by line with each import")


def _row(*cells: str) -> str:
    return " ".join(["|", *(f"{cell} |" if cell else "|" for cell in cells)])


def main() -> None:
    """Write the table into the page."""
    text = PAGE.read_text()
    before, rest = text.split(BEGIN)
    _, after = rest.split(END)
    PAGE.write_text(f"{before}{BEGIN}\n{table()}\n{END}{after}")


if __name__ == "__main__":
    main()
