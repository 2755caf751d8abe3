"""Decide which traces are closed, and to whom.

What the agent did is never shown to somebody who may still label its example.

A trace is closed to those who label, adjudicators and owners included, while an example that was made of it waits for
labels or for a decision. So are the other traces of its session, which go on with the same conversation. Its row in the
list names neither its calls nor its errors, lists that ask about these leave it out, and its pages are not there.
Viewers are given nothing to label. Figures of tools count it: they name no trace.
"""

from __future__ import annotations

from django.db.models import Exists, OuterRef, Q

from labeling.blindness import is_resolved
from toolevals.traces.models import TraceExample
from toolevals.workspace.models import Role

CLOSED = "This trace is closed to you while people label examples that were made of it, or of its session."


def closed_to(role: Role) -> Q:
    """Return the condition on a trace, itself, under which it is closed to a member with this role."""
    if role < Role.REVIEWER:
        return Q(pk__in=[])
    waiting = TraceExample.objects.exclude(is_resolved("example__current"))
    own = waiting.filter(trace=OuterRef("pk"))
    of_session = waiting.filter(project=OuterRef("project"), trace__session=OuterRef("session")).exclude(
        trace__session=""
    )
    return Q(Exists(own)) | Q(Exists(of_session))
