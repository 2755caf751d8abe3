"""Say in words what a rule of a policy asks for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from toolevals.grading.guard.rules.calls import CallsRule, OrderRule, RepeatRule, ToolRatesRule
from toolevals.grading.guard.rules.content import InjectionRule, PatternsRule, PersonalDataRule
from toolevals.grading.guard.rules.lists import BlockedRule, KeysRule, ServersRule
from toolevals.grading.guard.rules.origin import OriginRule
from toolevals.grading.guard.rules.rule import Place, Rule

# So many names are said; the rest is counted.
MOST_NAMED: Final = 6


def rule_words(rule: Rule) -> str:
    """Return what a rule asks for, as one sentence without its full stop."""
    words = _WORDS.get(type(rule))
    return words(rule) if words else "The tool is on offer, and the arguments fit its schema"


def _listed(names: tuple[str, ...]) -> str:
    more = len(names) - MOST_NAMED
    return ", ".join(names[:MOST_NAMED]) + (f" and {more} more" if more > 0 else "")


def _places(places: tuple[Place, ...]) -> str:
    return _listed(tuple(f"{each.tool}{each.pointer}" for each in places))


def _keys(rule: KeysRule) -> str:
    return f"Each key keeps to its lists: {_listed(tuple(rule.keys))}" if rule.keys else "No key may call anything"


def _servers(rule: ServersRule) -> str:
    return f"MCP servers: {_listed(rule.allowed)}" if rule.allowed else "No MCP server is called"


def _blocked(rule: BlockedRule) -> str:
    return f"No call of {_listed(rule.tools)}" if rule.tools else "No tool is blocked"


def _calls(rule: CallsRule) -> str:
    return f"At most {rule.most:,} calls in a request"


def _tool_rates(rule: ToolRatesRule) -> str:
    return f"Calls a minute: {_listed(tuple(f'{tool} {most:,}' for tool, most in rule.a_minute.items()))}"


def _repeat(rule: RepeatRule) -> str:
    what = "write" if rule.effect == "writes" else "call"
    times = "once" if rule.most == 1 else f"{rule.most:,} times"
    tools = "" if rule.tools == ("*",) else f", of {_listed(rule.tools)}"
    return f"The same {what} at most {times} in a request{tools}"


def _order(rule: OrderRule) -> str:
    return "; ".join(f"{each.tool} only after {' or '.join(each.after)}" for each in rule.preconditions) or "Any order"


def _origin(rule: OriginRule) -> str:
    sources = ["the user’s words"] if rule.user else []
    sources += ["a list"] if rule.confirmed or rule.lists else []
    trusted = (*rule.trusted, *rule.trusted_fields)
    sources += [f"a result of {_listed(trusted)}"] if trusted else []
    return f"{_places(rule.places) or 'Nothing'} is in {' or '.join(sources) or 'no source'}"


def _patterns(rule: PatternsRule) -> str:
    names = (*rule.families, *(each.name for each in rule.own))
    return f"No {_listed(names)} in {' and '.join(rule.where)}"


def _injection(rule: InjectionRule) -> str:
    return f"No instructions to the model in {' and '.join(rule.where)}: {_listed(rule.families)}"


def _personal_data(rule: PersonalDataRule) -> str:
    return f"No personal data in {' and '.join(rule.where)}: {_listed(rule.data)}"


_WORDS: Final[Mapping[type[Rule], Callable[..., str]]] = {
    KeysRule: _keys,
    ServersRule: _servers,
    BlockedRule: _blocked,
    CallsRule: _calls,
    ToolRatesRule: _tool_rates,
    RepeatRule: _repeat,
    OrderRule: _order,
    OriginRule: _origin,
    PatternsRule: _patterns,
    InjectionRule: _injection,
    PersonalDataRule: _personal_data,
}
