"""Makes the OpenAPI document once in each process, since it follows from the code alone."""

from __future__ import annotations

from functools import cache
from typing import Any

from drf_spectacular.generators import SchemaGenerator
from drf_spectacular.renderers import OpenApiJsonRenderer
from drf_spectacular.views import SpectacularAPIView

from toolevals.workspace.api import schema  # noqa: F401 - its extension registers itself


@cache
def document() -> dict[str, Any]:
    """Return the document. Making it reads every serializer, which takes a third of a second of processor time."""
    made: dict[str, Any] = SchemaGenerator().get_schema(public=True)  # type: ignore[no-untyped-call]
    return made


class KeptDocument(SchemaGenerator):
    """Gives the document that is kept; where a version is named, makes the one that names it."""

    def get_schema(self, request: Any = None, public: bool = False) -> Any:
        if self.api_version or not public:
            return super().get_schema(request, public)  # type: ignore[no-untyped-call]
        return document()


class OpenApiDocument(SpectacularAPIView):
    """Sends the document as JSON."""

    renderer_classes = [OpenApiJsonRenderer]  # noqa: RUF012 - the framework's interface
    generator_class = KeptDocument
