"""Lists units of measure and currencies: how people write them, name fields after them, and how they convert."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from toolevals.grading.layers.result_use.words import CURRENCY_CODES, EXPONENTS, SHARED_SIGNS, words_of


class Unit(NamedTuple):
    """A unit of a dimension: a number of it is `number * factor + offset` of the dimension's base unit."""

    dimension: str
    factor: float = 1.0
    offset: float = 0.0


# Name, dimension, factor, how people write it in lower case, the words of a field's name that say it, prefixes.
_TABLE: tuple[tuple[str, str, float, str, str, str], ...] = (
    ("%", "ratio", 0.01, "%|percent|per cent|pct|prozent|procent|por ciento|pour cent", "pct percent percentage", ""),
    ("bp", "ratio", 0.0001, "bp|bps|basis points|basis point|basispunkte", "bp bps", ""),
    ("m", "length", 1, "m|metres|meters|metre|meter|metern|mètres|metros|metri", "m metres meters", "m c k"),
    ("ft", "length", 0.3048, "ft|feet|foot", "ft feet", ""),
    ("in", "length", 0.0254, "inches|inch", "inches inch", ""),
    ("yd", "length", 0.9144, "yards|yard", "yd yards", ""),
    ("mi", "length", 1609.344, "mi|miles|mile", "mi miles", ""),
    ("nmi", "length", 1852, "nautical miles|nmi", "nm nmi", ""),
    ("m2", "area", 1, "m²|m2|sqm|square metres|square meters|metros cuadrados", "m2 sqm qm", ""),
    ("ft2", "area", 0.09290304, "sq ft|sqft|square feet", "sqft", ""),
    ("ha", "area", 10000, "ha|hectares|hectare|hektar", "ha hectares", ""),
    ("acre", "area", 4046.8564, "acres|acre", "acres", ""),
    ("km2", "area", 1e6, "km²|km2|square kilometres|square kilometers", "km2", ""),
    ("l", "volume", 1, "l|litres|liters|litre|liter|litern|litros|litri", "l litres liters litre liter", "m c"),
    ("dl", "volume", 0.1, "dl", "", ""),
    ("m3", "volume", 1000, "m³|m3|cubic metres|cubic meters|cubic metre|cubic meter", "m3 cbm", ""),
    ("gal", "volume", 3.785411784, "gal|gallons|gallon", "gal gallons", ""),
    ("g", "mass", 1, "g|grams|gram|gramm|grammes", "g grams", "n µ m k"),
    ("kg", "mass", 1000, "kilos|kilo", "kilos", ""),
    ("t", "mass", 1e6, "tonnes|tonne|metric tons", "t tonnes", ""),
    ("oz", "mass", 28.349523, "oz|ounces|ounce", "oz", ""),
    ("lb", "mass", 453.59237, "lbs|lb|pounds|pound", "lb lbs pounds", ""),
    ("s", "time", 1, "s|seconds|second|secs|sec|sekunden|secondes|segundos", "s sec secs seconds", "m"),
    ("min", "time", 60, "minutes|minute|mins|min|minuten|minutos|minuti|minuter", "min mins minutes minuten", ""),
    ("h", "time", 3600, "hours|hour|hrs|hr|h|stunden|stunde|heures|horas|uur", "h hr hrs hours stunden", ""),
    ("d", "time", 86400, "business days|working days|days|day|tage|tagen|jours|días|dagen|dni", "days tage jours", ""),
    ("wk", "time", 604800, "weeks|week|wochen|semaines|semanas|weken", "weeks wochen", ""),
    ("mo", "months", 1, "months|month|monate|monaten|mois|meses|maanden", "months monate", ""),
    ("yr", "months", 12, "years|year|jahre|jahren|ans|años|anos|jaar", "years jahre ans", ""),
    ("km/h", "length/time", 1 / 3.6, "kmh|kph|kilometres per hour|kilometers per hour", "kmh kph", ""),
    ("m/s", "length/time", 1, "metres per second|meters per second", "mps", ""),
    ("mph", "length/time", 0.44704, "mph|miles per hour", "mph", ""),
    ("kn", "length/time", 0.514444, "kn|knots|knot|kts", "kn knots kts", ""),
    ("W", "power", 1, "w|watts|watt", "w watts", "k M"),
    ("Wh", "energy", 1, "wh|watt hours|watt-hours", "wh", "k M G"),
    ("kcal", "food energy", 1, "kcal|calories", "kcal calories", ""),
    ("kJ", "food energy", 1 / 4.184, "kj", "kj", ""),
    ("B", "bytes", 1, "bytes|byte", "bytes", "k M G T Ki Mi Gi Ti"),
    ("bar", "pressure", 1, "bar", "bar", "m"),
    ("psi", "pressure", 0.0689476, "psi", "psi", ""),
    ("Pa", "pressure", 1e-5, "pascal", "pascal", "h k M"),
    ("Hz", "frequency", 1, "hz|hertz", "hz", "k M G"),
    ("V", "voltage", 1, "volts|volt", "volts", "m k"),
    ("mol", "amount of substance", 1, "mol", "mol", "n µ m"),
)  # fmt: skip
_PREFIXES: Mapping[str, tuple[float, str]] = {
    "n": (1e-9, "nano"), "µ": (1e-6, "micro"), "m": (1e-3, "milli"), "c": (1e-2, "centi"), "h": (1e2, "hecto"),
    "k": (1e3, "kilo"), "M": (1e6, "mega"), "G": (1e9, "giga"), "T": (1e12, "tera"),
    "Ki": (2**10, "kibi"), "Mi": (2**20, "mebi"), "Gi": (2**30, "gibi"), "Ti": (2**40, "tebi"),
}  # fmt: skip
_SYMBOLS = {"µ": ("µ", "μ", "u", "mc")}
UNITS: dict[str, Unit] = {"C": Unit("temperature"), "F": Unit("temperature", 5 / 9, -160 / 9)}
# As written, in lower case -> name; "deg" and "cents" are no units of their own.
WRITTEN: dict[str, str] = {
    **dict.fromkeys(("°c", "ºc", "celsius", "degrees celsius", "degrees c"), "C"),
    **dict.fromkeys(("°f", "ºf", "fahrenheit", "degrees fahrenheit", "degrees f"), "F"),
    **dict.fromkeys(("cents", "cent", "ct", "pence", "centimes", "øre", "öre"), "cents"),
    **dict.fromkeys(("°", "degrees", "grad", "grados", "degrés"), "deg"),
}
# The same of a word in a field's name.
_NAMED = {"c": "C", "celsius": "C", "f": "F", "fahrenheit": "F", "millis": "ms"}
for _name, _dimension, _factor, _words, _names, _prefixes in _TABLE:
    UNITS.setdefault(_name, Unit(_dimension, _factor))
    WRITTEN.update(dict.fromkeys(_words.split("|"), _name))
    _NAMED.update(dict.fromkeys(_names.split(), _name))
    for _prefix in _prefixes.split():
        _scale, _long = _PREFIXES[_prefix]
        _forms = [symbol + _name.lower() for symbol in _SYMBOLS.get(_prefix, (_prefix.lower(),))]
        _forms += [_long + word for word in _words.split("|") if len(word) > 3]
        UNITS[_prefix + _name] = Unit(_dimension, _factor * _scale)
        WRITTEN.update(dict.fromkeys(_forms, _prefix + _name))
        _NAMED.update(dict.fromkeys(_forms, _prefix + _name))
_MINOR = {**dict.fromkeys(("cents", "cent", "ct", "minor", "pence", "ore", "øre", "centimes"), 0.01), "micros": 1e-6}
_SCALES = {"thousand": 1e3, "thousands": 1e3, "tsd": 1e3, "million": 1e6, "millions": 1e6, "mio": 1e6}
_MONEY = words_of(
    "price prices cost costs total amount balance fee fees fare fares net gross tax subtotal refund"
    " payment paid value budget charge salary due rent deposit premium spend spent budget"
)
_COUNTED = frozenset({"business days", "working days"})
_FIRST = frozenset({"km", "kg", "gb"})
_SPEEDS = frozenset({"gust", "wind", "speed", "current"})
_TOKEN = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"[a-zß-ÿ]+|[A-Z][a-zß-ÿ]+|[A-Z]+(?![a-z])|\d+")


@lru_cache(maxsize=8192)
def name_words(name: str) -> tuple[str, ...]:
    """Return the words of a field's name in lower case: `gustMs` and `gust_ms` are two; `24h` stays one."""
    words: list[str] = []
    for token in _TOKEN.findall(name[:80]):
        words.extend(_CAMEL.findall(token) if not any(letter.isdigit() for letter in token) else [token])
    return tuple(word.lower() for word in words)


class Measure(NamedTuple):
    """The measure of a field's number: unit, currency, and how many of these one is (cents: a hundredth).

    `is_money` says that it is money, `is_minor` that it may be in cents although no name says so.
    """

    unit: str = ""
    currency: str = ""
    scale: float = 1.0
    is_money: bool = False
    is_minor: bool = False

    @property
    def name(self) -> str:
        """The unit or currency."""
        return self.unit or self.currency


@lru_cache(maxsize=8192)
def measure_of(name: str) -> Measure:
    """Return what the name of a field says of its number."""
    words = name_words(name)
    scale, currency, unit = 1.0, "", ""
    for place, word in enumerate(words):
        scale = _MINOR.get(word) or _SCALES.get(word) or scale
        if word.upper() in CURRENCY_CODES:
            currency = word.upper()
        elif word == "ms" and _SPEEDS.intersection(words[:place]):
            unit = "m/s"
        elif word in _NAMED and _says_unit(words, place):
            unit = _NAMED[word]
    if currency or scale in {0.01, 1e-6}:
        return Measure("", currency, scale, True)
    return Measure(unit, "", scale, not unit and not _MONEY.isdisjoint(words))


def _says_unit(words: tuple[str, ...], place: int) -> bool:
    """Return whether a word of a name is its unit: not after "per", a letter only last, the first only if alone."""
    if len(words) == 1 or words[place] in _FIRST:
        return True
    is_last = place == len(words) - 1
    return place > 0 and words[place - 1] != "per" and (len(words[place]) > 1 or is_last)


@lru_cache(maxsize=2048)
def unit_named(text: str) -> str:
    """Return the name of a unit that a field or a text spells out, as `g/L`; empty where it is none that is known."""
    written = text.strip().lower()
    if written in {"c", "f"}:
        return written.upper()
    above, slash, below = written.partition("/")
    below = below.removeprefix("1")
    if not slash:
        return "" if written in _COUNTED else WRITTEN.get(written, "")
    return f"{WRITTEN[above]}/{WRITTEN[below]}" if above in WRITTEN and below in WRITTEN else ""


@lru_cache(maxsize=2048)
def unit_called(name: str) -> Unit | None:
    """Return a unit by its name, quotients included; None for one that does not convert."""
    if name in UNITS:
        return UNITS[name]
    above, _, below = (UNITS.get(part) for part in name.partition("/"))
    if above is None or below is None:
        return None
    return Unit(f"{above.dimension}/{below.dimension}", above.factor / below.factor)


def converted(value: float, unit: str, into: str) -> float | None:
    """Return a number of one unit in another, None where they measure different things."""
    source, target = unit_called(unit), unit_called(into)
    if source is None or target is None or source.dimension != target.dimension:
        return None
    return (value * source.factor + source.offset - target.offset) / target.factor


def is_currency(unit: str) -> bool:
    """Return whether a claim's unit is a currency."""
    return unit in CURRENCY_CODES


def same_currency(left: str, right: str) -> bool:
    """Return whether two codes may be one currency; `$`, `¥` and "kr" stand for several."""
    return not left or not right or left == right or any({left, right} <= shared for shared in SHARED_SIGNS)


def minor_unit(currency: str) -> float:
    """Return what one of a currency's smallest units is worth: a cent is 0.01, a yen has none smaller."""
    return float(10 ** -EXPONENTS.get(currency, 2))


def names_unit(unit: str, measure: Measure) -> bool:
    """Return whether a field names a unit of the kind that a claim names: a currency or its parts, or a measure."""
    if is_currency(unit) or unit == "cents":
        return measure.is_money and bool(measure.currency or measure.scale != 1.0)
    return bool(measure.unit)


def suits(unit: str, measure: Measure, rule: str = "equal") -> bool:
    """Return whether a field's number, equal to a claim's, can be in the claim's unit: nothing names another unit."""
    if rule == "fraction":
        return unit in {"%", ""}
    if not unit or (unit == "deg" and measure.unit in {"", "C", "F", "deg"}):
        return True
    if is_currency(unit):
        return not measure.unit and same_currency(unit, measure.currency)
    if measure.unit:
        return measure.unit == unit
    return not (measure.is_money and measure.currency) or unit == "%"


def differs(unit: str, measure: Measure) -> bool:
    """Return whether a field says that it is in another unit of the claim's dimension, or in another currency."""
    if is_currency(unit):
        return bool(measure.currency) and not same_currency(unit, measure.currency)
    one, other = unit_called(unit), unit_called(measure.unit)
    return unit != measure.unit and one is not None and other is not None and one.dimension == other.dimension
