"""Names the app for Django, and loads the Celery app in every process that loads Django."""

from django.apps import AppConfig


class WorkspaceConfig(AppConfig):
    """`toolevals.workspace`."""

    name = "toolevals.workspace"

    def ready(self) -> None:
        """Load the Celery app for web processes too, which ring its broker; add the checks; prepare connections."""
        from django.db.backends.signals import connection_created

        import toolevals.celery
        import toolevals.workspace.checks  # noqa: F401
        from toolevals.workspace.outage_lines import database_reached
        from toolevals.workspace.postgresql import connection_prepare

        connection_created.connect(connection_prepare)
        connection_created.connect(database_reached)
