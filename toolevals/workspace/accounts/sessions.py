"""Lists where a person is signed in, and ends that."""

from __future__ import annotations

from typing import Any

from allauth.usersessions.internal.flows.sessions import end_sessions
from allauth.usersessions.models import UserSession
from allauth.usersessions.views import ListUserSessionsView
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect

from toolevals.workspace.requests import whole_number


class SessionsView(ListUserSessionsView):  # type: ignore[misc]
    """Lists the sessions; by POST, ends one of them, or all but this one."""

    template_name = "workspace/sessions.html"

    def post(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if "session" not in request.POST:
            answer: HttpResponse = super().post(request)
            return answer
        number = whole_number(request.POST["session"])
        ended = list(UserSession.objects.filter(user=request.user, pk=number))
        end_sessions(request, ended)
        if ended:
            messages.info(request, "The session has ended.")
        return redirect("usersessions_list")
