"""Store a project's policies and their versions."""

from __future__ import annotations

from typing import ClassVar

from django.db import models

from toolevals.workspace.fields import DocumentField, MomentField, PublicIdField
from toolevals.workspace.models import Project, User


class PolicyQuerySet(models.QuerySet["Policy"]):
    """Reads of policies."""

    def in_project(self, project: Project) -> PolicyQuerySet:
        """Return the project's policies by name, with the versions in force."""
        return self.filter(project=project).select_related("active", "registry").order_by("name", "id")

    def with_newest(self) -> PolicyQuerySet:
        """Add `newest_number` and `newest_at` of each newest version."""
        newest = PolicyVersion.objects.filter(policy=models.OuterRef("pk")).order_by("-number")
        return self.annotate(
            newest_number=models.Subquery(newest.values("number")[:1]),
            newest_at=models.Subquery(newest.values("created_at")[:1]),
        )


class PolicyVersionQuerySet(models.QuerySet["PolicyVersion"]):
    """Reads of versions of policies."""

    def in_project(self, project: Project) -> PolicyVersionQuerySet:
        """Return every version of the project's policies, the newest of each first."""
        rows = self.filter(policy__project=project).select_related("policy__registry", "policy__project", "created_by")
        return rows.order_by("policy", "-number")


class Policy(models.Model):
    """A policy of the guard, which changes from version to version; at most one version is in force."""

    id = PublicIdField()
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="policies")
    slug = models.SlugField(max_length=60)
    name = models.CharField(max_length=120)
    # Whose newest tools are offered, as the schema rule sees it.
    registry = models.ForeignKey(
        "registry.Registry", null=True, blank=True, on_delete=models.SET_NULL, related_name="policies"
    )
    active = models.ForeignKey("PolicyVersion", null=True, blank=True, on_delete=models.SET_NULL, related_name="+")
    created_at = MomentField(auto_now_add=True)

    objects = PolicyQuerySet.as_manager()

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["project", "slug"], name="policy_slug"),
        ]

    def __str__(self) -> str:
        return self.slug


class PolicyVersion(models.Model):
    """The rules of a policy; immutable, but for when it was last put in force."""

    id = PublicIdField()
    policy = models.ForeignKey(Policy, on_delete=models.CASCADE, related_name="versions")
    number = models.PositiveIntegerField()
    # The document of `policy.v1.json` in its normal form, with the policy's name and this number.
    document = DocumentField()
    note = models.CharField(max_length=300, blank=True)
    created_by = models.ForeignKey(User, null=True, on_delete=models.SET_NULL, related_name="+")
    created_at = MomentField(auto_now_add=True)
    # When it was last put in force, and why though error rates of its rules were not known.
    activated_at = models.DateTimeField(null=True)
    reason = models.CharField(max_length=300, blank=True)

    objects = PolicyVersionQuerySet.as_manager()

    class Meta:
        ordering: ClassVar[list[str]] = ["-number"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["policy", "number"], name="policy_version_number"),
        ]

    def __str__(self) -> str:
        return f"{self.policy.slug}@{self.number}"
