"""A message whose worker is killed while it sends is sent again by another, under the same id."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from tests.fixtures.prepared import prepared_copy
from tests.workspace.hooked import receiving
from tests.workspace.installation import Installation

pytestmark = pytest.mark.servers
DRIVER = "tests.workspace.notify_driver"


def test_a_worker_killed_while_it_sends_loses_nothing(tmp_path, applications):
    prepared_copy(applications.prepared, tmp_path / "data", sample=False)
    with receiving() as receiver, Installation(tmp_path / "data", TOOLEVALS_AGENT_NETWORKS="*") as installation:
        receiver.goes_on.clear()
        installation.drive("begin", urlsplit(receiver.url).port or 0, DRIVER)
        worker = installation.worker()
        assert receiver.arrived.wait(60), installation.log()
        installation.kill(worker)
        receiver.goes_on.set()
        installation.drive("time_out", 0, DRIVER)
        installation.worker()
        assert installation.drive("wait", 0, DRIVER) == 2, installation.log()
        # Twice for the network, once for who counts ids.
        assert (len(receiver.came), len(set(receiver.ids()))) == (2, 1)
