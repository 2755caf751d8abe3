"""The examples of reverse proxies: nginx and Caddy serve the application over HTTPS, at the root and below a path."""

from __future__ import annotations

import os
import re
import shutil
import socket
import ssl
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
import yaml

from scripts.dev.environment import ROOT
from tests.fixtures.application import LiveApp
from tests.servers.process import free_port, unprivileged, wait_until
from tests.serving.deployed import running

pytestmark = pytest.mark.servers

FILES = ROOT / "docs" / "examples" / "deployment"
HOST, PREFIX, PASSWORD = "evals.example.org", "/evals", "correct horse battery"
SITE = f"https://{HOST}"
EMAIL = "rae@example.org"
SETUP = f"""
from labeling.datasets.services import dataset_create
from toolevals.workspace.models import User
from toolevals.workspace.projects.services import project_create
owner = User.objects.create_user(email="{EMAIL}", password="{PASSWORD}", name="Rae Example")
project = project_create(actor=owner, slug="shop", name="Shop")
dataset_create(project=project, actor=owner, slug="core", name="Core")
"""
SEEN = """
from toolevals.workspace.models import SignInAddress, SignInFailure
print(*sorted({row.address for kind in (SignInAddress, SignInFailure) for row in kind.objects.all()}))
"""
# What a client says that would like to be taken for another one. A server that reads `_` as `-` would believe the last.
FORGED = {
    "X-Forwarded-For": "203.0.113.7", "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "http",
    "X-Forwarded-Prefix": "/evil", "Forwarded": "for=203.0.113.7;host=evil.example;proto=http",
    "X_Forwarded_For": "203.0.113.7", "X_Forwarded_Proto": "http",
}  # fmt: skip
LEADING = re.compile(r'\s(?:href|src|action|formaction|hx-(?:get|post))="(/[^"]*)"')
MORE_THAN_STRANGERS_SEND = "x" * 1_500_000
NGINX = """
daemon off;
pid {folder}/pid;
error_log stderr warn;
events {{}}
http {{
    access_log {folder}/access.log;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi;
    uwsgi_temp_path {folder}/uwsgi;
    scgi_temp_path {folder}/scgi;
    include {folder}/site;
}}
"""
CADDY = "{{\n\tadmin off\n\tauto_https off\n\thttp_port {free}\n\thttps_port {port}\n\tskip_install_trust\n}}\n"


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    """A folder of the account that runs the proxies, with a certificate."""
    made = Path(tempfile.mkdtemp(prefix="toolevals-proxy-"))
    words = [
        "req",
        "-x509",
        "-newkey",
        "rsa:2048",
        "-nodes",
        "-days",
        "2",
        "-keyout",
        "privkey.pem",
        "-out",
        "fullchain.pem",
    ]
    names = ["-subj", f"/CN={HOST}", "-addext", f"subjectAltName=DNS:{HOST}"]
    subprocess.run(["openssl", *words, *names], cwd=made, check=True, capture_output=True)
    for path in (made, *made.iterdir()):
        if nobody := unprivileged():
            os.chown(path, nobody["user"], nobody["group"])
    yield made
    shutil.rmtree(made)


@pytest.fixture(scope="module")
def apps(live_app_start: Callable[..., LiveApp]) -> Callable[[str], LiveApp]:
    """Return an application with the settings that the examples name, for a prefix; each is started once."""
    started: dict[str, LiveApp] = {}

    def start(prefix: str) -> LiveApp:
        if prefix not in started:
            said = {"BEHIND_PROXY": "true", "HTTPS_ONLY": "true", "ALLOWED_HOSTS": HOST, "PATH_PREFIX": prefix}
            said |= {"WHO_INVITES": "project-owners", "HSTS_SECONDS": "3600"}
            app = live_app_start(**{f"TOOLEVALS_{name}": value for name, value in said.items()})
            app.python(SETUP)
            started[prefix] = app
        return started[prefix]

    return start


@contextmanager
def proxied(program: str, prefix: str, behind: int, folder: Path) -> Iterator[tuple[int, int]]:
    """Run the proxy by its example; give its port for HTTPS, and that for HTTP."""
    port, http_port, nobody = free_port(), free_port(), unprivileged()
    ending = "-below-a-path" if prefix else ""
    name = f"nginx{ending}.conf" if program == "nginx" else f"Caddyfile{ending}"
    text = (FILES / name).read_text().replace("127.0.0.1:8000", f"127.0.0.1:{behind}")
    if program == "nginx":
        text = text.replace("listen 80;", f"listen 127.0.0.1:{http_port};")
        text = text.replace("listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;")
        (folder / "site").write_text(text.replace(f"/etc/ssl/{HOST}", str(folder)))
        (folder / "main").write_text(NGINX.format(folder=folder))
        words = ["nginx", "-e", "stderr", "-p", str(folder), "-c", str(folder / "main")]
    else:
        # Where the certificate comes from, and no more, is not as in the example.
        text = text.replace(f"{HOST} {{", f"{HOST} {{\n\ttls {folder}/fullchain.pem {folder}/privkey.pem", 1)
        (folder / "site").write_text(CADDY.format(free=http_port, port=port) + text)
        words = ["caddy", "run", "--config", str(folder / "site"), "--adapter", "caddyfile"]
    environment = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    with (folder / "log").open("w") as log, running(words, folder, environment, stderr=log, **nobody) as process:
        assert wait_until(lambda: listens(port), while_alive=process), (folder / "log").read_text()
        yield port, http_port


def listens(port: int) -> bool:
    """Return whether somebody listens on a loopback port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Browser(httpx.Client):
    """A browser that finds the site at a loopback port, trusts one certificate, and lies in its headers."""

    def __init__(self, port: int, certificate: Path) -> None:
        super().__init__(
            base_url=f"https://127.0.0.1:{port}",
            verify=ssl.create_default_context(cafile=str(certificate)),
            headers={"Host": HOST, "Origin": SITE} | FORGED,
            event_hooks={"request": [lambda request: request.extensions.update(sni_hostname=HOST)]},
            timeout=60,
        )

    def send_form(self, path: str, said: Mapping[str, str], **more: Mapping[str, object]) -> httpx.Response:
        """Send the form of a page with its token."""
        page = self.get(path)
        assert page.status_code == 200, page.text
        (token,) = set(re.findall(r'name="csrfmiddlewaretoken" value="([^"]+)"', page.text)) or {""}
        return self.post(path, data={"csrfmiddlewaretoken": token} | dict(said), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("prefix", ["", PREFIX])
@pytest.mark.parametrize("program", ["nginx", "caddy"])
def test_people_work_over_https_and_no_header_of_theirs_is_believed(program, prefix, apps, folder):
    if shutil.which(program) is None or shutil.which("openssl") is None:
        pytest.skip(f"{program} and openssl are not installed here: apt-get install {program} openssl")
    app = apps(prefix)
    with (
        proxied(program, prefix, app.application.port, folder) as (port, http_port),
        Browser(port, folder / "fullchain.pem") as browser,
    ):
        sign_in = f"{prefix}/sign-in/"
        asked = browser.get(f"{prefix}/p/shop/")
        assert (asked.status_code, asked.headers["Location"]) == (302, f"{sign_in}?next={prefix}/p/shop/")
        said = {"email": EMAIL, "password": PASSWORD}
        assert browser.post(sign_in, data=said).status_code == 403
        assert browser.post(sign_in, data=said, headers={"Origin": "https://evil.example"}).status_code == 403
        assert browser.send_form(sign_in, said | {"password": "wrong"}).status_code == 200
        entered = browser.send_form(sign_in, said)
        assert (entered.status_code, entered.headers["Location"]) == (302, f"{prefix}/")
        for cookie in entered.headers.get_list("Set-Cookie"):
            assert "; Secure" in cookie
            assert f"; Path={prefix or '/'};" in cookie
        assert app.python(SEEN).split() == ["127.0.0.1"]
        page = browser.get(f"{prefix}/p/shop/")
        leading = LEADING.findall(page.text)
        assert len(leading) > 20
        assert [link for link in leading if not link.startswith(f"{prefix}/")] == []
        styles = next(link for link in leading if link.endswith(".css"))
        for path, status in ((styles, 200), (f"{prefix}/none/", 404), (f"{prefix}/api/v1/projects/", 200)):
            answer = browser.get(path)
            assert (answer.status_code, answer.headers["Strict-Transport-Security"]) == (status, "max-age=3600")
            assert answer.headers["Cross-Origin-Resource-Policy"] == "same-origin"
            assert "camera=()" in answer.headers["Permissions-Policy"]
        file = ("rows.jsonl", f'{{"id": "a", "note": "{MORE_THAN_STRANGERS_SEND}"}}\n')
        sent = browser.send_form(f"{prefix}/p/shop/datasets/core/import/", {"source": "jsonl"}, files={"file": file})
        assert sent.status_code == 302
        assert sent.headers["Location"].startswith(f"{prefix}/p/shop/datasets/core/import/")
        invited = browser.send_form(f"{prefix}/p/shop/members/", {"email": f"{program}@example.org", "role": "20"})
        shown = browser.get(invited.headers["Location"]) if invited.is_redirect else invited
        assert f"{SITE}{prefix}/invitations/link/" in shown.text
        assert "evil" not in shown.text
        if program == "nginx":
            plain = httpx.get(f"http://127.0.0.1:{http_port}{sign_in}", headers={"Host": HOST} | FORGED)
            assert (plain.status_code, plain.headers["Location"]) == (308, f"{SITE}{sign_in}")


def test_traefik_asks_the_web_server_by_https_alone_and_trusts_no_header():
    for name, rule in (("traefik", ""), ("traefik-below-a-path", " && (Path(`/evals`) || PathPrefix(`/evals/`))")):
        http = yaml.safe_load((FILES / f"{name}.yaml").read_text())["http"]
        (router,) = http["routers"].values()
        assert router["rule"] == f"Host(`{HOST}`){rule}"
        assert router["entryPoints"] == ["websecure"]
        assert router["tls"]["certResolver"]
        assert "middlewares" not in http
        balancer = http["services"][router["service"]]["loadBalancer"]
        assert balancer == {"passHostHeader": True, "servers": [{"url": "http://127.0.0.1:8000"}]}
