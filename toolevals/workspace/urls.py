"""Lists the addresses of the pages of `toolevals.workspace`."""

from __future__ import annotations

from django.urls import include, path

from toolevals.workspace import documents as docs
from toolevals.workspace import errors, search
from toolevals.workspace.accounts import views as accounts
from toolevals.workspace.audit import views as audit
from toolevals.workspace.installation import views as installation
from toolevals.workspace.jobs import views as jobs
from toolevals.workspace.jobs.views import JOB_ACTS
from toolevals.workspace.mentions import views as mentions
from toolevals.workspace.monitoring import readiness
from toolevals.workspace.notifications import views as notifications
from toolevals.workspace.people import account_views
from toolevals.workspace.people import views as people
from toolevals.workspace.projects import views as projects
from toolevals.workspace.secrets import views as secrets
from toolevals.workspace.tokens import views as tokens
from toolevals.workspace.trash import views as trash

app_name = "workspace"
in_project = [
    path("", projects.project, name="project"),
    path("search/", search.search_page, name="search"),
    path("mentions/", mentions.mentions, name="mentions"),
    path("mentions/names/", mentions.names, name="mention-names"),
    path("mentions/<uuid:mention>/", mentions.mention, name="mention"),
    path("settings/", projects.settings, name="settings"),
    path("export/", projects.project_export, name="project-export"),
    path("export/<uuid:whole>/", projects.project_export_file, name="project-export-file"),
    path("trash/", trash.trash, name="trash"),
    path("trash/<str:kind>/<uuid:item>/restore/", trash.restore, name="trash-restore"),
    path("trash/<str:kind>/<uuid:item>/destroy/", trash.destroy, name="trash-destroy"),
    path("delete/<str:kind>/<uuid:thing>/", trash.delete, name="delete"),
    path("members/", people.members, name="members"),
    path("members.csv", people.members_csv, name="members-csv"),
    path("members/<uuid:member>/role/", people.member_role, name="member-role"),
    path("members/<uuid:member>/remove/", people.remove, name="member-remove"),
    path("invitations.csv", people.invitations_csv, name="invitations-csv"),
    path("invitations/<uuid:invitation>/renew/", people.renew, name="invitation-renew"),
    path("invitations/<uuid:invitation>/revoke/", people.revoke, name="invitation-revoke"),
    path("tokens/", tokens.tokens, name="tokens"),
    path("tokens.csv", tokens.tokens_csv, name="tokens-csv"),
    path("tokens/<uuid:token>/revoke/", tokens.revoke, name="token-revoke"),
    path("secrets/", secrets.secrets, name="secrets"),
    path("secrets.csv", secrets.secrets_csv, name="secrets-csv"),
    path("secrets/<uuid:secret>/addresses/", secrets.addresses, name="secret-addresses"),
    path("secrets/<uuid:secret>/forget/", secrets.forget, name="secret-forget"),
    path("notifications/", notifications.notifications, name="notifications"),
    path("notifications/webhooks.csv", notifications.webhooks_csv, name="webhooks-csv"),
    path("notifications/log/", notifications.deliveries, name="deliveries"),
    path("notifications/log.csv", notifications.deliveries_csv, name="deliveries-csv"),
    path("notifications/<uuid:webhook>/", notifications.webhook, name="webhook"),
    path("notifications/<uuid:webhook>/switch/", notifications.webhook_switch, name="webhook-switch"),
    path("notifications/<uuid:webhook>/secret/", notifications.webhook_renew, name="webhook-renew"),
    path("notifications/<uuid:webhook>/delete/", notifications.webhook_delete, name="webhook-delete"),
    path("notifications/<uuid:webhook>/test/", notifications.webhook_test, name="webhook-test"),
    path("audit/", audit.audit, name="audit"),
    path("audit.csv", audit.audit_csv, name="audit-csv"),
    path("jobs/", jobs.jobs, name="jobs"),
    path("jobs.csv", jobs.jobs_csv, name="jobs-csv"),
    path("jobs/<uuid:job>/", jobs.job, name="job"),
    *(path(f"jobs/<uuid:job>/{act}/", jobs.act, {"act": act}, name=f"job-{act}") for act in JOB_ACTS),
]
urlpatterns = [
    path("", projects.home, name="home"),
    path("session/", accounts.session, name="session"),
    path("healthz", errors.health, name="health"),
    path("readyz", readiness.ready, name="ready"),
    path("docs/", docs.docs, name="docs"),
    path("docs/search/", docs.docs_search, name="docs-search"),
    path("docs/files/<path:file>", docs.docs_file, name="docs-file"),
    path("docs/<path:page>.md", docs.docs_markdown, name="docs-markdown"),
    path("llms.txt", docs.llms, name="llms"),
    path("docs/<path:page>/", docs.docs, name="docs-page"),
    path("profile/", accounts.profile, name="profile"),
    path("profile/password/", accounts.password, name="password"),
    path("profile/export.zip", account_views.my_export, name="my-export"),
    path("profile/notifications/", notifications.my_notifications, name="my-notifications"),
    path("profile/notifications/log.csv", notifications.my_mails_csv, name="my-mails-csv"),
    path("profile/notifications/test/", notifications.my_test, name="my-notifications-test"),
    path("people/", account_views.people, name="people"),
    path("people.csv", account_views.people_csv, name="people-csv"),
    path("people/<uuid:person>/", account_views.person, name="person"),
    path("people/<uuid:person>/switch/", account_views.switch, name="person-switch"),
    path("people/<uuid:person>/delete/", account_views.delete, name="person-delete"),
    path("projects/deleted/", trash.deleted, name="deleted-projects"),
    path("projects/deleted/<uuid:gone>/restore/", trash.deleted_restore, name="deleted-project-restore"),
    path("projects/deleted/<uuid:gone>/destroy/", trash.deleted_destroy, name="deleted-project-destroy"),
    path("operations/settings/", installation.installation, name="installation"),
    path("operations/settings/test-mail/", installation.test_mail, name="installation-test-mail"),
    path("projects/new/", projects.project_new, name="project-new"),
    path("invitations/link/<str:link>/", people.link, name="invitation-link"),
    path("invitations/<uuid:offer>/accept/", people.accept, name="invitation-accept"),
    path("invitations/<uuid:offer>/decline/", people.decline, name="invitation-decline"),
    path("p/<slug:project>/", include(in_project)),
]
