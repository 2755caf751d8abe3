"""Waiting for a job while the server is restarted, and what is said of it; without a network, and without a wait."""

from __future__ import annotations

from typing import Any

import pytest

from tests.client.answering import answer
from toolevals.cli.output import Exit, exit_status_of, note
from toolevals.client import Project
from toolevals.client.http import Request, Response
from toolevals.server_errors import LateError, ServerError, UnreachableError

JOB = {"id": "0198f1c2", "title": "Import of core", "done": 1, "total": 2, "report": {}}
RUNNING, DONE, FAILED = (JOB | {"state": state} for state in ("running", "succeeded", "failed"))
SERVER = "http://shop.example"
AGAIN = "check the job: toolevals jobs 0198f1c2 --server http://shop.example --project shop"
PAGE = "the page: http://shop.example/p/shop/jobs/0198f1c2/"


class Clock:
    """A clock that only sleeping moves."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


class Server:
    """Gives its answers one after the other, the last one ever again; an exception is what the network does."""

    def __init__(self, *answers: Any) -> None:
        self.answers = answers
        self.requests: list[Request] = []
        self.bodies: list[bytes] = []

    def __call__(self, request: Request) -> Response:
        body = request.body or b""
        self.bodies.append(body if isinstance(body, bytes) else b"".join(body))
        self.requests.append(request)
        said = self.answers[min(len(self.requests), len(self.answers)) - 1]
        if isinstance(said, Exception):
            raise said
        return said(request) if callable(said) else answer(json=said)(request)


def client_of(server: Server, clock: Clock, timeout: float = 3600) -> Project:
    return Project(
        server=SERVER,
        project="shop",
        token="te_any",
        timeout=timeout,
        transport=server,
        sleep=clock.sleep,
        clock=lambda: clock.now,
        note=note,
    )


@pytest.fixture
def clock() -> Clock:
    """The clock of one test."""
    return Clock()


def refused() -> Exception:
    return UnreachableError("Connection refused")


def test_a_wait_outlives_a_server_that_is_restarted(clock, capsys):
    away = [refused(), UnreachableError("reset"), UnreachableError("gone"), LateError("late")]
    server = Server(RUNNING, *away, answer(502), answer(503, text="<html>"), DONE)
    assert client_of(server, clock).wait(JOB) == DONE
    assert clock.slept[1:] == [1, 2, 4, 8, 16, 30]
    said = capsys.readouterr().err
    assert f"{SERVER} does not answer (Connection refused); retrying for up to 300 seconds" in said
    assert "the server answers" in said
    assert said.endswith(f"{PAGE}\n")
    assert AGAIN not in said


def test_a_server_says_itself_when_to_ask_again(clock):
    soon = answer(503, headers={"Retry-After": "7"})
    past = answer(429, headers={"Retry-After": "Wed, 21 Oct 2015 07:28:00 GMT"})
    wrong = answer(502, headers={"Retry-After": "soon"})
    assert client_of(Server(RUNNING, soon, past, wrong, DONE), clock).wait(JOB) == DONE
    assert clock.slept[1:] == [7, 0, 4]


@pytest.mark.parametrize("away", [refused(), answer(502)], ids=["refused", "502"])
def test_giving_up_says_how_to_look_again(clock, away):
    with pytest.raises(ServerError) as told:
        client_of(Server(RUNNING, away), clock).wait(JOB)
    assert exit_status_of(told.value) is Exit.UNREACHABLE
    assert str(told.value).endswith(f"{AGAIN}\n{PAGE}")
    assert 250 < clock.now <= 301


def test_a_pause_that_is_too_long_is_not_waited_for(clock):
    later = answer(503, headers={"Retry-After": "3600"})
    with pytest.raises(ServerError, match="503"):
        client_of(Server(RUNNING, later), clock).wait(JOB)
    assert len(clock.slept) == 1


def test_no_time_left_says_how_to_look_again(clock):
    with pytest.raises(ServerError) as told:
        client_of(Server(RUNNING), clock, timeout=20).wait(JOB)
    assert exit_status_of(told.value) is Exit.TIMED_OUT
    assert AGAIN in str(told.value)
    assert 20 < clock.now < 25


def test_a_job_that_failed_says_where_to_read_of_it(clock):
    failed = FAILED | {"report": {"errors": [{"line": 3, "pointer": "/id", "message": "No id."}]}}
    with pytest.raises(ServerError) as told:
        client_of(Server(failed), clock).wait(JOB)
    assert exit_status_of(told.value) is Exit.DATA
    assert "3, /id, No id.\n" in str(told.value)
    assert str(told.value).endswith(PAGE)
    assert AGAIN not in str(told.value)


def test_an_interrupted_wait_says_how_to_look_again(clock, capsys):
    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    clock.sleep = interrupt
    with pytest.raises(KeyboardInterrupt):
        client_of(Server(RUNNING), clock).wait(JOB)
    said = capsys.readouterr().err
    assert "The job continues on the server." in said
    assert f"{AGAIN}\n{PAGE}\n" in said


def test_an_upload_is_sent_again_whole_under_one_key(clock, tmp_path):
    file = tmp_path / "rows.jsonl"
    file.write_bytes(b'{"id": "ex-1"}\n')
    problem = {"detail": "The first request with this key is still at work."}
    server = Server([], answer(502), UnreachableError("cut"), answer(409, json=problem), JOB)
    client = client_of(server, clock)
    client.request("GET", "datasets/")
    assert client.upload("datasets/core/imports/", file, {"source": "jsonl"}) == JOB
    keys = {request.headers["Idempotency-Key"] for request in server.requests[1:]}
    assert len(keys) == 1
    assert all(b'{"id": "ex-1"}' in body for body in server.bodies[1:])


def test_what_the_server_would_do_twice_is_sent_once(clock):
    server = Server([], answer(502))
    client = client_of(server, clock)
    client.request("GET", "datasets/")
    with pytest.raises(ServerError, match="502"):
        client.request("POST", "datasets/", json={"slug": "core"})
    assert len(server.requests) == 2
    with pytest.raises(ServerError, match="502"):
        client.post_once("runs/", json={})
    assert len(server.requests) > 3


def test_a_first_address_that_nobody_answers_at_is_not_waited_for(clock):
    with pytest.raises(ServerError) as told:
        client_of(Server(refused()), clock).request("GET", "jobs/")
    assert exit_status_of(told.value) is Exit.UNREACHABLE
    assert clock.slept == []


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (answer(200, text="<html>Welcome</html>"), "answers with no JSON: is this the address"),
        (answer(200, json={"hello": 1}), "answers with no list: is this the address"),
        (answer(301, headers={"Location": "https://shop.example/"}), "it is at https://shop.example/"),
        (answer(404, json=["not a problem"]), "the server answered 404: http.*/jobs/: is this the address"),
    ],
)
def test_an_answer_of_something_else_is_a_wrong_address(clock, said, words):
    with pytest.raises(ServerError, match=words) as told:
        list(client_of(Server(said), clock).pages("jobs/"))
    assert exit_status_of(told.value) is Exit.CONFIGURATION


def test_an_answer_that_breaks_off_is_asked_for_again(clock):
    short = answer(json=DONE, headers={"Content-Length": "4000"})
    assert client_of(Server(RUNNING, short, DONE), clock).wait(JOB) == DONE


@pytest.mark.parametrize(
    "server", ["shop.example", "ftp://shop.example", "http://", "http://shop.example:port", "http://a b"]
)
def test_a_wrong_address_is_an_error_of_configuration(server):
    with pytest.raises(ServerError, match="invalid server URL") as told:
        Project(server=server, project="shop", token="te_any").request("GET", "jobs/")
    assert exit_status_of(told.value) is Exit.CONFIGURATION


def test_a_next_page_is_on_the_network(clock):
    server = Server({"results": [], "next": "file:///etc/hosts"})
    with pytest.raises(ServerError, match="does not start with http"):
        list(client_of(server, clock).pages("jobs/"))
