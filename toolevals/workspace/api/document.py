"""Makes the OpenAPI document once in each process, since it follows from the code alone."""

from __future__ import annotations

from functools import cache
from threading import Lock
from typing import Any

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer
from drf_spectacular.views import SpectacularAPIView

from toolevals.workspace.api import schema  # noqa: F401 - its extension registers itself

# The generator loads its extensions while it works, and two threads that begin at once find them half loaded.
_ONE_AT_A_TIME = Lock()


def document() -> dict[str, Any]:
    """Return the document. Making it reads every serializer, which takes a third of a second of processor time."""
    with _ONE_AT_A_TIME:
        return made_document()


@cache
def made_document() -> dict[str, Any]:
    """Make the document, or return the one that was made."""
    made: dict[str, Any] = SchemaGenerator().get_schema(public=True)  # type: ignore[no-untyped-call]
    return made


class KeptDocument(SchemaGenerator):
    """Gives the document that is kept; where a version is named, makes the one that names it."""

    def get_schema(self, request: Any = None, public: bool = False) -> Any:
        if self.api_version or not public:
            with _ONE_AT_A_TIME:
                return super().get_schema(request, public)  # type: ignore[no-untyped-call]
        return document()


class OpenApiDocument(SpectacularAPIView):
    """Sends the document as JSON."""

    renderer_classes = [OpenApiJsonRenderer]  # noqa: RUF012 - the framework's interface
    generator_class = KeptDocument
