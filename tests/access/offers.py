"""Reads off a page what it offers: the addresses of this application behind its links, forms and buttons."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from html import unescape
from urllib.parse import urljoin, urlsplit

from django.urls import Resolver404, resolve

TAG = re.compile(r'<\w+\s[^>]*?\b(?:href|hx-get|hx-post|action|formaction)="[^>]*>')
ATTRIBUTE = re.compile(r'\s(href|hx-get|hx-post|action|formaction|method)="([^"]*)"')


def offers(page: str, path: str) -> Iterator[tuple[str, str]]:
    """Yield the method and the name of each address that a page at `path` leads to."""
    for tag in TAG.findall(page):
        said = {name: unescape(value) for name, value in ATTRIBUTE.findall(tag)}
        posts = {"hx-post", "formaction"} | ({"action"} if said.pop("method", "").lower() == "post" else set())
        for attribute, value in said.items():
            if name := _name(urlsplit(urljoin(path, value)).path):
                yield "POST" if attribute in posts else "GET", name


@cache
def _name(path: str) -> str:
    """Return the name of the address that a path leads to, empty where it leads elsewhere."""
    try:
        return resolve(path).view_name
    except Resolver404:
        return ""
