"""Bodies of requests to the REST interface that are no good JSON."""

from __future__ import annotations

import pytest

from toolevals.workspace.models import Role
from toolevals.workspace.tokens.services import token_create

INVITATIONS = "/api/v1/projects/shop/invitations/"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"[" * 100_000 + b"]" * 100_000, "nested deeper than"),
        (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "nested deeper than"),
        (b'{"email": "a@example.org", "email": "b@example.org"}', 'the key "email" appears twice'),
        (b'{"email": 1e400}', "beyond what a number can hold"),
        (b'{"email": NaN}', "not a JSON value"),
        (b'{"email": "\\ud800"}', "lone surrogate"),
        (b'{"email": "\\u0000"}', "NUL"),
        (b'{"email": "\xff"}', "not UTF-8 at byte 11"),
        (b"{", "not JSON at line 1, column 2"),
    ],
)
def test_a_body_that_is_no_good_json_is_refused_with_its_place(client, project, owner, body, said):
    _, secret = token_create(project=project, actor=owner, user=owner, name="ci", role=Role.OWNER)
    header = {"HTTP_AUTHORIZATION": f"Bearer {secret}"}
    answer = client.generic("POST", INVITATIONS, body, content_type="application/json", **header)
    assert answer.status_code == 400
    assert said in answer.json()["problems"][0]["message"]
