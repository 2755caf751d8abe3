"""Control groups that limit a simulator's memory, of both versions of the kernel's interface."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from toolevals.agents.code import CodeSimulator, memory_groups
from toolevals.agents.code.memory_groups import MemoryGroup, Parent, clear, group_parent, memory_group


@pytest.fixture
def parent() -> Parent:
    found = group_parent()
    if found is None:
        pytest.skip("No control group can be made here.")
    return found


def test_a_group_holds_its_limit_and_goes_when_it_is_closed(parent):
    group = memory_group(100 << 20)
    assert group is not None
    assert int((group.folder / parent.limit).read_text()) == (100 << 20) + memory_groups.OVERHEAD
    assert not group.killed
    group.close()
    assert not group.folder.exists()


@pytest.mark.usefixtures("sandbox")
def test_each_process_of_strangers_code_has_a_group_until_it_ends(parent):
    before = set(parent.folder.glob(f"{memory_groups.PREFIX}*"))
    with CodeSimulator({"simulator.py": "def nothing(state): ..."}) as simulator, simulator.world({}):
        (group,) = [
            folder
            for folder in set(parent.folder.glob(f"{memory_groups.PREFIX}*")) - before
            if _descends_from_here((folder / "cgroup.procs").read_text().split())
        ]
    assert not group.exists()


def _descends_from_here(processes: list[str]) -> bool:
    """Return whether a process of a group was started by this one: other tests may run beside it."""
    parents = [Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[1] for process in processes]
    return str(os.getpid()) in parents


def test_groups_of_a_killed_server_are_cleared(parent):
    left = MemoryGroup(parent, 1 << 30)
    clear(parent)
    assert not left.folder.exists()


def test_a_folder_that_is_no_control_group_is_not_taken_for_one(tmp_path):
    with pytest.raises(OSError, match=r"memory\.max"):
        MemoryGroup(Parent(tmp_path, "memory.max", "memory.events"), 1 << 30)
    assert list(tmp_path.iterdir()) == []


def test_a_kill_for_want_of_memory_is_told_by_the_group(tmp_path):
    (tmp_path / "events").write_text("oom 3\noom_kill 0\n")
    group = object.__new__(MemoryGroup)
    group.folder, group._events = tmp_path, "events"
    assert not group.killed
    (tmp_path / "events").write_text("oom 3\noom_kill 1\n")
    assert group.killed
