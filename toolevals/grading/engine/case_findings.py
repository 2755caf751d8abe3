"""Tell what is counted of a case besides its verdicts, so that a run can say how its agents failed and open the cases.

A finding has a family (FAMILIES), a kind within it, and the tool that it is about.

Tell which argument of which tool was wrong, and how: a case's differences and schema problems by parameter.

Tells over-tooling and its like apart: how the called tool differs from the right one, as their two specs say it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from toolevals.grading.edge_cases.parameters import BUCKET_SENTENCES
from toolevals.grading.layers.result_use.values import FINDING_SENTENCES
from toolevals.grading.values import Call, Expectation, Refusal, ToolSpec
from toolevals.grading.values.tools import effect_of_name, hands_over
from toolevals.grading.values.value_classes import value_class
from toolevals.grading.values.verdicts import NONE, UNKNOWN_TOOL, UNPARSED, CaseGrade, Pair
from toolevals.json_types import JsonMapping


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of confusion, and the words of the specs that make it one; `why` is empty where the class itself says."""

    name: str
    why: str = ""


def pair_kind(expected: ToolSpec, actual: ToolSpec) -> Kind:
    """Return over-tooling where the called tool costs more or reaches further than the right one, else its opposite.

    The first of these that differs decides: the cost; writing against reading; how many fields of personal data the
    output has; required arguments, of which a broader tool wants only some of the other's, for tools that have any
    argument in common. Where none differs the two are mixed up.
    """
    for reach in (_by_cost, _by_effect, _by_personal_data, _by_arguments):
        if found := reach(actual, expected):
            return Kind("over-tooling", found)
        if found := reach(expected, actual):
            return Kind("under-tooling", found)
    return Kind("mixed up")


def _by_cost(more: ToolSpec, less: ToolSpec) -> str:
    if more.cost is None or less.cost is None or more.cost <= less.cost:
        return ""
    return f"a call of {more.name} costs {more.cost:g}, one of {less.name} {less.cost:g}"


def _by_effect(more: ToolSpec, less: ToolSpec) -> str:
    if more.annotations.read_only is False and less.annotations.read_only is True:
        return f"{more.name} writes, {less.name} only reads"
    return ""


def _by_personal_data(more: ToolSpec, less: ToolSpec) -> str:
    mine, other = set(more.sensitive_output), set(less.sensitive_output)
    if len(mine) <= len(other):
        return ""
    fields = ", ".join(sorted(mine - other)[:3])
    return f"{more.name} gives out personal data ({fields}) that {less.name} does not"


def _by_arguments(more: ToolSpec, less: ToolSpec) -> str:
    mine, other = required_of(more), required_of(less)
    if not mine < other or not properties_of(more) & properties_of(less):
        return ""
    *rest, last = (f"“{name}”" for name in sorted(other - mine)[:3])
    spared = f"{', '.join(rest)} and {last}" if rest else last
    return f"{more.name} does not require {spared} as {less.name} does"


def required_of(spec: ToolSpec) -> set[str]:
    """Return the names of the arguments that a tool requires."""
    return {name for name in _listed(spec.input_schema.get("required")) if isinstance(name, str)}


def properties_of(spec: ToolSpec) -> set[str]:
    """Return the names of the arguments that a tool's schema names."""
    properties = spec.input_schema.get("properties")
    return set(properties) if isinstance(properties, dict) else set()


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


FaultKind = Literal["changed", "missing", "extra", "invalid"]
# Of one argument of one call the first of these that is there counts: parts of a list share one name.
_ORDER: Final[dict[str, int]] = {"missing": 0, "changed": 1, "extra": 2}
LONGEST_NAME = 200


@value_class
class ArgumentFault:
    """One argument of one call that is not as expected, or that breaks the tool's schema (kind "invalid").

    `argument` is the path of names into the arguments, joined by dots, with `*` for a place in a list: `items.*.sku`;
    empty where a schema is broken by the arguments as a whole. `place` is that of the pair among the case's pairs; of
    an invalid argument, that of the call among the transcript's calls.
    """

    place: int
    tool: str
    argument: str
    kind: FaultKind


def argument_faults(grade: CaseGrade, calls: Sequence[Call]) -> Iterator[ArgumentFault]:
    """Yield each wrong argument of the expected calls to the right tool once, then each that breaks a schema once.

    Of calls to another tool arguments are not compared, but their schema problems are there. `calls` are the
    transcript's.
    """
    found: dict[tuple[int, str], str] = {}
    for difference in grade.differences:
        pair = grade.pairs[difference.pair]
        if difference.kind in _ORDER and pair.expected == pair.actual:
            key = difference.pair, argument_name(difference.path)
            found[key] = min(difference.kind, found.get(key, difference.kind), key=_ORDER.__getitem__)
    for (place, argument), kind in found.items():
        yield ArgumentFault(place, grade.pairs[place].expected, argument, kind)  # type: ignore[arg-type]
    invalid = {(problem.call, argument_name(problem.pointer)): None for problem in grade.schema_problems}
    for place, argument in invalid:
        yield ArgumentFault(place, calls[place].name or "", argument, "invalid")


def argument_name(pointer: str) -> str:
    """Return the parameter that a JSON pointer leads to; what is a number is taken for a place in a list."""
    parts = (part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:])
    return ".".join("*" if part.isascii() and part.isdigit() else part for part in parts)[:LONGEST_NAME]


FAILED_BY: Final[Mapping[str, str]] = {
    "too_little": "An expected call is missing, or an expected fact is not in the answer.",
    "too_much": "A call was made that is not expected and that the gold does not allow.",
    "another_tool": "Another tool was called in place of the expected one, or the call cannot be read.",
    "wrong_target": "The right tool was called for another thing: the argument that names it has another value.",
    "wrong_value": "The right tool was called for the right thing, with another argument wrong.",
    "other": "None of these: the calls are as expected, or in another order.",
}
WRONG_TOOL: Final[Mapping[str, str]] = {
    "over_tooling": "A call too many, or a tool that costs more or reaches further than the right one.",
    "wrong_argument_shape": "The right tool; an argument missing, not expected, of another type or against the schema.",
    "hallucinated_tool": "A tool that is not offered.",
}
FIELDS: Final[Mapping[str, str]] = {
    "used": "Fields that tools returned and that replies used.",
    "unused": "Fields that tools returned and that no reply used.",
}
UNSCORED: Final[Mapping[str, str]] = {
    "result_use": "A reply of which no rule can tell whether it follows from what tools returned.",
    "recovery": "A failure of a tool of which no rule can tell whether the agent dealt with it rightly.",
}
BUCKETS: Final[Mapping[str, str]] = {bucket.value: says for bucket, says in BUCKET_SENTENCES.items()}
# Family -> kind -> what it means.
FAMILIES: Final[Mapping[str, Mapping[str, str]]] = {
    "failed_by": FAILED_BY,
    "wrong_tool": WRONG_TOOL,
    "arguments": BUCKETS,
    "result_use": {str(kind): sentence for kind, sentence in FINDING_SENTENCES.items()},
    "fields": FIELDS,
    "unscored": UNSCORED,
    # Its kinds are the ids of a policy's rules.
    "guard": {},
}
# Family -> the verdict whose scored cases its kinds are a share of. Fields are shares of fields.
BASES: Final[Mapping[str, str]] = {
    "failed_by": "outcome",
    "wrong_tool": "selection",
    "arguments": "arguments",
    "result_use": "result_use",
}
# What stands for a tool where a finding is about none.
ANSWER: Final = "(answer)"
NO_TOOL: Final = NONE
_WORDS: Final = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z]+")
_NAMING: Final = frozenset({"id", "uuid", "key", "number", "code"})
_NAMING_MANY: Final = frozenset({"ids", "uuids", "keys", "numbers", "codes"})
LONGEST_TOOL: Final = 200


@value_class
class CaseFinding:
    """One thing found in a case; `count` is how often: of fields how many, else 1 or more."""

    family: str
    kind: str
    tool: str
    count: int = 1


def case_findings(grade: CaseGrade, expectation: Expectation, tools: Mapping[str, ToolSpec]) -> Iterator[CaseFinding]:
    """Yield what is found in a case, each family, kind and tool once. `tools` are the offered ones by name.

    Never raises over what the details of a grade lack: an older or newer grader may leave something out.
    """
    questions = open_questions(grade)
    if not questions and "failed" not in grade.statuses.values() and "result_use" not in grade.details:
        return
    found: dict[tuple[str, str, str], int] = {}
    for family, kind, tool, count in (
        *_result_use(grade.details.get("result_use", {})),
        *_failures(grade, expectation, tools),
        *(("unscored", layer, NO_TOOL, 1) for layer in questions),
    ):
        key = family, kind, (tool or NO_TOOL)[:LONGEST_TOOL]
        found[key] = found.get(key, 0) + count
    for (family, kind, tool), count in found.items():
        yield CaseFinding(family, kind, tool, count)


def refused_findings(refusals: Sequence[Refusal]) -> Iterator[CaseFinding]:
    """Yield what a guard refused in a case, each rule and tool once."""
    found = Counter(
        (rule, (refusal.call.name or UNPARSED)[:LONGEST_TOOL]) for refusal in refusals for rule in refusal.rules
    )
    for (rule, tool), count in found.items():
        yield CaseFinding("guard", rule, tool, count)


def open_questions(grade: CaseGrade) -> Sequence[str]:
    """Return the layers of UNSCORED whose rules leave a question to a judge, which no broken schema settles."""
    statuses, questions = grade.statuses, []
    if statuses.get("result_use") == "unscored" and statuses.get("schema") != "failed":
        questions += ["result_use"] if grade.detail("result_use").get("question") else []
    if statuses.get("recovery") == "unscored" and grade.detail("recovery").get("episodes"):
        questions.append("recovery")
    return questions


_Found = tuple[str, str, str, int]


def _result_use(detail: JsonMapping) -> Iterator[_Found]:
    tools: dict[int, str] = {}
    for result in detail.get("utilisation", ()):
        tools[result["message"]] = result.get("tool") or NO_TOOL
        for kind in FIELDS:
            if fields := len(result.get(kind, ())):
                yield "fields", kind, result.get("tool") or NO_TOOL, fields
    for finding in detail.get("findings", ()):
        yield "result_use", finding["kind"], tools.get(finding.get("message"), NO_TOOL), 1


def _failures(grade: CaseGrade, expectation: Expectation, tools: Mapping[str, ToolSpec]) -> Iterator[_Found]:
    statuses = grade.statuses
    if statuses.get("arguments") == "failed":
        yield from _bucket(grade)
    if kind := wrong_tool_kind(grade, expectation, tools):
        yield "wrong_tool", kind, next((pair.expected for pair in grade.pairs), NO_TOOL), 1
    if statuses.get("outcome") == "failed":
        yield from (("failed_by", *each, 1) for each in dict.fromkeys(failed_by(grade, expectation, tools)))


def _bucket(grade: CaseGrade) -> Iterator[_Found]:
    bucket = grade.details.get("arguments", {}).get("bucket", "")
    if bucket:
        wrong = (pair.expected for pair in grade.pairs if pair.arguments == "failed")
        yield "arguments", bucket, next(wrong, NO_TOOL), 1


def wrong_tool_kind(grade: CaseGrade, expectation: Expectation, tools: Mapping[str, ToolSpec]) -> str:
    """Return which of WRONG_TOOL a case is, whatever its outcome; "" where it is none. They exclude each other.

    Of wrong tools an invented one comes first; over-tooling is a call that is neither expected nor let be, or another
    tool than the right one where their specs say so (`pair_kind`).
    """
    if grade.statuses.get("selection") == "failed":
        if any(pair.actual == UNKNOWN_TOOL for pair in grade.pairs):
            return "hallucinated_tool"
        return "over_tooling" if any(_is_too_much(pair, expectation, tools) for pair in grade.pairs) else ""
    misshapen = grade.statuses.get("shape") == "failed"
    broken = grade.statuses.get("arguments") == grade.statuses.get("schema") == "failed"
    return "wrong_argument_shape" if misshapen or broken else ""


def _is_too_much(pair: Pair, expectation: Expectation, tools: Mapping[str, ToolSpec]) -> bool:
    if pair.expected == NONE:
        return pair.actual not in (NONE, UNPARSED) and not _lets_be(expectation, pair.actual)
    return _reaches_further(pair, tools)


def _lets_be(expectation: Expectation, tool: str) -> bool:
    return expectation.kind == "calls" and expectation.lets_be(tool)


def _reaches_further(pair: Pair, tools: Mapping[str, ToolSpec]) -> bool:
    right, called = tools.get(pair.expected), tools.get(pair.actual)
    if right is None or called is None or right is called:
        return False
    return pair_kind(right, called).name == "over-tooling"


def failed_by(grade: CaseGrade, expectation: Expectation, tools: Mapping[str, ToolSpec]) -> Sequence[tuple[str, str]]:
    """Return how a failed case failed: (kind of FAILED_BY, tool), at least one.

    Where the end state is what failed and a call that writes is among them, calls that only read are left out: they
    leave no state. Whether a tool reads says its annotation, else the first verb in its name.
    """
    found = [each for place in range(len(grade.pairs)) for each in _of_pair(grade, place, expectation, tools)]
    if grade.statuses.get("execution") == "failed":
        writing = [each for each in found if not _only_reads(each[1], tools)]
        found = writing or found
    found = _once(found)
    if grade.statuses.get("answer") == "failed":
        found.append(("too_little", ANSWER))
    return found or [("other", NO_TOOL)]


def _once(found: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the ways without tools that were both too little and too much: what was expected came out of order."""
    both = {tool for kind, tool in found if kind == "too_little"} & {tool for kind, tool in found if kind == "too_much"}
    return [("other", tool) if tool in both else (kind, tool) for kind, tool in found]


def _of_pair(
    grade: CaseGrade, place: int, expectation: Expectation, tools: Mapping[str, ToolSpec]
) -> Iterator[tuple[str, str]]:
    pair = grade.pairs[place]
    lets_be, of_state = _lets_be(expectation, pair.actual), grade.statuses.get("execution") == "failed"
    idle = lets_be and _leaves_nothing(pair.actual, tools)
    if pair.actual == NONE:
        yield "too_little", pair.expected
    elif pair.expected == NONE:
        if not lets_be or (of_state and not idle):
            yield "too_much", pair.actual
    elif pair.expected == pair.actual:
        if pair.arguments == "failed":
            yield _wrong_arguments(grade, place, tools), pair.expected
    elif idle and not _only_reads(pair.expected, tools):
        # A look-up that may come beside the expected calls stands for no call that writes.
        yield "too_little", pair.expected
    elif of_state and _only_reads(pair.expected, tools) and not _leaves_nothing(pair.actual, tools):
        yield "too_much", pair.actual
    else:
        yield "another_tool", pair.expected


def _wrong_arguments(grade: CaseGrade, place: int, tools: Mapping[str, ToolSpec]) -> str:
    """Return whether a call is for another thing: whether the argument that names it is among the wrong ones."""
    compared = [each for each in grade.differences if each.pair == place]
    wrong = {_first_step(each.path) for each in compared if each.kind in ("changed", "missing")}
    spec = tools.get(grade.pairs[place].expected)
    required = spec.input_schema.get("required") if spec else None
    listed = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
    names = [*listed, *(_first_step(each.path) for each in compared if each.kind != "extra")]
    naming = next((name for kind in (_NAMING, _NAMING_MANY) for name in names if _last_word(name) in kind), None)
    return "wrong_target" if naming in wrong else "wrong_value"


def _first_step(pointer: str) -> str:
    return argument_name(pointer).partition(".")[0]


def _last_word(name: str) -> str:
    words = _WORDS.findall(name[:LONGEST_TOOL])
    return words[-1].lower() if words else ""


def _leaves_nothing(tool: str, tools: Mapping[str, ToolSpec]) -> bool:
    """Return whether a call leaves the world as it was: it reads, or hands over to people."""
    return _only_reads(tool, tools) or hands_over(tool)


def _only_reads(tool: str, tools: Mapping[str, ToolSpec]) -> bool:
    if tool in (NONE, UNKNOWN_TOOL, UNPARSED):
        return False
    spec = tools.get(tool)
    if spec is not None and spec.annotations.read_only is not None:
        return spec.annotations.read_only
    return effect_of_name(tool) == "reads"
