"""Test that the addresses which workers write are those of the pages."""

from __future__ import annotations

import subprocess
import sys
from uuid import UUID

import pytest
from django.urls import NoReverseMatch, get_script_prefix, reverse, set_script_prefix

from toolevals.workspace.addresses import PAGES, address

ARGUMENTS: tuple[list[object], ...] = (
    ["shop", "support", 7],
    ["shop", 7],
    ["shop", UUID(int=7)],
    ["shop", "support"],
    ["shop"],
)


def matching(page: str) -> list[object]:
    """Return arguments that the page takes."""
    for arguments in ARGUMENTS:
        try:
            reverse(page, args=arguments)
        except NoReverseMatch:
            continue
        return arguments
    raise AssertionError(page)


@pytest.mark.parametrize("prefix", ["", "/tools"])
@pytest.mark.parametrize("page", PAGES)
def test_an_address_is_the_pages(page: str, prefix: str, settings):
    before = get_script_prefix()
    set_script_prefix(f"{prefix}/")
    settings.PATH_PREFIX = prefix
    try:
        arguments = matching(page)
        assert address(page, *arguments) == reverse(page, args=arguments)
    finally:
        set_script_prefix(before)


def test_telling_an_address_loads_no_page(tmp_path):
    code = (
        "import sys, django; django.setup();"
        "from toolevals.workspace.addresses import address; address('reports:run', 'shop', 7);"
        "from toolevals.celery import app; app.loader.import_default_modules();"
        "from toolevals.workspace.jobs.sweeper import Sweeper; from django.conf import settings;"
        "from django.utils.module_loading import import_string; [import_string(name) for name in settings.SWEEP_TASKS];"
        "pages = {'toolevals.urls', 'reports.run.views', 'rest_framework.compat', 'narwhals'};"
        "print(*sorted(pages & set(sys.modules)))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={"DJANGO_SETTINGS_MODULE": "toolevals.settings", "TOOLEVALS_DATA_DIR": str(tmp_path)},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert result.stdout.strip() == ""
