"""The WSGI application that gunicorn serves."""

import os

from django.core.wsgi import get_wsgi_application
from django.urls import get_resolver

from toolevals.garbage import search_seldom

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolevals.settings")
application = get_wsgi_application()
# All views now, once, before the server forks; not in each process while its first visitor waits.
get_resolver().url_patterns  # noqa: B018 - a property that loads them
search_seldom()
