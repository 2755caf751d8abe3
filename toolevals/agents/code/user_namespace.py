"""Makes a user namespace for the sandbox of a server that runs as root. Run as a program, it is the one that enters it.

It knows two users, root and the one whom the code becomes, and allows no further user namespace. A process that is not
root needs none of this: bubblewrap makes such a namespace for it.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
from pathlib import Path

CLONE_NEWUSER = 0x10000000  # linux/sched.h
MOST = Path("/proc/sys/user/max_user_namespaces")


class NoNamespaceError(Exception):
    """The kernel gives no user namespace; the text says why."""


def user_namespace(user: int) -> int:
    """Return a descriptor of a new namespace that knows root and `user`; the caller closes it.

    Raises NoNamespaceError.
    """
    with subprocess.Popen(
        [sys.executable, "-I", "-S", __file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    ) as holder:
        assert holder.stdin is not None and holder.stdout is not None  # noqa: PT018 - both are pipes
        try:
            _expect(holder, b"entered\n")
            process = Path(f"/proc/{holder.pid}")
            for name in ("uid_map", "gid_map"):
                (process / name).write_text(f"0 0 1\n{user} {user} 1\n")
            holder.stdin.write(b"\n")
            _expect(holder, b"closed\n")
            return os.open(process / "ns" / "user", os.O_RDONLY | os.O_CLOEXEC)
        except OSError as error:
            raise NoNamespaceError(str(error)) from error
        finally:
            holder.kill()


def _expect(holder: subprocess.Popen[bytes], line: bytes) -> None:
    assert holder.stdout is not None
    said = holder.stdout.readline()
    if said != line:
        raise OSError(said.decode(errors="replace").strip() or "the process that makes it ended")


def hold() -> None:
    """Enter a namespace, wait until its users are known, close it to further ones, and wait for the end."""
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.unshare(CLONE_NEWUSER):
        _say(os.strerror(ctypes.get_errno()))
        return
    _say("entered")
    sys.stdin.readline()
    try:
        MOST.write_text("0")
    except OSError as error:
        _say(str(error))
        return
    _say("closed")
    sys.stdin.readline()


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    hold()
