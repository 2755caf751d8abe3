"""The Celery app. Tasks take ids and call one service; the rows, not the messages, are the queue."""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "toolevals.settings")

app = Celery("toolevals")
app.config_from_object("django.conf:settings", namespace="CELERY")
app.autodiscover_tasks()
