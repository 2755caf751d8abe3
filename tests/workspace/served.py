"""The real web server on a database of its own, spoken to through bare sockets; it dies where a test says."""

from __future__ import annotations

import http.client
import json
import socket
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from tests.fixtures.kept_python import KeptPython
from tests.fixtures.prepared import ALONE
from tests.servers.process import free_port
from toolevals.serving.application import Application

PROJECT, DATASET = "shop", "core"
SETUP = f"""
from labeling.datasets.services import dataset_create
from toolevals.workspace.models import Role, User
from toolevals.workspace.projects.services import project_create
from toolevals.workspace.tokens.services import token_create
owner = User.objects.create(email="owner@example.test", name="Owner")
project = project_create(actor=owner, slug="{PROJECT}", name="Shop")
dataset_create(project=project, actor=owner, slug="{DATASET}", name="Core")
print("TOKEN", token_create(project=project, actor=owner, user=owner, name="tests", role=Role.OWNER)[1])
"""
STATE = """
import json
from django.conf import settings
from toolevals.workspace.models import IdempotencyKey, Job, Upload
on_disk = sorted(str(p.relative_to(settings.MEDIA_ROOT)) for p in settings.MEDIA_ROOT.rglob("*") if p.is_file())
print(json.dumps({
    "keys": IdempotencyKey.objects.count(),
    "jobs": Job.objects.count(),
    "uploads": Upload.objects.count(),
    "strays": sorted(set(on_disk) - set(Upload.objects.values_list("file", flat=True))),
}))
"""


class Served:
    """A web server without workers, on an empty project; its database has been migrated."""

    def __init__(self, folder: Path, **environment: str) -> None:
        self.armed = folder / "fault"
        self.application = Application(
            python=sys.executable,
            data=folder / "data",
            port=free_port(),
            environment={
                **ALONE,
                "DJANGO_SETTINGS_MODULE": "tests.workspace.faulty_settings",
                "FAULT_FILE": str(self.armed),
                **environment,
            },
        )
        # Where nothing dies.
        self.python = KeptPython(self.application.environment | {"DJANGO_SETTINGS_MODULE": "toolevals.settings"})
        self.path = f"/api/v1/projects/{PROJECT}/datasets/{DATASET}/imports/?source=jsonl"
        self.token = ""

    def start(self) -> None:
        """Create project and a token; start the server."""
        self.token = self.python.run(SETUP).split("TOKEN ")[1].strip()
        self.application.web_start()

    def state(self) -> dict[str, Any]:
        """Return how many keys, jobs and uploads there are, and the files without a row."""
        found: dict[str, Any] = json.loads(self.python.run(STATE))
        return found

    def head(self, key: str, **headers: str) -> bytes:
        """Return the head of an import's request."""
        said = {
            "Host": "localhost",
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/jsonl",
            "Connection": "close",
            **({"Idempotency-Key": key} if key else {}),
            **{name.replace("_", "-"): value for name, value in headers.items()},
        }
        lines = "".join(f"{name}: {value}\r\n" for name, value in said.items())
        return f"POST {self.path} HTTP/1.1\r\n{lines}\r\n".encode()

    def send(self, *parts: bytes, alive: bool = False) -> tuple[int, dict[str, str], Any]:
        """Send bytes, end the sending, and return status, headers and document of the answer; status 0 for none.

        `alive`: the server is started anew where it died as a whole.
        """
        if alive and self.application.ended():
            self.application.web_kill()
            self.application.web_start()
        with socket.create_connection((self.application.host, self.application.port)) as sender:
            with suppress(OSError):
                for part in parts:
                    sender.sendall(part)
                sender.shutdown(socket.SHUT_WR)
            answer = http.client.HTTPResponse(sender)
            try:
                answer.begin()
                body = answer.read()
            except (OSError, http.client.HTTPException):
                return 0, {}, None
            return answer.status, dict(answer.getheaders()), json.loads(body) if body else None

    def stop(self) -> None:
        """End it."""
        self.python.close()
        self.application.stop()
