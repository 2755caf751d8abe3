"""Limit the strata of an example to those that a person may see: until it is resolved, none that reveals the label.

A stratum such as the kind of no call, the error class or the source's own category says what the answer is. So of an
example that is not resolved, reviewers and viewers see what is on a list of strata that say nothing of it: `SAFE`, and
those that an owner of the project marks for a dataset. Pages on which an example is labelled show no more to anyone.
Once it is resolved, its gold is open to all members, and so are its strata. Adjudicators see all strata elsewhere: they
import examples with them and make batches and quotas of them. Frozen versions hold gold, and hide nothing.

Every read of strata for a person takes the names of `hidden_strata`: lists, filters, counts, files and the REST
interface alike, so that a filter or a count tells no more than a row does.
"""

from __future__ import annotations

from collections.abc import Collection

from labeling.blindness import RESOLVED
from labeling.models import Dataset, Example
from toolevals.workspace.models import Role

SAFE = frozenset({"difficulty"})
NOTHING_HIDDEN: frozenset[str] = frozenset()


def hidden_strata(dataset: Dataset, role: Role) -> frozenset[str]:
    """Return the strata that someone of this role is not told of the examples that are not resolved."""
    return NOTHING_HIDDEN if role >= Role.ADJUDICATOR else _unsafe(dataset)


def strata_shown(example: Example, role: Role) -> dict[str, str]:
    """Return the strata of an example, by name, that someone of this role sees. The current revision is loaded."""
    is_resolved = example.current is not None and example.current.resolution in RESOLVED
    return _without(example, NOTHING_HIDDEN if is_resolved else hidden_strata(example.dataset, role))


def tells_what_decides(example: Example, role: Role) -> bool:
    """Return whether someone of this role sees what an example says decides it: that a fact is expected tells."""
    return role >= Role.ADJUDICATOR or (example.current is not None and example.current.resolution in RESOLVED)


def strata_to_label(example: Example) -> dict[str, str]:
    """Return the strata of an example, by name, that are shown to the people who label it, whatever their role."""
    return _without(example, _unsafe(example.dataset))


def _unsafe(dataset: Dataset) -> frozenset[str]:
    return frozenset(Example.STRATA) - SAFE - frozenset(dataset.shown_strata)


def _without(example: Example, hidden: Collection[str]) -> dict[str, str]:
    return {name: value for name, value in example.strata.items() if name not in hidden}
