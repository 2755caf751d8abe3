"""Turn the fields of the label page into an expectation, or into errors, field by field."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from django.http import QueryDict

from labeling.expectations.reading import ONLY_BEGUN, is_only_begun
from labeling.label_form.calls import MAX_JSON_BYTES, MAX_JSON_DEPTH, FieldProblem, ReadProblems, read_call
from labeling.label_form.matchers import CallEntries
from labeling.label_form.plan import Plan, read_plan, route_document
from toolevals.grading.json_schema.conformance import expectation_problems
from toolevals.grading.json_schema.reasons import reasoned_words
from toolevals.grading.values import Expectation, ToolSpec
from toolevals.grading.values.documents import load_json
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping, JsonObject

# Why no call is right, as people choose it: the value kept, the words, what is meant.
REASONS = (
    ("greeting", "greeting", "Small talk, thanks: nothing to do"),
    ("clarification", "clarification", "A value is missing and must be asked for"),
    ("in-model fact", "known already", "The answer is in the conversation or common knowledge"),
    ("refusal", "refusal", "No tool can or may do it"),
    ("other", "other", "Say it in the rationale"),
)
OWN = "own"
# The reactions that can be right: the value kept, the words, what is meant.
RIGHT_REACTIONS = (
    ("corrected_retry", "corrected retry", "Calls the tool again with other arguments"),
    ("fallback_tool", "fallback tool", "Calls another tool that can replace it"),
    ("clarification", "asks back", "Asks the user for what is missing"),
    ("escalation", "escalates", "Hands the case to a person"),
    ("honest_failure", "says so", "Tells the user that it did not work"),
)
PROFILES = (
    ("standard", "as usual"),
    ("strict", "strictly: types and spelling too"),
    ("loose", "loosely: without case and spaces"),
    ("bfcl", "as the BFCL benchmark does"),
)
# What can be unfolded: its name among the fields `also`, the words of its button.
SECTIONS = (
    ("reactions", "Right reactions"),
    ("answer", "Answer must say"),
    ("state", "Final state"),
    ("profile", "Values compared"),
)


@dataclass(frozen=True, slots=True)
class NonCallFields:
    """The values of the unfolded sections."""

    sections: frozenset[str]
    reactions: tuple[str, ...] = ()
    contains: tuple[str, ...] = ()
    exact: str = ""
    pattern: str = ""
    state: str = ""
    profile: str = "standard"


def non_call_fields_of(data: QueryDict, *, unfolded: frozenset[str] = frozenset()) -> NonCallFields:
    """Return the sections as the page sent them; `unfolded` are unfolded whether chosen or not."""
    return NonCallFields(
        sections=frozenset(data.getlist("also")) & {name for name, _ in SECTIONS} | unfolded,
        reactions=tuple(data.getlist("reaction")),
        contains=tuple(text for text in data.getlist("says") if text),
        exact=data.get("says_exact", ""),
        pattern=data.get("says_pattern", ""),
        state=data.get("state", ""),
        profile=data.get("profile") or "standard",
    )


def read_why(data: QueryDict, read_problems: ReadProblems, tools: Collection[str]) -> JsonObject:
    """Return the expectation of no call; `tools` are the names of the offered tools."""
    read_problems.origins |= {"/why": "why", "/near": "near"}
    document = _read_reason(data, read_problems)
    near = list(dict.fromkeys(name for name in data.getlist("near") if name))
    if unknown := next((name for name in near if name not in tools), None):
        read_problems.problems.append(FieldProblem("near", f"No tool is called “{unknown[:80]}” here."))
    if near:
        document["near"] = near
    return document


def _read_reason(data: QueryDict, read_problems: ReadProblems) -> JsonObject:
    chosen = data.get("why", "")
    why = data.get("why_own", "") if chosen == OWN else chosen
    if (chosen == OWN and why) or chosen in {reason for reason, _, _ in REASONS}:
        return {"kind": "no_call", "why": why}
    read_problems.problems.append(FieldProblem("why", "Say why no call is right."))
    return {"kind": "no_call"}


def read_non_call_fields(data: QueryDict, read_problems: ReadProblems) -> JsonObject:
    """Return what is next to the calls, of the sections that are unfolded."""
    given = non_call_fields_of(data)
    document: JsonObject = {}
    read_problems.origins |= {"/state": "state", "/answer": "says", "/answer/pattern": "says_pattern"}
    reactions = [name for name, _, _ in RIGHT_REACTIONS if name in given.reactions]
    if reactions:
        document["reactions"] = [name for name in dict.fromkeys(given.reactions) if name in reactions]
    if answer := _answer(given):
        document["answer"] = answer
    if given.profile in {name for name, _ in PROFILES}:
        document["profile"] = given.profile
    if given.state.strip():
        _read_state(given.state, document, read_problems)
    return document


def _answer(given: NonCallFields) -> JsonObject:
    answer: JsonObject = {}
    contains = [text.replace("\r\n", "\n") for text in given.contains]
    if contains:
        answer["contains"] = contains
    for name, text in (("exact", given.exact), ("pattern", given.pattern)):
        if text.strip():
            answer[name] = text.replace("\r\n", "\n")
    return answer


def _read_state(text: str, document: JsonObject, read_problems: ReadProblems) -> None:
    try:
        state = load_json(text, max_bytes=MAX_JSON_BYTES, max_depth=MAX_JSON_DEPTH)
    except InvalidDocument as error:
        read_problems.problems.append(FieldProblem("state", f"Cannot be read: {error.problems[0].message}"))
        return
    if isinstance(state, dict):
        document["state"] = state
    else:
        read_problems.problems.append(FieldProblem("state", "The final state is a JSON object."))


NONE = "none"
ANY_CALL = "any"
# What is no expectation: why no one can say one.
MISSING_TOOL = "missing_tool"
ANSWERS = ("ambiguous", MISSING_TOOL)
EXPECTATION = "expectation"
CHOOSE = "Choose a tool, or (none)."
WHAT_IS_MISSING = "Describe the missing tool: what should it do?"
_CALL_FIELD = re.compile(r"c([0-9]+)/(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Entered:
    """The entries of the form: the expectation as far as it can be read, and its problems.

    `answer` is a LabelAnswer; where it is none of "expectation", there is no document.
    """

    document: JsonObject | None
    problems: tuple[FieldProblem, ...]
    answer: str = EXPECTATION

    @property
    def is_valid(self) -> bool:
        return not self.problems and (self.document is not None or self.answer != EXPECTATION)


@dataclass(frozen=True, slots=True)
class Page:
    """The page's fields with the tools that are offered: what is chosen, whose calls they are."""

    data: QueryDict
    tools: Sequence[ToolSpec]
    plan: Plan

    @property
    def kind(self) -> str:
        """Return what is chosen: "none", "any", one of ANSWERS, or "calls"."""
        choice = self.data.get("tool", "")
        return choice if choice in (NONE, ANY_CALL, *ANSWERS) else "calls"

    @property
    def open(self) -> int:
        """The number of the call whose arguments are shown; 0 where there is no call."""
        calls, chosen = self.plan.calls(), self.data.get("open", "")
        number = int(chosen) if re.fullmatch(r"[0-9]{1,5}", chosen) else 0
        return number if number in calls else next(iter(calls), 0)

    def entries(self, number: int) -> CallEntries:
        """Return the fields of a call."""
        return CallEntries(self.data, number, self.plan)

    def tool_name(self, number: int) -> str:
        """Return the name of a call's tool; of the open call, the one chosen in the list."""
        choice = self.data.get("tool", "")
        if number == self.open and re.fullmatch(r"[0-9]{1,5}", choice) and int(choice) < len(self.tools):
            return self.tools[int(choice)].name
        return self.entries(number).one("tool")

    def tool(self, number: int) -> ToolSpec | None:
        """Return a call's tool; None where none is chosen, or one that is not offered."""
        name = self.tool_name(number)
        return next((tool for tool in self.tools if tool.name == name), None)

    def schema(self, number: int) -> JsonMapping:
        """Return the schema of a call's arguments; of a tool that is not offered, one that says nothing."""
        return self.schema_of(self.tool_name(number))

    def schema_of(self, name: str) -> JsonMapping:
        """Return the schema of a tool's arguments; of a tool that is not offered, one that says nothing."""
        return next((tool.input_schema for tool in self.tools if tool.name == name), {})


def page_of(data: QueryDict, tools: Sequence[ToolSpec]) -> Page:
    """Return the page's fields, with the plan that they hold."""
    return Page(data, tools, read_plan(data.get("plan", "")))


def read_label(data: QueryDict, tools: Sequence[ToolSpec]) -> Entered:
    """Return the label that the page's fields hold, checked against the offered tools, with its rationale checked."""
    entered = _read_label(data, tools)
    if not is_only_begun(data.get("rationale", "")):
        return entered
    return replace(entered, problems=(*entered.problems, FieldProblem("rationale", f"This {ONLY_BEGUN}.")))


def _read_label(data: QueryDict, tools: Sequence[ToolSpec]) -> Entered:
    if data.get("mode") == "json":
        entered = read_json(data.get("json", ""))
        if entered.document is None or entered.problems:
            return entered
        found = [
            FieldProblem("json", f"{one.pointer or '/'}: {one.message}") for one in _wrong(entered.document, tools)
        ]
        return Entered(entered.document, tuple(found))
    page = page_of(data, tools)
    entered, origins = _read(page)
    problems = list(entered.problems)
    if entered.document is not None:
        wrong = [FieldProblem(origins.field_at(one.pointer), one.message) for one in _wrong(entered.document, tools)]
        problems += [one for one in wrong if not _is_of_the_unread(one.field, entered.problems)]
    return Entered(entered.document, tuple(_at_closed_calls(problems, page)), entered.answer)


def read_json(text: str) -> Entered:
    """Return the expectation that raw JSON holds; only its syntax is checked."""
    if not text.strip():
        return Entered(None, (FieldProblem("json", "Nothing is entered yet."),))
    try:
        document = load_json(text, max_bytes=MAX_JSON_BYTES, max_depth=MAX_JSON_DEPTH)
    except InvalidDocument as error:
        return Entered(None, tuple(FieldProblem("json", f"Cannot be read: {one.message}") for one in error.problems))
    if not isinstance(document, dict):
        return Entered(None, (FieldProblem("json", "An expectation is a JSON object."),))
    return Entered(document, ())


def read_form(data: QueryDict, tools: Sequence[ToolSpec]) -> Entered:
    """Return the expectation that the form's fields hold; what cannot be read is left out and named."""
    return _read(page_of(data, tools))[0]


def _read(page: Page) -> tuple[Entered, ReadProblems]:
    read_problems = ReadProblems()
    if page.kind in ANSWERS:
        if page.kind == MISSING_TOOL and not page.data.get("rationale", "").strip():
            read_problems.problems.append(FieldProblem("rationale", WHAT_IS_MISSING))
        return Entered(None, tuple(read_problems.problems), page.kind), read_problems
    if page.kind == NONE:
        document: JsonObject | None = read_why(page.data, read_problems, {tool.name for tool in page.tools})
    elif page.kind == ANY_CALL:
        document = {"kind": "some_call"}
    else:
        document = _read_calls(page, read_problems)
    if document is not None:
        document |= read_non_call_fields(page.data, read_problems)
    return Entered(document, tuple(read_problems.problems)), read_problems


def _read_calls(page: Page, read_problems: ReadProblems) -> JsonObject | None:
    if page.plan.is_simple and not page.tool_name(page.open):
        read_problems.problems.append(FieldProblem("tool", CHOOSE))
        return None

    def call(number: int, at: str) -> JsonObject | None:
        if name := page.tool_name(number):
            return {"tool": name, **read_call(page.entries(number), page.schema(number), at, read_problems)}
        is_open = number == page.open
        read_problems.problems.append(FieldProblem("tool" if is_open else f"c{number}", "Choose a tool."))
        return None

    routes = [
        {
            **route_document(route, call, f"/alternatives/{place}"),
            "additional_calls": bool(page.data.get(f"a{route.number}.more")),
        }
        for place, route in enumerate(page.plan.routes)
    ]
    return {"kind": "calls", "alternatives": routes}


def _wrong(document: JsonObject, tools: Sequence[ToolSpec]) -> Sequence[Problem]:
    try:
        expectation = Expectation.from_document(document)
    except InvalidDocument as error:
        return error.problems
    return expectation_problems(expectation, tools, reasoned_words)


def _is_of_the_unread(field: str, unread: Iterable[FieldProblem]) -> bool:
    """Tell whether what is wrong with a field may be wrong only because something in it could not be read."""
    return any(not field or one.field == field or one.field.startswith(f"{field}/") for one in unread)


def _at_closed_calls(problems: Iterable[FieldProblem], page: Page) -> Iterable[FieldProblem]:
    """Say what is wrong with the arguments of a call that is not open next to the call."""
    for problem in problems:
        inside = _CALL_FIELD.match(problem.field)
        if inside and int(inside[1]) != page.open:
            yield FieldProblem(f"c{inside[1]}", f"{inside[2]}: {problem.message}")
        else:
            yield problem
