"""Names the made-up people of the sample project. Their accounts sign in from this machine only."""

from __future__ import annotations

from dataclasses import dataclass

from toolevals.workspace.models import Role


@dataclass(frozen=True, slots=True)
class SampleAccount:
    """One made-up person. `key` is what the data files call them."""

    key: str
    name: str
    role: Role
    does: str

    @property
    def email(self) -> str:
        """An address that can never receive mail."""
        return f"{self.key}@shop.example"


ACCOUNTS = (
    SampleAccount("lena", "Lena Labelwell", Role.REVIEWER, "labels; is ahead of Omar"),
    SampleAccount("omar", "Omar Obersee", Role.REVIEWER, "labels; has more left to do"),
    SampleAccount("ada", "Ada Judicator", Role.ADJUDICATOR, "decides where Lena and Omar differ, starts runs"),
    SampleAccount("otto", "Otto Owner", Role.OWNER, "also manages members and tokens"),
    SampleAccount("vi", "Vi Viewer", Role.VIEWER, "reads reports"),
)


def logins(password: str) -> list[dict[str, str]]:
    """Return what a person needs to sign in: name, email, password, role, and what the role is for."""
    return [
        {"name": one.name, "email": one.email, "password": password, "role": one.role.label, "does": one.does}
        for one in ACCOUNTS
    ]
