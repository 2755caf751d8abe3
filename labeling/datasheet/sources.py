"""Tell where the examples of a datasheet come from, as the audit log tells it."""

from __future__ import annotations

from labeling.datasheet.scope import Scope
from labeling.datasheet.values import SourceFile, Sources
from labeling.models import ProposalState, ProposedExample
from toolevals.workspace.models import AuditEntry

# So many of the newest imports are listed.
MOST_FILES = 30


def sources_of(scope: Scope) -> Sources:
    """Return what was imported into the dataset until the moment that counts, the newest first."""
    acts = AuditEntry.objects.filter(target_id=scope.dataset.pk).order_by("-id")
    drafts = ProposedExample.objects.filter(dataset=scope.dataset, state=ProposalState.ACCEPTED)
    if scope.until is not None:
        acts = acts.filter(at__lte=scope.until)
        drafts = drafts.filter(example__created_at__lte=scope.until)
    started = acts.filter(verb="import_start").values_list("detail", "at")
    listed = list(started[:MOST_FILES])
    # What the listed files began cannot have been published before the oldest of them.
    published = acts.filter(verb="import_publish", at__gte=listed[-1][1]) if listed else acts.none()
    added = {detail["job"]: detail["added"] for detail in published.values_list("detail", flat=True)}
    return Sources(
        files=tuple(
            SourceFile(detail["file"], detail["source"], at, detail["job"], added.get(detail["job"]))
            for detail, at in listed
        ),
        more=max(0, started.count() - MOST_FILES),
        without_file=acts.filter(verb="examples_import").count(),
        drafts=drafts.count(),
    )
