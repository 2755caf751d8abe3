"""List the address of the operators' tables in the REST interface."""

from django.urls import path

from reports.operations.api import Operations

app_name = "operations-api"
urlpatterns = [path("", Operations.as_view(), name="operations")]
