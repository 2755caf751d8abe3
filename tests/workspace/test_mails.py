"""E-mail: chosen by each person, written by what they may see when it is sent, and nothing of it without a server."""

from __future__ import annotations

import socketserver
import threading
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email import message_from_string
from typing import Any

import pytest
from django.conf import settings as installation
from django.core import mail
from django.core.exceptions import ValidationError

from toolevals.settings.environment import environment
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import AuditEntry, Delivery, EventKind, Membership, Role, Webhook
from toolevals.workspace.notifications.events import event_note
from toolevals.workspace.notifications.regular import regular_due
from toolevals.workspace.notifications.sending import deliveries_send
from toolevals.workspace.notifications.services import mails_choose, webhook_save
from toolevals.workspace.projects.services import member_remove, member_set, project_create
from toolevals.workspace.trash.services import trash_put

pytestmark = pytest.mark.django_db
# A Monday, and the Tuesday after it.
MONDAY = datetime(2026, 11, 30, 9, tzinfo=UTC)
TUESDAY = MONDAY + timedelta(days=1)


@pytest.fixture(autouse=True)
def set_up(settings: Any) -> None:
    settings.EMAIL_URL = "smtp://mail.example.org"
    settings.PUBLIC_URL = "https://evals.example.org"


def choose(project: Any, user: Any, *kinds: str) -> Membership:
    membership = Membership.objects.get(project=project, user=user)
    mails_choose(membership=membership, actor=user, kinds=kinds)
    return membership


def note(project: Any, summary: str = "Run 7 failed a gate", kind: EventKind = EventKind.GATE_FAILED) -> None:
    event_note(project=project, kind=kind, summary=summary, path="/p/shop/gates/1/", facts={"gate": "nightly"})


def sent() -> list[Any]:
    deliveries_send()
    return mail.outbox


def test_who_chose_an_event_is_written_to_and_no_one_else(project, viewer, owner):
    choose(project, viewer, "gate.failed")
    choose(project, owner, "run.failed")
    note(project)
    [message] = sent()
    assert (message.to, message.subject) == ([viewer.email], "Shop support: Run 7 failed a gate")
    assert "https://evals.example.org/p/shop/gates/1/" in message.body
    assert "https://evals.example.org/profile/notifications/" in message.body
    assert message.extra_headers["Auto-Submitted"] == "auto-generated"
    assert Delivery.objects.get().event.hex in message.extra_headers["Message-ID"]


def test_names_make_no_header_and_no_line(project, viewer):
    choose(project, viewer, "gate.failed")
    project.name = "Shop\r\nBcc: everybody@example.org"
    project.save()
    note(project, "Run 7\r\nBcc: x@example.org\n\nfailed \x1b\u2028" + "long " * 300)
    [message] = sent()
    assert "\n" not in message.subject
    assert len(message.subject) <= 150
    assert message.recipients() == [viewer.email]
    assert "Bcc" not in message.message()
    # The sentence, its address, and where to choose again.
    assert len([line for line in message.body.splitlines() if line]) == 4


def lose_membership(membership: Membership) -> None:
    member_remove(membership=membership, actor=None)


def lose_choice(membership: Membership) -> None:
    mails_choose(membership=membership, actor=None, kinds=[])


def lose_account(membership: Membership) -> None:
    membership.user.is_active = False
    membership.user.save()


def lose_project(membership: Membership) -> None:
    trash_put(row=membership.project, actor=None)


@pytest.mark.parametrize("lose", [lose_membership, lose_choice, lose_account, lose_project])
def test_who_may_not_see_it_any_more_when_it_is_sent_gets_nothing(project, owner, viewer, lose):
    membership = choose(project, viewer, *("gate.failed", "work.waiting", "digest.weekly"))
    note(project)
    regular_due(MONDAY)
    assert Delivery.objects.count() == 3
    lose(membership)
    assert sent() == []
    assert {each.state for each in Delivery.objects.all()} == {"dropped"}


def test_who_comes_back_has_chosen_nothing(project, owner, viewer):
    lose_membership(choose(project, viewer, "gate.failed"))
    member_set(project=project, actor=owner, user=viewer, role=Role.VIEWER)
    note(project)
    assert not Delivery.objects.exists()


def test_work_is_told_once_a_day_by_what_the_person_is_then(project, adjudicator, viewer, monkeypatch):
    waits = {"labeling.label.open_tasks.counted": 3}
    found = {
        **dict.fromkeys(("to_label", "differing", "disputed", "to_answer", "answered", "to_read", "to_calibrate"), 0),
        "to_label": waits["labeling.label.open_tasks.counted"],
        "differing": 2,
    }
    monkeypatch.setattr("labeling.label.open_tasks.counted", lambda *_: found)
    choose(project, adjudicator, "work.waiting")
    choose(project, viewer, "work.waiting")
    regular_due(MONDAY.replace(hour=6))
    assert not Delivery.objects.exists()
    regular_due(MONDAY)
    regular_due(MONDAY + timedelta(hours=5))
    assert Delivery.objects.count() == 2
    [message] = sent()
    assert message.to == [adjudicator.email]
    assert "  3 examples to label: https://evals.example.org/p/shop/label/" in message.body
    assert "  2 examples to decide: https://evals.example.org/p/shop/adjudicate/" in message.body
    regular_due(TUESDAY)
    assert Delivery.objects.count() == 4
    # Whoever labels only is not told what others' labels do.
    member_set(project=project, actor=None, user=adjudicator, role=Role.REVIEWER)
    second = sent()[1]
    assert "to decide" not in second.body
    assert "3 examples to label" in second.body


def test_one_mail_holds_all_projects_of_a_person(project, owner):
    other = project_create(actor=owner, slug="other", name="Other")
    for each in (project, other):
        choose(each, owner, "digest.weekly")
    regular_due(MONDAY)
    regular_due(MONDAY)
    [message] = sent()
    assert message.body.count("Nothing happened in these days.") == 2
    assert "https://evals.example.org/p/other/digest/" in message.body
    regular_due(TUESDAY)
    assert Delivery.objects.count() == 1


def test_the_digest_goes_to_webhooks_once_a_week(project, settings, owner):
    settings.AGENT_NETWORKS = ["*"]
    hook, _ = webhook_save(
        project=project, actor=owner, name="week", url="http://127.0.0.1:9/in", kinds=["digest.weekly"]
    )
    regular_due(MONDAY)
    regular_due(MONDAY)
    deliveries_send()
    [delivery] = Delivery.objects.filter(webhook=hook)
    assert delivery.document["data"]["summary"] == "Nothing happened in these days."
    kept = delivery.document
    Delivery.objects.update(due_at=database_now())
    deliveries_send()
    # No one listens: what comes again is what was to be sent first.
    delivery.refresh_from_db()
    assert (delivery.document, delivery.attempts, delivery.state) == (kept, 2, "waiting")


def test_without_a_server_nothing_is_offered_and_nothing_is_written(project, client, owner, settings):
    choose(project, owner, "gate.failed", "work.waiting")
    settings.EMAIL_URL = ""
    note(project)
    regular_due(MONDAY)
    assert not Delivery.objects.exists()
    client.force_login(owner)
    text = client.get("/profile/notifications/").content.decode()
    assert "E-mail is not set up." in text
    assert "gate.failed" not in text
    client.post("/profile/notifications/test/")
    assert not Delivery.objects.exists()


def test_a_person_chooses_and_tries_on_the_page(project, client, viewer):
    client.force_login(viewer)
    page = "/profile/notifications/"
    membership = Membership.objects.get(project=project, user=viewer)
    said = {f"{membership.pk}-kinds": ["gate.failed", "work.waiting"]}
    assert client.post(page, said).status_code == 302
    assert AuditEntry.objects.get(verb="mails_choose").detail == {"events": ["gate.failed", "work.waiting"]}
    assert client.get(page).content.decode().count("checked") == 2
    assert client.post(page, {f"{membership.pk}-kinds": ["test"]}).status_code == 422
    client.post(page, said)
    assert AuditEntry.objects.filter(verb="mails_choose").count() == 1
    assert client.post(f"{page}test/").status_code == 302
    assert [message.subject for message in sent()] == ["A test"]
    assert "sent" in client.get(page).content.decode()
    assert b"test" in client.get(f"{page}log.csv").getvalue()


def test_ones_mails_are_in_no_log_of_the_project(project, client, owner, viewer):
    choose(project, viewer, "gate.failed")
    note(project)
    client.force_login(owner)
    assert b"gate.failed" not in client.get("/p/shop/notifications/log.csv").getvalue()
    assert client.get("/api/v1/projects/shop/deliveries/").json()["results"] == []
    assert b"gate.failed" not in client.get("/profile/notifications/log.csv").getvalue()


def test_no_more_than_five_tests_wait(project, client, viewer):
    client.force_login(viewer)
    for _ in range(7):
        client.post("/profile/notifications/test/")
    assert Delivery.objects.count() == 5
    with pytest.raises(ValidationError, match="is not an event"):
        mails_choose(membership=Membership.objects.get(user=viewer), actor=None, kinds=["test"])


def test_the_setting_is_an_address_of_a_server():
    env = environment({"TOOLEVALS_EMAIL_URL": "smtp+tls://me:pa%40ss@mail.example.org:587"})
    read = env.email_url("EMAIL_URL")
    assert (read["EMAIL_HOST"], read["EMAIL_PORT"], read["EMAIL_USE_TLS"]) == ("mail.example.org", 587, True)
    assert (read["EMAIL_HOST_USER"], read["EMAIL_HOST_PASSWORD"]) == ("me", "pa@ss")
    assert installation.EMAIL_TIMEOUT == 20


class Conversation(socketserver.StreamRequestHandler):
    """As much of SMTP (RFC 5321) as one message takes; `refusals` are answered to it first."""

    def handle(self) -> None:
        server: Any = self.server
        self._say("220 mail.example.org")
        while line := self.rfile.readline():
            word = line.split()[0].upper().decode()
            if word == "DATA":
                self._say("354 go on")
                lines = list(iter(self.rfile.readline, b".\r\n"))
                server.messages.append(b"".join(lines).decode())
                self._say("250 taken")
            elif word == "MAIL" and server.refusals:
                self._say(server.refusals.pop(0))
            else:
                self._say("221 bye" if word == "QUIT" else "250 mail.example.org")

    def _say(self, words: str) -> None:
        self.wfile.write(f"{words}\r\n".encode())


@pytest.fixture
def smtp(settings: Any) -> Iterator[Any]:
    server: Any = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Conversation)
    server.messages, server.refusals = [], []
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = server.server_address
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()


def test_a_mail_server_that_refuses_is_asked_again_with_the_same_id(project, viewer, smtp):
    smtp.refusals.append("451 later, please")
    choose(project, viewer, "gate.failed")
    note(project)
    deliveries_send()
    waiting = Delivery.objects.get()
    assert (waiting.state, "later, please" in waiting.error) == ("waiting", True)
    Delivery.objects.update(due_at=database_now())
    deliveries_send()
    assert Delivery.objects.get().state == "sent"
    [message] = smtp.messages
    read = message_from_string(message)
    assert read["Message-ID"].strip() == f"<{waiting.event.hex}.{viewer.pk.hex}@toolevals>"
    assert (read["To"], read["Subject"]) == (viewer.email, "Shop support: Run 7 failed a gate")


def test_a_mail_server_that_is_away_holds_up_no_webhook(project, viewer, settings):
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", 9
    choose(project, viewer, "gate.failed")
    note(project)
    deliveries_send()
    assert Delivery.objects.get().error.startswith("ConnectionRefusedError")
    assert not Webhook.objects.exists()
