"""Describe the request as a view behind the access middleware gets it, and read numbers and ids of its address.

Any text may stand where a number or an id is expected.
"""

from __future__ import annotations

from ipaddress import ip_address
from typing import Final
from urllib.parse import unquote, urlsplit
from uuid import UUID

from django.conf import settings
from django.http import HttpRequest
from django.http.request import split_domain_port
from django.urls import get_script_prefix, reverse
from django.utils.http import url_has_allowed_host_and_scheme
from django_htmx.middleware import HtmxDetails

from toolevals.workspace.models import ApiToken, Project, Role, User

# No number in an address has more digits; it fits every column.
MOST_DIGITS: Final = 9
_MOST_DIGITS_OF_A_PAGE: Final = 5


def whole_number(text: str) -> int | None:
    """Return the number from 0 that a text of one to nine ASCII digits writes; None for any other text."""
    return int(text) if 0 < len(text) <= MOST_DIGITS and text.isascii() and text.isdigit() else None


def page_number(text: str) -> int:
    """Return the page from 1 that an address asks for; 1 where it asks for none, or for what is no page."""
    return max(1, whole_number(text) or 1) if len(text) <= _MOST_DIGITS_OF_A_PAGE else 1


def read_id(text: str) -> UUID | None:
    """Return the id that a text holds, or None."""
    try:
        return UUID(text)
    except ValueError:
        return None


# The REST interface, the address to which agents send traces, and that of the MCP server.
API_PREFIXES = ("/api/", "/v1/", "/mcp")
# What proxies add, beside everything that begins with X-Forwarded.
FORWARDING = frozenset({"Forwarded", "Via", "X-Real-Ip", "X-Client-Ip", "True-Client-Ip"})


class SignedInRequest(HttpRequest):
    """A request by a known person."""

    user: User
    htmx: HtmxDetails
    token: ApiToken | None


class ProjectRequest(SignedInRequest):
    """A request within a project, by a member."""

    project: Project
    role: Role


def is_api(request: HttpRequest) -> bool:
    """Return whether the answer, errors included, is for a program."""
    return request.path_info.startswith(API_PREFIXES)


def is_by_script(request: HttpRequest) -> bool:
    """Return whether a script of a page asks, htmx among them: a page to sign in would look to it like an answer."""
    if "X-Person" in request.headers or request.headers.get("HX-Request") == "true":
        return True
    return request.headers.get("Sec-Fetch-Dest") == "empty"


def is_anothers_page(request: SignedInRequest) -> bool:
    """Return whether the page that asks belongs to another person than the one who is signed in by now."""
    return request.token is None and request.headers.get("X-Person", "") not in ("", str(request.user.pk))


def client_address(request: HttpRequest) -> str:
    """Return the address of the client; behind a trusted proxy, what that proxy says it is."""
    forwarded = request.headers.get("X-Forwarded-For", "")
    if settings.BEHIND_PROXY and forwarded:
        return forwarded.rsplit(",", 1)[-1].strip()[:45]
    return str(request.META.get("REMOTE_ADDR", ""))


def is_on_this_machine(request: HttpRequest) -> bool:
    """Return whether the request comes from the loopback interface, to a loopback name, with no sign of a proxy.

    A proxy on this machine that keeps the browser's `Host` fails by the name, and one that says whom it speaks for by
    its headers. One that does neither looks like a browser: so this alone never lets anyone in.
    """
    if any(name in FORWARDING or name.startswith("X-Forwarded") for name in request.headers):
        return False
    return _is_loopback(request.META.get("REMOTE_ADDR", "")) and _is_loopback(_host_asked(request))


def _host_asked(request: HttpRequest) -> str:
    """Return the name that the request asks for, without its port; an IPv6 address without its brackets."""
    name, _ = split_domain_port(request.META.get("HTTP_HOST", ""))
    return name.removeprefix("[").removesuffix("]")


def _is_loopback(name: str) -> bool:
    try:
        return name == "localhost" or ip_address(name).is_loopback
    except ValueError:
        return False


def is_own_page(request: HttpRequest, asked: str) -> bool:
    """Return whether an address leads to a page of this installation: to its host, and below its prefix."""
    if not url_has_allowed_host_and_scheme(asked, {request.get_host()}, require_https=request.is_secure()):
        return False
    path = unquote(urlsplit(asked).path)
    return path.startswith(get_script_prefix()) and ".." not in path.split("/")


def invitation_link(request: HttpRequest, secret: str) -> str:
    """Return the address that a person opens to accept an invitation."""
    return request.build_absolute_uri(reverse("workspace:invitation-link", args=[secret]))
