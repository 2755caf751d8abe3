"""The pages of second looks: they ask, list and tell afterwards; owners alone read the figures."""

from __future__ import annotations

import csv
import io

from django.test import Client

from labeling.models import LookPlan, LookProposal
from labeling.second_looks.services import second_looks_end
from tests.labeling.rows import NO_CALL
from tests.labeling.second_looking import Passed, propose
from toolevals.workspace.models import Role

__all__ = ["propose"]


def test_the_pages_ask_and_list_and_tell_what_was_wrong_on_purpose_afterwards(
    project, dataset, propose, submit, ann, ben, pass_time: Passed
):
    propose(planted_share=0.5)
    LookProposal.objects.update(is_planted=True)
    submit(ann, NO_CALL)
    pass_time(project.undo_seconds + 1)
    client = Client()
    client.force_login(ann)
    base = f"/p/{project.slug}"
    url = client.get(f"{base}/second-looks/")["Location"]
    page = client.get(url).content.decode()
    assert ">Second look<" in page
    assert "cancel_order" in page
    assert "Rival" not in page
    assert "Some proposals are deliberately wrong." in page
    assert "1 second look" in client.get(f"{base}/label/", follow=True).content.decode()
    assert client.post(f"{url}answer/", {"answer": "maybe"}).status_code == 422
    assert client.post(f"{url}answer/", {"answer": "went_over"}).status_code == 302
    listed = client.get(f"{base}/second-looks/").content.decode()
    assert "went over to the proposal" in listed
    assert "wrong on purpose" not in listed
    second_looks_end(dataset=dataset, actor=None)
    assert "wrong on purpose" in client.get(f"{base}/second-looks/").content.decode()
    other = Client()
    other.force_login(ben)
    assert other.get(url).status_code == 404
    assert other.post(f"{url}answer/", {"answer": "kept"}).status_code == 404


def test_owners_alone_read_the_figures(project, dataset, propose, ann, members):
    owner = members(1, Role.OWNER)[0]
    client = Client()
    client.force_login(owner)
    url = f"/p/{project.slug}/datasets/{dataset.slug}/second-looks"
    propose()
    assert "Run 7 (Rival) proposes for 3 examples" in client.get(f"{url}/").content.decode()
    table = b"".join(client.get(f"{url}.csv").streaming_content).decode()  # type: ignore[attr-defined]
    assert next(csv.reader(io.StringIO(table)))[:2] == ["reviewer_id", "reviewer"]
    assert client.post(f"{url}/", {"run": "99", "planted_percent": "10", "seed": "0"}).status_code == 422
    assert client.post(f"{url}/", {"end": "1"}).status_code == 302
    assert not LookPlan.objects.filter(ended_at=None).exists()
    client.force_login(ann)
    assert client.get(f"{url}/").status_code == 403
    assert client.get(f"{url}.csv").status_code == 403
