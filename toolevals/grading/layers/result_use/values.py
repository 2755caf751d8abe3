"""Tell what the grader of result use answers: claims, their attributions, findings, and which fields were used.

Lists units of measure and currencies: how people write them, name fields after them, and how they convert.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Literal, NamedTuple

from toolevals.grading.values.verdicts import Verdict
from toolevals.json_types import JsonObject


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


class Unit(NamedTuple):
    """A unit of a dimension: a number of it is `number * factor + offset` of the dimension's base unit."""

    dimension: str
    factor: float = 1.0
    offset: float = 0.0


# Name, dimension, factor, how people write it in lower case, prefixes.
_TABLE: tuple[tuple[str, str, float, str, str], ...] = (
    ("%", "ratio", 0.01, "%|percent|per cent|pct|prozent|procent|por ciento|pour cent", ""),
    ("bp", "ratio", 0.0001, "bp|bps|basis points|basis point|basispunkte", ""),
    ("m", "length", 1, "m|metres|meters|metre|meter|metern|mètres|metros|metri", "m c k"),
    ("ft", "length", 0.3048, "ft|feet|foot", ""),
    ("in", "length", 0.0254, "inches|inch", ""),
    ("yd", "length", 0.9144, "yards|yard|yd", ""),
    ("mi", "length", 1609.344, "mi|miles|mile", ""),
    ("nmi", "length", 1852, "nautical miles|nmi", ""),
    ("m2", "area", 1, "m²|m2|sqm|qm|square metres|square meters|metros cuadrados", ""),
    ("ft2", "area", 0.09290304, "sq ft|sqft|square feet", ""),
    ("ha", "area", 10000, "ha|hectares|hectare|hektar", ""),
    ("acre", "area", 4046.8564, "acres|acre", ""),
    ("km2", "area", 1e6, "km²|km2|square kilometres|square kilometers", ""),
    ("l", "volume", 1, "l|litres|liters|litre|liter|litern|litros|litri", "m c d"),
    ("m3", "volume", 1000, "m³|m3|cbm|cubic metres|cubic meters|cubic metre|cubic meter", ""),
    ("gal", "volume", 3.785411784, "gal|gallons|gallon", ""),
    ("g", "mass", 1, "g|grams|gram|gramm|grammes", "n µ m k"),
    ("kg", "mass", 1000, "kilos|kilo", ""),
    ("t", "mass", 1e6, "tonnes|tonne|metric tons|t", ""),
    ("oz", "mass", 28.349523, "oz|ounces|ounce", ""),
    ("lb", "mass", 453.59237, "lbs|lb|pounds|pound", ""),
    ("s", "time", 1, "s|seconds|second|secs|sec|sekunden|secondes|segundos", "m"),
    ("min", "time", 60, "minutes|minute|mins|min|minuten|minutos|minuti|minuter", ""),
    ("h", "time", 3600, "hours|hour|hrs|hr|h|stunden|stunde|heures|horas|uur", ""),
    ("d", "time", 86400, "days|day|tage|tagen|jours|días|dagen|dni", ""),
    ("wk", "time", 604800, "weeks|week|wochen|semaines|semanas|weken", ""),
    ("mo", "months", 1, "months|month|monate|monaten|mois|meses|maanden", ""),
    ("yr", "months", 12, "years|year|jahre|jahren|ans|años|anos|jaar", ""),
    ("km/h", "length/time", 1 / 3.6, "kmh|kph|kilometres per hour|kilometers per hour", ""),
    ("m/s", "length/time", 1, "mps|metres per second|meters per second", ""),
    ("mph", "length/time", 0.44704, "mph|miles per hour", ""),
    ("kn", "length/time", 0.514444, "kn|knots|knot|kts", ""),
    ("W", "power", 1, "w|watts|watt", "k M"),
    ("Wh", "energy", 1, "wh|watt hours|watt-hours", "k M G"),
    ("kcal", "food energy", 1, "kcal|calories", ""),
    ("kJ", "food energy", 1 / 4.184, "kj", ""),
    ("B", "bytes", 1, "bytes|byte", "k M G T"),
    ("bar", "pressure", 1, "bar", "m"),
    ("psi", "pressure", 0.0689476, "psi", ""),
    ("Pa", "pressure", 1e-5, "pascal", "h k M"),
    ("Hz", "frequency", 1, "hz|hertz", "k M G"),
    ("V", "voltage", 1, "volts|volt", "m k"),
    ("mol", "amount of substance", 1, "mol", "n µ m"),
)  # fmt: skip
_PREFIXES: Mapping[str, tuple[float, str]] = {
    "n": (1e-9, "nano"), "µ": (1e-6, "micro"), "m": (1e-3, "milli"), "c": (1e-2, "centi"), "d": (0.1, "deci"),
    "h": (1e2, "hecto"), "k": (1e3, "kilo"), "M": (1e6, "mega"), "G": (1e9, "giga"), "T": (1e12, "tera"),
}  # fmt: skip
UNITS: dict[str, Unit] = {"C": Unit("temperature"), "F": Unit("temperature", 5 / 9, -160 / 9)}
# As written, in lower case -> name. People say MB for MiB.
WRITTEN: dict[str, str] = {
    **dict.fromkeys(("°c", "ºc", "celsius", "degrees celsius", "degrees c"), "C"),
    **dict.fromkeys(("°f", "ºf", "fahrenheit", "degrees fahrenheit", "degrees f"), "F"),
    "kib": "kB", "mib": "MB", "gib": "GB", "tib": "TB",
}  # fmt: skip
for _name, _dimension, _factor, _words, _prefixes in _TABLE:
    UNITS.setdefault(_name, Unit(_dimension, _factor))
    WRITTEN.update(dict.fromkeys(_words.split("|"), _name))
    for _prefix in _prefixes.split():
        _scale, _long = _PREFIXES[_prefix]
        _forms = [symbol + _name.lower() for symbol in (("µ", "μ", "u", "mc") if _prefix == "µ" else _prefix.lower())]
        _forms += [_long + word for word in _words.split("|") if len(word) > 3]
        UNITS[_prefix + _name] = Unit(_dimension, _factor * _scale)
        WRITTEN.update(dict.fromkeys(_forms, _prefix + _name))
# The same of a word in a field's name, but for words that mostly count or order there.
_NAMED = WRITTEN | {"c": "C", "f": "F", "millis": "ms", "percentage": "%", "nm": "nmi"}
_NO_UNITS = words_of("second minute hour day week month year foot")

# Decimals of the currencies that have no two, by ISO 4217.
_EXPONENTS: Mapping[str, int] = {
    **dict.fromkeys(words_of("BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF"), 0),
    **dict.fromkeys(words_of("BHD IQD JOD KWD LYD OMR TND"), 3),
}
CURRENCIES = _EXPONENTS.keys() | words_of(
    "USD EUR GBP CHF CAD AUD NZD CNY INR BRL MXN SEK NOK DKK PLN CZK HUF TRY ZAR SGD HKD"
)
# As written, in lower case -> code.
CURRENCY_WORDS: Mapping[str, str] = {
    "$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR",
    "dollar": "USD", "dollars": "USD", "us dollars": "USD", "euro": "EUR", "euros": "EUR", "francs": "CHF",
    "swiss francs": "CHF", "pounds sterling": "GBP", "yen": "JPY", "kronor": "SEK", "kr": "NOK", "zł": "PLN",
    "tl": "TRY", "rupees": "INR", **{code.lower(): code for code in CURRENCIES},
}  # fmt: skip
# Currencies that share a sign or a word.
_SHARED = tuple(map(words_of, ("USD CAD AUD NZD SGD HKD MXN", "JPY CNY", "NOK SEK DKK CZK")))
_SCALES = {
    **dict.fromkeys(("cents", "cent", "ct", "minor", "pence", "ore", "øre", "centimes"), 0.01), "micros": 1e-6,
    **dict.fromkeys(("thousand", "thousands", "tsd"), 1e3), **dict.fromkeys(("million", "millions", "mio"), 1e6),
}  # fmt: skip
_MONEY = words_of(
    "price prices cost costs total amount balance fee fees fare fares net gross tax subtotal refund payment paid value"
    " budget charge salary due rent deposit premium spend spent"
)
_SPEEDS = words_of("gust wind speed current")
_WORD = re.compile(r"[^\W_]+")
_CAMEL = re.compile(r"[a-zß-ÿ]+|[A-Z][a-zß-ÿ]+|[A-Z]+(?![a-z])|\d+")


class Measure(NamedTuple):
    """The measure of a field's number: unit, currency, and how many of these one is (cents: a hundredth)."""

    unit: str = ""
    currency: str = ""
    scale: float = 1.0
    is_money: bool = False


@lru_cache(maxsize=8192)
def measure_of(name: str) -> Measure:
    """Return what the name of a field says of its number: `gustMs` and `gust_ms` are two words, `24h` is one."""
    words: list[str] = []
    for token in _WORD.findall(name[:80]):
        words += [token] if any(letter.isdigit() for letter in token) else _CAMEL.findall(token)
    scale, currency, unit = 1.0, "", ""
    for place, word in enumerate(each.lower() for each in words):
        scale = _SCALES.get(word, scale)
        if word.upper() in CURRENCIES:
            currency = word.upper()
        elif word == "ms" and not _SPEEDS.isdisjoint(each.lower() for each in words[:place]):
            unit = "m/s"
        elif word in _NAMED and word not in _NO_UNITS and _says_unit(words, place):
            unit = _NAMED[word]
    if currency or scale < 1:
        return Measure("", currency, scale, True)
    return Measure(unit, "", scale, not unit and not _MONEY.isdisjoint(each.lower() for each in words))


def _says_unit(words: list[str], place: int) -> bool:
    """Return whether a word of a name is its unit: not after "per", a letter only last, the first only if alone."""
    if len(words) == 1 or words[place].lower() in {"km", "kg", "gb"}:
        return True
    is_last = place == len(words) - 1
    return place > 0 and words[place - 1].lower() != "per" and (len(words[place]) > 1 or is_last)


@lru_cache(maxsize=2048)
def unit_named(text: str) -> str:
    """Return the name of a unit that a field or a text spells out, as `g/L`; empty where it is none that is known."""
    written = text.strip().lower()
    above, slash, below = written.partition("/")
    if not slash:
        return written.upper() if written in {"c", "f"} else WRITTEN.get(written, "")
    below = below.removeprefix("1")
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


def minor_unit(currency: str) -> float:
    """Return what one of a currency's smallest units is worth: a cent is 0.01, a yen has none smaller."""
    return float(10 ** -_EXPONENTS.get(currency, 2))


def suits(unit: str, measure: Measure) -> bool:
    """Return whether a field's number can be in the unit that a claim says: the field names it, or none."""
    if unit in CURRENCIES:
        return not measure.unit and (not measure.currency or _is_same(unit, measure.currency))
    return not unit or (measure.unit in {"", unit} and not measure.currency)


def differs(unit: str, measure: Measure) -> bool:
    """Return whether a field says that it is in another unit of the claim's dimension, or in another currency."""
    if unit in CURRENCIES:
        return bool(measure.currency) and not _is_same(unit, measure.currency)
    one, other = unit_called(unit), unit_called(measure.unit)
    return unit != measure.unit and one is not None and other is not None and one.dimension == other.dimension


def _is_same(one: str, other: str) -> bool:
    """Return whether two codes may be one currency; `$`, `¥` and "kr" stand for several."""
    return one == other or any({one, other} <= shared for shared in _SHARED)


ClaimKind = Literal["number", "amount", "percent", "date", "time", "duration", "identifier", "name"]
SourceKind = Literal["result", "user", "context", "arguments", "derived", "ungrounded"]
FindingKind = Literal["flipped_digits", "changed_scale", "wrong_unit", "wrong_date"]

# What a finding of a kind says; a field of a result speaks against the claim each time.
FINDING_SENTENCES: Mapping[str, str] = {
    "flipped_digits": "A result's value with two neighbours swapped.",
    "changed_scale": "A result's value is off by a power of ten, as kilowatt hours said in tens.",
    "wrong_unit": "A result's number in another unit or currency than the result gives.",
    "wrong_date": "A weekday that the result's date does not have.",
    # Of gradings by earlier versions.
    "drift": "A later reply gives another value for what an earlier one gave as the result has it.",
    "wrong_field": "A result's value given as that of another field.",
    "contradiction": "A status, yes or no, or sum that a result has otherwise.",
}


class Claim(NamedTuple):
    """One value that a reply states.

    `message` is the reply's place in the transcript; the separate final answer stands after the last message. `start`
    and `end` count characters of its text.
    """

    message: int
    start: int
    end: int
    kind: ClaimKind
    text: str


class Attribution(NamedTuple):
    """The source of a claim: the attribution at a place is that of the claim at the same place.

    `message` is the place of the source's message, and for a result `pointer` leads to the field (into a list of lines
    where the result is no JSON). `rule` says how the claim follows: "equal", "rounded", "minor_units", "fraction",
    "converted", "count" or "sum"; empty where nothing supports it: the claim is then open, and no error unless a
    finding names it. `fields` are the pointers of the fields that a derivation takes.
    """

    source: SourceKind
    message: int | None = None
    pointer: str = ""
    call_id: str | None = None
    rule: str = ""
    fields: tuple[str, ...] = ()

    @property
    def is_grounded(self) -> bool:
        """Return whether something supports the claim."""
        return self.source != "ungrounded"


UNGROUNDED = Attribution("ungrounded")


class Finding(NamedTuple):
    """One thing that is wrong.

    `claims` are the places of the claims that it concerns. `message`, `call_id` and `pointer` lead to the result's
    field that speaks against them.
    """

    kind: FindingKind
    reason: str
    claims: tuple[int, ...] = ()
    message: int | None = None
    pointer: str = ""
    call_id: str | None = None


class ResultFields(NamedTuple):
    """The fields of one tool result that the replies used, as JSON pointers in the result's order.

    Fields are leaves with a value that text can show: no booleans, nulls or empty text. `passed_on` says whether a
    later call's arguments took a value of it.
    """

    message: int
    call_id: str | None
    tool: str | None
    used: tuple[str, ...]
    unused: tuple[str, ...]
    passed_on: bool

    @property
    def share(self) -> float | None:
        """The used fields' share, None where there is no field."""
        total = len(self.used) + len(self.unused)
        return len(self.used) / total if total else None


class ResultUse(NamedTuple):
    """The use of the results, as far as rules can tell; nothing here was judged by a model.

    `question` is what a judge would be asked where rules cannot tell. `truncated` says that a limit cut the reading
    short.
    """

    verdict: Verdict
    claims: tuple[Claim, ...] = ()
    attributions: tuple[Attribution, ...] = ()
    findings: tuple[Finding, ...] = ()
    utilisation: tuple[ResultFields, ...] = ()
    question: str = ""
    truncated: bool = False

    @property
    def share_used(self) -> float | None:
        """The share of all returned fields that replies used, None where there is none."""
        used = sum(len(fields.used) for fields in self.utilisation)
        total = used + sum(len(fields.unused) for fields in self.utilisation)
        return used / total if total else None

    def to_document(self) -> JsonObject:
        """Return the normal form."""
        return {
            "verdict": self.verdict.to_document(),
            "claims": [claim._asdict() for claim in self.claims],
            "attributions": [{**each._asdict(), "fields": list(each.fields)} for each in self.attributions],
            "findings": [{**finding._asdict(), "claims": list(finding.claims)} for finding in self.findings],
            "utilisation": [
                {**fields._asdict(), "used": list(fields.used), "unused": list(fields.unused), "share": fields.share}
                for fields in self.utilisation
            ],
            "share_used": self.share_used,
            "question": self.question,
            "truncated": self.truncated,
        }
