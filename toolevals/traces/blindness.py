"""Decide which traces are closed, and to whom.

What the agent did is never shown to someone who may still label its example.

A trace is closed to those who label, adjudicators and owners included, while an example that was made of it waits for
labels or for a decision. So are the other traces of its session, which go on with the same conversation. Its row in the
list names neither its calls nor its errors, lists that ask about these leave it out, and its pages are not there.
Viewers are given nothing to label. Figures of tools count it: they name no trace.
"""

from __future__ import annotations

from django.db.models import Q

from labeling.blindness import is_resolved
from toolevals.traces.models import TraceExample
from toolevals.workspace.models import Project, Role

CLOSED = "You cannot open this trace while examples from it or its session are being labelled."


def closed_to(project: Project, role: Role) -> Q:
    """Return the condition on a trace of a project, itself, under which it is closed to a member with this role."""
    if role < Role.REVIEWER:
        return Q(pk__in=[])
    # Two lists that do not depend on the trace: the database makes them once, however many traces it looks at.
    waiting = TraceExample.objects.filter(project=project).exclude(is_resolved("example__current"))
    sessions = waiting.exclude(trace__session="").values("trace__session")
    return Q(pk__in=waiting.values("trace")) | Q(session__in=sessions)
