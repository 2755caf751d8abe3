"""Write e-mails at the moment of sending, by what their person may see then, and send them.

A mail holds links and counts, and the names of what its person can open: nothing of an example, a label or gold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from django.conf import settings
from django.core.mail import EmailMessage
from django.urls import reverse
from django.utils.module_loading import import_string

from toolevals.workspace.accounts.reset import link_lasts, reset_path
from toolevals.workspace.clock import database_now
from toolevals.workspace.home import waiting_for
from toolevals.workspace.installation.reading import installation_setting
from toolevals.workspace.models import Delivery, EventKind, Membership, Project, Role, User, untrashed
from toolevals.workspace.notifications.events import page_url

LONGEST_SUBJECT: Final = 150
_OF_ALL_PROJECTS: Final = {
    EventKind.WORK_WAITING: "Work waits for you",
    EventKind.DIGEST_WEEKLY: "The week in your projects",
}


@dataclass(frozen=True, slots=True)
class Mail:
    """One e-mail, as plain text. `identifier` is the same however often it is sent."""

    to: str
    subject: str
    text: str
    identifier: str


def mail_of(delivery: Delivery) -> Mail | None:
    """Return the mail of a message; None where its person may be told nothing now, or nothing waits."""
    user = delivery.user
    if user is None or not user.is_active:
        return None
    kind = EventKind(delivery.kind)
    lines: list[str] = []
    if kind == EventKind.PASSWORD_RESET:
        return _reset_mail(delivery, user)
    if kind == EventKind.TEST:
        subject, lines = "A test", ["E-mail from toolevals reaches you."]
    elif kind in _OF_ALL_PROJECTS:
        subject = _OF_ALL_PROJECTS[kind]
        for membership in _memberships(user, kind):
            if told := list(_told(membership, kind)):
                lines += [_line(membership.project.name), *told, ""]
    else:
        mine = [each for each in _memberships(user, kind) if each.project_id == delivery.project_id]
        data = delivery.document["data"]
        subject = f"{mine[0].project.name}: {data['summary']}" if mine else ""
        lines = [_line(str(data["summary"])), str(data["url"])] if mine else []
    if not lines:
        return None
    choose = page_url(reverse("workspace:my-notifications"))
    text = "\n".join(lines).strip() + f"\n\n-- \nYou chose this e-mail. Choose again: {choose}\n"
    return Mail(user.email, _line(subject)[:LONGEST_SUBJECT], text, _identifier(delivery, user))


def _reset_mail(delivery: Delivery, user: User) -> Mail | None:
    """Return the mail with the link for a new password; None where it comes too late."""
    if delivery.created_at < database_now() - link_lasts():
        return None
    text = (
        f"Someone asked for a new password for {user.email}. If it was you, set one within an hour:\n\n"
        f"{page_url(reset_path(user))}\n\nIf it was not you, do nothing: your password stays as it is.\n"
    )
    return Mail(user.email, "A new password for toolevals", text, _identifier(delivery, user))


def _identifier(delivery: Delivery, user: User) -> str:
    return f"{delivery.event.hex}.{user.pk.hex}@toolevals"


def mail_send(mail: Mail) -> None:
    """Send one. Raises SMTPException and OSError."""
    headers = {"Message-ID": f"<{mail.identifier}>", "Auto-Submitted": "auto-generated"}
    message = EmailMessage(mail.subject, mail.text, installation_setting("EMAIL_FROM"), [mail.to], headers=headers)
    message.send()


def _memberships(user: User, kind: EventKind) -> list[Membership]:
    """Return the memberships in projects of which the person chose this kind, as they are now."""
    found = Membership.objects.filter(untrashed("project"), user=user, mail_choice__isnull=False)
    rows = found.select_related("project", "mail_choice").order_by("project__name", "pk")
    return [each for each in rows if kind in each.mail_choice.kinds]


def _told(membership: Membership, kind: EventKind) -> Iterator[str]:
    project: Project = membership.project
    if kind == EventKind.DIGEST_WEEKLY:
        summary, path = import_string(settings.DIGEST_NOTE)(project)
        yield f"  {_line(summary)}"
        yield f"  {page_url(path)}"
        return
    for task in waiting_for(project, membership.user, Role(membership.role)):
        yield f"  {task.number} {task.words}: {page_url(task.url)}"


def _line(text: str) -> str:
    """Return a text on one line: nothing that someone named can begin another line, or a header."""
    return " ".join("".join(mark if mark.isprintable() else " " for mark in text).split())
