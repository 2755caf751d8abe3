"""Signs people in by a provider that speaks SAML: sends them there, and takes of an answer only what is signed.

The answer comes as a form of the provider's page, with which browsers send no session of ours. It is checked where it
arrives, and waits in a session of its own until the browser asks for it. Who comes in is decided as for each provider.
"""

from __future__ import annotations

import logging
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

import requests
import xmlsec
from allauth.socialaccount.adapter import get_adapter
from allauth.socialaccount.helpers import complete_social_login
from allauth.socialaccount.providers import registry
from allauth.socialaccount.providers.saml.provider import SAMLProvider
from allauth.socialaccount.sessions import LoginSession
from django.conf import settings
from django.core.cache import cache
from django.core.exceptions import PermissionDenied
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from lxml.etree import LxmlError
from onelogin.saml2.auth import OneLogin_Saml2_Auth
from onelogin.saml2.constants import OneLogin_Saml2_Constants as Names
from onelogin.saml2.errors import OneLogin_Saml2_Error, OneLogin_Saml2_ValidationError
from onelogin.saml2.idp_metadata_parser import OneLogin_Saml2_IdPMetadataParser
from onelogin.saml2.response import OneLogin_Saml2_Response
from onelogin.saml2.settings import OneLogin_Saml2_Settings
from onelogin.saml2.xml_utils import OneLogin_Saml2_XML

from toolevals.workspace.accounts import single_sign_on
from toolevals.workspace.accounts.services import STATE_SECONDS
from toolevals.workspace.accounts.single_sign_on import FAILED, asked, sent_back, uid_hashed

logger = logging.getLogger(__name__)
begin = single_sign_on.begin

_METADATA_SECONDS: Final = 600
_COOKIE, _WAITING = "saml-acs-session", "saml_answer"
_CONFIRMED: Final = "/samlp:Response/saml:Assertion/saml:Subject/saml:SubjectConfirmation/saml:SubjectConfirmationData"
_NOT_THERE: Final = (OneLogin_Saml2_Error, OneLogin_Saml2_ValidationError, LxmlError, xmlsec.Error)


@dataclass(frozen=True)
class Answer:
    """The signed facts about a person, and the request that they answer."""

    issuer: str
    request: str
    name_id: str | None
    name_id_format: str | None
    attributes: dict[str, list[str]]

    def get_nameid(self) -> str | None:
        return self.name_id

    def get_nameid_format(self) -> str | None:
        return self.name_id_format

    def get_attributes(self) -> dict[str, list[str]]:
        return self.attributes


class Provider(SAMLProvider):  # type: ignore[misc]
    """The provider of the settings. Only id, name and address of a person are kept."""

    default_attribute_mapping: ClassVar[dict[str, list[str]]] = {
        **SAMLProvider.default_attribute_mapping,
        "email": [*SAMLProvider.default_attribute_mapping["email"], "email", "mail", "emailAddress"],
        "name": [
            *("http://schemas.microsoft.com/identity/claims/displayname", "urn:oid:2.16.840.1.113730.3.1.241"),
            *("displayName", "name"),
        ],
    }

    def extract_uid(self, data: Answer) -> str:
        """Return the person's id, with the provider's. Raises ValueError where no id is lasting."""
        known = super().extract_uid(data)
        if not known or (known == data.name_id and data.name_id_format == Names.NAMEID_TRANSIENT):
            raise ValueError("the provider sends no lasting id of the person")
        return uid_hashed(data.issuer, known)

    def extract_extra_data(self, data: Answer) -> dict[str, Any]:
        return {}

    def extract_common_fields(self, data: Answer) -> dict[str, Any]:
        """Return what is kept. A signed address counts as verified where the provider does not say that it is not."""
        fields: dict[str, Any] = super().extract_common_fields(data)
        if attribute := self.app.settings["email_attribute"]:
            fields["email"] = next(iter(data.attributes.get(attribute, ())), None)
        return {"email_verified": True, **fields}

    def redirect(self, request: HttpRequest, process: str, next_url: str | None = None, **more: Any) -> HttpResponse:
        """Lead to the provider, and remember in the session what was asked."""
        configuration = _configuration(request, _provider_known(self.app.settings))
        try:
            auth = OneLogin_Saml2_Auth(_arrival(request), configuration)
        except OneLogin_Saml2_Error as error:
            raise ValueError(str(error)) from error
        there = auth.login(return_to="")
        self.stash_redirect_state(request, process, next_url, state_id=auth.get_last_request_id(), **more)
        return redirect(there)


registry.register(Provider)


def receive(request: HttpRequest) -> HttpResponse:
    """Check an answer as it arrives, and let the browser ask for what it says, with its session."""
    return asked(request, lambda: _kept(request))


def finish(request: HttpRequest, provider_id: str) -> HttpResponse:
    """Let in, or send back to the sign-in page, whose answer waits."""
    return asked(request, lambda: _let_in(request, provider_id))


def metadata(request: HttpRequest) -> HttpResponse:
    """Return the metadata of this installation."""
    configuration = _configuration(request, {})
    # A signed response is taken, too; providers that ask what to sign shall sign what is read.
    configuration["security"]["wantAssertionsSigned"] = True
    own = OneLogin_Saml2_Settings(configuration, sp_validation_only=True)
    return HttpResponse(own.get_sp_metadata(), content_type="application/samlmetadata+xml")


def _kept(request: HttpRequest) -> HttpResponse:
    try:
        answer = _checked(request, request.POST.get("SAMLResponse", ""))
    except (ValueError, *_NOT_THERE) as error:
        # Anyone can send one: a line tells the operator why, in whatever words.
        logger.warning("An answer of SAML is refused: %.500r", str(error))
        return sent_back(request, FAILED)
    waiting = LoginSession(request, "saml_acs_session", _COOKIE)
    waiting.store[_WAITING] = asdict(answer)
    waiting.store.set_expiry(STATE_SECONDS)
    response = redirect("saml_finish_acs")
    waiting.save(response)
    response.cookies[_COOKIE]["httponly"] = True
    return response


def _let_in(request: HttpRequest, provider_id: str) -> HttpResponse:
    waiting = LoginSession(request, "saml_acs_session", _COOKIE)
    kept = waiting.store.get(_WAITING)
    if not kept:
        return sent_back(request, FAILED)
    waiting.delete()
    answer = Answer(**kept)
    provider = get_adapter().get_provider(request, provider_id)
    try:
        # It is there once, in the session of who asked.
        state = provider.unstash_redirect_state(request, answer.request)
    except PermissionDenied:
        logger.warning("An answer of SAML is refused: no one asked for it here, or it was used")
        return sent_back(request, FAILED)
    login = provider.sociallogin_from_response(request, answer)
    login.state = state
    done: HttpResponse = complete_social_login(request, login)
    return done


def _checked(request: HttpRequest, encoded: str) -> Answer:
    """Return what an answer says. Raises ValueError, or an error of the libraries, where not all of it is right.

    The library requires a signature of the provider over the response or over its one assertion, its issuer, and a
    time that is now. It takes an answer for no audience and to no request: those are refused here.
    """
    provider = _provider_known(settings.SIGN_ON["saml"]["settings"])
    response = OneLogin_Saml2_Response(OneLogin_Saml2_Settings(_configuration(request, provider)), encoded)
    if not response.is_valid(_arrival(request)):
        raise ValueError(response.get_error())
    answered, here = response.get_in_response_to(), _own_address(request, "saml_acs")
    confirmed = OneLogin_Saml2_XML.query(response.get_xml_document(), _CONFIRMED)
    for each in confirmed:
        if not answered or each.get("InResponseTo") != answered:
            raise ValueError("its assertion answers no request, or another one")
        if each.get("Recipient") != here or not each.get("NotOnOrAfter"):
            raise ValueError("its assertion names another recipient, or no end")
    if not response.get_audiences():
        raise ValueError("its assertion names no audience")
    said = response.get_attributes()
    return Answer(
        issuer=provider["entityId"],
        request=answered,
        name_id=response.get_nameid(),
        name_id_format=response.get_nameid_format(),
        attributes={name: [each for each in values if isinstance(each, str)] for name, values in said.items()},
    )


def _configuration(request: HttpRequest, provider: dict[str, Any]) -> dict[str, Any]:
    """Return the library's settings."""
    return {
        "strict": True,
        "idp": provider,
        "sp": {
            "entityId": _own_address(request, "saml_metadata"),
            "assertionConsumerService": {
                "url": _own_address(request, "saml_acs"),
                "binding": Names.BINDING_HTTP_POST,
            },
        },
        "security": {
            "allowRepeatAttributeName": True,
            "allowSingleLabelDomains": True,
            "rejectDeprecatedAlgorithm": True,
            "requestedAuthnContext": False,
            "wantAttributeStatement": False,
            "wantNameId": False,
            # Providers read the metadata once: it does not end.
            "metadataCacheDuration": "",
            "metadataValidUntil": "",
        },
    }


def _arrival(request: HttpRequest) -> dict[str, Any]:
    """Return what the library has to know of a request: where answers arrive."""
    return {
        "https": "on" if request.is_secure() else "off",
        "http_host": request.get_host(),
        "script_name": "",
        "path_info": reverse("saml_acs"),
        "get_data": {},
        "post_data": {},
    }


def _own_address(request: HttpRequest, name: str) -> str:
    return request.build_absolute_uri(reverse(name))


def _provider_known(known: dict[str, str]) -> dict[str, Any]:
    """Return address, name and certificates of the provider. Raises requests.RequestException or ValueError."""
    if not known["metadata"]:
        return {
            "entityId": known["entity_id"],
            "singleSignOnService": {"url": known["sign_on_url"], "binding": Names.BINDING_HTTP_REDIRECT},
            "x509cert": known["certificate"],
        }
    key = f"saml.{hash((known['metadata'], known['entity_id']))}"
    found: dict[str, Any] | None = cache.get(key)
    if found is None:
        found = _metadata_read(known)
        cache.set(key, found, _METADATA_SECONDS)
    return found


def _metadata_read(known: dict[str, str]) -> dict[str, Any]:
    where = known["metadata"]
    if where.startswith(("http://", "https://")):
        with get_adapter().get_requests_session() as session:
            # Whose signatures count is said by this address and by none that it names.
            answer = session.get(where, allow_redirects=False)
        if answer.status_code != requests.codes.ok:
            raise requests.HTTPError(f"{where} answers with status {answer.status_code}")
        text = answer.content
    else:
        try:
            text = Path(where).read_bytes()
        except OSError as error:
            raise ValueError(f"The metadata of SAML cannot be read: {where}") from error
    try:
        read = OneLogin_Saml2_IdPMetadataParser.parse(text, entity_id=known["entity_id"] or None)
    except LxmlError as error:
        raise ValueError(f"The metadata of SAML is no XML: {error}") from error
    provider: dict[str, Any] = read.get("idp", {})
    certified = provider.get("x509cert") or provider.get("x509certMulti")
    if not (certified and "entityId" in provider and "singleSignOnService" in provider):
        raise ValueError("The metadata of SAML names no provider with certificate and address for redirects.")
    return provider
