"""Change the rubrics and judges of a project."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import Max

from toolevals.agents.judge import WHY, is_pinned
from toolevals.agents.options import ChatOptions
from toolevals.agents.prices import Prices
from toolevals.grading.judging import SHIPPED
from toolevals.grading.judging import Rubric as RubricValue
from toolevals.grading.values.problems import InvalidDocument, Problem
from toolevals.json_types import JsonMapping, JsonObject
from toolevals.runs.agents.services import require_secret
from toolevals.runs.judging.models import USUAL_THRESHOLD, USUAL_TOLERANCE
from toolevals.runs.models import Judge, Measure, Rubric
from toolevals.workspace.audit.services import audit_record
from toolevals.workspace.models import Project, User


@dataclass(frozen=True, slots=True)
class JudgeRequest:
    """A judge as someone asks for it.

    `options` are those of a model (`ChatOptions`, without `model`), `prices` of a million tokens. `allow_alias` takes a
    model's name that stands for no one snapshot; it is then marked where its verdicts are shown. `threshold` is what
    it must reach next to people by `measure`, kappa or agreement; `tolerance` is the share of its verdicts that may
    change when it is asked again.
    """

    name: str
    model: str
    options: JsonMapping = field(default_factory=dict)
    prices: JsonMapping | None = None
    share: float = 1.0
    budget: float | None = None
    allow_alias: bool = False
    threshold: float = USUAL_THRESHOLD
    measure: str = Measure.KAPPA.value
    tolerance: float = USUAL_TOLERANCE


@transaction.atomic
def rubric_use(*, project: Project, actor: User | None, name: str) -> Rubric:
    """Return the project's row of a shipped rubric, made at the first call. Raises InvalidDocument."""
    if name not in SHIPPED:
        raise InvalidDocument.at("/rubric", f"must be one of {', '.join(SHIPPED)}")
    value = SHIPPED[name]
    rubric, made = Rubric.objects.get_or_create(
        project=project,
        name=name,
        version=value.version,
        defaults={**_columns(value), "is_shipped": True, "actor": actor},
    )
    if made:
        audit_record(project=project, actor=actor, verb="rubric_use", target=rubric, detail={"name": name})
    return rubric


@transaction.atomic
def rubric_add(*, project: Project, actor: User | None, document: JsonMapping) -> Rubric:
    """Keep a rubric of the project's own: the next version of its name (`version` in the document is not looked at).

    The same content as the newest version is that version. Raises InvalidDocument.
    """
    if document.get("name") in SHIPPED:
        raise InvalidDocument.at("/name", "is a shipped rubric's: choose another")
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    versions = Rubric.objects.filter(project=project, name=document.get("name") or "")
    last = versions.aggregate(last=Max("version"))["last"] or 0
    if last:
        same = RubricValue.from_document({**document, "version": last})
        newest = versions.get(version=last)
        if newest.document == same.to_document():
            return newest
    value = RubricValue.from_document({**document, "version": last + 1})
    rubric = Rubric.objects.create(
        project=project, name=value.name, version=value.version, actor=actor, **_columns(value)
    )
    detail = {"name": value.name, "version": value.version}
    audit_record(project=project, actor=actor, verb="rubric_add", target=rubric, detail=detail)
    return rubric


def judge_add(*, project: Project, actor: User | None, rubric: Rubric, request: JudgeRequest) -> Judge:
    """Keep a judge, switched off. Raises InvalidDocument with every problem."""
    if rubric.project_id != project.pk:
        raise InvalidDocument.at("/rubric", "is not of this project")
    problems = list(_problems(project, request))
    options = _read(
        problems, "/options", lambda: ChatOptions.from_document({**request.options, "model": request.model})
    )
    prices = None
    if request.prices is not None:
        prices = _read(problems, "/prices", lambda: Prices.from_document(request.prices or {}))
    _read(problems, "", lambda: require_secret(project, actor, options, "/options/secret"))
    if problems or options is None:
        raise InvalidDocument(problems)
    with transaction.atomic():
        judge = Judge.objects.create(
            project=project,
            name=request.name.strip(),
            rubric=rubric,
            model=options.model,
            is_pinned=is_pinned(options.model),
            options=options.to_document(),
            prices=prices.to_document() if prices else None,
            share=request.share,
            budget=request.budget,
            threshold=request.threshold,
            measure=request.measure,
            tolerance=request.tolerance,
            actor=actor,
        )
        detail = {"name": judge.name, "rubric": str(rubric), "model": judge.model}
        audit_record(project=project, actor=actor, verb="judge_add", target=judge, detail=detail)
    return judge


@transaction.atomic
def judge_change(
    *,
    judge: Judge,
    actor: User | None,
    is_on: bool | None = None,
    share: float | None = None,
    budget: float | None = None,
    threshold: float | None = None,
    measure: str | None = None,
    tolerance: float | None = None,
) -> Judge:
    """Switch a judge on or off, or ask it about another share or for another cap; gradings that began keep theirs.

    Another threshold, measure to hold to it, or tolerance flags its numbers of all time again. Of each rubric's judges
    one is on at a time. What is None stays. Raises InvalidDocument.
    """
    Project.objects.select_for_update(no_key=True).get(pk=judge.project_id)
    wanted: JsonObject = {"is_on": is_on, "share": share, "budget": budget}
    wanted |= {"threshold": threshold, "measure": measure, "tolerance": tolerance}
    changed = {name: value for name, value in wanted.items() if value is not None}
    limits = _limits(judge.share if share is None else share, budget, judge.prices)
    held = _held_to(
        judge.threshold if threshold is None else threshold,
        measure or judge.measure,
        judge.tolerance if tolerance is None else tolerance,
    )
    if problems := [*limits, *held]:
        raise InvalidDocument(problems)
    if is_on:
        others = Judge.objects.filter(project=judge.project_id, is_on=True, rubric__name=judge.rubric.name)
        if other := others.exclude(pk=judge.pk).first():
            raise InvalidDocument.at("/is_on", f"{other.name} judges by this rubric already: switch it off first")
    for name, value in changed.items():
        setattr(judge, name, value)
    judge.save(update_fields=[*changed])
    audit_record(project=judge.project, actor=actor, verb="judge_change", target=judge, detail=changed)
    return judge


@transaction.atomic
def layer_switch(*, project: Project, actor: User | None, layer: str, is_on: bool) -> list[Judge]:
    """Switch all judges of a layer off; or on: the newest one of each rubric where none is on. Return those changed."""
    judges = list(Judge.objects.in_project(project).filter(rubric__layer=layer).select_related("project"))
    if not is_on:
        return [judge_change(judge=judge, actor=actor, is_on=False) for judge in judges if judge.is_on]
    taken = {judge.rubric.name for judge in judges if judge.is_on}
    changed = []
    for judge in judges:
        if judge.rubric.name not in taken:
            taken.add(judge.rubric.name)
            changed.append(judge_change(judge=judge, actor=actor, is_on=True))
    return changed


def _columns(value: RubricValue) -> JsonObject:
    return {"title": value.title, "layer": value.layer, "document": value.to_document()}


def _problems(project: Project, request: JudgeRequest) -> Iterator[Problem]:
    if not request.name.strip():
        yield Problem("/name", "must not be empty")
    elif Judge.objects.filter(project=project, name=request.name.strip()).exists():
        yield Problem("/name", "is another judge's")
    if request.model.strip() and not is_pinned(request.model) and not request.allow_alias:
        yield Problem("/model", WHY)
    yield from _limits(request.share, request.budget, request.prices)
    yield from _held_to(request.threshold, request.measure, request.tolerance)


def _held_to(threshold: float, measure: str, tolerance: float) -> Iterator[Problem]:
    if not 0 <= threshold <= 1:
        yield Problem("/threshold", "must be from 0 to 1")
    if measure not in Measure.values:
        yield Problem("/measure", f"must be one of {', '.join(Measure.values)}")
    if not 0 <= tolerance <= 1:
        yield Problem("/tolerance", "must be from 0 to 1")


def _limits(share: float, budget: float | None, prices: Any) -> Iterator[Problem]:
    if not 0 < share <= 1:
        yield Problem("/share", "must be above 0 and at most 1")
    if budget is not None and not (math.isfinite(budget) and budget >= 0):
        yield Problem("/budget", "must be a number from 0")
    elif budget is not None and not prices:
        yield Problem("/budget", "needs prices: without them it is not known what was spent")


def _read(problems: list[Problem], pointer: str, read: Any) -> Any:
    try:
        return read()
    except InvalidDocument as error:
        own = {"/model"}
        problems += [each if each.pointer in own else each.below(pointer) for each in error.problems]
        return None
