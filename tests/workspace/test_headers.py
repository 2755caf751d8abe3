"""Every answer tells browsers what it is not for, and probes are told whatever name they ask for."""

from __future__ import annotations

from http import HTTPStatus

import pytest
from django.test import Client

SAID = {
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
}
ANSWERS = [
    ("/sign-in/", HTTPStatus.OK),
    ("/", HTTPStatus.FOUND),
    ("/none/", HTTPStatus.NOT_FOUND),
    ("/api/v1/projects/", HTTPStatus.UNAUTHORIZED),
    ("/api/v1/none/", HTTPStatus.NOT_FOUND),
    ("/healthz", HTTPStatus.OK),
]


@pytest.mark.parametrize(("path", "status"), ANSWERS)
def test_every_answer_says_what_it_may_not_be_used_for(client, db, path, status):
    answer = client.get(path, secure=True)
    assert answer.status_code == status
    assert SAID.items() <= dict(answer.headers).items()
    assert {"camera=()", "geolocation=()", "microphone=()"} <= set(answer["Permissions-Policy"].split(", "))
    assert "Strict-Transport-Security" not in answer


def test_browsers_are_bound_to_https_where_that_is_set_and_not_by_plain_http(db, settings):
    settings.SECURE_HSTS_SECONDS = 3600
    client = Client()
    assert client.get("/sign-in/", secure=True)["Strict-Transport-Security"] == "max-age=3600"
    assert "Strict-Transport-Security" not in client.get("/sign-in/")


def test_probes_and_scrapers_are_answered_by_any_name_and_without_tls(db, settings):
    settings.ALLOWED_HOSTS, settings.SECURE_SSL_REDIRECT = ["evals.example.org"], True
    client = Client(headers={"host": "10.0.0.7:8000"})
    assert client.get("/healthz").status_code == HTTPStatus.OK
    assert client.get("/readyz?exclude=workers&exclude=sweeper").json()["ready"]
    assert client.get("/metrics").status_code == HTTPStatus.UNAUTHORIZED
    for path in ("/sign-in/", "/healthz/", "/api/v1/projects/"):
        assert client.get(path).status_code == HTTPStatus.BAD_REQUEST
        assert client.get(path, secure=True).status_code == HTTPStatus.BAD_REQUEST
