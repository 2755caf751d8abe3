"""Keeps the links of invitations out of logs.

The settings name the filter: nothing else of the application is loaded here.
"""

from __future__ import annotations

import logging
import re

# As in toolevals.workspace.urls.
_LINK = re.compile(r"(/invitations/link/)[^/\s\"']+")


class LinkFilter(logging.Filter):
    """Takes the secret out of every line that names the address of an invitation."""

    def filter(self, record: logging.LogRecord) -> bool:
        said = record.getMessage()
        hidden = _LINK.sub(r"\1…", said)
        if hidden != said:
            record.msg, record.args = hidden, ()
        return True
