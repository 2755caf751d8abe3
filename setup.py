"""Tells where the pages' templates and static files are: next to the packages here, within `toolevals` in a wheel."""

from setuptools import find_packages, setup

PAGES = {"toolevals.templates": "templates", "toolevals.static": "static"}
setup(packages=[*find_packages(include=["toolevals*", "labeling*", "reports*"]), *PAGES], package_dir=PAGES)
