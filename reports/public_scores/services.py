"""Read published scores from forms and files, and record them: nothing is forgotten."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from datetime import date
from typing import Final

from django import forms
from django.core.validators import URLValidator
from django.db import transaction

from reports.models import PublicScore
from toolevals.grading.values.problems import InvalidDocument, Problem, pointer_to
from toolevals.json_types import JsonMapping, JsonObject
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.clock import database_now
from toolevals.workspace.form_controls import PlainForm
from toolevals.workspace.models import Project, User
from toolevals.workspace.old_names import with_new_names

_KEY = ("benchmark", "version", "agent", "metric")


@transaction.atomic
def public_score_record(*, project: Project, actor: User | None, score: JsonMapping) -> PublicScore:
    """Record a score as `reports.public_scores.services.read_score` returns it.

    One of the same benchmark, version, agent and metric is replaced by it; the very same changes nothing.
    """
    # One at a time, so that two do not both replace.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    same = PublicScore.objects.filter(project=project, **{name: score[name] for name in _KEY}).in_force().first()
    if same is not None and all(getattr(same, name) == value for name, value in score.items()):
        return same
    if same is not None:
        _end(same, actor)
    made = PublicScore.objects.create(project=project, actor=actor, **score)
    detail = {"benchmark": str(made), "agent": made.agent, "metric": made.metric, "value": made.value}
    audit_record(project=project, actor=actor, verb="public_score_record", target=made, detail=detail)
    return made


@transaction.atomic
def public_scores_import(*, project: Project, actor: User | None, scores: Sequence[JsonMapping]) -> list[PublicScore]:
    """Record the scores of a file, all or none."""
    return [public_score_record(project=project, actor=actor, score=score) for score in scores]


@transaction.atomic
def public_score_withdraw(*, score: PublicScore, actor: User | None) -> None:
    """Take a score out of force; it stays in the history. One that is out already stays as it is."""
    locked = PublicScore.objects.select_for_update(of=("self",)).get(pk=score.pk)
    if locked.ended_at is None:
        _end(locked, actor)
        detail = {"benchmark": str(locked), "agent": locked.agent, "metric": locked.metric}
        audit_record(project=locked.project, actor=actor, verb="public_score_withdraw", target=locked, detail=detail)


def _end(score: PublicScore, actor: User | None) -> None:
    score.ended_at, score.ended_by = database_now(), actor
    score.save(update_fields=["ended_at", "ended_by"])


COLUMNS: Final = ("benchmark", "version", "agent", "metric", "value", "count", "published_on", "source")
MOST_ROWS: Final = 2000
MOST_BYTES: Final = 1_000_000


class PublicScoreForm(PlainForm):
    """One published score."""

    benchmark = forms.CharField(max_length=80, help_text="Its name, such as BFCL.")
    version = forms.CharField(max_length=40, required=False, help_text="v4, or a date; empty if it has none.")
    agent = forms.CharField(
        max_length=120,
        label="Model or agent",
        help_text="Use the same name as in your runs, so that the score appears next to them.",
    )
    metric = forms.CharField(max_length=80, help_text="What was measured, such as overall accuracy or pass^4.")
    value = forms.FloatField(
        min_value=0,
        max_value=1,
        help_text="A share: 0.42 for 42 %.",
        error_messages={"max_value": "A share from 0 to 1: write 0.42 for 42 %%."},
    )
    count = forms.IntegerField(
        min_value=1, max_value=2_000_000_000, required=False, help_text="Over how many cases, if published."
    )
    published_on = forms.DateField(widget=forms.DateInput(attrs={"type": "date"}), label="Published on")
    source = forms.CharField(max_length=500, help_text="Where it can be read: an http or https address.")

    def clean_source(self) -> str:
        address: str = self.cleaned_data["source"]
        URLValidator(schemes=["http", "https"], message="An address that starts with http:// or https://.")(address)
        return address

    def clean_published_on(self) -> date:
        day: date = self.cleaned_data["published_on"]
        if day > database_now().date():
            raise forms.ValidationError("Enter a date in the past.")
        return day


def read_score(document: JsonMapping) -> JsonObject:
    """Return the fields of one score. Raises InvalidDocument with what is wrong by JSON pointer."""
    if unknown := [name for name in document if name not in COLUMNS]:
        raise InvalidDocument(Problem(pointer_to([str(name)]), "is not a field of a score") for name in unknown)
    given = {name: "" if value is None else value for name, value in document.items()}
    form = PublicScoreForm(given)
    if not form.is_valid():
        raise InvalidDocument(
            Problem(pointer_to([name]), str(message)) for name, messages in form.errors.items() for message in messages
        )
    score: JsonObject = form.cleaned_data
    return score


def read_scores(content: bytes) -> list[JsonObject]:
    """Return the scores of a CSV file with a head. Raises InvalidDocument, each problem with the line at `/line`."""
    if len(content) > MOST_BYTES:
        raise InvalidDocument.at("", f"has more than {MOST_BYTES:,} bytes")
    try:
        rows = csv.DictReader(io.StringIO(content.decode("utf-8-sig")), strict=True)
        head = list(with_new_names(dict.fromkeys(rows.fieldnames or ())))
        if missing := [name for name in COLUMNS if name not in head and name not in ("version", "count")]:
            raise InvalidDocument.at("/1", f"the header row is missing {', '.join(missing)}")
        return _rows(rows)
    except UnicodeDecodeError:
        raise InvalidDocument.at("", "is not UTF-8") from None
    except csv.Error as error:
        raise InvalidDocument.at("", f"is not CSV: {error}") from None


def _rows(rows: csv.DictReader[str]) -> list[JsonObject]:
    scores: list[JsonObject] = []
    problems: list[Problem] = []
    for row in rows:
        if len(scores) + len(problems) >= MOST_ROWS:
            raise InvalidDocument.at("", f"has more than {MOST_ROWS:,} rows")
        try:
            if None in row:
                raise InvalidDocument.at("", "has more cells than the header row")
            scores.append(read_score(with_new_names(row)))
        except InvalidDocument as error:
            problems += error.below(pointer_to([rows.line_num])).problems
    if problems:
        raise InvalidDocument(problems)
    if not scores:
        raise InvalidDocument.at("", "holds no score")
    return scores
