"""Finds out who asks and in which project, and lets the request through or not. Nothing else decides."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import ImproperlyConfigured
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase

from toolevals.workspace.access import Audience, rules
from toolevals.workspace.models import Membership, Role


class AccessMiddleware:
    """Sets `request.project` and `request.role`, or answers 404 to outsiders and 403 to those whose role is too low."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> HttpResponseBase | None:
        """Answer in the view's stead, or return None to let it run. The view gets no `project` argument."""
        match = request.resolver_match
        name = match.view_name if match else ""
        rule = rules().get(name)
        if rule is None:
            raise ImproperlyConfigured(f"the address {name!r} has no access rule")
        needed = rule.needs(request.method or "GET")
        if needed is Audience.ANYONE:
            return None
        if not request.user.is_authenticated:
            return redirect_to_login(request.get_full_path())
        if isinstance(needed, Audience):
            return None
        membership = (
            Membership.objects.filter(project__slug=kwargs.pop("project", ""), user_id=request.user.pk)
            .select_related("project")
            .first()
        )
        if membership is None:
            raise Http404
        request.project = membership.project  # type: ignore[attr-defined]
        request.role = Role(membership.role)  # type: ignore[attr-defined]
        if membership.role < needed:
            return HttpResponse("Your role in this project does not allow this.", status=403)
        return None
