"""Do to several examples at once what can be done to one: each act is one bounded transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Model, QuerySet

from labeling.adjudicate.services import adjudication_set_aside, adjudication_withdraw, revision_reopen
from labeling.errors import InvalidAct
from labeling.models import Adjudication, Example, Revision
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.models import User

# A page of the list: more at once would keep others waiting.
MOST = 100


@dataclass(frozen=True, slots=True)
class Done:
    """The outcome of an act: to which examples it was done, by their keys, and why not to the others, by their ids.

    With each key stands what the act has made, or what was there before.
    """

    changed: dict[str, str]
    refused: tuple[tuple[str, str], ...]

    @property
    def count(self) -> int:
        """The number of examples to which it was done."""
        return len(self.changed)


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


def examples_resume(*, examples: Iterable[Example], actor: User, decisions: dict[str, str]) -> Done:
    """Take back the decisions, by the examples' keys, by which examples were set aside, as `adjudication_withdraw`."""

    def withdraw(revision: Revision) -> Revision:
        made = Adjudication.objects.get(pk=decisions[str(revision.example_id)])
        return adjudication_withdraw(adjudication=made, actor=actor)

    return _each(examples, withdraw)


def examples_tag(*, examples: Iterable[Example], actor: User, stratum: str, value: str) -> Done:
    """Give examples a value of a stratum; an empty one takes it away. Those that have it already are not counted.

    Gradings that start from now on divide by it. Each example leaves its own row in the audit log.
    """
    return _tag(Example.objects.exclude(**{stratum: value}), actor, stratum, {str(each.pk): value for each in examples})


def examples_untag(*, actor: User, stratum: str, value: str, before: dict[str, str]) -> Done:
    """Give examples that still have a value of a stratum what they had before, by their keys."""
    return _tag(Example.objects.filter(**{stratum: value}), actor, stratum, before)


@transaction.atomic
def _tag(examples: QuerySet[Example], actor: User, stratum: str, values: dict[str, str]) -> Done:
    # In one order, as all who lock examples.
    rows = examples.select_for_update(of=("self",)).filter(pk__in=values).select_related("dataset__project")
    changed, before = list(rows.order_by("pk")), {}
    for example in changed:
        was, value = getattr(example, stratum), values[str(example.pk)]
        before[str(example.pk)] = was
        detail = {"stratum": stratum, "value": value, "before": was}
        setattr(example, stratum, value)
        audit_record(project=example.dataset.project, actor=actor, verb="example_tag", target=example, detail=detail)
    Example.objects.bulk_update(changed, [stratum])
    return Done(before, ())


@transaction.atomic
def _each(examples: Iterable[Example], act: Callable[[Revision], Model]) -> Done:
    made, refused = {}, []
    # In one order, as all who lock revisions.
    for example in sorted(examples, key=lambda each: str(each.current_id)):
        try:
            with transaction.atomic():
                row = act(Revision.objects.with_content().get(pk=example.current_id))
            made[str(example.pk)] = str(row.pk)
        except InvalidAct as error:
            refused.append((example.external_id, str(error)))
    return Done(made, tuple(refused))
