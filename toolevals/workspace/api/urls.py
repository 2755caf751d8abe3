"""Lists the addresses of `toolevals.workspace` in the REST interface."""

from __future__ import annotations

from django.urls import include, path

from toolevals.workspace.api.document import OpenApiDocument
from toolevals.workspace.audit import api as audit
from toolevals.workspace.jobs import api as jobs
from toolevals.workspace.mentions import api as mentions
from toolevals.workspace.notifications import api as notifications
from toolevals.workspace.people import account_api as accounts
from toolevals.workspace.people import api as people
from toolevals.workspace.projects import api as projects
from toolevals.workspace.secrets import api as secrets
from toolevals.workspace.tokens import api as tokens
from toolevals.workspace.trash import api as trash

app_name = "workspace-api"
in_project = [
    path("", projects.ProjectDetail.as_view(), name="project"),
    path("export/", projects.ProjectExports.as_view(), name="project-exports"),
    path("export/<uuid:whole>/", projects.ProjectExportFile.as_view(), name="project-export-file"),
    path("mentions/", mentions.Mentions.as_view(), name="mentions"),
    path("mentions/<uuid:mention>/read/", mentions.MentionRead.as_view(), name="mention-read"),
    path("trash/", trash.Trash.as_view(), name="trash"),
    path("trash/<uuid:item>/restore/", trash.TrashRestore.as_view(), name="trash-restore"),
    path("trash/<uuid:item>/destroy/", trash.TrashDestroy.as_view(), name="trash-destroy"),
    path("members/", people.Members.as_view(), name="members"),
    path("members/<uuid:member>/", people.Member.as_view(), name="member"),
    path("invitations/", people.Invitations.as_view(), name="invitations"),
    path("invitations/<uuid:invitation>/", people.InvitationDetail.as_view(), name="invitation"),
    path("invitations/<uuid:invitation>/renew/", people.InvitationRenewal.as_view(), name="invitation-renew"),
    path("tokens/", tokens.Tokens.as_view(), name="tokens"),
    path("tokens/<uuid:token>/", tokens.Token.as_view(), name="token"),
    path("secrets/", secrets.Secrets.as_view(), name="secrets"),
    path("secrets/<slug:name>/", secrets.SecretDetail.as_view(), name="secret"),
    path("webhooks/", notifications.Webhooks.as_view(), name="webhooks"),
    path("webhooks/<uuid:webhook>/", notifications.WebhookDetail.as_view(), name="webhook"),
    path("webhooks/<uuid:webhook>/secret/", notifications.WebhookSecret.as_view(), name="webhook-secret"),
    path("webhooks/<uuid:webhook>/test/", notifications.WebhookTest.as_view(), name="webhook-test"),
    path("deliveries/", notifications.Deliveries.as_view(), name="deliveries"),
    path("jobs/", jobs.Jobs.as_view(), name="jobs"),
    path("jobs/<uuid:job>/", jobs.JobDetail.as_view(), name="job"),
    path("jobs/<uuid:job>/pause/", jobs.JobPause.as_view(), name="job-pause"),
    path("jobs/<uuid:job>/resume/", jobs.JobResume.as_view(), name="job-resume"),
    path("jobs/<uuid:job>/retry/", jobs.JobRetry.as_view(), name="job-retry"),
    path("audit/", audit.Audit.as_view(), name="audit"),
]
urlpatterns = [
    path("", projects.Index.as_view(), name="index"),
    path("openapi.json", OpenApiDocument.as_view(), name="openapi"),
    path("me/", projects.Me.as_view(), name="me"),
    path("people/", accounts.People.as_view(), name="people"),
    path("people/<uuid:person>/", accounts.Person.as_view(), name="person"),
    path("people/<uuid:person>/deactivate/", accounts.PersonDeactivate.as_view(), name="person-deactivate"),
    path("people/<uuid:person>/reactivate/", accounts.PersonReactivate.as_view(), name="person-reactivate"),
    path("people/<uuid:person>/delete/", accounts.PersonDelete.as_view(), name="person-delete"),
    path("deleted-projects/", trash.DeletedProjects.as_view(), name="deleted-projects"),
    path(
        "deleted-projects/<uuid:gone>/restore/", trash.DeletedProjectRestore.as_view(), name="deleted-project-restore"
    ),
    path(
        "deleted-projects/<uuid:gone>/destroy/", trash.DeletedProjectDestroy.as_view(), name="deleted-project-destroy"
    ),
    path("projects/", projects.Projects.as_view(), name="projects"),
    path("projects/<slug:project>/", include(in_project)),
]
