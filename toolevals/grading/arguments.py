"""The arguments layer and its depths: schema conformance, shape, AST-equivalence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from toolevals.grading.canonical import shown
from toolevals.grading.matching import ArgumentsCheck, CompiledCall
from toolevals.grading.offer import Offer
from toolevals.grading.trajectory import Alignment
from toolevals.grading.values import Call, ToolCall
from toolevals.grading.verdicts import SchemaProblem, Verdict

_LONGEST_VALUE = 80
_MOST_NAMED = 3

_NO_SCHEMA = Verdict("unscored", None, "No call was made whose schema is known.")
_OTHER_TOOLS = Verdict("unscored", None, "Not compared: the tools are not the expected ones.")
NOTHING_EXPECTED = Verdict("unscored", None, "No call is expected, so there are no arguments to compare.")
_SAME_SHAPE = Verdict("passed", 1.0, "The expected arguments are there, with the expected types.")
_ALL_EQUAL = Verdict("passed", 1.0, "Every argument is as expected.")
_ALL_RIGHT = Verdict("passed", 1.0, "The arguments fit the schema and the expectation.")


@dataclass(frozen=True, slots=True)
class SchemaCheck:
    """The schema gate over all calls: the verdict, the problems, and the places of the calls that broke it."""

    verdict: Verdict
    problems: tuple[SchemaProblem, ...]
    broken: frozenset[int]


def check_schemas(calls: Sequence[Call], offer: Offer) -> SchemaCheck:
    """Validate each call against its tool's input schema. Passes when all conform; unscored without any schema."""
    found = [offer.problems(call, place) for place, call in enumerate(calls)]
    checked = [problems for problems in found if problems is not None]
    if not checked:
        return SchemaCheck(_NO_SCHEMA, (), frozenset())
    problems = tuple(problem for each in checked for problem in each)
    broken = frozenset(problem.call for problem in problems)
    if not problems:
        name = _name(next(call for call, each in zip(calls, found, strict=True) if each is not None))
        reason = f"Valid against {name}." if len(checked) == 1 else f"All {len(checked)} calls fit their schemas."
        return SchemaCheck(Verdict("passed", 1.0, reason), (), broken)
    first = problems[0]
    more = f", and {len(problems) - 1} more" if len(problems) > 1 else ""
    reason = f"{_name(calls[first.call])}{first.pointer}: {first.message}{more}."
    return SchemaCheck(Verdict("failed", 1 - len(broken) / len(checked), reason), problems, broken)


def shape_verdict(alignment: Alignment) -> Verdict:
    """Pass when each expected call has the expected argument names with the expected types."""
    if not alignment.total:
        return NOTHING_EXPECTED
    if not alignment.tools_are_right:
        return _OTHER_TOOLS
    wrong = [check for check in alignment.checks if check.shape_faults]
    if not wrong:
        return _SAME_SHAPE
    parts = (("missing", "missing"), ("extra", "not expected"), ("misshapen", "of another type"))
    words = [
        f"{_names([name for check in wrong for name in getattr(check, part)])} {verb}"
        for part, verb in parts
        if any(getattr(check, part) for check in wrong)
    ]
    return Verdict("failed", 1 - len(wrong) / alignment.total, f"{'; '.join(words)}.")


def equivalence_verdict(alignment: Alignment, calls: Sequence[Call], schemas: SchemaCheck) -> Verdict:
    """Pass when the calls are the expected ones: same tools, every argument as expected, and schemas kept.

    The value is matched of expected calls.
    """
    if not alignment.total:
        return NOTHING_EXPECTED
    if not alignment.tools_are_right:
        return Verdict("failed", alignment.share, "The tools differ, so the calls are not equal.")
    if alignment.matched < alignment.total:
        return Verdict("failed", alignment.share, _first_fault(alignment, calls))
    if broken := [actual for _, actual in alignment.pairs if actual in schemas.broken]:
        share = 1 - len(broken) / alignment.total
        return Verdict("failed", share, "The values do not count: the call breaks its schema.")
    if unjudged := [name for check in alignment.checks for name in check.unjudged]:
        return Verdict("unscored", None, f"{_names(unjudged)} to be judged.")
    return _ALL_EQUAL


def arguments_verdict(alignment: Alignment, schemas: SchemaCheck, equivalence: Verdict) -> tuple[Verdict, str]:
    """Return the layer's verdict and failure mode: schema first, then shape, then values.

    The value is the share of expected calls whose arguments are right.
    """
    if not alignment.total:
        return NOTHING_EXPECTED, ""
    if not alignment.tools_are_right:
        return _OTHER_TOOLS, ""
    broken = {actual for _, actual in alignment.pairs if actual in schemas.broken}
    if not broken and equivalence.status == "passed":
        return _ALL_RIGHT, ""
    wrong = {actual for (_, actual), check in zip(alignment.pairs, alignment.checks, strict=True) if check.faults}
    if not broken and not wrong:
        return Verdict("unscored", None, equivalence.reason), ""
    value = 1 - len(broken | wrong) / alignment.total
    if broken:
        return Verdict("failed", value, schemas.verdict.reason), "schema_error"
    return Verdict("failed", value, equivalence.reason), _fault_mode(alignment)


def _fault_mode(alignment: Alignment) -> str:
    modes = (
        ("missing", "missing_argument"),
        ("extra", "extra_argument"),
        ("misshapen", "wrong_shape"),
        ("wrong", "wrong_value"),
    )
    return next(mode for part, mode in modes if any(getattr(check, part) for check in alignment.checks))


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
    return f"{name} is {shown(given, _LONGEST_VALUE)}, expected {kind}{shown(matcher.content(), _LONGEST_VALUE)}"


def _names(names: Sequence[str]) -> str:
    listed = ", ".join(names[:_MOST_NAMED])
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"{listed}{more} {'is' if len(names) == 1 else 'are'}"


def _name(call: Call) -> str:
    return (call.name or "call")[:_LONGEST_VALUE]
