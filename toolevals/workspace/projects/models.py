"""Stores a team's space, its members and its tokens."""

from __future__ import annotations

from typing import ClassVar

from django.core.exceptions import ValidationError
from django.db import models

from toolevals.workspace.accounts.models import User
from toolevals.workspace.fields import MomentField, PublicIdField
from toolevals.workspace.trash.models import Trashable, Untrashed


class Role(models.IntegerChoices):
    """The rights of a member; each role may do all that the lower ones may."""

    VIEWER = 10, "viewer"
    REVIEWER = 20, "reviewer"
    ADJUDICATOR = 30, "adjudicator"
    OWNER = 40, "owner"


class TokenScope(models.TextChoices):
    """The purpose of a token."""

    PROJECT = "project", "all that its role may"
    TRACES = "traces", "sends traces, reads nothing"
    GUARD = "guard", "asks the guard, reads nothing else"


class Project(Trashable):
    """A team's space; everything else is reached through one."""

    id = PublicIdField()
    slug = models.SlugField(max_length=60)
    name = models.CharField(max_length=120)
    # How many people label each example before it is resolved.
    labels_wanted = models.PositiveSmallIntegerField(default=2)
    # The share of examples that get so many labels, 0..1; the others get one.
    labels_share = models.FloatField(default=1.0)
    # Whether an adjudicator may decide an example that they have labelled: for teams of two.
    decide_own = models.BooleanField(default=False)
    # Whether reviewers are shown what a model suggests. It anchors people, and is recorded with each label.
    suggestions = models.BooleanField(default=False)
    # Seconds in which a submitted label can be taken back before an agreement takes effect.
    undo_seconds = models.PositiveIntegerField(default=10)
    created_at = MomentField(auto_now_add=True)
    members: models.ManyToManyField[User, Membership] = models.ManyToManyField(
        User, through="Membership", related_name="projects"
    )

    objects = Untrashed["Project"]()
    with_trash = models.Manager["Project"]()

    class Meta:
        ordering: ClassVar[list[str]] = ["name", "id"]
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["slug"], condition=models.Q(deleted_at=None), name="project_slug"),
            models.CheckConstraint(condition=models.Q(labels_wanted__range=(1, 5)), name="labels_wanted_1_to_5"),
            models.CheckConstraint(condition=models.Q(labels_share__range=(0, 1)), name="labels_share_0_to_1"),
        ]

    def __str__(self) -> str:
        return self.slug

    def clean(self) -> None:
        """Refuse a name in addresses that another project has; one in the trash does not keep its name."""
        if Project.objects.filter(slug=self.slug).exclude(pk=self.pk).exists():
            raise ValidationError({"slug": "Project with this Slug already exists."})


class Membership(models.Model):
    """One person's role in one project."""

    id = PublicIdField()
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="memberships")
    role = models.PositiveSmallIntegerField(choices=Role.choices)
    created_at = MomentField(auto_now_add=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["project", "user"], name="one_membership_each"),
        ]


class ApiToken(models.Model):
    """A secret that stands for one member in one project, with at most a given role. Only its hash is kept."""

    id = PublicIdField()
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="tokens")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="tokens")
    name = models.CharField(max_length=80)
    role = models.PositiveSmallIntegerField(choices=Role.choices)
    scope = models.CharField(max_length=10, choices=TokenScope.choices, default=TokenScope.PROJECT)
    # SHA-256 of the secret, in hexadecimal. The secret has 256 random bits: no salt is needed.
    digest = models.CharField(max_length=64, unique=True)
    # The first characters of the secret, to recognise it by.
    prefix = models.CharField(max_length=12)
    created_at = MomentField(auto_now_add=True)
    last_used_at = models.DateTimeField(null=True)
    expires_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    @property
    def does_one_thing(self) -> bool:
        """Return whether it does what its scope names, and may read and write nothing else."""
        return self.scope != TokenScope.PROJECT

    @property
    def at_most(self) -> str:
        """Return what it may, in words: its role, or the one thing that it does."""
        return str(self.get_scope_display() if self.does_one_thing else self.get_role_display())


class Visit(models.Model):
    """One person's last visit to a project's first page, and when the one before it ended."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    user = models.ForeignKey(User, on_delete=models.CASCADE, related_name="+", db_index=False)
    seen_at = models.DateTimeField()
    # Null at the first visit.
    before = models.DateTimeField(null=True)

    class Meta:
        constraints: ClassVar[list[models.BaseConstraint]] = [
            models.UniqueConstraint(fields=["user", "project"], name="one_visit_each"),
        ]
