"""Ends a worker's process that stands still, so that another takes its place: a process may hang, its work may not.

A call that holds the interpreter's lock for ever, such as a hopeless regular expression, stops every thread of its
process. A timer needs no lock, ends the process, and says in the log where it stood.
"""

from __future__ import annotations

import faulthandler
import os
import threading
import time

# Between two times that the timer is wound up.
SIGN_SECONDS = 1.0
# After the lease of its batch, before a process that gives no sign is ended.
GRACE_SECONDS = 5.0
# Celery puts something in the place of `sys.stderr` that is no file.
LOG = 2


class AtWork:
    """The knowledge of a process whether it works on batches, and so may be ended for its own good."""

    is_so = False


def end_when_still(seconds: float) -> None:
    """End this process when its interpreter stands still for so long; where it stood is said in the log.

    The processes of a pool call this after they are forked: a timer of their parent's would hold them up.
    """
    AtWork.is_so = True

    def wind_up() -> None:
        while True:
            faulthandler.dump_traceback_later(seconds + GRACE_SECONDS, exit=True, file=LOG)
            time.sleep(SIGN_SECONDS)

    threading.Thread(target=wind_up, name="still", daemon=True).start()


def end_now() -> None:
    """End this process if it works on batches, and say in the log where each of its threads stands."""
    if AtWork.is_so:
        faulthandler.dump_traceback(file=LOG)
        os._exit(1)
