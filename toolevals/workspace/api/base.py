"""Show what every API view within a project stands on."""

from __future__ import annotations

from typing import cast

from rest_framework.views import APIView

from toolevals.workspace.models import Project, Role, User
from toolevals.workspace.requests import ProjectRequest


class ProjectView(APIView):
    """A view whose request has passed the access middleware: `project`, `role` and `user` are known."""

    @property
    def access(self) -> ProjectRequest:
        """The request as the middleware left it."""
        return cast("ProjectRequest", self.request._request)

    @property
    def project(self) -> Project:
        return self.access.project

    @property
    def role(self) -> Role:
        return self.access.role

    @property
    def user(self) -> User:
        return self.access.user
