"""Stores lists of tools by content: once, however many examples offer them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import islice
from typing import TypeVar
from uuid import UUID

from django.db import transaction

from toolevals.grading.values import ToolSpec as Spec
from toolevals.grading.values.canonical import digest
from toolevals.registry.models import ToolList, ToolListEntry, ToolSpec
from toolevals.workspace.models import Project

Item = TypeVar("Item")
AT_ONCE = 500


def list_digest(specs: Sequence[Spec]) -> str:
    """Return the name by content of a list of specs, their order included."""
    return digest([spec.digest for spec in specs])


def tool_list_of(*, project: Project, specs: Sequence[Spec]) -> ToolList:
    """Return the project's list of exactly these specs in this order, made at the first call. Safe in a race."""
    return tool_lists_store(project, [specs])[list_digest(specs)]


def tool_lists_store(project: Project, lists: Iterable[Sequence[Spec]]) -> dict[str, ToolList]:
    """Return the project's tool list for each of `lists`, by digest, making those that are missing.

    Two callers that race write the same rows under the same unique keys, so that both find one list, whole.
    """
    wanted = {list_digest(specs): tuple(specs) for specs in lists}
    found = _lists(project, wanted)
    missing = {name: specs for name, specs in wanted.items() if name not in found}
    if not missing:
        return found
    with transaction.atomic():
        spec_ids = _specs_store(project, {spec.digest: spec for specs in missing.values() for spec in specs})
        ToolList.objects.bulk_create(
            [ToolList(project=project, digest=name, size=len(specs)) for name, specs in missing.items()],
            ignore_conflicts=True,
            batch_size=AT_ONCE,
        )
        made = _lists(project, missing)
        ToolListEntry.objects.bulk_create(
            [
                ToolListEntry(tools=made[name], position=position, spec_id=spec_ids[spec.digest])
                for name, specs in missing.items()
                for position, spec in enumerate(specs)
            ],
            ignore_conflicts=True,
            batch_size=AT_ONCE,
        )
    return found | made


def tools_in(tools: ToolList) -> tuple[Spec, ...]:
    """Return the specs of a list, in order; kept in memory, because a list never changes."""
    return _tools_by_digest(tools.project_id, tools.digest)


@lru_cache(maxsize=2048)
def _tools_by_digest(project_id: UUID, name: str) -> tuple[Spec, ...]:
    documents = (
        ToolListEntry.objects.filter(tools__project_id=project_id, tools__digest=name)
        .order_by("position")
        .values_list("spec__document", flat=True)
    )
    return tuple(Spec.from_document(document) for document in documents)


def _lists(project: Project, digests: Iterable[str]) -> dict[str, ToolList]:
    return {
        found.digest: found
        for some in _chunks(digests)
        for found in ToolList.objects.filter(project=project, digest__in=some)
    }


def _specs_store(project: Project, specs: dict[str, Spec]) -> dict[str, UUID]:
    ToolSpec.objects.bulk_create(
        [
            ToolSpec(project=project, digest=name, name=spec.name, document=spec.to_document())
            for name, spec in specs.items()
        ],
        ignore_conflicts=True,
        batch_size=AT_ONCE,
    )
    return {
        name: pk
        for some in _chunks(specs)
        for name, pk in ToolSpec.objects.filter(project=project, digest__in=some).values_list("digest", "pk")
    }


def _chunks(items: Iterable[Item]) -> Iterator[list[Item]]:
    rest = iter(items)
    while some := list(islice(rest, AT_ONCE)):
        yield some
