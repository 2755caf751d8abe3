"""Decide who may do what in `toolevals.sample`."""

from toolevals.workspace.access import Rule
from toolevals.workspace.models import Role

RULES = {"sample:add": Rule(Role.ADJUDICATOR)}
