"""Define how a call's arguments stand to what is expected of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from toolevals.grading.values.value_classes import value_class

# How the arguments of a call stand, the worst last: each is a failure mode but the first two.
ALL_AS_EXPECTED, FOR_A_JUDGE, WRONG, MISSHAPEN, EXTRA, MISSING = range(6)
MODES = ("", "", "wrong_value", "wrong_shape", "extra_argument", "missing_argument")


@value_class
class ArgumentsCheck:
    """The result of a check of a call's arguments against the expected ones, by argument name.

    `missing` are absent though expected, `extra` present though not allowed, `misshapen` of another type, `wrong` of
    the right type and another value, `unjudged` for a judge.
    """

    missing: tuple[str, ...] = ()
    extra: tuple[str, ...] = ()
    misshapen: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    unjudged: tuple[str, ...] = ()

    @property
    def faults(self) -> int:
        """Return how many arguments are not as expected."""
        return len(self.missing) + len(self.extra) + len(self.misshapen) + len(self.wrong)

    @property
    def proved(self) -> bool:
        """Return whether everything is as expected and nothing is left to a judge."""
        return self.standing == ALL_AS_EXPECTED

    @property
    def standing(self) -> int:
        """The worst that is to be said of any argument, as `CompiledCall.standing`."""
        worst_first = (self.missing, self.extra, self.misshapen, self.wrong, self.unjudged)
        return next((MISSING - place for place, names in enumerate(worst_first) if names), ALL_AS_EXPECTED)

    @property
    def shape_faults(self) -> tuple[str, ...]:
        """The arguments whose presence or type is not as expected."""
        return (*self.missing, *self.extra, *self.misshapen)


ALL_MATCH = ArgumentsCheck()


def check_of(found: Sequence[tuple[int, str]]) -> ArgumentsCheck:
    """Return the check that has found this of arguments, by name; of the others there is nothing to say."""
    if not found:
        return ALL_MATCH
    return _one_fault(*found[0]) if len(found) == 1 else _faults(found)


def _faults(found: Sequence[tuple[int, str]]) -> ArgumentsCheck:
    worst_first: list[list[str]] = [[] for _ in range(MISSING)]
    for standing, name in found:
        worst_first[MISSING - standing].append(name)
    return ArgumentsCheck(*map(tuple, worst_first))


@lru_cache(maxsize=1024)
def _one_fault(standing: int, name: str) -> ArgumentsCheck:
    # Where calls of one tool are put to each other, most differ in the same one argument.
    return _faults([(standing, name)])
