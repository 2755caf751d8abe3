"""Turn a gate's document into a form, with rows for its rules and text for the rest, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self

from django import forms
from django.http import QueryDict

from reports.gates.rows import ROWS, Row, UnscoredRow
from reports.gates.text import GateText, HeadForm, object_in
from toolevals.grading.gates.documents import read_gate
from toolevals.grading.gates.results import GateMetric
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.grading.values.yaml_documents import yaml_text
from toolevals.workspace.form_controls import PlainForm
from toolevals.workspace.requests import whole_number

# As many rules of a kind as the form shows; the document takes more.
MOST_ROWS: Final = 100
_PARTS: Final = (*(row.KEY for row in ROWS), UnscoredRow.KEY)
# What a new rule begins with, by the key of its kind.
_FIRST: Final[Mapping[str, Mapping[str, Any]]] = {
    "bounds": {"metric": "outcome", "min": 0.9},
    "regressions": {"rule": "paired", "metrics": ["outcome"]},
    "consistency": {"metric": "outcome", "min": 0.6},
}
NEW: Final = {"bounds": [_FIRST["bounds"]]}


class MoreForm(PlainForm):
    """The rules that have no row."""

    more = forms.CharField(
        required=False,
        strip=False,
        label="Other rules, as YAML or JSON",
        widget=forms.Textarea({"rows": 4, "class": "form-control mono", "spellcheck": "false"}),
        help_text="assertions, thresholds and groups of metrics.",
    )

    def clean_more(self) -> dict[str, Any]:
        found = object_in(self.cleaned_data["more"])
        if taken := [key for key in _PARTS if key in found]:
            raise forms.ValidationError(f"{', '.join(taken)}: these rules have rows above.")
        return found


@dataclass
class GateForm:
    """The forms of a gate: its head, its rows by kind, what must be scored, and the rest.

    `problems` belong to none of them.
    """

    head: HeadForm
    rows: dict[str, list[Row]]
    unscored: UnscoredRow
    more: MoreForm
    problems: list[Problem] = field(default_factory=list)

    @classmethod
    def of(
        cls, document: Mapping[str, Any], metrics: Sequence[GateMetric], *, name: str = "", baseline: str = ""
    ) -> Self:
        """Return the form that shows a valid document."""
        more = {key: value for key, value in document.items() if key not in _PARTS}
        return cls(
            HeadForm.of_gate(name, baseline),
            {
                kind.KEY: [
                    kind(initial=kind.initial_of(part), prefix=f"{kind.KEY}-{place}", metrics=metrics)
                    for place, part in enumerate(document.get(kind.KEY, ()))
                ]
                for kind in ROWS
            },
            UnscoredRow(initial=UnscoredRow.initial_of(document.get("unscored", {})), prefix="unscored"),
            MoreForm(initial={"more": yaml_text(more) if more else ""}),
        )

    @classmethod
    def sent(cls, data: QueryDict, metrics: Sequence[GateMetric]) -> Self:
        """Return the form as it was sent."""
        return cls(
            HeadForm(data),
            {
                kind.KEY: [
                    kind(data, prefix=f"{kind.KEY}-{place}", metrics=metrics) for place in range(_count(data, kind))
                ]
                for kind in ROWS
            },
            UnscoredRow(data, prefix="unscored"),
            MoreForm(data),
        )

    @classmethod
    def changed(cls, data: QueryDict, metrics: Sequence[GateMetric], act: str) -> Self:
        """Return the form as it was sent, with one row more (`add:KIND`) or less (`drop:KIND:PLACE`), unchecked."""
        verb, _, rest = act.partition(":")
        key, _, place = rest.partition(":")
        rows = {}
        for kind in ROWS:
            parts = [_typed(kind, data, f"{kind.KEY}-{at}") for at in range(_count(data, kind))]
            if key == kind.KEY and verb == "add" and len(parts) < MOST_ROWS:
                parts.append(kind.initial_of(_FIRST[key]))
            if key == kind.KEY and verb == "drop":
                dropped = whole_number(place)
                parts = [part for at, part in enumerate(parts) if at != dropped]
            rows[kind.KEY] = [
                kind(initial=part, prefix=f"{kind.KEY}-{at}", metrics=metrics) for at, part in enumerate(parts)
            ]
        return cls(
            HeadForm(initial={name: data.get(name, "") for name in HeadForm.base_fields}),
            rows,
            UnscoredRow(initial=_typed(UnscoredRow, data, "unscored"), prefix="unscored"),
            MoreForm(initial={"more": data.get("more", "")}),
        )

    def is_valid(self) -> bool:
        """Return whether the form says a gate; else each field says what is wrong with it."""
        if not all([form.is_valid() for form in self._forms()]):  # noqa: C419 (each is to say what is wrong)
            return False
        try:
            read_gate(self.document())
        except InvalidDocument as error:
            self.add_problems(error)
            return False
        return True

    def document(self) -> dict[str, Any]:
        """Return the gate's document; every field can be read, though the gate may not be valid."""
        parts: dict[str, Any] = {key: [row.document() for row in rows] for key, rows in self.rows.items() if rows}
        if unscored := self.unscored.document():
            parts["unscored"] = unscored
        more: dict[str, Any] = self.more.cleaned_data["more"]
        return parts | more

    def add_problems(self, error: InvalidDocument) -> None:
        """Show what is wrong at the fields that the pointers name; what belongs to none, above the form."""
        for problem in error.problems:
            if self.head.add_problem(problem):
                continue
            pointer = problem.pointer.removeprefix("/gate")
            part, _, rest = pointer[1:].partition("/")
            place, _, inner = rest.partition("/")
            rows = self.rows.get(part, [])
            if place.isdigit() and int(place) < len(rows):
                rows[int(place)].add_problem(Problem(f"/{inner}" if inner else "", problem.message))
            elif part == UnscoredRow.KEY:
                self.unscored.add_problem(Problem(f"/{rest}" if rest else "", problem.message))
            elif part in self.more.cleaned_data.get("more", {}):
                self.more.add_error("more", f"{pointer}: {problem.message}")
                self.more.fields["more"].widget.attrs["class"] += " is-invalid"
            else:
                self.problems.append(Problem(pointer, problem.message))

    def shows(self, document: Mapping[str, Any]) -> bool:
        """Return whether the form gives a valid document back as it is, so that it can be changed by the form."""
        data = QueryDict(mutable=True)
        for form in self._forms():
            for bound in form:
                value = bound.value()
                data.setlist(bound.html_name, _texts(value))
        for key, rows in self.rows.items():
            data[f"{key}-count"] = str(len(rows))
        metrics = next((row.offered for rows in self.rows.values() for row in rows), ())
        again = GateForm.sent(data, metrics)
        return again.is_valid() and read_gate(again.document()) == read_gate(document)

    def _forms(self) -> Iterator[PlainForm]:
        yield self.head
        for rows in self.rows.values():
            yield from rows
        yield self.unscored
        yield self.more


def editor_of(
    document: Mapping[str, Any], metrics: Sequence[GateMetric], *, name: str = "", baseline: str = ""
) -> GateForm | GateText:
    """Return the form of a valid document; its text where the form could not give it back as it is."""
    form = GateForm.of(document, metrics, name=name, baseline=baseline)
    return form if form.shows(document) else GateText.of(document, name=name, baseline=baseline)


def _texts(value: Any) -> list[str]:
    if isinstance(value, (list, tuple)):
        return [str(each) for each in value]
    return [] if value is None else [str(value)]


def _typed(kind: type[Row], data: QueryDict, prefix: str) -> dict[str, Any]:
    """Return what was typed into a row, unread."""
    return {
        name: data.getlist(f"{prefix}-{name}")
        if isinstance(field, forms.MultipleChoiceField)
        else data.get(f"{prefix}-{name}", "")
        for name, field in kind.base_fields.items()
    }


def _count(data: QueryDict, kind: type[Row]) -> int:
    return min(whole_number(data.get(f"{kind.KEY}-count", "")) or 0, MOST_ROWS)
