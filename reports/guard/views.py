"""Show policies: the list, a version's rules with their error rates, and what changed."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Final

from django.contrib import messages
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from reports.guard import table as tables
from reports.guard.asked import asked_of, days_of
from reports.guard.forms import DocumentForm, MeasureForm, PolicyForm, RegistryChoice, TryForm
from reports.guard.measuring import USUAL_TRACES, rates_start
from reports.guard.queries import acts_by_version, newest_rates, rates_at_work, version_rates
from reports.guard.services import modes_change, needs_reason, version_enforce
from reports.guard.trying import Tried, call_tried
from toolevals.grading.values.problems import InvalidDocument
from toolevals.registry.models import Policy, PolicyVersion
from toolevals.registry.policies.changes import policy_changes
from toolevals.registry.policies.queries import offered_names
from toolevals.registry.policies.services import (
    policy_create,
    policy_deactivate,
    policy_delete,
    policy_set_registry,
    version_publish,
)
from toolevals.workspace.file_responses import csv_file
from toolevals.workspace.models import Job, Role
from toolevals.workspace.paging import page_of, rows_of
from toolevals.workspace.requests import ProjectRequest
from toolevals.workspace.tables import table_file

MODES: Final = ("off", "audit", "enforce")


@require_http_methods(["GET", "HEAD", "POST"])
def policies(request: ProjectRequest) -> HttpResponse:
    """List the project's policies, the newest first; by POST, make one."""
    form = PolicyForm(request.POST or None, project=request.project)
    if request.method == "POST" and form.is_valid():
        made = policy_create(project=request.project, actor=request.user, **form.asked())
        return redirect("reports:policy", request.project.slug, made.policy.slug)
    page = page_of(Policy.objects.in_project(request.project).with_newest(), request.GET.get("before", ""))
    return render(request, "reports/policies.html", {"page": page, "form": form})


@require_safe
def policies_csv(request: ProjectRequest) -> StreamingHttpResponse:
    """Send the policies, the newest first."""
    rows = rows_of(Policy.objects.in_project(request.project).with_newest())
    return csv_file("policies", tables.POLICIES, tables.policy_lines(rows))


@require_safe
def policy(request: ProjectRequest, policy: str) -> HttpResponse:
    """Show the newest version of a policy."""
    return _page(request, _version(request, policy))


@require_http_methods(["GET", "HEAD", "POST"])
def policy_version(request: ProjectRequest, policy: str, number: int) -> HttpResponse:
    """Show a version with its rules and their error rates; by POST, do one of ACTS with it."""
    version = _version(request, policy, number)
    act = ACTS.get(request.POST.get("act", ""))
    if request.method != "POST" or act is None:
        return _page(request, version)
    try:
        return act(request, version)
    except InvalidDocument as error:
        return _page(request, version, problems=error, status=422)


def _publish(request: ProjectRequest, version: PolicyVersion) -> HttpResponse:
    form = DocumentForm(request.POST)
    if form.is_valid():
        try:
            made = version_publish(
                policy=version.policy, actor=request.user, document=form.read(), note=form.cleaned_data["note"]
            )
            return _to(made)
        except InvalidDocument as error:
            form.add_problems(error)
    return _page(request, version, form=form, status=422)


def _modes(request: ProjectRequest, version: PolicyVersion) -> HttpResponse:
    modes = {name: request.POST.get(f"mode-{name}", "") for name in version.document["rules"]}
    said = {name: mode for name, mode in modes.items() if mode in MODES}
    return _to(modes_change(version=version, actor=request.user, modes=said, note=request.POST.get("note", "")[:300]))


def _enforce(request: ProjectRequest, version: PolicyVersion) -> HttpResponse:
    version_enforce(version=version, actor=request.user, reason=request.POST.get("reason", "")[:300])
    messages.success(request, f"Version {version.number} is active.")
    return _to(version)


def _lift(request: ProjectRequest, version: PolicyVersion) -> HttpResponse:
    policy_deactivate(policy=version.policy, actor=request.user)
    messages.success(request, "No version of this policy is active.")
    return _to(version)


def _measure(request: ProjectRequest, version: PolicyVersion) -> HttpResponse:
    form = MeasureForm(request.POST)
    if not form.is_valid():
        raise InvalidDocument.at("/traces", " ".join(map(str, form.errors["traces"])))
    rates_start(version=version, actor=request.user, traces=form.cleaned_data["traces"])
    return _to(version)


def _offer(request: ProjectRequest, version: PolicyVersion) -> HttpResponse:
    form = RegistryChoice(request.POST, project=request.project)
    if not form.is_valid():
        raise InvalidDocument.at("/registry", "is not a registry of this project")
    policy_set_registry(policy=version.policy, actor=request.user, registry=form.cleaned_data["registry"])
    return _to(version)


@require_POST
def policy_try(request: ProjectRequest, policy: str, number: int) -> HttpResponse:
    """Answer how a version decides on a call, and show its page."""
    version, form = _version(request, policy, number), TryForm(request.POST)
    if not form.is_valid():
        return _page(request, version, trying=form, status=422)
    tried = call_tried(version, *form.asked(), result=form.cleaned_data["result"])
    return _page(request, version, trying=form, tried=tried)


ACTS: Final = {
    "publish": _publish,
    "modes": _modes,
    "enforce": _enforce,
    "lift": _lift,
    "measure": _measure,
    "offer": _offer,
}


@require_POST
def policy_drop(request: ProjectRequest, policy: str) -> HttpResponse:
    """Delete a policy with its versions."""
    policy_delete(policy=_policy(request, policy), actor=request.user)
    return redirect("reports:policies", request.project.slug)


@require_safe
def versions_csv(request: ProjectRequest, policy: str) -> StreamingHttpResponse:
    """Send a policy's versions, the newest first."""
    found = _policy(request, policy)
    rows = rows_of(found.versions.select_related("created_by").defer("document"))
    return csv_file(f"{found.slug}-versions", tables.VERSIONS, tables.version_lines(rows, found.active_id))


@require_safe
def rules_csv(request: ProjectRequest, policy: str, number: int) -> StreamingHttpResponse:
    """Send a version's rules with their error rates."""
    version = _version(request, policy, number)
    rows = tables.rule_rows(version_rates(version, newest_rates(version.policy)))
    return table_file(f"{policy}-{number}-rules", tables.POLICY_RULES, rows)


@require_safe
def days_csv(request: ProjectRequest, policy: str) -> StreamingHttpResponse:
    """Send what a policy decided by day, key and rule, the newest first."""
    found = _policy(request, policy)
    return table_file(f"{found.slug}-days", tables.DAYS, rows_of(days_of(found)))


@require_safe
def policy_changes_page(request: ProjectRequest, policy: str, number: int, before: int) -> HttpResponse:
    """Show what changed from one version to another."""
    newer, older = _version(request, policy, number), _version(request, policy, before)
    context = {
        "policy": newer.policy,
        "newer": newer,
        "older": older,
        "changes": policy_changes(older.document, newer.document),
        "versions": newer.policy.versions.values_list("number", flat=True)[:50],
    }
    return render(request, "reports/policy_changes.html", context)


def _policy(request: ProjectRequest, slug: str) -> Policy:
    found: Policy = get_object_or_404(Policy.objects.in_project(request.project), slug=slug)
    found.project = request.project
    return found


def _version(request: ProjectRequest, slug: str, number: int | None = None) -> PolicyVersion:
    policy = _policy(request, slug)
    versions = policy.versions.select_related("created_by")
    found = versions.first() if number is None else get_object_or_404(versions, number=number)
    assert found is not None  # A policy is made with its first version.
    found.policy = policy
    return found


def _to(version: PolicyVersion) -> HttpResponse:
    policy = version.policy
    return redirect("reports:policy-version", policy.project.slug, policy.slug, version.number)


def _page(
    request: ProjectRequest,
    version: PolicyVersion,
    *,
    form: DocumentForm | None = None,
    problems: InvalidDocument | None = None,
    trying: TryForm | None = None,
    tried: Sequence[Tried] = (),
    status: int = 200,
) -> HttpResponse:
    policy = version.policy
    rates = newest_rates(policy)
    page = page_of(policy.versions.select_related("created_by").defer("document"), request.GET.get("before", ""))
    acts = acts_by_version(policy, request.user)
    working = rates_at_work(version)
    known = version_rates(version, rates)
    rows = tables.rule_rows(known)
    asking = needs_reason(version)
    text = json.dumps(version.document, ensure_ascii=False, indent=2)
    context: dict[str, Any] = {
        "policy": policy,
        "version": version,
        "rates": rates,
        "rows": rows,
        "sentence": tables.policy_sentence(rows),
        "unknown": known.unknown,
        "asks_reason": [name for name in asking if name not in known.untraced],
        "asks_untraced": [name for name in asking if name in known.untraced],
        "asks_here": bool(asking) and request.role >= Role.ADJUDICATOR and policy.active_id != version.pk,
        "to_read": [row for row in rows if row.name in asking and row.may_be_read],
        "measure": MeasureForm(initial={"traces": rates.traces if rates and rates.traces else USUAL_TRACES}),
        "modes": MODES,
        "document": text,
        "form": form or DocumentForm(initial={"document": text}),
        "edited": form is not None,
        "trying": trying or TryForm(),
        "tried": tried,
        "offered": offered_names(policy),
        "asked": asked_of(version),
        "may_try": request.role >= Role.REVIEWER,
        "offer": RegistryChoice(initial={"registry": policy.registry_id}, project=request.project),
        "problems": problems.problems if problems else (),
        "job": Job.objects.filter(pk=working.job_id).with_progress().first() if working else None,
        "page": page,
        "history": [(each, acts.get(each.number, ())) for each in page.rows],
        "newest": policy.versions.values_list("number", flat=True).first(),
    }
    return render(request, "reports/policy.html", context, status=status)
