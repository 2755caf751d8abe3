"""Makes the filter of system calls for simulators' code: a packet-filter program for this machine's processor.

The filter refuses memory that no limit of the process counts, new namespaces, and parts of the kernel that a simulator
does not need and that have often been attacked. It allows everything else: namespaces and resource limits confine that.
Sources: linux/seccomp.h, linux/filter.h, linux/audit.h, asm/unistd_64.h and asm-generic/unistd.h.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

# Instructions of linux/bpf_common.h.
LOAD_WORD, JUMP_IF_EQUAL, JUMP_IF_AT_LEAST, JUMP_IF_ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
# Answers of linux/seccomp.h; an error's number is added to the second.
KILL, ERROR, ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
# Offsets in struct seccomp_data: the call's number, the architecture, the low half of the first argument.
NUMBER, ARCHITECTURE, FIRST_ARGUMENT = 0, 4, 16
# CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID and NEWNET of linux/sched.h.
NEW_NAMESPACES = 0x7E020000
# Calls that have one number on every processor. clone3 hides its flags in memory, where a filter cannot look: libraries
# that find it missing take clone instead.
CLONE3 = 435
EVERYWHERE = {"io_uring_setup": 425, "memfd_secret": 447, "fsopen": 430}


@dataclass(frozen=True)
class Processor:
    """A processor's number in linux/audit.h and its numbers of system calls."""

    audit: int
    clone: int
    refused: Mapping[str, int]
    # From this number on, x86-64 takes each call a second time, for programs with short pointers.
    doubled_from: int | None = None


_GENERIC = {
    "memfd_create": 279,
    "shmget": 194,
    "shmat": 196,
    "shmctl": 195,
    "semget": 190,
    "msgget": 186,
    "mq_open": 180,
    "unshare": 97,
    "setns": 268,
    "bpf": 280,
    "perf_event_open": 241,
    "userfaultfd": 282,
    "add_key": 217,
    "request_key": 218,
    "keyctl": 219,
    "mount": 40,
}
_X86_64 = {
    "memfd_create": 319,
    "shmget": 29,
    "shmat": 30,
    "shmctl": 31,
    "semget": 64,
    "msgget": 68,
    "mq_open": 240,
    "unshare": 272,
    "setns": 308,
    "bpf": 321,
    "perf_event_open": 298,
    "userfaultfd": 323,
    "add_key": 248,
    "request_key": 249,
    "keyctl": 250,
    "mount": 165,
}
PROCESSORS = {
    "x86_64": Processor(audit=0xC000003E, clone=56, refused=_X86_64, doubled_from=0x40000000),
    "aarch64": Processor(audit=0xC00000B7, clone=220, refused=_GENERIC),
    "riscv64": Processor(audit=0xC00000F3, clone=220, refused=_GENERIC),
}


class NoFilterError(Exception):
    """The filter's numbers are not known for this processor; the text names it."""


def system_call_filter(machine: str | None = None) -> bytes:
    """Return the filter as bwrap's `--seccomp` reads it. Raises NoFilterError.

    `machine` is a name as `uname -m` prints it; the default is this machine's.
    """
    machine = machine or platform.machine()
    processor = PROCESSORS.get(machine)
    if processor is None:
        raise NoFilterError(
            "Code that is not trusted runs behind a filter of system calls, and there is none "
            f"for {machine} processors. Run workers on {', '.join(PROCESSORS)}, or declare "
            "the code trusted: see docs/operating.md."
        )
    return b"".join(_program(processor))


def _program(processor: Processor) -> Iterator[bytes]:
    yield _instruction(LOAD_WORD, ARCHITECTURE)
    yield _instruction(JUMP_IF_EQUAL, processor.audit, yes=1)
    yield _instruction(RETURN, KILL)
    yield _instruction(LOAD_WORD, NUMBER)
    if processor.doubled_from is not None:
        yield from _refuse(JUMP_IF_AT_LEAST, processor.doubled_from, errno.ENOSYS)
    for number in sorted({*processor.refused.values(), *EVERYWHERE.values()}):
        yield from _refuse(JUMP_IF_EQUAL, number, errno.EPERM)
    yield from _refuse(JUMP_IF_EQUAL, CLONE3, errno.ENOSYS)
    yield _instruction(JUMP_IF_EQUAL, processor.clone, yes=1)
    yield _instruction(RETURN, ALLOW)
    yield _instruction(LOAD_WORD, FIRST_ARGUMENT)
    yield from _refuse(JUMP_IF_ANY_BIT, NEW_NAMESPACES, errno.EPERM)
    yield _instruction(RETURN, ALLOW)


def _refuse(jump: int, value: int, error: int) -> Iterator[bytes]:
    """Yield two instructions: answer with an error where the test holds, else go on."""
    yield _instruction(jump, value, no=1)
    yield _instruction(RETURN, ERROR | error)


def _instruction(code: int, value: int, *, yes: int = 0, no: int = 0) -> bytes:
    """Return one struct sock_filter; `yes` and `no` are instructions to skip."""
    return struct.pack("=HBBI", code, yes, no, value)
