"""A provider of OpenID Connect in a process of its own: `python -m tests.servers.oidc_provider FOLDER`.

It speaks the protocol by django-allauth's own provider. Who is signed in there is said by an address instead of a
password: `/as/EMAIL`. It prints where it listens, and who may come back is told it by `/client?uri=...`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from wsgiref.simple_server import WSGIRequestHandler, make_server

from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from django.conf import settings
from django.http import HttpRequest, HttpResponse

CLIENT_ID, CLIENT_SECRET = "toolevals", "a secret of two"
# Whether the provider has verified the address of who is called so.
PEOPLE = {"mara": True, "ben": False, "nora": True, "outi": True, "off": True}


def become(request: HttpRequest, email: str) -> HttpResponse:
    """Sign in as a person of the provider."""
    from django.contrib.auth import get_user_model, login

    login(request, get_user_model().objects.get(email=email), "django.contrib.auth.backends.ModelBackend")
    return HttpResponse(email)


def client(request: HttpRequest) -> HttpResponse:
    """Make the client known, with where its people come back."""
    from allauth.idp.oidc.models import Client

    made, _ = Client.objects.get_or_create(id=CLIENT_ID, defaults={"name": "toolevals", "skip_consent": True})
    made.set_secret(CLIENT_SECRET)
    made.scopes, made.redirect_uris = "openid\nprofile\nemail", request.GET["uri"]
    made.save()
    return HttpResponse(CLIENT_ID)


def _configure(folder: Path) -> None:
    key = rsa.generate_private_key(65537, 2048)
    settings.configure(
        SECRET_KEY="of the provider",
        ALLOWED_HOSTS=["*"],
        ROOT_URLCONF="tests.servers.oidc_urls",
        DATABASES={"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": folder / "provider.sqlite3"}},
        INSTALLED_APPS=[
            *("django.contrib.auth", "django.contrib.contenttypes", "django.contrib.sessions"),
            *("django.contrib.messages", "allauth.account", "allauth.idp.oidc"),
        ],
        MIDDLEWARE=[
            "django.contrib.sessions.middleware.SessionMiddleware",
            "django.contrib.auth.middleware.AuthenticationMiddleware",
            "django.contrib.messages.middleware.MessageMiddleware",
            "allauth.account.middleware.AccountMiddleware",
        ],
        # Browsers keep one cookie of a name for all ports of a machine.
        SESSION_COOKIE_NAME="provider",
        USE_TZ=True,
        DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
        IDP_OIDC_PRIVATE_KEY=key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode(),
    )


def _people_make() -> None:
    from allauth.account.models import EmailAddress
    from django.contrib.auth import get_user_model

    for name, is_verified in PEOPLE.items():
        email = f"{name}@corp.example" if name != "outi" else "outi@elsewhere.example"
        said = {"username": name, "email": email, "first_name": name.title(), "last_name": "Corp"}
        user = get_user_model().objects.create(**said)
        EmailAddress.objects.create(user=user, email=email, verified=is_verified, primary=True)


class _Quiet(WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


def main(folder: Path) -> None:
    """Serve until killed."""
    _configure(folder)
    import django
    from django.core.management import call_command
    from django.core.wsgi import get_wsgi_application

    django.setup()
    call_command("migrate", verbosity=0)
    _people_make()
    with make_server("127.0.0.1", 0, get_wsgi_application(), handler_class=_Quiet) as server:
        print(f"http://127.0.0.1:{server.server_port}", flush=True)  # noqa: T201
        server.serve_forever()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
