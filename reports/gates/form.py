"""Turn a gate's document into a form, with rows for its rules and text for the rest, or into text, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Self

from django import forms
from django.http import QueryDict

from reports.gates.rows import ROWS, Row, UnscoredRow
from reports.gates.services import BRANCH, LAST_PASSING
from toolevals.grading.gates.documents import read_gate
from toolevals.grading.gates.results import GateMetric
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.grading.values.yaml_documents import load_yaml, yaml_text
from toolevals.json_types import JsonMapping, JsonObject
from toolevals.workspace.form_controls import PlainForm
from toolevals.workspace.requests import whole_number

MAX_TEXT: Final = 1_000_000
_RUN: Final = "run"


class HeadForm(PlainForm):
    """The form for a gate's name, and for the runs to compare with."""

    name = forms.CharField(
        required=False, max_length=60, help_text="Letters, digits, hyphens and _. Use it as --name on the command line."
    )
    compared = forms.ChoiceField(
        required=False,
        label="Compared with",
        choices=[
            ("", "nothing"),
            (LAST_PASSING, "the newest run that passed a gate"),
            (BRANCH, "the newest run of a branch"),
            (_RUN, "one run"),
        ],
        help_text="The baseline for regression rules.",
    )
    of = forms.CharField(required=False, max_length=200, label="Which", help_text="The branch, or the run's number.")

    @classmethod
    def of_gate(cls, name: str, baseline: str) -> HeadForm:
        """Return the form that shows a name and a baseline."""
        compared, of = _said_baseline(baseline)
        return cls(initial={"name": name, "compared": compared, "of": of})

    @property
    def baseline(self) -> str:
        """Return what a run is compared with, as a gate's request says it; the form is valid."""
        compared, of = self.cleaned_data["compared"], self.cleaned_data["of"].strip()
        said: str = {BRANCH: f"{BRANCH}{of}", _RUN: of}.get(compared, compared)
        if compared in (BRANCH, _RUN) and not of:
            raise InvalidDocument.at("/baseline", "is missing: enter a branch or a run number")
        return said

    def add_problem(self, problem: Problem) -> bool:
        """Show what is wrong with the name or the baseline, and return whether it is about one of them."""
        name = {"/name": "name", "/baseline": "of"}.get(problem.pointer)
        if name is None:
            return False
        self.add_error(name, problem.message)
        self.fields[name].widget.attrs["class"] += " is-invalid"
        return True


class TextForm(PlainForm):
    """A gate as its document, typed, pasted or from a file."""

    document = forms.CharField(
        required=False,
        strip=False,
        max_length=MAX_TEXT,
        label="Document, as YAML or JSON",
        widget=forms.Textarea({"rows": 18, "class": "form-control mono", "spellcheck": "false"}),
        help_text="bounds, assertions, thresholds, regressions, groups, consistency and unscored.",
    )

    def clean_document(self) -> JsonObject:
        return object_in(self.cleaned_data["document"])


@dataclass
class GateText:
    """A gate's head and its document as text."""

    head: HeadForm
    text: TextForm
    # It is no form: a template asks.
    rows: None = None

    @classmethod
    def of(cls, document: JsonMapping, *, name: str = "", baseline: str = "") -> Self:
        """Return the text of a document."""
        return cls(HeadForm.of_gate(name, baseline), TextForm(initial={"document": yaml_text(document)}))

    @classmethod
    def sent(cls, data: QueryDict) -> Self:
        """Return the text as it was sent."""
        return cls(HeadForm(data), TextForm(data))

    def is_valid(self) -> bool:
        """Return whether the text says a gate; else it is said what is wrong with it and where."""
        if not all([self.head.is_valid(), self.text.is_valid()]):
            return False
        try:
            read_gate(self.document())
        except InvalidDocument as error:
            self.add_problems(error)
            return False
        return True

    def document(self) -> JsonObject:
        """Return the gate's document; the text can be read, though the gate may not be valid."""
        found: JsonObject = self.text.cleaned_data["document"]
        return found

    def add_problems(self, error: InvalidDocument) -> None:
        """Show what is wrong: with the name and the baseline at their fields, all else at the document by pointer."""
        for problem in error.problems:
            if not self.head.add_problem(problem):
                self.text.add_error("document", str(Problem(problem.pointer.removeprefix("/gate"), problem.message)))
                self.text.fields["document"].widget.attrs["class"] += " is-invalid"


def object_in(text: str) -> JsonObject:
    """Return the object that YAML or JSON says, empty where nothing is said; raises ValidationError."""
    if not text.strip():
        return {}
    try:
        found = load_yaml(text)
    except InvalidDocument as error:
        raise forms.ValidationError([str(each) for each in error.problems]) from None
    if not isinstance(found, dict):
        raise forms.ValidationError("It is not an object.")
    return found


def _said_baseline(said: str) -> tuple[str, str]:
    """Return which kind of run a baseline is, and which one of them."""
    if not said or said == LAST_PASSING:
        return said, ""
    return (BRANCH, said.removeprefix(BRANCH)) if said.startswith(BRANCH) else (_RUN, said)


# As many rules of a kind as the form shows; the document takes more.
MOST_ROWS: Final = 100
_PARTS: Final = (*(row.KEY for row in ROWS), UnscoredRow.KEY)
# What a new rule begins with, by the key of its kind.
_FIRST: Final[Mapping[str, JsonMapping]] = {
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
        help_text="assertions, thresholds, groups of metrics and tool_drift.",
    )

    def clean_more(self) -> JsonObject:
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
    def of(cls, document: JsonMapping, metrics: Sequence[GateMetric], *, name: str = "", baseline: str = "") -> Self:
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

    def document(self) -> JsonObject:
        """Return the gate's document; every field can be read, though the gate may not be valid."""
        parts: JsonObject = {key: [row.document() for row in rows] for key, rows in self.rows.items() if rows}
        if unscored := self.unscored.document():
            parts["unscored"] = unscored
        more: JsonObject = self.more.cleaned_data["more"]
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

    def shows(self, document: JsonMapping) -> bool:
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
    document: JsonMapping, metrics: Sequence[GateMetric], *, name: str = "", baseline: str = ""
) -> GateForm | GateText:
    """Return the form of a valid document; its text where the form could not give it back as it is."""
    form = GateForm.of(document, metrics, name=name, baseline=baseline)
    return form if form.shows(document) else GateText.of(document, name=name, baseline=baseline)


def _texts(value: Any) -> list[str]:
    if isinstance(value, (list, tuple)):
        return [str(each) for each in value]
    return [] if value is None else [str(value)]


def _typed(kind: type[Row], data: QueryDict, prefix: str) -> JsonObject:
    """Return what was typed into a row, unread."""
    return {
        name: data.getlist(f"{prefix}-{name}")
        if isinstance(field, forms.MultipleChoiceField)
        else data.get(f"{prefix}-{name}", "")
        for name, field in kind.base_fields.items()
    }


def _count(data: QueryDict, kind: type[Row]) -> int:
    return min(whole_number(data.get(f"{kind.KEY}-count", "")) or 0, MOST_ROWS)
