"""Units of measure: how people write them, how fields are named after them, and how they convert."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from toolevals.grading.result_use.lexicon import CURRENCY_CODES, words_of


class Unit(NamedTuple):
    """A unit of a dimension: a number of it is `number * factor + offset` of the dimension's base unit.

    The dimension of money is its ISO 4217 code.
    """

    dimension: str
    factor: float = 1.0
    offset: float = 0.0


# Name -> unit, then how people write it (lower case), then the words of a field's name that say it.
_TABLE: tuple[tuple[str, str, float, str, str], ...] = (
    ("%", "ratio", 0.01, "%|percent|per cent|pct|prozent|procent|por ciento|pour cent", "pct percent percentage"),
    ("mm", "length", 0.001, "mm|millimetres|millimeters", "mm"),
    ("cm", "length", 0.01, "cm|centimetres|centimeters", "cm"),
    ("m", "length", 1, "m|metres|meters|metre|meter|metern|mètres|metros|metri", "m metres meters"),
    ("km", "length", 1000, "km|kilometres|kilometers|kilometre|kilometer|kilomètres", "km kilometers kilometres"),
    ("ft", "length", 0.3048, "ft|feet|foot", "ft feet"),
    ("in", "length", 0.0254, "inches|inch", "inches inch"),
    ("yd", "length", 0.9144, "yards|yard", "yd yards"),
    ("mi", "length", 1609.344, "mi|miles|mile", "mi miles"),
    ("nmi", "length", 1852, "nautical miles|nmi", "nm nmi"),
    ("m2", "area", 1, "m²|m2|sqm|square metres|square meters|metros cuadrados", "m2 sqm qm"),
    ("ft2", "area", 0.09290304, "sq ft|sqft|square feet", "sqft"),
    ("ha", "area", 10000, "ha|hectares|hectare|hektar", "ha hectares"),
    ("acre", "area", 4046.8564, "acres|acre", "acres"),
    ("km2", "area", 1e6, "km²|km2|square kilometres|square kilometers", "km2"),
    ("ml", "volume", 0.001, "ml|millilitres|milliliters", "ml"),
    ("cl", "volume", 0.01, "cl", "cl"),
    ("l", "volume", 1, "l|litres|liters|litre|liter|litern|litros|litri", "l litres liters litre liter"),
    ("m3", "volume", 1000, "m³|m3|cubic metres|cubic meters|cubic metre|cubic meter", "m3 cbm"),
    ("gal", "volume", 3.785411784, "gal|gallons|gallon", "gal gallons"),
    ("mg", "mass", 0.001, "mg|milligrams", "mg"),
    ("µg", "mass", 1e-6, "µg|μg|mcg|micrograms", "ug mcg"),
    ("ng", "mass", 1e-9, "ng", "ng"),
    ("g", "mass", 1, "g|grams|gram|gramm|grammes", "g grams"),
    ("kg", "mass", 1000, "kg|kilograms|kilogram|kilos|kilo|kilogramm", "kg kilograms kilos"),
    ("t", "mass", 1e6, "tonnes|tonne|metric tons", "t tonnes"),
    ("oz", "mass", 28.349523, "oz|ounces|ounce", "oz"),
    ("lb", "mass", 453.59237, "lbs|lb|pounds|pound", "lb lbs pounds"),
    ("ms", "time", 0.001, "ms|milliseconds", "millis milliseconds"),
    ("s", "time", 1, "s|seconds|second|secs|sec|sekunden|secondes|segundos", "s sec secs seconds"),
    ("min", "time", 60, "minutes|minute|mins|min|minuten|minutos|minuti|minuter", "min mins minutes minuten"),
    ("h", "time", 3600, "hours|hour|hrs|hr|h|stunden|stunde|heures|horas|uur", "h hr hrs hours stunden"),
    ("d", "time", 86400, "business days|working days|days|day|tage|tagen|jours|días|dagen|dni", "days tage jours"),
    ("wk", "time", 604800, "weeks|week|wochen|semaines|semanas|weken", "weeks wochen"),
    ("mo", "months", 1, "months|month|monate|monaten|mois|meses|maanden", "months monate"),
    ("yr", "months", 12, "years|year|jahre|jahren|ans|años|anos|jaar", "years jahre ans"),
    ("km/h", "speed", 1 / 3.6, "km/h|kmh|kph|kilometres per hour|kilometers per hour", "kmh kph"),
    ("m/s", "speed", 1, "m/s|metres per second|meters per second", "mps"),
    ("mph", "speed", 0.44704, "mph|miles per hour", "mph"),
    ("kn", "speed", 0.514444, "kn|knots|knot|kts", "kn knots kts"),
    ("W", "power", 1, "watts|watt|w", "w watts"),
    ("kW", "power", 1000, "kw|kilowatts|kilowatt", "kw"),
    ("MW", "power", 1e6, "mw|megawatts|megawatt", "mw"),
    ("Wh", "energy", 1, "wh", "wh"),
    ("kWh", "energy", 1000, "kwh|kilowatt hours|kilowatt-hours", "kwh"),
    ("MWh", "energy", 1e6, "mwh", "mwh"),
    ("kcal", "food energy", 1, "kcal|calories", "kcal calories"),
    ("kJ", "food energy", 1 / 4.184, "kj", "kj"),
    ("B", "bytes", 1, "bytes|byte", "bytes"),
    ("KB", "bytes", 1e3, "kb|kilobytes", "kb"),
    ("MB", "bytes", 1e6, "mb|megabytes", "mb"),
    ("GB", "bytes", 1e9, "gb|gigabytes", "gb"),
    ("TB", "bytes", 1e12, "tb|terabytes", "tb"),
    ("KiB", "bytes", 1024, "kib", "kib"),
    ("MiB", "bytes", 1024**2, "mib", "mib"),
    ("GiB", "bytes", 1024**3, "gib", "gib"),
    ("TiB", "bytes", 1024**4, "tib", "tib"),
    ("bar", "pressure", 1, "bar", "bar"),
    ("psi", "pressure", 0.0689476, "psi", "psi"),
    ("hPa", "pressure", 0.001, "hpa|mbar|millibar", "hpa mbar"),
    ("kPa", "pressure", 0.01, "kpa", "kpa"),
    ("Hz", "frequency", 1, "hz", "hz"),
    ("kHz", "frequency", 1e3, "khz", "khz"),
    ("MHz", "frequency", 1e6, "mhz", "mhz"),
    ("GHz", "frequency", 1e9, "ghz", "ghz"),
    ("V", "voltage", 1, "volts|volt", "volts"),
    ("mmol", "amount of substance", 0.001, "mmol", "mmol"),
)  # fmt: skip

UNITS: Mapping[str, Unit] = {
    **{name: Unit(dimension, factor) for name, dimension, factor, _, _ in _TABLE},
    "C": Unit("temperature"),
    "F": Unit("temperature", 5 / 9, -160 / 9),
}
# As written, in lower case -> name.
WRITTEN: Mapping[str, str] = {
    **{word: name for name, _, _, words, _ in _TABLE for word in words.split("|")},
    **dict.fromkeys(("°c", "ºc", "celsius", "degrees celsius", "degrees c"), "C"),
    **dict.fromkeys(("°f", "ºf", "fahrenheit", "degrees fahrenheit", "degrees f"), "F"),
    **dict.fromkeys(("cents", "cent", "ct", "pence", "centimes", "øre", "öre"), "cents"),
    **dict.fromkeys(("°", "degrees", "grad", "grados", "degrés"), "deg"),
}
_NAMED: Mapping[str, str] = {
    **{word: name for name, _, _, _, words in _TABLE for word in words.split()},
    **dict.fromkeys(("c", "celsius"), "C"),
    **dict.fromkeys(("f", "fahrenheit"), "F"),
}
_COUNTED = frozenset({"business days", "working days"})
_MINOR = {**dict.fromkeys(("cents", "cent", "ct", "minor", "pence", "ore", "øre", "centimes"), 0.01), "micros": 1e-6}
_SCALES = {"thousand": 1e3, "thousands": 1e3, "tsd": 1e3, "million": 1e6, "millions": 1e6, "mio": 1e6}
_MONEY = words_of(
    "price prices cost costs total amount balance fee fees fare fares net gross tax subtotal refund"
    " payment paid value budget charge salary due rent deposit premium spend spent budget"
)
_SPEEDS = frozenset({"gust", "wind", "speed", "avg", "max", "current"})
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
    """What is known of a field's number: unit, currency, and how many of these one is (cents: a hundredth).

    `is_money` says that it is money, `is_minor` that it may be in cents although no name says so.
    """

    unit: str = ""
    currency: str = ""
    scale: float = 1.0
    is_money: bool = False
    is_minor: bool = False


@lru_cache(maxsize=8192)
def measure_of(name: str) -> Measure:
    """Return what the name of a field says of its number."""
    words = name_words(name)
    scale, currency, unit = 1.0, "", ""
    for place, word in enumerate(words):
        if word in _MINOR:
            scale = _MINOR[word]
        elif word in _SCALES:
            scale = _SCALES[word]
        elif len(word) == 3 and word.upper() in CURRENCY_CODES:
            currency = word.upper()
        elif word == "ms":
            unit = "m/s" if _SPEEDS.intersection(words[:place]) - {"avg", "max"} else "ms"
        elif (
            word in _NAMED
            and not (place and words[place - 1] == "per")
            and (
                len(words) == 1 or (place and (len(word) > 1 or place == len(words) - 1)) or word in {"km", "kg", "gb"}
            )
        ):
            unit = _NAMED[word]
    if currency or scale in {0.01, 1e-6}:
        return Measure("", currency, scale, True)
    return Measure(unit, "", scale, not unit and not _MONEY.isdisjoint(words))


@lru_cache(maxsize=2048)
def unit_named(text: str) -> str:
    """Return the name of a unit that a field spells out, as `g/L`; empty where it is none that is known."""
    written = text.strip().lower()
    if written in WRITTEN and written not in _COUNTED:
        return WRITTEN[written]
    if written in {"c", "f"}:
        return written.upper()
    above, slash, below = written.partition("/")
    if slash and above in WRITTEN and below.removeprefix("1") in {"l", "dl", "ml", "m2", "m3", "kg", "h", "min", "s"}:
        return f"{WRITTEN[above]}/{below}"
    return ""


@lru_cache(maxsize=2048)
def unit_called(name: str) -> Unit | None:
    """Return a unit by its name, quotients included; None for one that does not convert."""
    if name in UNITS:
        return UNITS[name]
    above, slash, below = name.partition("/")
    if slash and above in UNITS:
        divisor = {"l": 1.0, "dl": 0.1, "ml": 0.001, "m2": 1.0, "m3": 1000.0, "kg": 1.0}.get(below)
        part = UNITS[above]
        if divisor is not None:
            kind = "volume" if below in {"l", "dl", "ml", "m3"} else below
            return Unit(f"{part.dimension}/{kind}", part.factor / divisor)
    return None


def converted(value: float, unit: str, into: str) -> float | None:
    """Return a number of one unit in another, None where they measure different things."""
    if unit == into:
        return value
    source, target = unit_called(unit), unit_called(into)
    if source is None or target is None or source.dimension != target.dimension:
        return None
    return (value * source.factor + source.offset - target.offset) / target.factor


def conflict(unit: str, other: str) -> bool:
    """Whether two units are different ones of one dimension: a number cannot be the same in both."""
    if unit == other or "deg" in {unit, other}:
        return False
    one, two = unit_called(unit), unit_called(other)
    return one is not None and two is not None and one.dimension == two.dimension
