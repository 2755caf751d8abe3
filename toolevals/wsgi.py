"""Holds the WSGI application that gunicorn serves."""

import os

from django.core.wsgi import get_wsgi_application

from toolevals.garbage import search_seldom
from toolevals.loading import load_ahead
from toolevals.memory import allocate_tightly

allocate_tightly()
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolevals.settings")
application = get_wsgi_application()
# Once, before the server forks; not in each process while its first visitor waits.
load_ahead()
search_seldom()
