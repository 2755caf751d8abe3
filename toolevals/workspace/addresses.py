"""Tells the addresses of pages that workers write into jobs, without loading all pages: they would take 20 MB.

Whatever answers requests has the pages, and asks `django.urls.reverse`.
"""

from __future__ import annotations

from urllib.parse import quote

from django.conf import settings

PAGES = {
    "labeling:agreement": "p/{}/datasets/{}/agreement/",
    "labeling:dataset": "p/{}/datasets/{}/",
    "labeling:coverage": "p/{}/datasets/{}/coverage/",
    "registry:version": "p/{}/registries/{}/{}/",
    "reports:gate": "p/{}/gates/{}/",
    "runs:drift": "p/{}/judges/drift/{}/",
    "reports:run": "p/{}/runs/{}/",
    "reports:tool-source": "p/{}/registries/{}/source/",
    "reports:suspects": "p/{}/datasets/{}/versions/{}/suspects/",
    "traces:promotion": "p/{}/traces/examples/{}/",
    "workspace:secrets": "p/{}/secrets/",
}


def address(page: str, *arguments: object) -> str:
    """Return what `reverse` would for one of PAGES."""
    return f"{settings.PATH_PREFIX}/" + PAGES[page].format(*(quote(str(argument)) for argument in arguments))
