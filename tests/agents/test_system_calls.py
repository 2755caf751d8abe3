"""The filter of system calls: run here as the kernel runs it, for every processor that it knows."""

from __future__ import annotations

import errno
import operator
import re
import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from toolevals.agents.code import launching
from toolevals.agents.code.launching import NoSandboxError, require_sandbox
from toolevals.agents.code.system_calls import (
    ALLOW,
    CLONE3,
    ERROR,
    EVERYWHERE,
    JUMP_IF_ANY_BIT,
    JUMP_IF_AT_LEAST,
    JUMP_IF_EQUAL,
    KILL,
    LOAD_WORD,
    PROCESSORS,
    RETURN,
    NoFilterError,
    system_call_filter,
)

HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/asm-generic/unistd.h"),
}
TESTS: dict[int, Callable[[int, int], bool]] = {
    JUMP_IF_EQUAL: operator.eq,
    JUMP_IF_AT_LEAST: operator.ge,
    JUMP_IF_ANY_BIT: lambda held, value: bool(held & value),
}


def answer(machine: str, number: int, *, first: int = 0, audit: int | None = None) -> int:
    """Return what the filter answers to one system call."""
    data = struct.pack("=IIQQ", number, PROCESSORS[machine].audit if audit is None else audit, 0, first)
    program = list(struct.iter_unpack("=HBBI", system_call_filter(machine)))
    held, at = 0, 0
    while True:
        code, yes, no, value = map(int, program[at])
        at += 1
        if code == RETURN:
            return value
        if code == LOAD_WORD:
            (held,) = struct.unpack_from("=I", data, value)
        else:
            at += yes if TESTS[code](held, value) else no


@pytest.mark.parametrize("machine", PROCESSORS)
def test_each_named_call_is_refused_and_its_neighbours_are_not(machine):
    processor = PROCESSORS[machine]
    refused = {*processor.refused.values(), *EVERYWHERE.values()}
    for number in range(500):
        expected = ERROR | errno.EPERM if number in refused else ALLOW
        if number == CLONE3:
            expected = ERROR | errno.ENOSYS
        assert answer(machine, number) == expected, number


@pytest.mark.parametrize("machine", PROCESSORS)
def test_a_clone_makes_threads_and_no_namespace(machine):
    clone = PROCESSORS[machine].clone
    assert answer(machine, clone, first=0x003D0F00) == ALLOW  # as a thread is made
    for bit in (17, 25, 26, 27, 28, 29, 30):
        assert answer(machine, clone, first=1 << bit) == ERROR | errno.EPERM


def test_calls_of_another_architecture_end_the_process():
    assert answer("x86_64", 3, audit=0x40000003) == KILL
    assert answer("x86_64", 0x40000000 + 319) == ERROR | errno.ENOSYS


@pytest.mark.parametrize("machine", HEADERS)
def test_the_numbers_are_those_of_the_kernels_headers(machine):
    try:
        header = HEADERS[machine].read_text()
    except OSError:
        header = ""
    said = dict(re.findall(r"#define __NR_(\w+)\s+(\d+)\b", header))
    processor = PROCESSORS[machine]
    known = {**processor.refused, **EVERYWHERE, "clone": processor.clone, "clone3": CLONE3}
    assert {name: int(said[name]) for name in known if name in said}.items() <= known.items()


def test_a_processor_without_a_filter_runs_no_strangers_code(monkeypatch):
    with pytest.raises(NoFilterError, match="none for s390x processors"):
        system_call_filter("s390x")
    monkeypatch.setattr("shutil.which", lambda _: "bwrap")
    monkeypatch.setattr(launching, "version", lambda _: (0, 8))
    monkeypatch.setattr("platform.machine", lambda: "s390x")
    with pytest.raises(NoSandboxError, match="s390x"):
        require_sandbox()


def test_a_bubblewrap_that_cannot_refuse_user_namespaces_is_too_old(monkeypatch):
    monkeypatch.setattr("shutil.which", lambda _: "bwrap")
    monkeypatch.setattr(launching, "version", lambda _: (0, 7))
    with pytest.raises(NoSandboxError, match=r"bubblewrap 0\.7 is too old: 0\.8 or newer"):
        require_sandbox()
