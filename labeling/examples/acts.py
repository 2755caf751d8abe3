"""Do to several examples at once what can be done to one: each act is one bounded transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.db import transaction

from labeling.adjudicate.services import adjudication_set_aside, revision_reopen
from labeling.errors import InvalidAct
from labeling.models import Example, Revision
from toolevals.workspace.models import User

# A page of the list: more at once would keep others waiting.
MOST = 100


@dataclass(frozen=True, slots=True)
class Done:
    """The outcome of an act: to how many examples it was done, and why not to the others, by their ids."""

    count: int
    refused: tuple[tuple[str, str], ...]


def examples_reopen(*, examples: Iterable[Example], actor: User, reason: str) -> Done:
    """Begin another round of labels of each example that can be reopened by this person.

    Each leaves its own row in the audit log. Raises InvalidDocument without a reason.
    """
    return _each(examples, lambda revision: revision_reopen(revision=revision, actor=actor, reason=reason))


def examples_set_aside(*, examples: Iterable[Example], actor: User, answer: str, rationale: str) -> Done:
    """Decide of each example that waits for this person's decision that there is no gold, and why.

    Each leaves its own row in the audit log. Raises InvalidDocument without a rationale.
    """
    return _each(
        examples,
        lambda revision: adjudication_set_aside(revision=revision, actor=actor, answer=answer, rationale=rationale),
    )


@transaction.atomic
def _each(examples: Iterable[Example], act: Callable[[Revision], object]) -> Done:
    count, refused = 0, []
    # In one order, as all who lock revisions.
    for example in sorted(examples, key=lambda each: str(each.current_id)):
        try:
            with transaction.atomic():
                act(Revision.objects.with_content().get(pk=example.current_id))
            count += 1
        except InvalidAct as error:
            refused.append((example.external_id, str(error)))
    return Done(count, tuple(refused))
