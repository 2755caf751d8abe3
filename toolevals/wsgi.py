"""The WSGI application that gunicorn serves."""

import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from toolevals.garbage import search_seldom
from toolevals.presentation.figures import Curve, curves

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolevals.settings")
application = get_wsgi_application()
# All views now, once, before the server forks; not in each process while its first visitor waits.
get_resolver().url_patterns  # noqa: B018 - a property that loads them
# And what charts are made with, most of which is loaded by the first one.
curves([Curve("", "ink", [])], xs=[1])
search_seldom()
