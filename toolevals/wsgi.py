"""Holds the WSGI application that gunicorn serves."""

import os
from collections.abc import Iterable
from typing import Any

from django.conf import settings
from django.core.wsgi import get_wsgi_application

from toolevals.json_types import JsonObject
from toolevals.loading import load_ahead
from toolevals.path_prefix import path_below

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolevals.settings")
_django = get_wsgi_application()
# Once, before the server forks; not in each process while its first visitor waits.
load_ahead()


def application(environ: JsonObject, start_response: Any) -> Iterable[bytes]:
    """Answer a request, from a proxy that takes the prefix off as from one that leaves it on."""
    environ["PATH_INFO"] = path_below(environ.get("PATH_INFO", ""), settings.PATH_PREFIX)
    return _django(environ, start_response)
