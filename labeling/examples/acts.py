"""Do to several examples at once what can be done to one: each act is one bounded transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.db import transaction

from labeling.adjudicate.services import adjudication_set_aside, revision_reopen
from labeling.errors import InvalidAct
from labeling.models import Example, Revision
from toolevals.workspace.audit.services import audit_record
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
def examples_tag(*, examples: Iterable[Example], actor: User, stratum: str, value: str) -> Done:
    """Give examples a value of a stratum; an empty one takes it away. Those that have it already are not counted.

    Gradings that start from now on divide by it. Each example leaves its own row in the audit log.
    """
    # In one order, as all who lock examples.
    pks = sorted((example.pk for example in examples), key=str)
    rows = Example.objects.select_for_update(of=("self",)).filter(pk__in=pks).exclude(**{stratum: value})
    changed = list(rows.select_related("dataset__project").order_by("pk"))
    for example in changed:
        detail = {"stratum": stratum, "value": value, "before": getattr(example, stratum)}
        setattr(example, stratum, value)
        audit_record(project=example.dataset.project, actor=actor, verb="example_tag", target=example, detail=detail)
    Example.objects.bulk_update(changed, [stratum])
    return Done(len(changed), ())


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
