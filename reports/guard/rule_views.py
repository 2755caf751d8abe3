"""Show what a rule of a policy would refuse, and let people say which of it should have been allowed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, NamedTuple
from urllib.parse import urlencode
from uuid import UUID

from django.contrib import messages
from django.http import Http404, HttpResponse, HttpResponseRedirect, StreamingHttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from reports.guard import table as tables
from reports.guard.analysis import SOURCES, Judged, MeasuredRule, Source
from reports.guard.measuring import MOST_KEPT
from reports.guard.queries import judged_refusals, own_marks, refusal_shown, refusals_of, source_of
from reports.guard.services import refusal_mark
from reports.guard.words import rule_words
from reports.models import PolicyRates
from toolevals.grading.guard import Policy as Rules
from toolevals.grading.guard.transcripts import RuleRates
from toolevals.workspace.models import Role
from toolevals.workspace.paging import page_of, rows_of
from toolevals.workspace.requests import ProjectRequest, read_id
from toolevals.workspace.tables import table_file

# What a person may say of a refused call, by the button's value.
MARKS: Final[dict[str, bool | None]] = {"allow": True, "refuse": False, "back": None}
EXPECTED: Final = {"yes": True, "no": False}


@require_safe
def refusals(request: ProjectRequest, rates: UUID, rule: str) -> HttpResponse:
    """Show the calls that a rule would refuse, of runs or (`of=`) of gold or traces, the newest first."""
    found = _rates(request, rates)
    if rule not in (found.rules or {}):
        raise Http404
    source, expected = source_of(request.GET.get("of", "")), request.GET.get("expected", "")
    judged = judged_refusals(found).get(rule, {})
    measured = replace(MeasuredRule.from_document(rule, found.rules[rule]), judged=judged)
    listed = refusals_of(found, rule, source, request.role)
    if expected in EXPECTED:
        listed = listed.filter(is_expected=EXPECTED[expected])
    page = page_of(listed, request.GET.get("before", ""))
    own = {(mark.subject, mark.call): mark.is_false for mark in own_marks(found, rule, request.user)}
    written = Rules.from_document(found.version.document).rules.get(rule)
    context: dict[str, Any] = {
        "rates": found,
        "version": found.version,
        "policy": found.version.policy,
        "rule": rule,
        "words": rule_words(written.rule) if written else rule,
        "source": source,
        "expected": expected,
        "sources": [_counts(measured, each) for each in SOURCES],
        "judged": measured.everywhere,
        "say": tables.judged_sentence(measured.everywhere),
        "page": page,
        "rows": [(each, own.get((vars(each)["subject"], each.call))) for each in page.rows],
        "most": MOST_KEPT,
        "may_mark": request.role >= Role.REVIEWER,
    }
    return render(request, "reports/policy_refusals.html", context)


class SourceCounts(NamedTuple):
    """The refusals of a rule in one source, and what people say of them; `rates` are None where it was not measured."""

    source: Source
    rates: RuleRates | None
    judged: Judged


def _counts(rule: MeasuredRule, source: Source) -> SourceCounts:
    rates = {"traces": rule.traces, "runs": rule.runs, "gold": rule.gold}[source]
    return SourceCounts(source, rates, rule.judged.get(source, Judged()))


@require_safe
def refusals_csv(request: ProjectRequest, rates: UUID, rule: str) -> StreamingHttpResponse:
    """Send the calls that a rule would refuse, of runs or (`of=`) of gold or traces."""
    found = _rates(request, rates)
    rows = rows_of(refusals_of(found, rule, source_of(request.GET.get("of", "")), request.role))
    return table_file(f"{found.version.policy.slug}-refusals", tables.REFUSALS, rows)


@require_POST
def mark(request: ProjectRequest, rates: UUID, rule: str) -> HttpResponse:
    """Keep what the person says of a refused call, and come back to the list."""
    found = _rates(request, rates)
    asked, said = read_id(request.POST.get("refusal", "")), request.POST.get("mark", "")
    refusal = refusal_shown(found.version.policy, asked, request.role) if asked else None
    if refusal is None or (refusal.rates_id, refusal.rule) != (found.pk, rule) or said not in MARKS:
        messages.error(request, "Not saved: this call is no longer listed.")
    else:
        refusal_mark(refusal=refusal, actor=request.user, is_false=MARKS[said])
    kept = {name: request.GET[name] for name in ("of", "expected", "before") if name in request.GET}
    address = reverse("reports:policy-refusals", args=[request.project.slug, found.pk, rule])
    return HttpResponseRedirect(f"{address}?{urlencode(kept)}" + (f"#r-{asked}" if asked else ""))


def _rates(request: ProjectRequest, pk: UUID) -> PolicyRates:
    found = get_object_or_404(PolicyRates.objects.in_project(request.project).exclude(rules=None), pk=pk)
    found.version.policy.project = request.project
    return found
