"""The policy of a session from a project: signed, renewed, and kept for when the server is away."""

from __future__ import annotations

import json
import threading
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from toolevals.cli.guard_mcp.policies import policy_of_project
from toolevals.cli.login import Login, save_login
from toolevals.cli.main import main
from toolevals.cli.output import CommandError, Exit
from toolevals.grading.guard import Policy
from toolevals.sdk.guard.keeping import PolicyKeeper
from toolevals.sdk.guard.policy_file import PolicyFile, public_text, signed

KEY = Ed25519PrivateKey.generate()
POLICY = {"rules": {"blocked": {"kind": "blocked", "mode": "enforce", "tools": ["delete_files"]}}}


def content_of() -> bytes:
    now = datetime.now(UTC)
    file = PolicyFile(
        "shop", "desk", Policy.from_document(POLICY), (), issued_at=now, expires_at=now + timedelta(days=1)
    )
    return json.dumps(signed(file, [KEY])).encode()


@pytest.fixture
def server(tmp_path, monkeypatch):
    """Start a server that has a policy in force, with a login for it; yield what it was asked.

    What renews the policy ends with the test.
    """
    keepers: list[PolicyKeeper] = []
    begin = PolicyKeeper._begin

    def begun(keeper: PolicyKeeper) -> None:
        keepers.append(keeper)
        begin(keeper)

    monkeypatch.setattr(PolicyKeeper, "_begin", begun)
    asked: list[tuple[str, str | None]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append((self.path, self.headers["Authorization"]))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(content_of())

        def log_message(self, *_: object) -> None: ...

    http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=http.serve_forever, args=(0.01,), daemon=True).start()
    for name in ("TOOLEVALS_URL", "TOOLEVALS_TOKEN", "TOOLEVALS_GUARD_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    save_login(Login(f"http://127.0.0.1:{http.server_port}", "shop", "te_desk"))
    yield http, asked
    for keeper in keepers:
        keeper.close()
    http.shutdown()
    http.server_close()


def test_the_policy_in_force_is_that_of_the_login_and_outlives_the_server(server):
    http, asked = server
    source = policy_of_project("shop", "desk", public_text(KEY))
    assert source().policy == Policy.from_document(POLICY)
    assert source().problem == ""
    assert asked == [("/api/v1/projects/shop/guard/policies/desk/signed/", "Bearer te_desk")]
    http.shutdown()
    http.server_close()
    assert policy_of_project("shop", "desk", public_text(KEY))().policy == Policy.from_document(POLICY)


def test_without_a_policy_nothing_begins(server, capsys):
    other = public_text(Ed25519PrivateKey.generate())
    with pytest.raises(CommandError, match="not trusted here"):
        policy_of_project("shop", "desk", other)
    assert main(["guard-mcp", "--project", "shop", "--", "true"]) == Exit.CONFIGURATION
    assert "TOOLEVALS_GUARD_KEY" in capsys.readouterr().err
    assert main(["guard-mcp", "--project", "other", "--public-key", other, "--", "true"]) == Exit.CONFIGURATION
    assert "no token for the project other" in capsys.readouterr().err


def test_a_policy_that_has_expired_says_so(server, monkeypatch):
    source = policy_of_project("shop", "", public_text(KEY))
    later = datetime.now(UTC).timestamp() + 2 * 86_400
    monkeypatch.setattr("toolevals.cli.guard_mcp.policies.time.time", lambda: later)
    assert "expired" in source().problem
