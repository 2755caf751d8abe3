"""Store issues, the cases and traces that are gathered into them, and what people did with them."""

from __future__ import annotations

from typing import ClassVar, Final
from uuid import UUID

from django.db import models
from django.db.models import F, Q

from toolevals.grading.failures import Failure
from toolevals.json_types import JsonObject
from toolevals.runs.models import Agent, CaseGrade, Grading
from toolevals.traces.models import Trace
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.mentions.names import text_named
from toolevals.workspace.models import Project, User, untrashed, within


class IssueState(models.TextChoices):
    """Names the states of an issue, the most urgent first."""

    REGRESSED = "regressed", "regressed"
    OPEN = "open", "open"
    FIXED = "fixed", "fixed"
    ACCEPTED = "accepted", "accepted"


FAILURE_FIELDS: Final = ("layer", "mode", "tool", "other", "argument", "error_class", "error_text")


class IssueQuerySet(models.QuerySet["Issue"]):
    """Reads of issues."""

    def in_project(self, project: Project) -> IssueQuerySet:
        """Return the project's issues without those that were merged into others."""
        return self.filter(project=project, merged_into=None).select_related("owner", "fixed_in")


class Issue(models.Model):
    """A named problem: all failures of one key, and those of the issues that were merged into it.

    Its id is made of its project and its key, so that it is the same whenever its cases come.
    """

    id = PublicIdField()
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="issues", db_index=False)
    # `toolevals.grading.failures.Failure.key`
    key = models.CharField(max_length=64)
    name = models.CharField(max_length=300)
    # One of the thirty of `toolevals.grading.failures.taxonomy`.
    kind = models.CharField(max_length=40)
    # The failure of its key.
    layer = models.CharField(max_length=12)
    mode = models.CharField(max_length=30)
    tool = models.CharField(max_length=200, blank=True)
    other = models.CharField(max_length=200, blank=True)
    argument = models.CharField(max_length=200, blank=True)
    error_class = models.CharField(max_length=10, blank=True)
    error_text = models.CharField(max_length=300, blank=True)
    state = models.CharField(max_length=10, choices=IssueState.choices, default=IssueState.OPEN)
    # Of a fixed one, and of one that came back: the agent that it was fixed in, and the number of its first run.
    fixed_in = models.ForeignKey(Agent, null=True, on_delete=models.SET_NULL, related_name="+")
    fixed_from = models.PositiveIntegerField(null=True)
    owner = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    # Until when the owner should be done with it.
    due_on = models.DateField(null=True)
    # When agents answered so in runs, and when such traces came: first and last.
    first_seen = models.DateTimeField()
    last_seen = models.DateTimeField()
    merged_into = models.ForeignKey("self", null=True, on_delete=models.SET_NULL, related_name="merged")
    created_at = MomentField(auto_now_add=True)

    objects = IssueQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["project", "key"], name="issue_key"),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def failure(self) -> Failure:
        """The failure of its key."""
        return Failure(**{name: getattr(self, name) for name in FAILURE_FIELDS})


class IssueCaseQuerySet(models.QuerySet["IssueCase"]):
    """Reads of the cases of issues."""

    def shown(self, project: Project) -> IssueCaseQuerySet:
        """Return those of the gradings that the project's runs show: a run that is graded again counts once."""
        return self.filter(within(project, "grading__run"), grading__run__grading=F("grading"))

    def of_issue(self, issue: Issue) -> IssueCaseQuerySet:
        """Return the shown cases of an issue and of those that were merged into it."""
        return self.shown(issue.project).filter(Q(issue=issue) | Q(issue__merged_into=issue))

    def examples(self) -> models.QuerySet[IssueCase, UUID]:
        """Return the ids of their examples."""
        return self.order_by().values_list("case__transcript__entry__revision__example", flat=True).distinct()


class IssueCase(models.Model):
    """A case in which an issue's failure is."""

    id = PublicIdField()
    issue = models.ForeignKey(Issue, on_delete=models.CASCADE, related_name="cases", db_index=False)
    case = models.ForeignKey(CaseGrade, on_delete=models.CASCADE, related_name="+")
    # That of the case, of which the database asks.
    grading = models.ForeignKey(
        Grading, on_delete=models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
    # When the agent answered.
    at = models.DateTimeField()

    objects = IssueCaseQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # Whatever gathers a case twice counts it once.
            models.UniqueConstraint(fields=["issue", "case"], name="one_case_an_issue"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["grading", "issue"], name="issue_case_grading"),
        ]


class IssueTraceQuerySet(models.QuerySet["IssueTrace"]):
    """Reads of the traces of issues."""

    def of_issue(self, issue: Issue) -> IssueTraceQuerySet:
        """Return the traces of an issue and of those that were merged into it."""
        return self.filter(Q(issue=issue) | Q(issue__merged_into=issue))


class IssueTrace(models.Model):
    """A trace in which an issue's failure is. It is made again when the trace is summed up again, and goes with it."""

    issue = models.ForeignKey(Issue, on_delete=models.CASCADE, related_name="traces", db_index=False)
    trace = models.ForeignKey(Trace, on_delete=models.CASCADE, related_name="+")

    objects = IssueTraceQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            # By trace within each, so that the newest traces come first without a look at the others.
            models.UniqueConstraint(fields=["issue", "trace"], name="one_trace_an_issue"),
        ]


class IssueEvent(models.Model):
    """One act in the history of an issue; without an actor the application did it."""

    id = PublicIdField()
    issue = models.ForeignKey(Issue, on_delete=models.CASCADE, related_name="events")
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    # "opened", "fixed", "regressed", "accepted", "reopened", "owned", "named", "placed", "merged", "split", "noted",
    # "gated", "rerun", "promoted"
    verb = models.CharField(max_length=12)
    detail = DocumentField(default=dict)
    at = MomentField(auto_now_add=True)

    @property
    def shown(self) -> JsonObject:
        """Return its detail as it is shown: a note with the names that mentioned people have now."""
        detail: JsonObject = self.detail
        return detail | {"text": text_named(str(detail["text"]))} if self.verb == "noted" else detail


class IssueGatheringQuerySet(models.QuerySet["IssueGathering"]):
    """Reads of what is gathered."""

    def waiting(self) -> models.QuerySet[Grading]:
        """Return the shown gradings of people's runs whose cases are not all gathered yet, the oldest first."""
        done = self.filter(grading=models.OuterRef("pk"), finished_at__isnull=False)
        shown = Grading.objects.filter(
            untrashed("run"), untrashed("run__project"), run__grading=F("pk"), run__baseline_agent=""
        )
        return shown.filter(~models.Exists(done), finished_at__isnull=False).order_by("pk")


class IssueGathering(models.Model):
    """The place up to which a grading's cases are gathered into issues."""

    grading = models.OneToOneField(Grading, on_delete=models.CASCADE, primary_key=True, related_name="+")
    # The last case that was read.
    after = models.UUIDField(null=True)
    finished_at = models.DateTimeField(null=True)

    objects = IssueGatheringQuerySet.as_manager()
