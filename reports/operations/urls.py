"""List the addresses for the people who run the installation, outside the projects."""

from django.urls import path

from reports.operations import views

app_name = "operations"
urlpatterns = [
    path("", views.operations, name="operations"),
    path("storage/", views.storage, name="storage"),
    path("<slug:table>.csv", views.operations_csv, name="operations-csv"),
    path("jobs/<uuid:job>/retry/", views.retry, name="retry"),
]
