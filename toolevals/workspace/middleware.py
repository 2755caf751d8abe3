"""Finds who asks in which project, lets the request through or not, keeps answers out of caches, compresses them."""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import Any, TypeVar, cast

from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import BadRequest, ImproperlyConfigured, PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase
from django.http.response import HttpResponsePermanentRedirect
from django.middleware.common import CommonMiddleware
from django.middleware.security import SecurityMiddleware
from django_http_compression.middleware import HttpCompressionMiddleware

from toolevals.workspace.access import Audience, Grant, Rule, may_send_traces, rules
from toolevals.workspace.api.problems import problem, problem_coded
from toolevals.workspace.models import Membership, Role, TokenScope, untrashed
from toolevals.workspace.monitoring.operators import NO_OPERATOR, is_operator
from toolevals.workspace.requests import ProjectRequest, is_anothers_page, is_api, is_by_script, is_on_this_machine
from toolevals.workspace.tokens.services import UnknownToken, bearer_token, token_find, token_role

_Answer = TypeVar("_Answer", bound=HttpResponseBase)
_MARK = "shows_secret"
# Of a number in a column.
_LARGEST = 2**31 - 1
_ONE_THING = {
    TokenScope.TRACES: "This token sends traces and does nothing else.",
    TokenScope.GUARD: "This token asks the guard and does nothing else.",
}


def shows_secret(answer: _Answer) -> _Answer:
    """Return the answer, marked as one that shows a token, a link or another secret: it is not compressed."""
    setattr(answer, _MARK, True)
    return answer


class CompressionMiddleware(HttpCompressionMiddleware):
    """Compresses with zstd, brotli or gzip, as the client takes it, but not what shows a secret.

    The length of a compressed answer tells whether two parts of it are alike. Someone who can send a text that the
    answer repeats, and who measures lengths, guesses a secret in it piece by piece (BREACH). The token against forged
    forms is masked again in each answer, so its pieces never repeat; other secrets stand as they are, and their answers
    go out as they are. What is streamed stays a stream.
    """

    def maybe_compress(self, request: HttpRequest, response: HttpResponseBase) -> None:
        """Compress the answer in place unless it shows a secret."""
        if not getattr(response, _MARK, False):
            super().maybe_compress(request, response)


class AccessMiddleware:
    """Sets `request.token`, `request.project` and `request.role`, or refuses.

    Strangers are sent to sign in, or get 401 from the API or where a page's script asks; so does a page of another
    person than the one who is signed in. Outsiders get 404, and members whose role is too low 403.
    On the API a bearer token comes before a session; pages know sessions only. A token that does one thing gets 403
    everywhere else.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        # For error pages, which may be rendered before any view is known.
        vars(request).update(token=None, project=None, role=None)
        if getattr(request.user, "is_sample", False) and not is_on_this_machine(request):
            request.user = AnonymousUser()
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> HttpResponseBase | None:
        """Answer in the view's stead, or return None to let it run. The view gets no `project` argument."""
        rule, method = _rule(request), request.method or "GET"
        needed = rule.needs(method)
        if needed in (Audience.ANYONE, Audience.OPERATOR):
            is_open = needed is Audience.ANYONE or is_operator(request)
            return None if is_open else _unauthorized(NO_OPERATOR)
        known = cast("ProjectRequest", request)
        try:
            _identify(known)
        except UnknownToken as error:
            return _unauthorized(str(error))
        if not request.user.is_authenticated:
            return _sign_in(known)
        if needed in (Audience.SENDER, Audience.HOLDER):
            return _enter_by_token(known, needed)
        if known.token is not None and known.token.does_one_thing:
            if rule.scope != known.token.scope:
                raise PermissionDenied(_ONE_THING[TokenScope(known.token.scope)])
            needed = Role.VIEWER
        if is_anothers_page(known):
            words = "Another person has signed in in this browser. Nothing was saved."
            return problem_coded(HTTPStatus.UNAUTHORIZED, words, "another_person")
        if not isinstance(needed, Audience):
            _enter(known, kwargs.pop("project", ""), needed)
        grant = rule.grant_for(method)
        if grant is not None and (refusal := _refusal(known, grant)):
            raise PermissionDenied(refusal)
        return None


class HeadersMiddleware(SecurityMiddleware):
    """Redirects to HTTPS where that is set, and says to browsers what no answer of ours may be used for."""

    def process_response(self, request: HttpRequest, response: HttpResponse) -> HttpResponse:
        response.headers.setdefault("Permissions-Policy", settings.PERMISSIONS_POLICY)
        response.headers.setdefault("Cross-Origin-Resource-Policy", settings.RESOURCE_POLICY)
        return super().process_response(request, response)


class HostMiddleware(CommonMiddleware):
    """Refuses a request for a name that is none of this site's, but probes and scrapers ask by an address."""

    def process_request(self, request: HttpRequest) -> HttpResponsePermanentRedirect | None:
        return None if request.path_info in settings.ASKED_BY_ADDRESS else super().process_request(request)


class NoStoreMiddleware:
    """Forbids browsers and proxies to keep a page or an answer that does not say itself how long it may be kept."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        response = self.get_response(request)
        response.headers.setdefault("Cache-Control", "no-store")
        return response


class NulMiddleware:
    """Refuses what no column holds: a NUL in an address or a form with 400, too large a number in an address with 404.

    No text of ours has a NUL, and PostgreSQL takes none.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        asked = request.META.get("QUERY_STRING", "").encode()
        filled_in = request.body if request.content_type == "application/x-www-form-urlencoded" else b""
        if "\0" in request.path or any(nul in text for nul in (b"\0", b"%00") for text in (asked, filled_in)):
            raise BadRequest("The request contains a NUL character (%00), which is not allowed.")
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        """Raise `Http404` where a number of the address fits no column."""
        if any(isinstance(each, int) and each > _LARGEST for each in kwargs.values()):
            raise Http404


def _rule(request: HttpRequest) -> Rule:
    match = request.resolver_match
    name = match.view_name if match else ""
    try:
        return rules()[name]
    except KeyError:
        raise ImproperlyConfigured(f"the address {name!r} has no access rule") from None


def _identify(request: ProjectRequest) -> None:
    """Let the token say who asks, if there is one. Raises `UnknownToken`."""
    if not is_api(request) or "Authorization" not in request.headers:
        return
    token = token_find(bearer_token(request.headers["Authorization"]))
    if token.user.is_sample and not is_on_this_machine(request):
        raise UnknownToken
    request.token, request.user = token, token.user


def _enter(request: ProjectRequest, slug: str, needed: Role) -> None:
    """Set the project and the role in it. Raises `Http404` for outsiders, `PermissionDenied` if the role is too low."""
    mine = Membership.objects.filter(untrashed("project"), project__slug=slug, user=request.user.pk)
    membership = mine.select_related("project").first()
    if membership is None or (request.token is not None and membership.project_id != request.token.project_id):
        raise Http404
    role = membership.role if request.token is None else min(membership.role, request.token.role)
    request.project, request.role = membership.project, Role(role)
    if request.role < needed:
        raise PermissionDenied(
            f"This requires the {needed.label} role. You are {request.role.label}. A project owner can change "
            f"your role."
        )


def _refusal(request: ProjectRequest, grant: Grant) -> str:
    """Say why a request does not have a grant; empty where it has. By a token it takes an owner's role in addition."""
    if request.token is not None and token_role(request.token) != Role.OWNER:
        return "A token does this only if it has the owner role in its project."
    return grant.refusal(request.user)


def _enter_by_token(request: ProjectRequest, needed: Role | Audience) -> HttpResponseBase | None:
    """Let in by the token alone; to send traces, into the project that it names. Raises as `_enter`."""
    token = request.token
    if token is None:
        return _unauthorized("Send a token: Authorization: Bearer te_...")
    if needed is Audience.HOLDER:
        if token.does_one_thing:
            raise PermissionDenied(_ONE_THING[TokenScope(token.scope)])
        return None
    _enter(request, token.project.slug, Role.VIEWER)
    if not may_send_traces(token, request.role):
        raise PermissionDenied("This token sends no traces. An owner of the project can make one that does.")
    return None


def _sign_in(request: ProjectRequest) -> HttpResponseBase:
    if is_api(request):
        return _unauthorized("Sign in, or send a token: Authorization: Bearer te_...")
    if is_by_script(request):
        return problem_coded(HTTPStatus.UNAUTHORIZED, "You are signed out. Nothing was saved.", "signed_out")
    return redirect_to_login(request.get_full_path() if request.method == "GET" else "")


def _unauthorized(detail: str) -> HttpResponse:
    response = problem(HTTPStatus.UNAUTHORIZED, detail)
    response["WWW-Authenticate"] = "Bearer"
    return response
