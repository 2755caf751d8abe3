"""Show the settings of the installation and where each comes from; change some; send a test by e-mail."""

from __future__ import annotations

from dataclasses import dataclass
from smtplib import SMTPException
from typing import Final

from django.conf import settings
from django.contrib import messages
from django.http import HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST
from uuid_utils.compat import uuid7

from toolevals.workspace.installation.forms import InstallationForm
from toolevals.workspace.installation.reading import EDITABLE, installation_setting
from toolevals.workspace.installation.services import installation_set
from toolevals.workspace.models import InstallationSetting
from toolevals.workspace.notifications.mails import Mail, mail_send
from toolevals.workspace.requests import SignedInRequest

# Texts and lists that hold no secret, with the attribute that has them. Of all others only numbers are shown.
SHOWN: Final = {
    "AGENT_NETWORKS": "AGENT_NETWORKS",
    "ALLOWED_HOSTS": "ALLOWED_HOSTS",
    "CSRF_TRUSTED_ORIGINS": "CSRF_TRUSTED_ORIGINS",
    "LOG_FORMAT": "LOG_FORMAT",
    "PATH_PREFIX": "PATH_PREFIX",
    "PUBLIC_URL": "PUBLIC_URL",
    "TZ_NAME": "TIME_ZONE",
}


@dataclass(frozen=True, slots=True)
class Shown:
    """A setting as the page shows it: the variable, its value in words, and where that is from."""

    variable: str
    value: str
    source: str


@require_http_methods(["GET", "POST"])
def installation(request: SignedInRequest) -> HttpResponse:
    """Show all settings and, by POST, change those of the form."""
    # What another version let people change is left alone.
    known = InstallationSetting.objects.filter(name__in=EDITABLE).select_related("actor")
    rows = {each.name: each for each in known}
    changed = {name: each.value for name, each in rows.items()}
    form = InstallationForm(request.POST or None, changed=changed)
    if request.method == "POST" and form.is_valid():
        names = installation_set(actor=request.user, values=form.values())
        words = "The settings are saved. Each process has them within five seconds." if names else "Nothing changed."
        messages.success(request, words)
        return redirect("workspace:installation")
    context = {"form": form, "shown": _all(rows), "sends_mail": bool(settings.EMAIL_URL), "rows": rows.values()}
    return render(request, "workspace/installation.html", context)


@require_POST
def test_mail(request: SignedInRequest) -> HttpResponse:
    """Send an e-mail to the person who asks, and say what the mail server made of it."""
    if not settings.EMAIL_URL:
        messages.error(request, "No mail server is set: TOOLEVALS_EMAIL_URL names one.")
        return redirect("workspace:installation")
    to = request.user.email
    try:
        mail_send(Mail(to, "A test", "E-mail from toolevals reaches you.\n", f"{uuid7().hex}@toolevals"))
        messages.success(request, f"The mail server took a message to {to}.")
    except (SMTPException, OSError) as error:
        messages.error(request, f"The mail server did not take a message to {to}: {str(error)[:300]}")
    return redirect("workspace:installation")


def _all(rows: dict[str, InstallationSetting]) -> list[Shown]:
    return [_shown(name, *asked, is_changed=name in rows) for name, asked in sorted(settings.SETTINGS_ASKED.items())]


def _shown(name: str, is_given: bool, plain: bool | float | None, *, is_changed: bool) -> Shown:
    source = "environment" if is_given else "this page" if is_changed and name in EDITABLE else "default"
    if name in EDITABLE:
        value = str(installation_setting(name))
    elif name in SHOWN:
        said = getattr(settings, SHOWN[name])
        value = ", ".join(said) if isinstance(said, list) else str(said)
    elif plain is not None:
        value = str(plain)
    else:
        value = "set, not shown" if is_given else ""
    return Shown(f"TOOLEVALS_{name}", value, source)
