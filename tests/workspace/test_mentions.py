"""Members are mentioned by name, kept by id, and told what they may read."""

from __future__ import annotations

import pytest
from django.test import override_settings
from django.urls import reverse

from labeling.models import Comment
from labeling.questions.services import comment_add
from tests.fixtures.people import person
from tests.labeling.conftest import *  # noqa: F403
from toolevals.grading.values.problems import InvalidDocument
from toolevals.workspace.mentions.names import names_bound, names_offered, text_named
from toolevals.workspace.mentions.queries import unread_count
from toolevals.workspace.mentions.services import mentions_note
from toolevals.workspace.models import Delivery, Mention, Role
from toolevals.workspace.notifications.services import mails_choose, webhook_save
from toolevals.workspace.people.departure import user_delete
from toolevals.workspace.projects.services import member_set


def test_names_are_kept_as_ids_and_shown_as_they_are_now(project, owner, reviewer):
    typed = f"@{reviewer.name.upper()}, see @owner: mail me@Reviewer.example or @Reviewers, @{{{owner.pk}}}"
    kept, people = names_bound(project, typed)
    assert people == [reviewer, owner]
    assert kept.startswith(f"@{{{reviewer.pk}}}, see @{{{owner.pk}}}: mail me@Reviewer.example or @Reviewers, @ {{")
    assert text_named(kept).startswith("@Reviewer, see @Owner: mail")
    user_delete(person=reviewer, actor=None)
    assert text_named(kept).startswith("@Former member 1, see @Owner")


def test_two_of_one_name_are_told_apart_and_strangers_are_not_offered(project, owner, reviewer, outsider):
    twin = person("Twin")
    twin.name = reviewer.name
    twin.save()
    member_set(project=project, actor=None, user=twin, role=Role.VIEWER)
    assert set(names_offered(project)) == {"Owner", "Reviewer (reviewer)", "Reviewer (twin)"}
    with pytest.raises(InvalidDocument, match="names several members"):
        names_bound(project, "@Reviewer look")
    assert names_bound(project, "@Reviewer (twin) look")[1] == [twin]
    assert names_bound(project, f"@{outsider.name} look") == (f"@{outsider.name} look", [])


@pytest.fixture
def revision(examples):
    return examples[0]


def test_a_mention_in_what_is_blind_tells_those_alone_who_may_read_it(
    client, project, owner, reviewer, adjudicator, viewer, revision
):
    said = "Is this right, @Owner, @Viewer, @Adjudicator?"
    comment_add(revision=revision, asker=reviewer, actor=reviewer, text=said)
    assert Mention.objects.count() == 3
    # Adjudicators and owners may answer; a viewer reads it once it is resolved.
    assert [unread_count(project, each, role) for each, role in ((owner, Role.OWNER), (viewer, Role.VIEWER))] == [1, 0]
    client.force_login(viewer)
    mine = Mention.objects.get(person=viewer)
    assert client.get(reverse("workspace:mention", args=[project.slug, mine.pk])).status_code == 404
    assert revision.example.external_id not in client.get(reverse("workspace:mentions", args=["shop"])).content.decode()
    client.force_login(adjudicator)
    page = client.get(reverse("workspace:mentions", args=["shop"])).content.decode()
    assert revision.example.external_id in page
    # Who asks stays unnamed.
    assert reviewer.name not in page
    assert "mention of you" in client.get(reverse("workspace:project", args=["shop"])).content.decode()
    mine = Mention.objects.get(person=adjudicator)
    opened = client.get(reverse("workspace:mention", args=["shop", mine.pk]))
    assert opened.url == reverse("labeling:thread", args=["shop", revision.pk])
    assert "@Owner, @Viewer" in client.get(opened.url).content.decode()
    assert unread_count(project, adjudicator, Role.ADJUDICATOR) == 0
    type(revision).objects.filter(pk=revision.pk).update(resolution="resolved")
    assert unread_count(project, viewer, Role.VIEWER) == 1
    assert str(owner.pk) in Comment.objects.get().text


def test_another_labeller_learns_nothing_before_the_example_is_resolved(project, reviewer, members, revision):
    [ben] = members(1)
    comment_add(revision=revision, asker=reviewer, actor=reviewer, text=f"I say cancel, @{ben.name}")
    assert unread_count(project, ben, Role.REVIEWER) == 0


@override_settings(EMAIL_URL="smtp://mail.example")
def test_an_email_goes_to_those_who_chose_it_and_may_read(project, owner, reviewer, viewer, revision):
    for each in (owner, viewer):
        mails_choose(membership=project.memberships.get(user=each), actor=each, kinds=["mention"])
    comment_add(revision=revision, asker=reviewer, actor=reviewer, text="@Owner @Viewer")
    told = Delivery.objects.get()
    assert (told.user, told.document["data"]["summary"]) == (
        owner,
        f"You are mentioned in a question about {revision.example.external_id}",
    )


def test_a_webhook_is_told_who_is_mentioned_and_where_only_if_every_member_may_read_it(
    project, owner, reviewer, viewer, revision
):
    webhook_save(project=project, actor=owner, name="chat", url="https://chat.example/x", kinds=["mention"])
    comment_add(revision=revision, asker=reviewer, actor=reviewer, text="I say refund, @Owner and @Viewer")
    told = Delivery.objects.get()
    # The viewer may not read it yet: no one is told of that.
    assert told.document["data"]["summary"] == "Owner is mentioned"
    assert told.document["data"]["url"] == reverse("workspace:mentions", args=["shop"])
    asked = Comment.objects.create(revision=revision, asker=reviewer, author=reviewer, text="Said")
    type(revision).objects.filter(pk=revision.pk).update(resolution="resolved")
    mentions_note(project=project, actor=reviewer, people=[viewer], target=asked)
    told = Delivery.objects.latest("pk")
    assert told.document["data"]["summary"] == f"Viewer is mentioned in a question about {revision.example.external_id}"
    assert revision.example_id.hex in told.document["data"]["url"].replace("-", "")
    user_delete(person=viewer, actor=None)
    assert Delivery.objects.count() == 1


def test_names_are_offered_as_they_are_typed(client, project, owner, reviewer):
    client.force_login(reviewer)
    listed = client.get(reverse("workspace:mention-names", args=["shop"]), {"q": "re"}).content.decode()
    assert ('data-name="Reviewer"' in listed, 'data-name="Owner"' in listed) == (True, False)
