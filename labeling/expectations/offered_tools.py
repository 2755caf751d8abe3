"""Read the tools that many revisions offer, together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from uuid import UUID

from toolevals.grading.values import ToolSpec
from toolevals.registry.models import ToolList, ToolListEntry
from toolevals.registry.models import ToolSpec as StoredSpec

MOST_LISTS = 5_000


class Offers:
    """Tool lists by id, each as its specs by name, in order. A spec that many lists share is read once."""

    def __init__(self) -> None:
        self._lists: dict[UUID, dict[str, ToolSpec]] = {}
        self._specs: dict[UUID, ToolSpec] = {}

    def of(self, lists: Iterable[UUID]) -> Mapping[UUID, Mapping[str, ToolSpec]]:
        """Return the specs of these lists, which stay in memory while there are not too many."""
        wanted = set(lists)
        missing = wanted - self._lists.keys()
        if len(self._lists) + len(missing) > MOST_LISTS:
            self._lists, self._specs, missing = {}, {}, wanted
        if missing:
            self._read(missing)
        return {pk: self._lists[pk] for pk in wanted}

    def _read(self, missing: set[UUID]) -> None:
        entries = list(
            ToolListEntry.objects.filter(tools__in=ToolList.objects.filter(pk__in=missing))
            .order_by("tools_id", "position")
            .values_list("tools_id", "spec_id")
        )
        new = {spec for _, spec in entries} - self._specs.keys()
        for pk, document in StoredSpec.objects.filter(pk__in=new).values_list("pk", "document"):
            self._specs[pk] = ToolSpec.from_document(document)
        self._lists |= {pk: {} for pk in missing}
        for pk, spec_id in entries:
            spec = self._specs[spec_id]
            self._lists[pk][spec.name] = spec
