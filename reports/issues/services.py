"""Change issues: their state, owner, name and kind, notes, merging and splitting; each act is in its history."""

from __future__ import annotations

from datetime import date
from typing import Any

from django.db import transaction

from reports.issues.figures import FixCheck, fix_check
from reports.issues.models import Issue, IssueEvent, IssueGathering, IssueState
from toolevals.grading.failures import category_of
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonObject
from toolevals.runs.models import Agent
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.mentions.names import names_bound
from toolevals.workspace.mentions.services import mentions_note
from toolevals.workspace.models import User

LONGEST_NOTE = 2_000


@transaction.atomic
def issue_fix(*, issue: Issue, agent: Agent, actor: User) -> FixCheck:
    """Say that an issue is fixed in an agent, from its first run on, and return what the runs say of that.

    Raises InvalidDocument where it is not so: the failure is in a case since or in a trace of the agent, neither was
    seen since, or cases wait to be gathered.
    """
    locked = _locked(issue)
    first = agent.runs.filter(grading__isnull=False).order_by("number").values_list("number", flat=True).first()
    if first is None:
        raise InvalidDocument.at("/agent", "has no graded run yet: run it on the cases first")
    if IssueGathering.objects.waiting().filter(run__project=locked.project_id).exists():
        raise InvalidDocument.at("/agent", "has runs whose failures are still being gathered: try again in a moment")
    check = fix_check(locked, agent, first)
    if check.traces:
        raise InvalidDocument.at("/agent", f"has not fixed it: {check.traces} of its traces in production fail so")
    if check.since.seen:
        raise InvalidDocument.at(
            "/agent",
            f"has not fixed it: {check.since.seen} of {check.since.cases} {check.of} since run {first} fail so",
        )
    if not check.since.cases:
        nothing = (
            "no trace of it came" if check.of == "traces" else f"no case of its datasets is graded since run {first}"
        )
        raise InvalidDocument.at("/agent", f"tells nothing: {nothing}")
    locked.state, locked.fixed_in, locked.fixed_from = IssueState.FIXED, agent, first
    locked.save(update_fields=["state", "fixed_in", "fixed_from"])
    detail = {"agent": agent.name, "run": first, "cases": check.since.cases, "of": check.of, "luck": check.luck}
    event_record(locked, actor, "fixed", "issue_fix", detail)
    return check


@transaction.atomic
def issue_accept(*, issue: Issue, actor: User, reason: str) -> None:
    """Accept an issue: it stays, and no one works on it. Raises InvalidDocument without a reason."""
    reason = _text(reason, "/reason")
    locked = _locked(issue)
    locked.state = IssueState.ACCEPTED
    locked.save(update_fields=["state"])
    event_record(locked, actor, "accepted", "issue_accept", {"reason": reason})


@transaction.atomic
def issue_reopen(*, issue: Issue, actor: User) -> None:
    """Open an issue again that was fixed or accepted."""
    locked = _locked(issue)
    if locked.state == IssueState.OPEN:
        return
    locked.state, locked.fixed_in, locked.fixed_from = IssueState.OPEN, None, None
    locked.save(update_fields=["state", "fixed_in", "fixed_from"])
    event_record(locked, actor, "reopened", "issue_reopen", {})


@transaction.atomic
def issue_own(*, issue: Issue, actor: User, owner: User | None, due_on: date | None = None) -> None:
    """Give an issue to a person, perhaps until a day, or to no one."""
    locked = _locked(issue)
    locked.owner, locked.due_on = owner, due_on if owner else None
    locked.save(update_fields=["owner", "due_on"])
    due = {"due_on": locked.due_on.isoformat()} if locked.due_on else {}
    event_record(locked, actor, "owned", "issue_own", {"owner": owner.name if owner else None} | due)


@transaction.atomic
def issue_name(*, issue: Issue, actor: User, name: str, kind: str) -> None:
    """Give an issue a name and a kind of the taxonomy. Raises InvalidDocument."""
    name = " ".join(name.split())
    if not 0 < len(name) <= Issue._meta.get_field("name").max_length:  # type: ignore[operator]
        raise InvalidDocument.at("/name", "is empty or longer than 300 characters")
    if not category_of(kind):
        raise InvalidDocument.at("/kind", "is not one of the thirty kinds")
    locked = _locked(issue)
    if (locked.name, locked.kind) == (name, kind):
        return
    detail = {"from": [locked.name, locked.kind], "to": [name, kind]}
    locked.name, locked.kind = name, kind
    locked.save(update_fields=["name", "kind"])
    event_record(locked, actor, "named", "issue_name", detail)


@transaction.atomic
def issue_note(*, issue: Issue, actor: User, text: str) -> None:
    """Write a note into an issue's history, and tell the members that it mentions. Raises InvalidDocument."""
    locked = _locked(issue)
    said, mentioned = names_bound(locked.project, _text(text, "/text"))
    event = IssueEvent.objects.create(issue=locked, actor=actor, verb="noted", detail={"text": said})
    mentions_note(project=locked.project, actor=actor, people=mentioned, target=event)
    audit_record(project=locked.project, actor=actor, verb="issue_note", target=locked, detail={"note": str(event.pk)})


@transaction.atomic
def issues_merge(*, issue: Issue, other: Issue, actor: User) -> Issue:
    """Merge two issues and return the one that stays: the older one, whose id the problem keeps.

    What was merged into the newer one is the older one's from now on. Raises InvalidDocument where they are one.
    """
    if issue.pk == other.pk or issue.project_id != other.project_id:
        raise InvalidDocument.at("/issue", "is this issue, or another project's")
    # Locked in the order of ids, as by those who gather.
    pair = Issue.objects.select_for_update().filter(pk__in=[issue.pk, other.pk]).order_by("pk")
    older, newer = sorted(pair, key=lambda each: (each.created_at, each.pk))
    if older.merged_into_id or newer.merged_into_id:
        raise InvalidDocument.at("/issue", "was merged already")
    Issue.objects.filter(merged_into=newer).update(merged_into=older)
    newer.merged_into = older
    newer.save(update_fields=["merged_into"])
    older.first_seen = min(older.first_seen, newer.first_seen)
    older.last_seen = max(older.last_seen, newer.last_seen)
    older.save(update_fields=["first_seen", "last_seen"])
    event_record(older, actor, "merged", "issues_merge", {"issue": str(newer.pk), "name": newer.name})
    return older


@transaction.atomic
def issue_split(*, issue: Issue, actor: User) -> None:
    """Take an issue out of the one that it was merged into. Raises InvalidDocument where it was not merged."""
    locked = _locked(issue, merged=True)
    whole = locked.merged_into
    if whole is None:
        raise InvalidDocument.at("/issue", "was not merged")
    locked.merged_into = None
    locked.save(update_fields=["merged_into"])
    event_record(whole, actor, "split", "issue_split", {"issue": str(locked.pk), "name": locked.name})


def _locked(issue: Issue, *, merged: bool = False) -> Issue:
    """Return the issue, locked. Raises InvalidDocument where it was merged into another, unless that is asked for."""
    found = Issue.objects.select_for_update(of=("self",)).select_related("project").get(pk=issue.pk)
    if found.merged_into_id and not merged:
        raise InvalidDocument.at("", "The issue was merged: change the one that it is in.")
    return found


def _text(text: str, pointer: str) -> str:
    text = text.strip()
    if not 0 < len(text) <= LONGEST_NOTE:
        raise InvalidDocument.at(pointer, f"is empty or longer than {LONGEST_NOTE:,} characters")
    return text


def event_record(issue: Issue, actor: User, verb: str, act: str, detail: JsonObject) -> Any:
    """Write an act into an issue's history and the audit log."""
    IssueEvent.objects.create(issue=issue, actor=actor, verb=verb, detail=detail)
    audit_record(project=issue.project, actor=actor, verb=act, target=issue, detail=detail)
