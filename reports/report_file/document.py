"""Write a run as one HTML file: a page of its own with its style, its script and its cases in it.

Nothing in the file asks for anything else, and no text of a case is markup: what a template writes is escaped, and the
cases are JSON that a script writes as text. The file says the same each time that it is written of the same grading.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from hashlib import sha256
from itertools import islice
from math import ceil, log
from typing import Any, Final
from uuid import UUID

from django.conf import settings
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.safestring import SafeString

from reports.cases.queries import grading_sums, verdict_counts
from reports.compare.analysis import change_sentence
from reports.compare.moved import MovedFilter, moved_places, moved_rows
from reports.compare.queries import TwoRuns
from reports.costs.queries import spending_shown
from reports.gates.page import check_rows, gate_words, newest_gate
from reports.home.confusions import most_confused
from reports.matrix.analysis import Matrix
from reports.matrix.queries import counted_matrix
from reports.matrix.state import MatrixState
from reports.report_file.cases import Chosen, Texts, case_texts, chosen_cases, written
from reports.run.analysis import failure_modes, layers_of, sentence
from reports.run.header import run_url
from toolevals.runs.models import Grading
from toolevals.settings.static_files import PackedFiles

MOST_PAIRS: Final = 20
MOST_MOVED: Final = 50
_POLICY: Final = "default-src 'none'; script-src '{}'; style-src '{}'; base-uri 'none'; form-action 'none'"
# Steps of heat: the classes of the style for right and for wrong cells.
_RIGHT, _WRONG = ("g1", "g2"), 3
_WELL: Final = 0.9


@dataclass(frozen=True, slots=True)
class DrawnCell:
    """A cell of the table: its row and column in the data, how many cases it has, and its colour."""

    place: str
    count: int
    step: str


@dataclass(frozen=True, slots=True)
class Moved:
    """The examples that the comparison found fixed or broken: a case of each, its name, and if the file holds it."""

    title: str
    count: int
    cases: tuple[tuple[UUID, str, bool], ...]

    @property
    def left(self) -> int:
        """Return how many are not listed."""
        return self.count - len(self.cases)


def report_file(grading: Grading, *, runs: TwoRuns | None = None, redacted: bool = False, host: str = "") -> str:
    """Return the file. `runs` are a baseline and this run to compare; `host` is where the server's pages are."""
    run, chosen = grading.run, chosen_cases(grading)
    counts = verdict_counts(grading)
    layers = layers_of(counts, grading_sums(grading))
    matrix = counted_matrix(grading, MatrixState())
    drawn = most_confused(matrix)
    base = f"{host}{run_url('run', run)}" if host else ""
    query = "" if grading.pk == run.grading_id else f"?grading={grading.number}"
    style, script = _source("css/report_file.css"), _source("js/reports/report_file.js")
    context: dict[str, Any] = {
        "run": run,
        "grading": grading,
        "version": grading.dataset_version,
        "base": base,
        "query": query,
        "redacted": redacted,
        "sentence": sentence(layers, failure_modes(counts.get("mode", {}))),
        "layers": layers,
        "columns": drawn.columns,
        "matrix_rows": list(_rows(drawn)),
        "hidden_classes": len(matrix.columns) - len(drawn.columns),
        "chosen": chosen,
        "spending": spending_shown(grading, layers.outcome.rate.passed),
        **_gate(grading, host, redacted=redacted),
        **(_compared(runs, chosen, host) if runs else {}),
        "policy": _POLICY.format(_hash(script), _hash(style)),
        "style": SafeString(f"<style>{style}</style>"),
        "script": SafeString(f"<script>{script}</script>"),
        "data": _data(grading, chosen, drawn, base=base, query=query, redacted=redacted),
    }
    return render_to_string("reports/report_file/file.html", context)


def _data(grading: Grading, chosen: Chosen, matrix: Matrix, *, base: str, query: str, redacted: bool) -> SafeString:
    """Return what the script reads. Everything in it is escaped, and no browser runs its type."""
    head = written({"base": base, "query": query, "rows": matrix.rows, "columns": matrix.columns})
    texts = Texts()
    cases = ",\n".join(case_texts(grading, chosen, texts, redacted=redacted))
    body = f'{head[:-1]},"cases":[{cases}],"texts":{written(list(texts))}}}'
    return SafeString(f'<script type="application/json" id="held">{body}</script>')


def _rows(matrix: Matrix) -> Iterator[tuple[str, list[DrawnCell], float | None]]:
    wrong = [cell.count for cell in matrix.confusions]
    most = log(1 + max(wrong, default=1))
    for row, name in enumerate(matrix.rows):
        recall = matrix.recall(name).value
        cells = []
        for column, called in enumerate(matrix.columns):
            cell = matrix.cell(name, called)
            step = ""
            if cell.count:
                heat = ceil(_WRONG * log(1 + cell.count) / most)
                step = _RIGHT[(recall or 0.0) >= _WELL] if cell.right else f"b{heat}"
            cells.append(DrawnCell(f"{row}-{column}", cell.count, step))
        yield name, cells, recall


def _gate(grading: Grading, host: str, *, redacted: bool) -> dict[str, Any]:
    gate = newest_gate(grading.run, grading.pk)
    if gate is None or gate.held.outcome is None:
        return {}
    checks = check_rows(gate.held.outcome)
    path = reverse("reports:gate", args=[grading.run.project.slug, gate.held.pk])
    return {
        "gate": gate,
        "gate_words": gate_words(gate.held.outcome),
        # Remarks may quote.
        "checks": [replace(row, remarks="") for row in checks] if redacted else checks,
        "gate_url": f"{host}{path}" if host else "",
    }


def _compared(runs: TwoRuns, chosen: Chosen, host: str) -> dict[str, Any]:
    found, held = runs.comparison, frozenset(chosen.ids)
    path = reverse("reports:compare", args=[runs.after.project.slug, runs.before.number, runs.after.number])
    cells = (found.matrix.cell(place) for place in found.matrix.moved)
    return {
        "runs": runs,
        "compare_url": f"{host}{path}" if host else "",
        "change": change_sentence(found.layer("outcome")),
        "changed": [row for row in found.layers if row.compared.improved or row.compared.worsened],
        "pairs": list(islice((cell for cell in cells if cell.delta and not cell.right), MOST_PAIRS)),
        "moves": [_moved(runs, how, held) for how in ("fixed", "broken")],
    }


def _moved(runs: TwoRuns, how: str, held: frozenset[UUID]) -> Moved:
    wanted = MovedFilter(how=how)
    count, _ = moved_places(runs, wanted)
    cases = []
    for row in islice(moved_rows(runs, wanted), MOST_MOVED):
        came = [case for case in row.after if (case.outcome == "passed") == (how == "fixed")] or row.after
        cases.append((came[0].id, row.external_id, came[0].id in held))
    return Moved(f"Examples {how}", count, tuple(cases))


@cache
def _source(name: str) -> str:
    """Return one of our own static files."""
    with PackedFiles(location=settings.STATICFILES_DIRS[0]).open(name) as file:
        return str(file.read().decode())


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"
