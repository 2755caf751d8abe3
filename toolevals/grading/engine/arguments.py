"""Grades the arguments layer at its depths (schema, shape, equivalence): findings, and words for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from toolevals.grading.alignment.trajectory import Alignment
from toolevals.grading.engine.compiled import Offer
from toolevals.grading.engine.decisions import Findings
from toolevals.grading.matching.compiled_calls import FOR_A_JUDGE, MISSHAPEN, MODES, ArgumentsCheck, CompiledCall
from toolevals.grading.matching.equality import composed_otherwise, is_ascii, unseen_difference
from toolevals.grading.values import Call, CallExpectation, ToolCall
from toolevals.grading.values.call_results import unknown_in
from toolevals.grading.values.canonical import shown
from toolevals.grading.values.value_classes import value_class
from toolevals.grading.values.verdicts import SchemaProblem, Status

_LONGEST_VALUE = 80
_MOST_NAMED = 3

OTHER_TOOLS = "Not compared: the tools are not the expected ones."
ALL_SHAPED = "The expected arguments are there, with the expected types."
ALL_EQUAL = "Every argument is as expected."
ALL_FIT = "The arguments fit the schema and the expectation."
NOTHING_EXPECTED = "No call is expected, so there are no arguments to compare."


@value_class
class SchemaCheck:
    """The schema gate over all calls: the places of those whose schema is known, and of those that break it."""

    checked: tuple[int, ...]
    broken: frozenset[int]


def check_schemas(calls: Sequence[Call], offer: Offer) -> SchemaCheck:
    """Validate each call against its tool's input schema."""
    answers = [offer.breaks_schema(call) for call in calls]
    return SchemaCheck(
        tuple(place for place, breaks in enumerate(answers) if breaks is not None),
        frozenset(place for place, breaks in enumerate(answers) if breaks),
    )


def known_schemas(calls: Sequence[Call], offer: Offer) -> SchemaCheck:
    """Return the schema gate over calls of which it is known that none breaks its schema."""
    return SchemaCheck(tuple(place for place, call in enumerate(calls) if offer.gate_of(call).is_known), frozenset())


def findings(
    selection_mode: str, total: int, standings: Iterable[tuple[int, bool]], checked: int, failing: int
) -> Findings:
    """Count what the verdicts depend on.

    `standings` say of each expected call that was made how its arguments stand, and whether they break the schema;
    `checked` and `failing` count all calls whose schema is known and broken.
    """
    matched = misshapen = broken = bad = worst = 0
    for standing, breaks in standings:
        worst = max(worst, standing)
        matched += standing <= FOR_A_JUDGE
        misshapen += standing >= MISSHAPEN
        broken += breaks
        bad += breaks or standing > FOR_A_JUDGE
    judge = worst == FOR_A_JUDGE and not bad and not selection_mode
    return Findings(selection_mode, checked, failing, total, matched, misshapen, broken, bad, MODES[worst], judge)


def schema_reason(
    status: Status, calls: Sequence[Call], check: SchemaCheck, problems: Sequence[SchemaProblem], offer: Offer
) -> str:
    """Return the schema gate's reason."""
    if status == "unscored":
        unused = (words for call in calls if (words := offer.why_unchecked(call)))
        return next(unused, "No call was made whose schema is known.")
    if status == "passed":
        only = len(check.checked) == 1
        valid = (
            f"Valid against {_name(calls[check.checked[0]])}."
            if only
            else f"All {len(check.checked)} calls fit their schemas."
        )
        unchecked = dict.fromkeys(offer.unchecked_formats(calls[place]) for place in check.checked)
        return " ".join(filter(None, (valid, *unchecked)))
    first = problems[0]
    more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
    return f"{_name(calls[min(check.broken)])}{first.pointer}: {first.message}{more}."


def shape_reason(status: Status, alignment: Alignment) -> str:
    """Return the reason of the depth `shape`: each expected call has the expected names with the expected types."""
    if status == "unscored":
        return OTHER_TOOLS if alignment.total else NOTHING_EXPECTED
    if status == "passed":
        return ALL_SHAPED
    wrong = [check for check in alignment.checks if check.shape_faults]
    parts = (("missing", "missing"), ("extra", "not expected"), ("misshapen", "of another type"))
    words = [
        f"{_names([name for check in wrong for name in getattr(check, part)])} {verb}"
        for part, verb in parts
        if any(getattr(check, part) for check in wrong)
    ]
    return f"{'; '.join(words)}."


def equivalence_reason(status: Status, alignment: Alignment, calls: Sequence[Call]) -> str:
    """Return the reason of the depth `equivalence`: the same tools, every argument as expected, schemas kept."""
    if not alignment.total:
        return NOTHING_EXPECTED
    if status == "passed":
        return ALL_EQUAL
    if status == "unscored":
        return _open_reason(alignment)
    if not alignment.tools_are_right:
        return "The tools differ, so the calls are not equal."
    if alignment.matched < alignment.total:
        return _first_fault(alignment, calls)
    return "The values do not count: the call breaks its schema."


def arguments_reason(status: Status, alignment: Alignment, broken: bool, schema: str, equivalence: str) -> str:
    """Return the layer's reason, which is the schema's or the equivalence's where it did not pass."""
    if status == "passed":
        return ALL_FIT
    if not alignment.total:
        return NOTHING_EXPECTED
    if not alignment.tools_are_right:
        return OTHER_TOOLS
    return schema if broken else equivalence


def with_composed(reason: str, names: Sequence[str]) -> str:
    """Return the reason why arguments are right, with those whose letters are composed in another way."""
    if not names:
        return reason
    return f"{reason} Composed and decomposed letters count as equal (Unicode NFC): {_names(names)} written so."


def composed_arguments(expected: CallExpectation, call: Call) -> tuple[str, ...]:
    """Return the arguments that are as expected only because composed and decomposed letters are equal."""
    given = call.arguments if isinstance(call, ToolCall) else {}
    if is_ascii(given):
        return ()
    return tuple(
        name
        for name, matcher in expected.arguments.items()
        if name in given and composed_otherwise(given[name], matcher.to_document())
    )


def _open_reason(alignment: Alignment) -> str:
    """Return why arguments are neither right nor wrong: a result is not known, else they are for a judge."""
    for (expected, _), check in zip(alignment.pairs, alignment.checks, strict=True):
        if unknown := unknown_in(alignment.compiled.calls[expected].expectation, check.unjudged):
            return f"{unknown}."
    return f"{_names([name for check in alignment.checks for name in check.unjudged])} to be judged."


def _first_fault(alignment: Alignment, calls: Sequence[Call]) -> str:
    (expected, actual), check = next(
        (pair, check) for pair, check in zip(alignment.pairs, alignment.checks, strict=True) if check.faults
    )
    others = sum(each.faults for each in alignment.checks) - 1
    return f"{_fault(alignment.compiled.calls[expected], calls[actual], check)}{f', and {others} more' * (others > 0)}."


def _fault(expected: CompiledCall, call: Call, check: ArgumentsCheck) -> str:
    if check.missing:
        return f"{check.missing[0]} is missing"
    if check.extra:
        return f"{check.extra[0]} is not expected"
    name = (*check.misshapen, *check.wrong)[0]
    matcher = expected.arguments[name].matcher
    kind = "" if matcher.kind == "exact" else f"{matcher.kind.replace('_', ' ')} "
    given = call.arguments[name] if isinstance(call, ToolCall) else None
    unseen = unseen_difference(given, matcher.content())
    seen = f" (they differ by {unseen})" if unseen else ""
    return f"{name} is {shown(given, _LONGEST_VALUE)}, expected {kind}{shown(matcher.content(), _LONGEST_VALUE)}{seen}"


def _names(names: Sequence[str]) -> str:
    listed = ", ".join(names[:_MOST_NAMED])
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"{listed}{more} {'is' if len(names) == 1 else 'are'}"


def _name(call: Call) -> str:
    return (call.name or "call")[:_LONGEST_VALUE]
