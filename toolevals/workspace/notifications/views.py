"""Show the webhooks of a project with their log, and a person's choice of e-mails."""

from __future__ import annotations

from uuid import UUID

from django.contrib import messages
from django.core.exceptions import ValidationError
from django.http import HttpResponse, StreamingHttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from toolevals.workspace.middleware import shows_secret
from toolevals.workspace.models import Delivery, Membership, Webhook, untrashed
from toolevals.workspace.notifications import services
from toolevals.workspace.notifications.events import mail_is_set_up
from toolevals.workspace.notifications.forms import MailSettings, WebhookSettings
from toolevals.workspace.notifications.models import DeliveryQuerySet
from toolevals.workspace.notifications.table import DELIVERY, MAIL, WEBHOOK
from toolevals.workspace.paging import page_of, rows_of
from toolevals.workspace.requests import ProjectRequest, SignedInRequest
from toolevals.workspace.tables import table_file


@sensitive_post_parameters("url")
@require_http_methods(["GET", "POST"])
def notifications(request: ProjectRequest) -> HttpResponse:
    """List the webhooks; by POST, add one. Its secret is in that answer and nowhere else."""
    form, secret = WebhookSettings(request.POST or None), ""
    if request.method == "POST" and form.is_valid():
        try:
            _, secret = services.webhook_save(project=request.project, actor=request.user, **form.cleaned_data)
            form = WebhookSettings()
        except ValidationError as error:
            form.add_error(None, error)
    return _list(request, form, secret)


def _list(request: ProjectRequest, form: WebhookSettings, secret: str) -> HttpResponse:
    context = {"webhooks": Webhook.objects.filter(project=request.project), "form": form, "secret": secret}
    response = render(request, "workspace/notifications.html", context, status=422 if form.errors else 200)
    return shows_secret(response) if secret else response


@require_safe
def webhooks_csv(request: ProjectRequest) -> StreamingHttpResponse:
    """Send the same list."""
    return table_file("webhooks", WEBHOOK, rows_of(Webhook.objects.filter(project=request.project)))


@sensitive_post_parameters("url")
@require_http_methods(["GET", "POST"])
def webhook(request: ProjectRequest, webhook: UUID) -> HttpResponse:
    """Show one with what can be done to it; by POST, change it."""
    found = _webhook(request, webhook)
    form = WebhookSettings(request.POST or None, webhook=found)
    if request.method == "POST" and form.is_valid():
        try:
            services.webhook_save(project=request.project, actor=request.user, webhook=found, **form.cleaned_data)
            return redirect("workspace:notifications", request.project.slug)
        except ValidationError as error:
            form.add_error(None, error)
    context = {"webhook": found, "form": form}
    return render(request, "workspace/webhook.html", context, status=422 if form.errors else 200)


@require_POST
def webhook_switch(request: ProjectRequest, webhook: UUID) -> HttpResponse:
    """Switch one on or off, as the form says."""
    is_on = request.POST.get("is_on") == "yes"
    services.webhook_switch(webhook=_webhook(request, webhook), actor=request.user, is_on=is_on)
    return redirect("workspace:notifications", request.project.slug)


@require_POST
def webhook_renew(request: ProjectRequest, webhook: UUID) -> HttpResponse:
    """Give one another secret, and show that."""
    secret = services.webhook_renew(webhook=_webhook(request, webhook), actor=request.user)
    return _list(request, WebhookSettings(), secret)


@require_POST
def webhook_delete(request: ProjectRequest, webhook: UUID) -> HttpResponse:
    """Delete one with its log."""
    services.webhook_delete(webhook=_webhook(request, webhook), actor=request.user)
    return redirect("workspace:notifications", request.project.slug)


@require_POST
def webhook_test(request: ProjectRequest, webhook: UUID) -> HttpResponse:
    """Have a test sent; the log shows how it goes."""
    found = _webhook(request, webhook)
    try:
        services.webhook_test(webhook=found, actor=request.user)
    except ValidationError as error:
        messages.error(request, error.messages[0])
        return redirect("workspace:notifications", request.project.slug)
    return redirect("workspace:deliveries", request.project.slug)


@require_safe
def deliveries(request: ProjectRequest) -> HttpResponse:
    """Show what was sent, newest first; of one webhook where the address names it."""
    found = Delivery.objects.of_webhooks(request.project, request.GET.get("webhook", ""))
    page = page_of(found, request.GET.get("before", ""))
    context = {
        "page": page,
        "webhooks": Webhook.objects.filter(project=request.project),
        "asked": request.GET.get("webhook", ""),
    }
    return render(request, "workspace/deliveries.html", context)


@require_safe
def deliveries_csv(request: ProjectRequest) -> StreamingHttpResponse:
    """Send the same log."""
    found = Delivery.objects.of_webhooks(request.project, request.GET.get("webhook", ""))
    return table_file("deliveries", DELIVERY, rows_of(found))


@require_http_methods(["GET", "POST"])
def my_notifications(request: SignedInRequest) -> HttpResponse:
    """Show what one is told by e-mail in each project; by POST, choose."""
    memberships = _memberships(request)
    forms = [
        MailSettings(
            request.POST if request.method == "POST" else None,
            initial={"kinds": each.mail_choice.kinds if hasattr(each, "mail_choice") else []},
            prefix=str(each.pk),
        )
        for each in memberships
    ]
    if request.method == "POST" and mail_is_set_up() and all(form.is_valid() for form in forms):
        for membership, form in zip(memberships, forms, strict=True):
            services.mails_choose(membership=membership, actor=request.user, kinds=form.cleaned_data["kinds"])
        messages.info(request, "Your choice is saved.")
        return redirect("workspace:my-notifications")
    context = {
        "choices": list(zip(memberships, forms, strict=True)),
        "page": page_of(_mails(request), request.GET.get("before", "")),
        "mail_is_set_up": mail_is_set_up(),
    }
    status = 422 if request.method == "POST" else 200
    return render(request, "workspace/my_notifications.html", context, status=status)


@require_safe
def my_mails_csv(request: SignedInRequest) -> StreamingHttpResponse:
    """Send the log of the e-mails to oneself."""
    return table_file("mails", MAIL, rows_of(_mails(request)))


@require_POST
def my_test(request: SignedInRequest) -> HttpResponse:
    """Have a test sent to oneself."""
    try:
        services.mail_test(user=request.user)
        messages.info(request, f"A test goes to {request.user.email}. The log below shows how it goes.")
    except ValidationError as error:
        messages.error(request, error.messages[0])
    return redirect("workspace:my-notifications")


def _mails(request: SignedInRequest) -> DeliveryQuerySet:
    return Delivery.objects.filter(user=request.user)


def _memberships(request: SignedInRequest) -> list[Membership]:
    mine = request.user.memberships.filter(untrashed("project"))
    return list(mine.select_related("project", "mail_choice").order_by("project__name", "pk"))


def _webhook(request: ProjectRequest, pk: UUID) -> Webhook:
    return get_object_or_404(Webhook.objects.select_related("project"), project=request.project, pk=pk)
