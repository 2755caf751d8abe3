"""Makes every change of the workspace. Each function is one short transaction with one audit row."""

from toolevals.workspace.services.audit import audit_record
from toolevals.workspace.services.invitations import (
    AccountExistsError,
    InvitationEndedError,
    invitation_accept,
    invitation_accept_as_new,
    invitation_create,
    invitation_decline,
    invitation_renew,
    invitation_revoke,
)
from toolevals.workspace.services.projects import (
    LastOwnerError,
    member_remove,
    member_set,
    project_create,
    project_update,
)
from toolevals.workspace.services.secrets import (
    SecretMissingError,
    SecretRefusedError,
    SecretUnusableError,
    secret_check,
    secret_for,
    secret_forget,
    secret_set,
)
from toolevals.workspace.services.tokens import TokenTooWideError, token_create, token_revoke
from toolevals.workspace.services.uploads import stored_together, upload_discard, upload_store, uploads_forget
from toolevals.workspace.services.users import installation_owner_set, password_change, user_create, user_update
from toolevals.workspace.services.visits import visit_note, visited_before

__all__ = [
    "AccountExistsError",
    "InvitationEndedError",
    "LastOwnerError",
    "SecretMissingError",
    "SecretRefusedError",
    "SecretUnusableError",
    "TokenTooWideError",
    "audit_record",
    "installation_owner_set",
    "invitation_accept",
    "invitation_accept_as_new",
    "invitation_create",
    "invitation_decline",
    "invitation_renew",
    "invitation_revoke",
    "member_remove",
    "member_set",
    "password_change",
    "project_create",
    "project_update",
    "secret_check",
    "secret_for",
    "secret_forget",
    "secret_set",
    "stored_together",
    "token_create",
    "token_revoke",
    "upload_discard",
    "upload_store",
    "uploads_forget",
    "user_create",
    "user_update",
    "visit_note",
    "visited_before",
]
