"""Writes and reads the policy file: a policy in force with the tools on offer, signed by its installation (Ed25519).

The file is a JSON object. `payload` is canonical JSON as text, and a signature signs its bytes as they stand: none
is written again to be checked. Several keys may have signed: while an installation changes its key, old and new.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from toolevals.grading.guard import Policy
from toolevals.grading.values import ToolSpec, canonical
from toolevals.grading.values.problems import InvalidDocument
from toolevals.json_types import JsonObject

FORMAT = "policy_file.v1"
LARGEST = 32 * 1024 * 1024


class PolicyFileError(ValueError):
    """A policy file that is not used; the text says why."""


@dataclass(frozen=True, slots=True)
class PolicyFile:
    """The content of a policy file. `slug` names the policy; its version stands in `policy`."""

    project: str
    slug: str
    policy: Policy
    tools: tuple[ToolSpec, ...]
    issued_at: datetime
    expires_at: datetime

    def to_document(self) -> JsonObject:
        """Return the payload."""
        return {
            "format": FORMAT,
            "project": self.project,
            "slug": self.slug,
            "version": self.policy.version,
            "policy": self.policy.to_document(),
            "tools": [tool.to_document() for tool in self.tools],
            "issued_at": self.issued_at.isoformat(),
            "expires_at": self.expires_at.isoformat(),
        }

    def decides_as(self, other: PolicyFile | None) -> bool:
        """Tell whether another file has the same policy and tools, whenever it was issued."""
        return other is not None and (self.policy, self.tools) == (other.policy, other.tools)


def public_text(key: Ed25519PrivateKey) -> str:
    """Return the public key that belongs to a private one, as text: the Base64 of its 32 bytes."""
    return base64.b64encode(key.public_key().public_bytes_raw()).decode()


def public_key(text: str) -> Ed25519PublicKey:
    """Return the public key that a text writes. Raises PolicyFileError."""
    try:
        return Ed25519PublicKey.from_public_bytes(base64.b64decode(text.strip(), validate=True))
    except (ValueError, binascii.Error):
        raise PolicyFileError(
            f"{text[:60]!r} is not a public key: copy it from the policy's page or .../guard/keys/."
        ) from None


def signed(file: PolicyFile, keys: Iterable[Ed25519PrivateKey]) -> JsonObject:
    """Return the file's document, signed by each key."""
    payload = canonical.canonical(file.to_document())
    signatures = [
        {"key": public_text(key), "signature": base64.b64encode(key.sign(payload.encode())).decode()} for key in keys
    ]
    return {"payload": payload, "signatures": signatures}


def read(content: bytes, trusted: Sequence[str], *, project: str, slug: str = "") -> PolicyFile:
    """Return what a file holds that one of the trusted public keys has signed, for this project and policy.

    Without a slug any policy of the project is taken. Raises PolicyFileError; a file that has expired is read.
    """
    payload = _payload(content, trusted)
    try:
        document = canonical.parse(payload)
        form = document["format"]
        found = PolicyFile(
            project=document["project"],
            slug=document["slug"],
            policy=Policy.from_document(document["policy"]),
            tools=tuple(map(ToolSpec.from_document, document["tools"])),
            issued_at=datetime.fromisoformat(document["issued_at"]),
            expires_at=datetime.fromisoformat(document["expires_at"]),
        )
    except InvalidDocument as error:
        # Signed, and yet unknown here: rules of a newer server.
        raise PolicyFileError(f"The policy file holds what this program does not know. Update it. {error}") from None
    except (KeyError, TypeError, ValueError) as error:
        raise PolicyFileError(f"The policy file lacks a field: {error}.") from None
    if form != FORMAT:
        raise PolicyFileError(f"The policy file has the form {form!r}; this program reads {FORMAT}.")
    if found.project != project:
        raise PolicyFileError(f"The policy file is of the project {found.project!r}, not of {project!r}.")
    if slug and found.slug != slug:
        raise PolicyFileError(f"The policy file is of the policy {found.slug!r}, not of {slug!r}.")
    return found


def _payload(content: bytes, trusted: Sequence[str]) -> str:
    if len(content) > LARGEST:
        raise PolicyFileError(f"The policy file is larger than {LARGEST:,} bytes.")
    try:
        document: Any = canonical.parse(content)
        payload: str = document["payload"]
        signatures = {
            each["key"]: base64.b64decode(each["signature"], validate=True) for each in document["signatures"]
        }
        said = payload.encode()
    except (ValueError, KeyError, TypeError, AttributeError):
        raise PolicyFileError("This is not a policy file.") from None
    known = [key for key in trusted if key in signatures]
    if not known:
        words = "by no key" if not signatures else f"by {', '.join(sorted(map(str, signatures)))[:200]}"
        raise PolicyFileError(f"The policy file is signed {words}, which is not trusted here.")
    for key in known:
        try:
            public_key(key).verify(signatures[key], said)
        except InvalidSignature:
            continue
        return payload
    raise PolicyFileError("The policy file was changed: its signature is not that of its content.")
