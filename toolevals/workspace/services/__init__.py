"""Everything that changes the workspace. Each function is one short transaction with one audit row."""

from toolevals.workspace.services.audit import audit_record
from toolevals.workspace.services.projects import (
    LastOwnerError,
    member_invite,
    member_remove,
    member_set,
    project_create,
    project_update,
)
from toolevals.workspace.services.secrets import SecretMissingError, secret_forget, secret_read, secret_set
from toolevals.workspace.services.tokens import token_create, token_revoke
from toolevals.workspace.services.uploads import upload_store, uploads_forget
from toolevals.workspace.services.users import password_change, user_create, user_update
from toolevals.workspace.services.visits import visit_note, visited_before

__all__ = [
    "LastOwnerError",
    "SecretMissingError",
    "audit_record",
    "member_invite",
    "member_remove",
    "member_set",
    "password_change",
    "project_create",
    "project_update",
    "secret_forget",
    "secret_read",
    "secret_set",
    "token_create",
    "token_revoke",
    "upload_store",
    "uploads_forget",
    "user_create",
    "user_update",
    "visit_note",
    "visited_before",
]
