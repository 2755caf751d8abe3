"""Keeps a program's policy file: loads it, checks its signature, renews it in a thread, and has a copy for bad days."""

from __future__ import annotations

import hashlib
import json
import logging
import os
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urlsplit

from toolevals.grading.guard import Guard as CompiledGuard
from toolevals.grading.guard import compile_policy
from toolevals.sdk.guard.policy_file import LARGEST, PolicyFile, PolicyFileError, read

logger = logging.getLogger("toolevals.sdk.guard")
TIMEOUT_SECONDS = 5.0


class Kept(NamedTuple):
    """A policy file in use, compiled; `expires_at` is in seconds since 1970."""

    file: PolicyFile
    guard: CompiledGuard
    expires_at: float


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """Follows no redirect: the token would go along to wherever it leads."""

    def redirect_request(self, *_: object) -> None:
        return None


class PolicyKeeper:
    """A policy file that is renewed each `seconds`. `kept` is the one in use, `problem` says why it is not newer."""

    def __init__(
        self,
        server: str,
        token: str,
        *,
        project: str,
        policy: str,
        public_keys: Sequence[str],
        cache: Path | None,
        seconds: float,
    ) -> None:
        self._server, self._token, self._project, self._policy = server, token, project, policy
        self._keys, self._cache, self._seconds = tuple(public_keys), cache, seconds
        self._opener = urllib.request.build_opener(_NoRedirect)
        self.kept: Kept | None = None
        self.problem = ""
        self._renewing = threading.Lock()
        self._ended = threading.Event()
        if not self.renew():
            self._take_copy()
        self._begin()
        os.register_at_fork(after_in_child=self._after_fork)

    @property
    def address(self) -> str:
        """The address of the policy file."""
        named = f"policies/{quote(self._policy, safe='')}/" if self._policy else ""
        return f"{self._server}/api/v1/projects/{quote(self._project, safe='')}/guard/{named}signed/"

    def renew(self) -> bool:
        """Fetch the file and use it; return whether that went well. A file that is not sound changes nothing."""
        with self._renewing:
            try:
                content = self._fetched()
                self._use(content)
            except (OSError, PolicyFileError, ValueError) as error:
                self._tell(f"The policy file could not be renewed: {error}")
                return False
            self.problem = ""
            self._keep_copy(content)
            return True

    def close(self) -> None:
        """Renew it no more."""
        self._ended.set()

    def _begin(self) -> None:
        self._thread = threading.Thread(target=self._work, name="toolevals-guard", daemon=True)
        self._thread.start()

    def _after_fork(self) -> None:
        """Begin again in a forked child, which has no thread, and where a lock may be held for ever."""
        if not self._ended.is_set():
            self._renewing, self._ended = threading.Lock(), threading.Event()
            self._begin()

    def _work(self) -> None:
        ended = self._ended
        while not ended.wait(self._seconds):
            self.renew()

    def _fetched(self) -> bytes:
        request = urllib.request.Request(self.address, headers={"Authorization": f"Bearer {self._token}"})  # noqa: S310
        try:
            with self._opener.open(request, timeout=TIMEOUT_SECONDS) as response:
                content: bytes = response.read(LARGEST + 1)
        except urllib.error.HTTPError as error:
            with error:
                raise PolicyFileError(f"{self.address} answers {error.code}: {_detail(error)}") from None
        return content

    def _use(self, content: bytes) -> None:
        """Use a file. Raises PolicyFileError where it is not sound, older than the one in use, or has expired."""
        file = read(content, self._keys, project=self._project, slug=self._policy)
        kept, expires_at = self.kept, file.expires_at.timestamp()
        if expires_at <= time.time():
            raise PolicyFileError(f"The policy file expired at {file.expires_at.isoformat()}.")
        if kept is not None and file.issued_at < kept.file.issued_at:
            raise PolicyFileError("The policy file was issued before the one in use.")
        same = kept is not None and file.decides_as(kept.file)
        guard = kept.guard if kept is not None and same else compile_policy(file.policy, file.tools)
        self.kept = Kept(file, guard, expires_at)

    def _take_copy(self) -> None:
        if self._cache is None:
            return
        try:
            with self._cache.open("rb") as file:
                self._use(file.read(LARGEST + 1))
        except FileNotFoundError:
            return
        except (OSError, PolicyFileError) as error:
            self._tell(f"{self.problem} The copy {self._cache} is not used: {error}")

    def _keep_copy(self, content: bytes) -> None:
        if self._cache is None:
            return
        try:
            self._cache.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            # Its owner's alone, and whole or not there.
            descriptor, name = tempfile.mkstemp(dir=self._cache.parent)
            with os.fdopen(descriptor, "wb") as file:
                file.write(content)
            Path(name).replace(self._cache)
        except OSError as error:
            self._tell(f"The policy file is in use, but no copy of it could be kept: {error}")

    def _tell(self, words: str) -> None:
        if words != self.problem:
            logger.warning("%s", words)
        self.problem = words


def place_of_copy(server: str, project: str, policy: str) -> Path:
    """Return where a copy of a policy file is kept unless the program says where."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    name = hashlib.sha256(json.dumps([server, project, policy]).encode()).hexdigest()[:32]
    return Path(base) / "toolevals" / "guard" / f"{name}.json"


def server_of(address: str) -> str:
    """Return the address of a server in the form that is used. Raises ValueError for one that is none."""
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(f"{address!r} is not an address of a server, such as https://toolevals.example.org")
    return address.rstrip("/")


def _detail(error: urllib.error.HTTPError) -> str:
    try:
        document = json.loads(error.read(100_000))
        return str(document["detail"])
    except (OSError, ValueError, KeyError, TypeError):
        return str(error.reason)
