"""Store verdicts, and the counts made of them when a grading finishes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar, Final

from django.db import models
from django.db.models import Count, Q, Sum

from labeling.models import DatasetVersion
from toolevals.grading.values.verdicts import EXPECTED, LONGEST
from toolevals.registry.policies.models import PolicyVersion
from toolevals.runs.runs.models import Run, Transcript
from toolevals.runs.simulators.models import Simulator
from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.models import Job, User

# A latent bug: the answer is right though the tools were wrong.
IS_LATENT: Final = {"answer": "passed", "selection": "failed"}


def warned(layer: str) -> dict[str, str]:
    """Return what cases have of which the outcome passed and a layer next to it failed."""
    return {"outcome": "passed", layer: "failed"}


class CaseGradeQuerySet(models.QuerySet["CaseGrade"]):
    """Reads of the cases of a grading."""

    def matching(self, *, expected: str = "", actual: str = "", mode: str = "", outcome: str = "") -> CaseGradeQuerySet:
        """Return the cases with these values; an empty one is no condition."""
        wanted = {"expected": expected, "actual": actual, "mode": mode, "outcome": outcome}
        return self.filter(**{column: value for column, value in wanted.items() if value})

    def with_example(self) -> CaseGradeQuerySet:
        """Load the example with each case, without what is long: input, transcript, verdicts in full."""
        return self.select_related("transcript__entry__revision__example").defer(
            "detail", "transcript__document", "transcript__entry__revision__input"
        )


class Grading(models.Model):
    """One run graded by one set of grader versions against one dataset version. Grading again adds another."""

    id = PublicIdField()
    run = models.ForeignKey(Run, on_delete=models.CASCADE, related_name="gradings")
    number = models.PositiveIntegerField()
    # The gold: the run's own version, or a later one of the same dataset.
    dataset_version = models.ForeignKey(DatasetVersion, on_delete=models.PROTECT, related_name="+")
    # `[{"name", "version"}]`
    graders = DocumentField()
    # The judges that it asks, as they were when it began (`toolevals.runs.judging.bench.JudgeSnapshot`).
    judges = DocumentField(default=list)
    # In whose worlds the calls are replayed: what the run itself met, else the dataset's when the grading was begun.
    simulator = models.ForeignKey(Simulator, null=True, on_delete=models.PROTECT, related_name="+")
    # The policy that it was graded with, where one was asked for: what it would have refused of the calls.
    policy = models.ForeignKey(PolicyVersion, null=True, on_delete=models.SET_NULL, related_name="+")
    job = models.ForeignKey(Job, null=True, on_delete=models.SET_NULL, related_name="gradings")
    actor = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = MomentField(auto_now_add=True)
    # Null until every transcript is graded and the counts are made.
    finished_at = models.DateTimeField(null=True)
    # How the conversations ended and what they took, of the document of `aggregates.spending`; null if no one says.
    spending = DocumentField(null=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["run", "number"], name="grading_number"),
        ]

    def __str__(self) -> str:
        return f"grading {self.number}"


class CaseGrade(models.Model):
    """Every verdict on one transcript. A verdict is passed, failed, unscored or errored: never mixed."""

    id = PublicIdField()
    # Without an index of its own, as the others begin with it.
    grading = models.ForeignKey(Grading, on_delete=models.CASCADE, related_name="cases", db_index=False)
    transcript = models.ForeignKey(Transcript, on_delete=models.CASCADE, related_name="grades")
    # The whole case, then layers, then depths of a single call.
    outcome = models.CharField(max_length=8)
    selection = models.CharField(max_length=8)
    arguments = models.CharField(max_length=8)
    result_use = models.CharField(max_length=8, default="unscored", db_default="unscored")
    recovery = models.CharField(max_length=8, default="unscored", db_default="unscored")
    answer = models.CharField(max_length=8, default="unscored", db_default="unscored")
    schema = models.CharField(max_length=8)
    shape = models.CharField(max_length=8)
    equivalence = models.CharField(max_length=8)
    execution = models.CharField(max_length=8, default="unscored", db_default="unscored")
    # MALFORMED_OUTPUT, WRONG_ANSWER, ADAPTER_ERROR, HARNESS_ERROR, or empty.
    tag = models.CharField(max_length=20, blank=True)
    # What went wrong in the words of the field: "wrong_tool", "missed_call", ...
    mode = models.CharField(max_length=30, blank=True)
    # The place in the matrix of first calls; empty where the case is outside it.
    expected = models.CharField(max_length=200, blank=True)
    actual = models.CharField(max_length=200, blank=True)
    # Strata as they were when it was graded, for filters.
    bucket = models.CharField(max_length=40, blank=True)
    difficulty = models.CharField(max_length=40, blank=True)
    # The kind of the first text that speaks to its judge, once judges were asked; empty where there is none. All of
    # them stand in the detail, under `injections` (`toolevals.grading.guard.injections.Injection`).
    injection = models.CharField(max_length=10, blank=True, default="", db_default="")
    # The metrics' values and the verdicts' shares: see `aggregates.packed_cases`. Empty in gradings from before.
    measured = models.TextField(blank=True, default="", db_default="")
    # What its outcome is made of, as the version says that it was graded on: see `toolevals.grading.values.verdicts`.
    decided_by = models.CharField(max_length=LONGEST, default=EXPECTED, db_default=EXPECTED)
    # The document of `toolevals.grading.values.verdicts.CaseGrade`: verdicts with reasons, argument differences.
    detail = DocumentField()

    objects = CaseGradeQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["grading", "transcript"], name="one_grade_a_transcript"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["grading", "expected", "actual", "id"], name="case_cell"),
            models.Index(fields=["grading", "outcome", "id"], name="case_outcome"),
            models.Index(fields=["grading", "mode", "id"], name="case_mode"),
            # A filtered matrix is counted from this alone.
            models.Index(fields=["grading", "bucket", "difficulty", "expected", "actual"], name="case_strata"),
            # Few cases hold one.
            models.Index(fields=["grading", "id"], condition=~models.Q(injection=""), name="case_injection"),
        ]


class AlignedPair(models.Model):
    """One expected call next to the actual one that fits it best; either side may be `(none)`."""

    # Without indexes of their own, as others begin with them. The grading is the case's, of which the database asks.
    grading = models.ForeignKey(
        Grading, on_delete=models.CASCADE, related_name="pairs", db_index=False, db_constraint=False
    )
    case = models.ForeignKey(CaseGrade, on_delete=models.CASCADE, related_name="pairs", db_index=False)
    number = models.PositiveSmallIntegerField()
    expected = models.CharField(max_length=200)
    actual = models.CharField(max_length=200)
    # Whether the arguments are right: passed, failed, or unscored where the tools differ.
    arguments = models.CharField(max_length=8)
    # Strata, for filters.
    bucket = models.CharField(max_length=40, blank=True)
    difficulty = models.CharField(max_length=40, blank=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["case", "number"], name="pair_number"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["grading", "expected", "actual", "id"], name="pair_cell"),
        ]


class ArgumentFault(models.Model):
    """One argument of one call that is not as expected, or breaks the schema: see `engine.argument_errors`."""

    # That of the case, of which the database asks.
    grading = models.ForeignKey(
        Grading, on_delete=models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
    case = models.ForeignKey(CaseGrade, on_delete=models.CASCADE, related_name="faults")
    # Of the pair; of an invalid argument, of the call.
    place = models.PositiveIntegerField()
    tool = models.CharField(max_length=200)
    argument = models.CharField(max_length=200, blank=True)
    # "changed", "missing", "extra", "invalid"
    kind = models.CharField(max_length=10)

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            # Counted, and opened to its cases, from this alone.
            models.Index(fields=["grading", "tool", "argument", "kind", "case"], name="argument_fault"),
        ]


class ArgumentCount(models.Model):
    """In how many calls one argument of a tool is wrong in one way."""

    grading = models.ForeignKey(Grading, on_delete=models.CASCADE, related_name="argument_counts")
    tool = models.CharField(max_length=200)
    argument = models.CharField(max_length=200, blank=True)
    kind = models.CharField(max_length=10)
    count = models.PositiveIntegerField()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["grading", "tool", "argument", "kind"], name="argument_count"),
        ]


class CaseFinding(models.Model):
    """One thing found in a case besides its verdicts: see `toolevals.grading.engine.case_findings`."""

    # That of the case, of which the database asks.
    grading = models.ForeignKey(
        Grading, on_delete=models.CASCADE, related_name="+", db_index=False, db_constraint=False
    )
    case = models.ForeignKey(CaseGrade, on_delete=models.CASCADE, related_name="findings")
    family = models.CharField(max_length=20)
    kind = models.CharField(max_length=50)
    tool = models.CharField(max_length=200)
    # Of fields how many; else 1 or more.
    count = models.PositiveIntegerField()

    class Meta:
        indexes: ClassVar[list[models.Index]] = [
            # Counted, and opened to its cases, from this alone.
            models.Index(fields=["grading", "family", "kind", "tool", "case", "count"], name="case_finding"),
        ]


class FindingCount(models.Model):
    """In how many cases something was found, and how often; of all tools of a kind, or kinds of a family, under ""."""

    grading = models.ForeignKey(Grading, on_delete=models.CASCADE, related_name="finding_counts")
    family = models.CharField(max_length=20)
    kind = models.CharField(max_length=50, blank=True)
    tool = models.CharField(max_length=200, blank=True)
    cases = models.PositiveIntegerField()
    count = models.PositiveIntegerField()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["grading", "family", "kind", "tool"], name="finding_count"),
        ]


class MatrixCount(models.Model):
    """The number of cases (view "first") or pairs (view "aligned") in one cell of the unfiltered matrix.

    View "free" counts calls where any call will do, which are in neither; nothing is expected there.
    """

    grading = models.ForeignKey(Grading, on_delete=models.CASCADE, related_name="matrix_counts")
    view = models.CharField(max_length=10)
    expected = models.CharField(max_length=200)
    actual = models.CharField(max_length=200)
    count = models.PositiveIntegerField()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["grading", "view", "expected", "actual"], name="matrix_cell"),
        ]


class VerdictCount(models.Model):
    """The number of cases with one value of one column: a verdict's, a tag, a mode, or what decides."""

    grading = models.ForeignKey(Grading, on_delete=models.CASCADE, related_name="verdict_counts")
    # A column of CaseGrade: "outcome", "selection", ..., "tag", "mode", "decided_by".
    column = models.CharField(max_length=20)
    value = models.CharField(max_length=LONGEST)
    count = models.PositiveIntegerField()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["grading", "column", "value"], name="verdict_count"),
        ]


class MetricCount(models.Model):
    """The results of one metric in one grading (`toolevals.grading.engine.case_metrics`), counted when it finished."""

    grading = models.ForeignKey(Grading, on_delete=models.CASCADE, related_name="metric_counts")
    metric = models.CharField(max_length=40)
    passed = models.PositiveIntegerField()
    failed = models.PositiveIntegerField()
    unscored = models.PositiveIntegerField()
    errored = models.PositiveIntegerField()
    # The mean over examples of the mean over their scored trials, with its 95 % interval; null without any.
    mean = models.FloatField(null=True)
    low = models.FloatField(null=True)
    high = models.FloatField(null=True)
    # How many examples have a scored trial.
    examples = models.PositiveIntegerField()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["grading", "metric"], name="metric_count"),
        ]


KIND: Final = ("tool", "error_class", "reaction", "score")
# What an address calls some episodes -> which they are.
EPISODES_WENT: Final[Mapping[str, Q]] = {
    "right": Q(score=1),
    "wrong": Q(score__lt=1),
    "unscored": Q(score=None),
    "recovered": Q(recovered=True),
    "errors": Q(errors__gt=0),
    "again": Q(identical_retries__gt=0, errors__gt=0),
}


class EpisodeQuerySet(models.QuerySet["Episode"]):
    """Reads of the episodes of a grading."""

    def kinds(self) -> Iterable[tuple[Any, ...]]:
        """Return each kind (KIND) with: episodes, recoveries, bad answers, errors, identical retries after errors."""
        return (
            self.order_by(*KIND)
            .values_list(*KIND)
            .annotate(
                episodes=Count("pk"),
                recoveries=Count("pk", filter=Q(recovered=True)),
                bad=Sum("failures"),
                wrong=Sum("errors"),
                again=Sum("identical_retries", filter=Q(errors__gt=0), default=0),
            )
        )

    def going(self, how: str) -> EpisodeQuerySet:
        """Return the episodes that went "right", "wrong", ... (EPISODES_WENT), or all where it is none of these."""
        return self.filter(EPISODES_WENT[how]) if how in EPISODES_WENT else self

    def cases_with_errors(self) -> int:
        """Return the number of cases in which a tool answered with an error."""
        return self.filter(errors__gt=0).order_by().values("case").distinct().count()


class Episode(models.Model):
    """One failure of a tool within a case, or an empty or partial answer, and what followed.

    The fields are those of `toolevals.grading.layers.recovery.EpisodeGrade`; the case's document has the rest.
    """

    # That of the case, of which the database asks.
    grading = models.ForeignKey(Grading, on_delete=models.CASCADE, related_name="episodes", db_constraint=False)
    case = models.ForeignKey(CaseGrade, on_delete=models.CASCADE, related_name="episodes")
    # Its place among the case's episodes, from 0.
    number = models.PositiveSmallIntegerField()
    # The class that the call would fall into if its tool were offered.
    tool = models.CharField(max_length=200)
    error_class = models.CharField(max_length=10)
    reaction = models.CharField(max_length=20)
    # 1, 0.5 or 0; NULL where no rule can tell.
    score = models.FloatField(null=True)
    recovered = models.BooleanField()
    # Bad answers, and those of them that are errors: not empty or partial.
    failures = models.PositiveSmallIntegerField()
    errors = models.PositiveSmallIntegerField()
    identical_retries = models.PositiveSmallIntegerField()

    objects = EpisodeQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["case", "number"], name="episode_number"),
        ]
        indexes: ClassVar[list[models.Index]] = [
            models.Index(fields=["grading", "tool", "error_class", "reaction", "id"], name="episode_kind"),
        ]


class ToolAnswers(models.Model):
    """The number of a tool's answers in one batch of transcripts: its errors are a share of them. All tools are ""."""

    grading = models.ForeignKey(Grading, on_delete=models.CASCADE, related_name="tool_answers")
    # The batch's first position.
    start = models.PositiveIntegerField()
    tool = models.CharField(max_length=200)
    answers = models.PositiveIntegerField()
    # Sums over the examples of the batch, with n answers and s errors of an example: how many examples have an answer,
    # Σs, Σs², Σs·n and Σn². Null in gradings from before they were kept.
    examples = models.PositiveIntegerField(null=True)
    errors = models.PositiveIntegerField(null=True)
    errors_squared = models.PositiveBigIntegerField(null=True)
    crossed = models.PositiveBigIntegerField(null=True)
    answers_squared = models.PositiveBigIntegerField(null=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["grading", "start", "tool"], name="tool_answers_of_a_batch"),
        ]
