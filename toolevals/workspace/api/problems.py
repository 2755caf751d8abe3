"""Answers errors as problem+json (RFC 9457), with a JSON pointer to each thing that is wrong."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from http import HTTPStatus
from typing import Any

from django.core.exceptions import PermissionDenied
from django.core.exceptions import ValidationError as ModelError
from django.http import Http404, HttpResponse, JsonResponse
from rest_framework import exceptions
from rest_framework.response import Response
from rest_framework.views import exception_handler

from toolevals.grading.values.problems import InvalidDocument, Problem, pointer_to
from toolevals.workspace.uploads.services import FileTooLarge, QuotaExceeded

CONTENT_TYPE = "application/problem+json"


class Problems(Exception):  # noqa: N818 - named for what it carries
    """An answer other than success: raised by a view, sent as problem+json."""

    def __init__(
        self, status: int, title: str, problems: Sequence[Problem] = (), *, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(title)
        self.status = status
        self.headers = dict(headers or {})
        self.title = title
        self.problems = list(problems)


def problem_document(status: int, detail: str = "", problems: Iterable[Problem] = ()) -> dict[str, Any]:
    """Return the body of an error: the status, a sentence, and what is wrong where."""
    document: dict[str, Any] = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": int(status)}
    if detail:
        document["detail"] = detail
    listed = [{"pointer": each.pointer, "message": each.message} for each in problems]
    if listed:
        document["problems"] = listed
    return document


def problem(status: int, detail: str = "", problems: Iterable[Problem] = ()) -> HttpResponse:
    """Return an error from outside the REST framework's views."""
    return JsonResponse(problem_document(status, detail, problems), status=status, content_type=CONTENT_TYPE)


def problem_coded(status: int, detail: str, code: str) -> HttpResponse:
    """Return an error that a page's script tells apart by its `code`."""
    document = problem_document(status, detail) | {"code": code}
    response = JsonResponse(document, status=status, content_type=CONTENT_TYPE)
    if status == HTTPStatus.UNAUTHORIZED:
        response["WWW-Authenticate"] = "Session"
    return response


def problem_response(error: Exception, context: dict[str, Any]) -> Response | None:
    """Return the answer to an error that a view raised; None leaves it to the server."""
    document = _document(error)
    if document is not None:
        headers = error.headers if isinstance(error, Problems) else None
        return Response(document, status=document["status"], headers=headers, content_type=CONTENT_TYPE)
    response = exception_handler(error, context)
    if response is not None:
        detail = error.detail if isinstance(error, exceptions.APIException) else ""
        response.data = problem_document(response.status_code, detail if isinstance(detail, str) else "")
        response.content_type = CONTENT_TYPE
    return response


def _document(error: Exception) -> dict[str, Any] | None:
    if isinstance(error, Problems):
        return problem_document(error.status, error.title, error.problems)
    if isinstance(error, FileTooLarge):
        return problem_document(413, "The file is too large.", error.problems)
    if isinstance(error, QuotaExceeded):
        return problem_document(507, "The project has no room for the file.", error.problems)
    if isinstance(error, InvalidDocument):
        return problem_document(422, "The document is not valid.", error.problems)
    if isinstance(error, exceptions.ValidationError):
        return problem_document(422, "The request is not valid.", _field_problems(error.detail))
    if isinstance(error, ModelError):
        return problem_document(422, "The request is not valid.", _model_problems(error))
    if isinstance(error, Http404):
        return problem_document(404)
    if isinstance(error, PermissionDenied):
        return problem_document(403, str(error))
    return None


def _field_problems(detail: Any, path: tuple[str | int, ...] = ()) -> list[Problem]:
    """Flatten the REST framework's nested errors into pointers."""
    if isinstance(detail, dict):
        below = ((key, value) for key, value in detail.items())
        return [
            found
            for key, value in below
            for found in _field_problems(value, path if key == "non_field_errors" else (*path, key))
        ]
    if isinstance(detail, list):
        if all(isinstance(each, str) for each in detail):
            return [Problem(pointer_to(path), str(each)) for each in detail]
        return [found for index, value in enumerate(detail) for found in _field_problems(value, (*path, index))]
    return [Problem(pointer_to(path), str(detail))]


def _model_problems(error: ModelError) -> list[Problem]:
    if not hasattr(error, "error_dict"):
        return [Problem("", message) for message in error.messages]
    return [
        Problem("" if name == "__all__" else pointer_to([name]), message)
        for name, messages in error.message_dict.items()
        for message in messages
    ]
