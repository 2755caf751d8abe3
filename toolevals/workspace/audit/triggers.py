"""Makes the audit log append-only in the database: triggers refuse what changes or removes an act.

They let through what an `AuditOpening` of the same transaction names; see `toolevals.workspace.audit.services`. On
SQLite, a migration that rebuilds the table of acts loses its triggers: it calls `guard` again.
"""

from __future__ import annotations

from typing import Any, Final

REFUSED: Final = "the audit log is append-only"
_OPENING: Final = "SELECT 1 FROM workspace_auditopening AS opening WHERE"
_PROJECT_GOES: Final = f"EXISTS ({_OPENING} opening.project = OLD.project_id)"
# What no opening lets change.
_KEPT: Final = ("id", "project_id", "verb", "target_type", "target_id", "at")
_SAME: Final = "IS NOT DISTINCT FROM"


def _person_goes(same: str) -> str:
    """Return the condition on a change: an actor is emptied where it was the person, or stays."""
    kept = " AND ".join(f"NEW.{name} {same} OLD.{name}" for name in _KEPT)
    actor = f"NEW.actor_id {same} OLD.actor_id OR (NEW.actor_id IS NULL AND OLD.actor_id = opening.person)"
    return f"{kept} AND EXISTS ({_OPENING} opening.person IS NOT NULL AND ({actor}))"


_SQLITE: Final = {
    "audit_no_delete": f"BEFORE DELETE ON workspace_auditentry WHEN NOT {_PROJECT_GOES}",
    "audit_no_update": f"BEFORE UPDATE ON workspace_auditentry WHEN NOT ({_person_goes('IS')})",
    # INSERT OR REPLACE removes a row, and fires no trigger of DELETE.
    "audit_no_replace": (
        "BEFORE INSERT ON workspace_auditentry "
        "WHEN EXISTS (SELECT 1 FROM workspace_auditentry AS entry WHERE entry.id = NEW.id)"
    ),
}
_POSTGRESQL: Final = f"""
CREATE FUNCTION toolevals_audit_guard() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'DELETE' THEN
        IF {_PROJECT_GOES} THEN RETURN OLD; END IF;
    ELSIF TG_OP = 'UPDATE' THEN
        IF {_person_goes(_SAME)} THEN RETURN NEW; END IF;
    ELSIF NOT EXISTS (SELECT 1 FROM workspace_auditentry) THEN
        RETURN NULL;
    END IF;
    RAISE EXCEPTION USING ERRCODE = 'integrity_constraint_violation', MESSAGE = '{REFUSED}';
END $$;
CREATE TRIGGER audit_no_change BEFORE UPDATE OR DELETE ON workspace_auditentry
    FOR EACH ROW EXECUTE FUNCTION toolevals_audit_guard();
CREATE TRIGGER audit_no_truncate BEFORE TRUNCATE ON workspace_auditentry
    FOR EACH STATEMENT EXECUTE FUNCTION toolevals_audit_guard();
"""  # noqa: S608 - of this module's own texts


def guard_statements(vendor: str) -> list[str]:
    """Return what makes the triggers."""
    if vendor == "postgresql":
        return [_POSTGRESQL]
    refuse = f"BEGIN SELECT RAISE(ABORT, '{REFUSED}'); END"
    return [f"CREATE TRIGGER {name} {when} {refuse}" for name, when in _SQLITE.items()]


def unguard_statements(vendor: str) -> list[str]:
    """Return what removes them."""
    if vendor == "postgresql":
        return ["DROP FUNCTION IF EXISTS toolevals_audit_guard() CASCADE"]
    return [f"DROP TRIGGER IF EXISTS {name}" for name in _SQLITE]


def guard(_: Any, schema_editor: Any) -> None:
    """Make the triggers, in a migration; those that are there are replaced."""
    unguard(_, schema_editor)
    for statement in guard_statements(schema_editor.connection.vendor):
        schema_editor.execute(statement)


def unguard(_: Any, schema_editor: Any) -> None:
    """Remove the triggers, in a migration."""
    for statement in unguard_statements(schema_editor.connection.vendor):
        schema_editor.execute(statement)
