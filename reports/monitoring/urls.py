"""List the address of the figures, outside the projects."""

from django.urls import path

from reports.monitoring import views

app_name = "monitoring"
urlpatterns = [path("", views.metrics, name="metrics")]
