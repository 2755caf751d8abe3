"""Loads the application once and forks the web server and workers, which share the memory of what is loaded.

`python -m toolevals.serving.fork_server FD`. Each line of standard input is a JSON list of words: a program of PROGRAMS
and its arguments. For each that was forked ["forked", PID] is written to the file descriptor, for each that has ended
["ended", PID, STATUS], as `subprocess` counts statuses. It ends with its standard input, and what it forked with it.
A program of WATCHED is killed when it gives no sign of life.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import select
import signal
import sys
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

from toolevals import life
from toolevals.serving.parents import end_with_parent

PR_SET_NAME = 15  # linux/prctl.h
READ_BYTES = 64 * 1024
LOADED = (
    "toolevals.wsgi",
    "toolevals.serving.worker",
    "toolevals.serving.jobs",
    "gunicorn.app.wsgiapp",
    "gunicorn.arbiter",
    "celery.apps.worker",
    "celery.concurrency.solo",
    "kombu.transport.memory",
)


def web(*options: str) -> int:
    """Run the web server; the options are gunicorn's."""
    from gunicorn.app.wsgiapp import WSGIApplication

    sys.argv = ["gunicorn", *options]
    WSGIApplication("%(prog)s [OPTIONS]", prog="gunicorn").run()
    return 0


def jobs(name: str, processes: str) -> int:
    """Run a Celery worker."""
    from toolevals.serving.jobs import main

    return main(name, processes)


PROGRAMS: dict[str, Callable[..., int]] = {"web": web, "jobs": jobs}
# They are killed when this process ends, or when they give no sign of life. gunicorn watches those of the web server.
WATCHED = ("jobs",)


def load() -> None:
    """Load all that the programs need, and leave it alone when looking for garbage."""
    for module in LOADED:
        import_module(module)
    import_module("toolevals.celery").app.loader.import_default_modules()
    gc.collect()
    gc.freeze()


def serve(answers: int) -> int:
    """Fork what standard input asks for, until it is closed; in the fork, run that. Return the exit status."""
    watch = life.Watch()
    heard, signs = os.pipe()
    woken, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    rest = b""
    while True:
        ready = select.select([0, woken, heard], [], [], watch.pause)[0]
        if heard in ready:
            watch.hear(os.read(heard, life.READ_BYTES))
        watch.look()
        if woken in ready:
            os.read(woken, READ_BYTES)
            _tell_ended(answers, watch)
        if 0 not in ready:
            continue
        read = os.read(0, READ_BYTES)
        if not read:
            return 0
        *lines, rest = (rest + read).split(b"\n")
        for words in map(json.loads, lines):
            parent = os.getpid()
            begun, begin = os.pipe()
            pid = os.fork()
            if not pid:
                for open_file in (answers, woken, wake, begun, heard):
                    os.close(open_file)
                return _become(words, parent, begin, signs)
            os.close(begin)
            os.read(begun, 1)  # returns at the pipe's end: the process has its session and its name
            os.close(begun)
            if words[0] in WATCHED:
                watch.expect(pid)
            _tell(answers, "forked", pid)


def _become(words: Sequence[str], parent: int, begin: int, signs: int) -> int:
    """Run a program in this process, which was forked for it, as if it had been started; `begin` is closed before."""
    is_watched = words[0] in WATCHED
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.setsid()  # Ctrl-C is for the parent, which ends it
    end_with_parent(signal.SIGKILL if is_watched else signal.SIGTERM)
    if os.getppid() != parent:
        return 1
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_NAME, f"toolevals-{words[0]}".encode())
    os.close(begin)
    if is_watched:
        life.give_signs(signs, lease_seconds())
    else:
        os.close(signs)
    return PROGRAMS[words[0]](*words[1:])


def lease_seconds() -> float:
    """Return for how long a worker may be silent on a batch before another may take that."""
    from django.conf import settings

    return float(settings.BATCH_LEASE_SECONDS)


def _tell_ended(answers: int, watch: life.Watch) -> None:
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return
        if not pid:
            return
        watch.forget(pid)
        _tell(answers, "ended", pid, os.waitstatus_to_exitcode(status))


def _tell(answers: int, *words: Any) -> None:
    os.write(answers, json.dumps(words).encode() + b"\n")


if __name__ == "__main__":
    load()
    sys.exit(serve(int(sys.argv[1])))
