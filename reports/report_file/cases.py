"""Choose the cases that a report file holds, and write each as a small document for its script."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet

from labeling.conversation import CallBlock, DataBlock, TextBlock, read_conversation
from labeling.conversation.turns import ROLES, Block
from reports.cases.analysis import ComparedRow, case_title, compared_calls, compared_state
from reports.cases.queries import verdict_counts, with_gold
from reports.templatetags.report_numbers import layer_name
from toolevals.grading.values import Expectation, Transcript
from toolevals.grading.values.canonical import exact
from toolevals.grading.values.verdict_table import VERDICT_NAMES
from toolevals.grading.values.verdicts import CaseGrade as Grade
from toolevals.json_types import JsonObject
from toolevals.registry.tool_lists import tools_in
from toolevals.runs.judging.blindness import detail_without, hidden_in
from toolevals.runs.models import CaseGrade, Grading
from toolevals.runs.rereading.shown_cases import done_messages

# A file holds so many cases, and all of them together take so many bytes.
MOST_CASES: Final = 1000
ROOM: Final = 1_600_000
WRONG: Final = ("failed", "errored")
_CHUNK: Final = 200
# The longest text and the most turns and rows of a case, tried in turn until it fits.
_LIMITS: Final = ((1_000_000, 5_000), (8_000, 200), (2_000, 60), (600, 24), (200, 10), (70, 6), (24, 2))
_LONGEST_NAME: Final = 80
# No longer texts stand where they are used.
_SHORT: Final = 12


@dataclass(frozen=True, slots=True)
class Chosen:
    """The ids of the cases that a file holds, wrong ones first, and how many of each kind there are."""

    ids: tuple[UUID, ...]
    held_wrong: int
    wrong: int
    others: int

    @property
    def held_others(self) -> int:
        """Return how many cases that are not wrong the file holds."""
        return len(self.ids) - self.held_wrong

    @property
    def words(self) -> str:
        """Say how many cases of how many the file holds."""
        total = self.wrong + self.others
        if len(self.ids) == total:
            return f"This file holds all {total:,} cases of the run."
        wrong, other = ("all" if held == of else f"{held:,} of" for held, of in self._parts)
        return (
            f"This file holds {len(self.ids):,} of the {total:,} cases of the run: {wrong} {self.wrong:,} failed or "
            f"errored ones and {other} {self.others:,} others. A part of a kind is taken evenly over the run."
        )

    @property
    def _parts(self) -> tuple[tuple[int, int], tuple[int, int]]:
        return (self.held_wrong, self.wrong), (self.held_others, self.others)


def chosen_cases(grading: Grading, most: int = MOST_CASES) -> Chosen:
    """Return the cases that a file holds: all wrong ones, then others, evenly over the run where not all have room."""
    outcomes = verdict_counts(grading).get("outcome", {})
    wrong = sum(outcomes.get(status, 0) for status in WRONG)
    others = sum(outcomes.values()) - wrong
    cases = CaseGrade.objects.filter(grading=grading).order_by("pk")
    first = _evenly(cases.filter(outcome__in=WRONG), wrong, most)
    rest = _evenly(cases.exclude(outcome__in=WRONG), others, most - len(first))
    return Chosen((*first, *rest), len(first), wrong, others)


def _evenly(cases: QuerySet[CaseGrade], total: int, room: int) -> list[UUID]:
    """Return the ids of `room` of the cases at even distances, or of all where there are no more."""
    wanted = {place * total // room for place in range(room)} if total > room else None
    ids = cases.values_list("pk", flat=True).iterator(chunk_size=5000)
    return [pk for place, pk in enumerate(ids) if wanted is None or place in wanted]


class Texts:
    """The texts of a file, each once: the system's words are the same in most cases."""

    def __init__(self) -> None:
        self._places: dict[str, int] = {}

    def placed(self, value: Any, new: dict[str, int]) -> Any:
        """Return a value with the place of each text that is not short; `new` gets those that have none yet."""
        if isinstance(value, list):
            return [self.placed(each, new) for each in value]
        if not isinstance(value, str) or len(value) <= _SHORT:
            return value
        place = self._places.get(value)
        return new.setdefault(value, len(self._places) + len(new)) if place is None else place

    def keep(self, new: Mapping[str, int]) -> None:
        """Keep the texts of a case that is held."""
        self._places.update(new)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)


def case_texts(grading: Grading, chosen: Chosen, texts: Texts, *, redacted: bool) -> Iterator[str]:
    """Yield each case as JSON that can stand in a script element; with the `texts` they take at most ROOM bytes."""
    left, cases_left = ROOM, len(chosen.ids)
    hidden = hidden_in(grading.run.project_id)
    rows = CaseGrade.objects.select_related(
        "transcript__entry__revision__example", "transcript__entry__revision__tools"
    )
    for start in range(0, len(chosen.ids), _CHUNK):
        some = chosen.ids[start : start + _CHUNK]
        by_id = with_gold(rows, grading).in_bulk(some)
        for row in map(by_id.__getitem__, some):
            revision = row.transcript.entry.revision
            detail = detail_without(row.detail, hidden.get(revision.pk, ()))
            room = left // cases_left
            text, taken = _fitting(_Case(row, detail, longest=room // 2, redacted=redacted), texts, room)
            left, cases_left = left - taken, cases_left - 1
            yield text


def _fitting(case: _Case, texts: Texts, room: int) -> tuple[str, int]:
    """Return the case with its texts as long as there is room for them, and the bytes that it takes."""
    for longest, most in _LIMITS:
        new: dict[str, int] = {}
        text = written(
            {
                name: texts.placed(value, new) if isinstance(value, list) else value
                for name, value in case.document(longest, most).items()
            }
        )
        taken = len(text.encode()) + sum(len(written(each).encode()) + 1 for each in new)
        if taken <= room:
            break
    texts.keep(new)
    return text, taken


def written(value: Any) -> str:
    """Return JSON that can stand in a script element."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    for sign in "<>&\u2028\u2029":
        text = text.replace(sign, f"\\u{ord(sign):04x}")
    # Halves of a sign have no bytes of their own.
    return text.encode("utf-8", "backslashreplace").decode()


class _Case:
    """Holds what is told of one case before it is cut."""

    def __init__(self, row: Any, detail: JsonObject, *, longest: int, redacted: bool) -> None:
        revision = row.transcript.entry.revision
        self._longest, self._is_cut = longest, False
        document = row.transcript.document
        transcript = None if document is None else Transcript.from_document(document)
        grade = Grade.from_document(detail)
        self._mask = _Mask(frozenset(_names(revision.tools))) if redacted else _Open()
        self._row, self._grade = row, grade
        self._given = list(self._turns(revision.input))
        self._done = list(self._turns({"messages": done_messages(transcript)}))
        calls = compared_calls(grade, Expectation.from_document(row.gold_expectation), transcript)
        self._rows = [self._compared(each) for call in calls for each in (*call.rows, *call.agreed)]
        for record in compared_state(grade.details).records:
            self._rows += [self._compared(each, f"state: {record.name}: ") for each in record.rows]
        judged: dict[str, Any] = {f"judge: {name}": said for name, said in grade.judged.items()}
        verdicts: dict[str, Any] = {name: grade.verdicts[name] for name in VERDICT_NAMES if name in grade.verdicts}
        self._verdicts = [
            [layer_name(name), each.status, self._mask.reason(each.reason or "")]
            for name, each in (verdicts | judged).items()
        ]

    def document(self, longest: int, most: int) -> JsonObject:
        """Return it with no longer text and no more turns and rows than these; the last turns stay."""
        is_cut = self._is_cut or max(len(self._given), len(self._done), len(self._rows)) > most

        def cut(value: Any) -> Any:
            nonlocal is_cut
            if isinstance(value, list):
                return [cut(each) for each in value]
            if not isinstance(value, str) or len(value) <= longest:
                return value
            is_cut = True
            return f"{value[: longest - 1]}…"

        row, left = self._row, len(self._given) - most
        name = row.transcript.entry.revision.example.external_id
        return {
            "id": str(row.pk),
            "name": name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…",
            "trial": row.transcript.trial + 1,
            "expected": row.expected,
            "actual": row.actual,
            "outcome": row.outcome,
            "title": cut(case_title(self._grade)),
            "earlier": max(left, 0),
            "given": cut(self._given[max(left, 0) :]),
            "done": cut(self._done[:most]),
            "rows": cut(self._rows[:most]),
            "verdicts": [[name, status, cut(reason)] for name, status, reason in self._verdicts],
            "cut": is_cut,
        }

    def _turns(self, document: Any) -> Iterator[list[str]]:
        for turn in read_conversation(self._short(document)).turns:
            who = self._mask.role(turn.words)
            for block in turn.blocks:
                if isinstance(block, CallBlock):
                    yield [f"{who} calls {self._mask.name(block.name)}", self._mask.text(block.raw or _json(block))]
                    if block.result is not None:
                        error = ", an error" if block.result.note == "error" else ""
                        yield [f"Result{error}", self._mask.text(_words(block.result))]
                else:
                    thought = isinstance(block, DataBlock) and block.title == "Thought"
                    yield [f"{who}, a thought" if thought else who, self._mask.text(_words(block))]

    def _short(self, value: Any) -> Any:
        """Return a document with its texts cut where one alone fills the case's room: reading long ones takes long."""
        if isinstance(value, dict):
            return {key: self._short(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self._short(each) for each in value]
        if not isinstance(value, str) or len(value) <= self._longest:
            return value
        self._is_cut = True
        return f"{value[: self._longest]}…"

    def _compared(self, row: ComparedRow, before: str = "") -> list[str | None]:
        show = self._mask.name if row.path == "tool" else self._mask.value
        expected, actual = (None if each is None else show(each) for each in (row.expected, row.actual))
        return [self._mask.path(f"{before}{row.path}"), expected, actual, row.kind, self._mask.reason(row.note)]


class _Open:
    """Shows everything as it is."""

    def text(self, text: str) -> str:
        return text

    reason = role = name = value = path = text


class _Mask(_Open):
    """Shows nothing that people or agents wrote: only the words of the page and the names in the tools' specs."""

    def __init__(self, names: frozenset[str]) -> None:
        self._known = names

    def text(self, text: str) -> str:
        return f"[text, {len(text):,} characters]"

    def value(self, text: str) -> str:
        return "[value]"

    def reason(self, text: str) -> str:
        return ""

    def role(self, text: str) -> str:
        return text if text in (*ROLES.values(), "Context") else "[role]"

    def name(self, text: str) -> str:
        return text if text in self._known or text == "no call" else "[name]"

    def path(self, text: str) -> str:
        return text if text in self._known or text == "tool" else "[argument]"


def _names(tools: Any) -> Iterator[str]:
    """Yield the names of tools and of their parameters."""
    for spec in tools_in(tools):
        yield spec.name
        properties = spec.input_schema.get("properties") if isinstance(spec.input_schema, Mapping) else None
        yield from properties if isinstance(properties, Mapping) else ()


def _json(call: CallBlock) -> str:
    return call.arguments if isinstance(call.arguments, str) else exact(call.arguments)


def _words(block: Block) -> str:
    """Return the whole text of a block."""
    if isinstance(block, TextBlock):
        return "".join(part.text for part in (*block.parts, *block.rest))
    if isinstance(block, CallBlock) or block.raw:
        return block.raw
    return "\n".join(_line(line.key, (part.text for part in line.parts)) for line in block.lines)


def _line(key: str, parts: Iterable[str]) -> str:
    return f"{key}{'' if not key or key.endswith(' ') else ' '}{''.join(parts)}"
