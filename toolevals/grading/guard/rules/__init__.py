"""Hold the kinds of rules that a policy is made of, each a class of options that compiles to a test."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from toolevals.grading.guard.rules.calls import CallsRule, OrderRule, RepeatRule, SchemaRule, ToolRatesRule
from toolevals.grading.guard.rules.content import InjectionRule, PatternsRule, PersonalDataRule
from toolevals.grading.guard.rules.lists import BlockedRule, KeysRule, ServersRule
from toolevals.grading.guard.rules.origin import OriginRule
from toolevals.grading.guard.rules.rule import Rule

# In the order in which they are asked: what costs least comes first.
RULES: Final[Mapping[str, type[Rule]]] = {
    rule.kind: rule
    for rule in (
        KeysRule,
        ServersRule,
        BlockedRule,
        CallsRule,
        ToolRatesRule,
        SchemaRule,
        OrderRule,
        RepeatRule,
        OriginRule,
        PatternsRule,
        PersonalDataRule,
        InjectionRule,
    )
}
