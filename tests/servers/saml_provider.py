"""A provider of SAML in a process of its own: `python -m tests.servers.saml_provider`.

Requests come by redirect, and a page with a form answers them. Who is signed in there, and what is wrong with its
answers, is said by an address instead of a password: `/as/EMAIL?how=WORD`. It prints where it listens.
"""

from __future__ import annotations

import base64
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from html import escape
from typing import Any
from urllib.parse import parse_qs
from wsgiref.simple_server import WSGIRequestHandler, make_server

from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from lxml import etree
from onelogin.saml2.constants import OneLogin_Saml2_Constants as Names
from onelogin.saml2.utils import OneLogin_Saml2_Utils

EMAIL = "urn:oid:0.9.2342.19200300.100.1.3"
NAME = "urn:oid:2.16.840.1.113730.3.1.241"
VERIFIED = "http://schemas.auth0.com/email_verified"
_SPACES = 'xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"'


class Signer:
    """A key and its certificate."""

    def __init__(self) -> None:
        key = rsa.generate_private_key(65537, 2048)
        name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "provider")])
        made = x509.CertificateBuilder(name, name, key.public_key(), 1, *_span(-1, 1)).sign(key, hashes.SHA256())
        self.certificate = made.public_bytes(Encoding.PEM).decode()
        self.key = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()

    def sign(self, xml: str, how: str) -> str:
        """Return an element with a signature over it."""
        algorithms = (Names.RSA_SHA1, Names.SHA1) if how == "sha1" else (Names.RSA_SHA256, Names.SHA256)
        signed: bytes = OneLogin_Saml2_Utils.add_sign(xml, self.key, self.certificate, False, *algorithms)
        return signed.decode()


def _span(begin: float, end: float) -> tuple[datetime, datetime]:
    """Return two times, in hours from now."""
    now = datetime.now(UTC).replace(microsecond=0)
    return now + timedelta(hours=begin), now + timedelta(hours=end)


class Provider:
    """Answers requests as the person who is signed in."""

    def __init__(self) -> None:
        self.signer, self.other = Signer(), Signer()
        self.email, self.how = "", ""
        self.url = ""

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        path, query = environ["PATH_INFO"], parse_qs(environ["QUERY_STRING"])
        if path.startswith("/as/"):
            self.email, self.how = path.removeprefix("/as/"), query.get("how", [""])[0]
            said = self.email
        elif path == "/metadata":
            said = self.metadata()
        else:
            said = self.page(query["SAMLRequest"][0])
        start("200 OK", [("Content-Type", "text/html" if path == "/sso" else "text/xml")])
        return [said.encode()]

    def metadata(self) -> str:
        """Return who this is."""
        certificate = "".join(self.signer.certificate.splitlines()[1:-1])
        return f"""<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="{self.url}/metadata"
          xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><md:IDPSSODescriptor
          protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"><md:KeyDescriptor use="signing"><ds:KeyInfo>
          <ds:X509Data><ds:X509Certificate>{certificate}</ds:X509Certificate></ds:X509Data></ds:KeyInfo>
          </md:KeyDescriptor><md:SingleSignOnService Binding="{Names.BINDING_HTTP_REDIRECT}" Location="{self.url}/sso"/>
          </md:IDPSSODescriptor></md:EntityDescriptor>"""

    def page(self, encoded: str) -> str:
        """Return a page that brings the answer to a request."""
        asked = etree.fromstring(zlib.decompress(base64.b64decode(encoded), -15))
        to = asked.get("AssertionConsumerServiceURL", "")
        answer = base64.b64encode(self.answer(asked).encode()).decode()
        return (
            f'<form method="post" action="{escape(to)}"><input name="SAMLResponse" value="{answer}">'
            "<button>Go on</button></form>"
        )

    def answer(self, asked: Any) -> str:
        """Return the answer to a request, with what is to be wrong with it."""
        how, to, known = self.how, asked.get("AssertionConsumerServiceURL"), asked.get("ID")
        audience = asked.findtext("{urn:oasis:names:tc:SAML:2.0:assertion}Issuer")
        assertion = self.assertion(self.email, to, known, audience)
        if how not in ("unsigned", "response"):
            assertion = (self.other if how == "other-key" else self.signer).sign(assertion, how)
        forged = self.assertion("mara@corp.example", to, known, audience).replace("_a", "_forged")
        if how == "changed":
            assertion = assertion.replace(self.email, "mara@corp.example")
        extensions = ""
        if how == "wrapped":
            extensions, assertion = f"<samlp:Extensions>{assertion}</samlp:Extensions>", forged
        if how == "beside":
            assertion = forged + assertion
        answers = "" if how == "unsolicited" else f'InResponseTo="{known}"'
        destination = "https://elsewhere.example/acs/" if how == "destination" else to
        issuer = "https://elsewhere.example/" if how == "issuer" else f"{self.url}/metadata"
        response = f"""<samlp:Response {_SPACES} ID="_r" Version="2.0" IssueInstant="{_time(0)}" {answers}
          Destination="{destination}"><saml:Issuer>{issuer}</saml:Issuer>{extensions}<samlp:Status><samlp:StatusCode
          Value="{Names.STATUS_SUCCESS}"/></samlp:Status>{assertion}</samlp:Response>"""
        if how == "response":
            response = self.signer.sign(response, how)
        if how in ("entity", "bomb"):
            inner = 'SYSTEM "file:///etc/hostname"' if how == "entity" else f'"{"mara" * 1000}"'
            response = f"<!DOCTYPE r [<!ENTITY x {inner}>]>" + response.replace("Corp", "&x;")
        return response

    def assertion(self, email: str, to: str, asked: str, audience: str) -> str:
        """Return what is said of a person."""
        how, (begin, end) = self.how, (-0.1, 0.1)
        begin, end = {"expired": (-2.0, -1.0), "early": (1.0, 2.0)}.get(how, (begin, end))
        audience = "https://elsewhere.example/" if how == "audience" else audience
        limit = f"<saml:AudienceRestriction><saml:Audience>{audience}</saml:Audience></saml:AudienceRestriction>"
        answers = "" if how in ("unsolicited", "relabelled") else f'InResponseTo="{asked}"'
        to = "https://elsewhere.example/acs/" if how == "recipient" else to
        until = "" if how == "endless" else f'NotOnOrAfter="{_time(end)}"'
        kind = Names.NAMEID_TRANSIENT if how == "transient" else Names.NAMEID_PERSISTENT
        name_id = "" if how == "nameless" else f'<saml:NameID Format="{kind}">id of {email}</saml:NameID>'
        said = {EMAIL: email, NAME: f"{email.partition('@')[0].title()} Corp"}
        said |= {VERIFIED: "false"} if how == "unverified" else {}
        if how == "addressless":
            del said[EMAIL]
        attributes = "".join(
            f'<saml:Attribute Name="{name}"><saml:AttributeValue>{value}</saml:AttributeValue></saml:Attribute>'
            for name, value in said.items()
        )
        return f"""<saml:Assertion {_SPACES} ID="_a" Version="2.0" IssueInstant="{_time(0)}">
          <saml:Issuer>{self.url}/metadata</saml:Issuer><saml:Subject>{name_id}<saml:SubjectConfirmation
          Method="{Names.CM_BEARER}"><saml:SubjectConfirmationData {answers} Recipient="{to}" {until}/>
          </saml:SubjectConfirmation></saml:Subject><saml:Conditions NotBefore="{_time(begin)}"
          NotOnOrAfter="{_time(end)}">{"" if how == "no-audience" else limit}</saml:Conditions><saml:AuthnStatement
          AuthnInstant="{_time(0)}"><saml:AuthnContext><saml:AuthnContextClassRef>{Names.AC_UNSPECIFIED}
          </saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement><saml:AttributeStatement>{attributes}
          </saml:AttributeStatement></saml:Assertion>"""


def _time(hours: float) -> str:
    return _span(hours, hours)[0].strftime("%Y-%m-%dT%H:%M:%SZ")


class _Quiet(WSGIRequestHandler):
    def log_message(self, *_: object) -> None:
        """Say nothing."""


@contextmanager
def provider_process() -> Iterator[str]:
    """Run a provider, and yield its address."""
    command = [sys.executable, "-m", "tests.servers.saml_provider"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.kill()


def main() -> None:
    """Serve until killed."""
    provider = Provider()
    with make_server("127.0.0.1", 0, provider, handler_class=_Quiet) as server:
        provider.url = f"http://127.0.0.1:{server.server_port}"
        print(provider.url, flush=True)  # noqa: T201
        server.serve_forever()


if __name__ == "__main__":
    main()
