"""The real web server keeps what arrives once and whole, or not at all."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pytest

from tests.fixtures.application import Applications
from tests.fixtures.prepared import prepared_copy
from tests.workspace.faults import AFTER_COMMIT, FILE_STORED, POINTS
from tests.workspace.served import Served

pytestmark = pytest.mark.servers
LINE = b'{"id": "e-%d", "input": {"messages": [{"role": "user", "content": "Where is my order?"}]}}\n'
FILE = b"".join(LINE % number for number in range(2000))
HALF = FILE[: FILE.index(LINE % 1000)]
# The connection ends without an answer, or the answer says why.
REFUSED = (0, 400)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def served(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, applications: Applications
) -> Iterator[Served]:
    """A server of its own on each database."""
    folder: Path = tmp_path_factory.mktemp("served")
    environment = {"DATABASE_URL": ""}
    if request.param == "postgresql":
        server = request.getfixturevalue("postgres_server")
        environment["DATABASE_URL"] = server.database_migrated(f"served_{uuid4().hex}")
    prepared_copy(applications.prepared, folder / "data", sample=False)
    found = Served(folder, **environment)
    try:
        found.start()
        yield found
    finally:
        found.stop()


def chunks(*parts: bytes) -> bytes:
    return b"".join(b"%x\r\n%b\r\n" % (len(part), part) for part in parts)


@pytest.mark.parametrize("point", POINTS)
def test_a_server_killed_at_any_point_leaves_the_key_and_the_work_or_neither(served, point):
    before = served.state()
    served.armed.write_text(point)
    head = served.head(point, Content_Length=str(len(FILE)))
    assert served.send(head, FILE)[0] == 0
    assert not served.armed.exists()
    status, headers, job = served.send(head, FILE, alive=True)
    assert (status, "Idempotent-Replay" in headers) == (202, point == AFTER_COMMIT)
    assert served.send(head, FILE)[2] == job
    after = served.state()
    assert {name: after[name] - before[name] for name in ("keys", "jobs", "uploads")} == dict.fromkeys(
        ("keys", "jobs", "uploads"), 1
    )
    # What was written before the row: the sweeper takes it away once it is old.
    assert len(after["strays"]) - len(before["strays"]) == (0 if point == AFTER_COMMIT else 1)


def test_requests_with_one_key_at_once_do_the_work_once(served):
    before = served.state()
    head = served.head("at once", Content_Length=str(len(FILE)))
    with ThreadPoolExecutor(6) as pool:
        answers = list(pool.map(lambda _: served.send(head, FILE), range(6)))
    assert {status for status, _, _ in answers} <= {202, 409, 503}
    assert all(headers.get("Retry-After") for status, headers, _ in answers if status != 202)
    assert len({job["id"] for status, _, job in answers if status == 202}) == 1
    assert served.state()["jobs"] == before["jobs"] + 1


def test_a_body_that_ends_early_is_refused_and_leaves_nothing(served):
    before = served.state()
    cut = served.head("cut", Content_Length=str(len(FILE)))
    # The server hands on whole bodies only: it ends the connection. One that hands on others gets 400 from the program.
    assert served.send(cut, HALF)[0] in REFUSED
    unfinished = served.head("cut", Transfer_Encoding="chunked")
    assert served.send(unfinished, chunks(HALF))[0] in REFUSED
    assert served.state() == before
    # The key is free for the whole.
    assert served.send(cut, FILE)[0] == 202


def test_a_form_without_its_last_boundary_is_refused(served):
    before = served.state()
    form = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.jsonl"\r\n\r\n' + FILE
    whole = form + b"\r\n--b--\r\n"
    kind = "multipart/form-data; boundary=b"
    status, _, problem = served.send(served.head("form", Content_Length=str(len(form)), Content_Type=kind), form)
    assert status == 400
    assert "last part" in problem["detail"]
    assert served.send(served.head("form", Content_Length=str(len(whole)), Content_Type=kind), form)[0] in REFUSED
    assert served.state() == before
    assert served.send(served.head("form", Content_Length=str(len(whole)), Content_Type=kind), whole)[0] == 202


def test_a_whole_chunked_body_is_taken(served):
    head = served.head("chunked", Transfer_Encoding="chunked")
    status, _, job = served.send(head, chunks(HALF, FILE[len(HALF) :]), b"0\r\n\r\n")
    assert status == 202
    # The same content with a length is the same request.
    whole = served.send(served.head("chunked", Content_Length=str(len(FILE))), FILE)
    assert whole[2] == job


def test_others_on_the_machine_can_read_nothing_of_it(served):
    data = served.application.data
    assert served.send(served.head("private", Content_Length=str(len(FILE))), FILE)[0] == 202
    assert data.stat().st_mode & 0o077 == 0
    kept = [*data.glob("toolevals.sqlite3*"), *(data / "uploads").rglob("*"), data / "secret-key"]
    assert len(kept) > 3
    assert not [path for path in kept if path.stat().st_mode & 0o077]


def test_files_of_a_killed_server_are_swept_once_they_are_old(served):
    served.armed.write_text(FILE_STORED)
    assert served.send(served.head("stray", Content_Length=str(len(FILE))), FILE)[0] == 0
    served.send(served.head("alive", Content_Length=str(len(FILE))), FILE, alive=True)
    before = served.state()
    assert before["strays"]
    sweep = "from toolevals.workspace.uploads.services import stray_files_sweep as sweep; "
    now = "from toolevals.workspace.clock import database_now; from datetime import timedelta; now = database_now(); "
    served.python.run(f"{sweep}{now}sweep(now)")
    assert served.state() == before
    served.python.run(f"{sweep}{now}sweep(now + timedelta(days=2))")
    assert served.state() == {**before, "strays": []}
