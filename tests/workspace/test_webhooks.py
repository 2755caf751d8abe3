"""Webhooks: written with the event, signed, sent until they are taken, and never where they may not go."""

from __future__ import annotations

import json
import re
import threading
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.exceptions import ValidationError
from django.db import transaction

from tests.fixtures.people import person
from tests.workspace.hooked import is_signed, receiving
from toolevals.workspace.clock import database_now
from toolevals.workspace.models import AuditEntry, Batch, BatchState, Delivery, EventKind, JobState, Webhook
from toolevals.workspace.notifications import sending
from toolevals.workspace.notifications.events import event_note
from toolevals.workspace.notifications.sending import WAITS, deliveries_forget, deliveries_send
from toolevals.workspace.notifications.services import webhook_save, webhook_switch, webhook_test

pytestmark = pytest.mark.django_db
ROOT = Path(__file__).parents[2]


@pytest.fixture
def receiver(settings: Any):
    settings.AGENT_NETWORKS = ["127.0.0.0/8"]
    settings.PUBLIC_URL = "https://evals.example.org"
    with receiving() as found:
        yield found


@pytest.fixture
def hook(project, receiver):
    """A webhook for what happens to runs, and its secret."""
    return webhook_save(project=project, actor=None, name="alerts", url=receiver.url, kinds=["run.failed"])


def note(project: Any, summary: str = "Failed: Run 7", kind: EventKind = EventKind.RUN_FAILED) -> None:
    event_note(project=project, kind=kind, summary=summary, path="/p/shop/runs/7/", facts={"run": 7})


def make_due() -> None:
    Delivery.objects.update(due_at=database_now() - timedelta(seconds=1))


def test_an_event_is_posted_signed_and_logged(project, hook, receiver):
    note(project)
    assert deliveries_send() == 1
    [(headers, body)] = receiver.came
    assert is_signed(headers, body, hook[1])
    sent = json.loads(body)
    assert sent["type"] == "run.failed"
    assert sent["data"] == {
        "project": "shop",
        "project_name": "Shop support",
        "summary": "Failed: Run 7",
        "url": "https://evals.example.org/p/shop/runs/7/",
        "run": 7,
    }
    assert not is_signed(headers, body + b" ", hook[1])
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.status, delivery.attempts, delivery.error) == ("sent", 204, 1, "")
    assert headers["webhook-id"] == f"msg_{delivery.event.hex}"
    assert deliveries_send() == 0


def test_an_event_that_is_rolled_back_is_told_to_no_one(project, hook, receiver):
    with transaction.atomic():
        note(project)
        transaction.set_rollback(True)
    assert deliveries_send() == 0
    assert not receiver.came


def test_only_who_asked_is_told_and_no_one_while_a_webhook_is_off(project, hook, receiver, owner):
    note(project, kind=EventKind.RUN_FINISHED)
    assert not Delivery.objects.exists()
    webhook_switch(webhook=hook[0], actor=owner, is_on=False)
    note(project)
    assert not Delivery.objects.exists()
    webhook_switch(webhook=hook[0], actor=owner, is_on=True)
    note(project)
    webhook_switch(webhook=hook[0], actor=owner, is_on=False)
    assert deliveries_send() == 0
    assert (Delivery.objects.get().state, receiver.came) == ("dropped", [])


def test_what_fails_comes_again_later_with_the_same_id_and_body_until_it_is_taken(project, hook, receiver):
    receiver.answers = [(500, {}, b"over\x00loaded" * 1000), (429, {"retry-after": "900"}, b""), (200, {}, b"")]
    note(project)
    deliveries_send()
    first = Delivery.objects.get()
    assert (first.state, first.status, first.attempts) == ("waiting", 500, 1)
    assert first.error.startswith("500: over")
    assert len(first.error) <= 300
    assert timedelta(seconds=4) < first.due_at - database_now() < timedelta(seconds=6)
    assert deliveries_send() == 0
    make_due()
    deliveries_send()
    # The server asked for longer than the wait that is due.
    assert Delivery.objects.get().due_at - database_now() > timedelta(seconds=890)
    make_due()
    deliveries_send()
    assert Delivery.objects.get().state == "sent"
    assert len(receiver.came) == 3
    assert len(set(receiver.ids())) == 1
    assert len({body for _, body in receiver.came}) == 1
    assert all(is_signed(headers, body, hook[1]) for headers, body in receiver.came)


def test_it_is_given_up_after_the_last_wait(project, hook, receiver):
    receiver.answers = [(503, {}, b"")]
    note(project)
    for _ in range(len(WAITS) + 3):
        make_due()
        deliveries_send()
    delivery = Delivery.objects.get()
    assert (delivery.state, delivery.attempts, delivery.next_attempt) == ("failed", len(WAITS) + 1, None)
    assert len(receiver.came) == len(WAITS) + 1


def test_who_is_gone_is_asked_no_more(project, hook, receiver):
    receiver.answers = [(410, {}, b"")]
    note(project)
    deliveries_send()
    assert Delivery.objects.get().state == "failed"
    assert not Webhook.objects.get().is_on


def test_a_redirect_is_not_followed(project, hook, receiver):
    with receiving() as elsewhere:
        receiver.answers = [(307, {"location": elsewhere.url}, b"")]
        note(project)
        deliveries_send()
        assert not elsewhere.came
    assert "redirects are not followed" in Delivery.objects.get().error


def test_a_server_that_does_not_answer_holds_no_other_up(project, hook, receiver, monkeypatch):
    monkeypatch.setattr(sending, "SECONDS", 0.5)
    with receiving() as quick:
        webhook_save(project=project, actor=None, name="quick", url=quick.url, kinds=["run.failed"])
        receiver.goes_on.clear()
        note(project)
        deliveries_send()
        assert len(quick.came) == 1
    slow, other = Delivery.objects.order_by("webhook__name")
    assert (slow.state, other.state) == ("waiting", "sent")
    assert "No answer came" in slow.error


def test_a_private_address_is_refused_when_it_is_entered_and_when_a_message_is_sent(project, hook, receiver, settings):
    settings.AGENT_NETWORKS = []
    for url in ("http://127.0.0.1:9/", "http://localhost/", "http://169.254.169.254/latest", "http://[::1]/"):
        with pytest.raises(ValidationError, match="is a private address"):
            webhook_save(project=project, actor=None, name="inside", url=url, kinds=["run.failed"])
    note(project)
    deliveries_send()
    assert not receiver.came
    delivery = Delivery.objects.get()
    assert (delivery.state, "TOOLEVALS_AGENT_NETWORKS" in delivery.error) == ("failed", True)


@pytest.mark.parametrize("url", ["", "ftp://x.example/", "https://user:pass@x.example/", "https://x.example/a b", "x"])
def test_what_is_no_address_is_refused(project, url):
    with pytest.raises(ValidationError):
        webhook_save(project=project, actor=None, name="odd", url=url, kinds=["run.failed"])


def test_the_address_and_the_secret_are_kept_sealed(project, hook):
    kept = str(vars(Webhook.objects.get())) + str(list(AuditEntry.objects.values()))
    assert "hush" not in kept
    assert hook[1] not in kept


def test_slack_gets_a_text_in_which_names_are_no_mentions(project, receiver):
    url = receiver.url
    webhook_save(project=project, actor=None, name="chat", url=url, kinds=["run.failed"], form="slack")
    note(project, "Failed: <!channel> & <https://evil.example|click>\n*x*\u202e")
    deliveries_send()
    [text] = [message["text"] for message in receiver.messages()]
    assert text == (
        "Shop support: Failed: &lt;!channel&gt; &amp; &lt;https://evil.example|click&gt; *x*  "
        "<https://evals.example.org/p/shop/runs/7/|Open>"
    )


def test_two_workers_send_a_message_once(project, hook, receiver):
    note(project)
    [taken] = sending._taken()
    assert sending._taken() == []
    assert deliveries_send() == 0
    # The one that holds it is killed. Its time is over, and another sends it.
    make_due()
    assert deliveries_send() == 1
    sending._note(taken, sending.Outcome("late"))
    assert Delivery.objects.get().state == "sent"


def test_a_message_that_ends_its_workers_is_given_up(project, hook, receiver):
    note(project)
    Delivery.objects.update(attempts=len(WAITS) + 1)
    assert deliveries_send() == 0
    assert (Delivery.objects.get().state, receiver.came) == ("failed", [])


def test_a_failed_run_is_told_in_its_transaction_and_other_work_is_not(project, hook, job_of, run_jobs):
    for kind in ("run", "import"):
        job = job_of([{"fail": True}])
        job.kind = kind
        job.save()
        Batch.objects.filter(job=job).update(attempts=3)
    from toolevals.workspace.jobs.services import batch_fail

    for batch in Batch.objects.select_related("job"):
        Batch.objects.filter(pk=batch.pk).update(state=BatchState.LEASED, lease_token=batch.pk)
        batch_fail(batch, batch.pk, "The agent said something private.", again=False)
    assert {job.state for job in project.jobs.all()} == {JobState.FAILED}
    [delivery] = Delivery.objects.all()
    assert delivery.kind == "run.failed"
    assert "private" not in str(delivery.document)


def test_a_test_goes_to_the_one_webhook_and_not_endlessly(project, hook, receiver, owner):
    webhook_save(project=project, actor=None, name="other", url=receiver.url, kinds=["run.failed"])
    for _ in range(5):
        webhook_test(webhook=hook[0], actor=owner)
    with pytest.raises(ValidationError, match="5 tests wait already"):
        webhook_test(webhook=hook[0], actor=owner)
    deliveries_send()
    assert {message["type"] for message in receiver.messages()} == {"test"}
    assert len(receiver.came) == 5


def test_old_messages_are_forgotten_and_waiting_ones_are_not(project, hook):
    note(project)
    note(project)
    old = database_now() - timedelta(days=91)
    kept, gone = Delivery.objects.order_by("pk")
    Delivery.objects.filter(pk=gone.pk).update(ended_at=old, state="sent")
    Delivery.objects.update(created_at=old)
    assert deliveries_forget(database_now()) == 1
    assert Delivery.objects.get() == kept


def test_an_owner_adds_changes_renews_switches_and_deletes_on_the_pages(project, client, owner, receiver):
    client.force_login(owner)
    page = "/p/shop/notifications/"
    said = {"name": "alerts", "url": receiver.url, "form": "json", "kinds": ["run.failed", "gate.failed"]}
    added = client.post(page, said).content.decode()
    assert "whsec_" in added
    assert "hush" not in added
    text = client.get(page).content.decode()
    assert "whsec_" not in text
    assert "hush" not in text
    hook = Webhook.objects.get()
    assert hook.kinds == ["run.failed", "gate.failed"]
    one = f"{page}{hook.pk}/"
    assert client.post(page, {**said, "name": "alerts"}).status_code == 422
    assert client.post(page, {**said, "name": "b", "kinds": ["work.waiting"]}).status_code == 422
    assert client.post(one, {"name": "chat", "url": "", "form": "slack", "kinds": ["run.failed"]}).status_code == 302
    changed = Webhook.objects.get()
    assert (changed.name, changed.form, changed.sealed_url) == ("chat", "slack", hook.sealed_url)
    assert "whsec_" in client.post(f"{one}secret/").content.decode()
    assert Webhook.objects.get().sealed_secret != hook.sealed_secret
    assert client.post(f"{one}test/").status_code == 302
    deliveries_send()
    log = client.get(f"{page}log/?webhook={hook.pk}").content.decode()
    assert "A test of the webhook chat" in log
    assert "A test of the webhook chat" in client.get(f"{page}log.csv").getvalue().decode()
    assert "A test of" not in client.get(f"{page}log/?webhook={person('Nobody').pk}").content.decode()
    client.post(f"{one}switch/")
    assert not Webhook.objects.get().is_on
    client.post(f"{one}delete/")
    assert not Webhook.objects.exists()
    assert not Delivery.objects.exists()
    verbs = AuditEntry.objects.filter(verb__startswith="webhook_").order_by("pk").values_list("verb", flat=True)
    assert list(verbs) == [f"webhook_{verb}" for verb in ("add", "change", "renew", "test", "switch", "delete")]


def test_the_interface_does_the_same(project, client, owner, receiver):
    client.force_login(owner)
    below = "/api/v1/projects/shop/webhooks/"
    said = {"name": "alerts", "url": receiver.url, "events": ["run.failed"]}
    made = client.post(below, said, "application/json")
    assert made.status_code == 201
    assert made.json()["secret"].startswith("whsec_")
    one = f"{below}{made.json()['webhook']['id']}/"
    assert client.post(below, {**said, "name": "x", "events": ["nothing"]}, "application/json").status_code == 422
    assert client.post(below, {**said, "odd": 1}, "application/json").status_code == 422
    patched = client.patch(one, {"name": "new", "is_on": False}, "application/json").json()
    assert (patched["name"], patched["is_on"], patched["events"]) == ("new", False, ["run.failed"])
    refused = client.post(f"{one}test/")
    assert (refused.status_code, "is off" in refused.json()["problems"][0]["message"]) == (422, True)
    client.patch(one, {"is_on": True}, "application/json")
    assert client.post(f"{one}test/").status_code == 202
    deliveries_send()
    [logged] = client.get(f"/api/v1/projects/shop/deliveries/?webhook={made.json()['webhook']['id']}").json()["results"]
    assert (logged["state"], logged["status"], logged["document"]["type"]) == ("sent", 204, "test")
    assert client.post(f"{one}secret/").json()["secret"] != made.json()["secret"]
    assert "hush" not in str(client.get(below).json()) + str(client.get(one).json())
    assert client.delete(one).status_code == 204


@pytest.mark.parametrize("role", ["adjudicator", "reviewer", "viewer"])
def test_who_is_no_owner_sees_none_of_it(request, client, project, hook, role):
    client.force_login(request.getfixturevalue(role))
    assert client.get("/p/shop/notifications/").status_code == 403
    assert client.get("/p/shop/notifications/log/").status_code == 403
    assert client.post(f"/p/shop/notifications/{hook[0].pk}/test/").status_code == 403
    assert client.get("/api/v1/projects/shop/deliveries/").status_code == 403


def test_another_projects_webhook_is_not_found(client, hook, owner):
    from toolevals.workspace.projects.services import project_create

    project_create(actor=owner, slug="other", name="Other")
    client.force_login(owner)
    assert client.get(f"/p/other/notifications/{hook[0].pk}/").status_code == 404
    assert client.post(f"/p/other/notifications/{hook[0].pk}/delete/").status_code == 404


def test_messages_of_many_events_go_out_at_once(project, hook, receiver):
    for number in range(45):
        note(project, f"Failed: Run {number}")
    assert deliveries_send() == 45
    assert len(set(receiver.ids())) == 45
    assert threading.active_count() < 40


def test_the_documents_check_a_signature_and_name_each_event(project, hook, receiver):
    page = (ROOT / "docs" / "notifications.md").read_text()
    [code] = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    names: dict[str, Any] = {}
    exec(code, names)
    note(project)
    deliveries_send()
    [(headers, body)] = receiver.came
    assert names["is_genuine"](headers, body, hook[1])
    assert not names["is_genuine"](headers, body + b" ", hook[1])
    assert not names["is_genuine"](headers, body, f"whsec_{'A' * 44}")
    assert not names["is_genuine"]({**headers, "webhook-timestamp": "1"}, body, hook[1])
    [written] = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    assert list(json.loads(written)) == list(json.loads(body))
    assert {f"| `{kind.value}` |" for kind in EventKind} <= set(re.findall(r"\| `[a-z.]+` \|", page))
