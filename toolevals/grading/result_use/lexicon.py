"""Words of values: months, currencies, units, numbers, time zones; English, German, French, Spanish, Italian."""

from __future__ import annotations

from collections.abc import Mapping


def _numbered(*names: str) -> dict[str, int]:
    return {name: place for place, group in enumerate(names, 1) for name in group.split()}


def _list(text: str) -> list[str]:
    return text.split()


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


MONTHS: Mapping[str, int] = _numbered(
    "january jan januar jänner janvier enero gennaio",
    "february feb februar février fevrier febrero febbraio",
    "march mar märz maerz mars marzo",
    "april apr avril abril aprile",
    "may mai mayo maggio",
    "june jun juni juin junio giugno",
    "july jul juli juillet julio luglio",
    "august aug août aout agosto",
    "september sept sep septembre septiembre settembre",
    "october oct oktober okt octobre octubre ottobre",
    "november nov novembre noviembre",
    "december dec dezember dez décembre decembre diciembre dicembre",
)

NUMBER_WORDS: Mapping[str, int] = {
    **{
        word: value for value, word in enumerate(_list("two three four five six seven eight nine ten eleven twelve"), 2)
    },
    **{word: value for value, word in enumerate(_list("zwei drei vier fünf sechs sieben acht neun zehn elf zwölf"), 2)},
    "twenty": 20,
}

CURRENCY_SYMBOLS: Mapping[str, str] = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR"}
CURRENCY_CODES = _words("USD EUR GBP JPY CHF CAD AUD NZD CNY INR BRL MXN SEK NOK DKK PLN CZK HUF TRY ZAR KRW SGD HKD")
CURRENCY_WORDS: Mapping[str, str] = {
    "dollar": "USD",
    "dollars": "USD",
    "bucks": "USD",
    "euro": "EUR",
    "euros": "EUR",
    "pounds sterling": "GBP",
    "yen": "JPY",
    "rupees": "INR",
}
# A sign that several currencies share says no more than that.
DOLLARS = frozenset({"USD", "CAD", "AUD", "NZD", "SGD", "HKD", "MXN"})
YENS = frozenset({"JPY", "CNY"})

MULTIPLIERS: Mapping[str, int] = {
    "k": 1_000,
    "thousand": 1_000,
    "tausend": 1_000,
    "mille": 1_000,
    "million": 1_000_000,
    "millions": 1_000_000,
    "millionen": 1_000_000,
    "mio": 1_000_000,
    "mn": 1_000_000,
    "m": 1_000_000,
    "billion": 1_000_000_000,
    "billions": 1_000_000_000,
    "bn": 1_000_000_000,
    "b": 1_000_000_000,
    "milliarden": 1_000_000_000,
    "mrd": 1_000_000_000,
    "trillion": 1_000_000_000_000,
}
# A letter that is a unit too: metres, bytes.
AFTER_CURRENCY_ONLY = frozenset({"m", "b"})

# Unit as written (lower case) -> its name here.
UNITS: Mapping[str, str] = {
    **dict.fromkeys(("%", "percent", "pct", "prozent"), "%"),
    **dict.fromkeys(("°c", "celsius", "degrees celsius", "degrees c", "ºc"), "C"),
    **dict.fromkeys(("°f", "fahrenheit", "degrees fahrenheit", "degrees f", "ºf"), "F"),
    **dict.fromkeys(("°", "degrees", "degree", "grad"), "deg"),
    **dict.fromkeys(("seconds", "second", "secs", "sec", "s", "sekunden"), "s"),
    **dict.fromkeys(("minutes", "minute", "mins", "min", "minuten"), "min"),
    **dict.fromkeys(("hours", "hour", "hrs", "hr", "h", "stunden", "stunde"), "h"),
    **dict.fromkeys(("business days", "working days", "days", "day", "tage", "tagen", "jours"), "d"),
    **dict.fromkeys(("weeks", "week", "wochen"), "wk"),
    **dict.fromkeys(("months", "month", "monate"), "mo"),
    **dict.fromkeys(("years", "year", "jahre"), "yr"),
    **dict.fromkeys(("km/h", "kmh", "kph"), "kmh"),
    **dict.fromkeys(("mph",), "mph"),
    **dict.fromkeys(("km²", "km2"), "km2"),
    **dict.fromkeys(("km", "kilometers", "kilometres"), "km"),
    **dict.fromkeys(("miles", "mile", "mi"), "mi"),
    **dict.fromkeys(("kg", "kilograms", "kilos"), "kg"),
    **dict.fromkeys(("lbs", "lb"), "lb"),
    **dict.fromkeys(("tb",), "TB"),
    **dict.fromkeys(("gb",), "GB"),
    **dict.fromkeys(("mb",), "MB"),
    **dict.fromkeys(("mm",), "mm"),
    **dict.fromkeys(("cm",), "cm"),
    **dict.fromkeys(("kw",), "kW"),
    **dict.fromkeys(("kwh",), "kWh"),
    **dict.fromkeys(("watts", "watt", "w"), "W"),
    **dict.fromkeys(("bar",), "bar"),
    **dict.fromkeys(("cents", "cent", "ct"), "cents"),
}
DURATIONS: Mapping[str, float] = {"s": 1 / 60, "min": 1.0, "h": 60.0, "d": 1440.0, "wk": 10080.0}

# Unit -> (units that a field may be kept in, value there = value * factor + offset).
CONVERSIONS: Mapping[str, tuple[tuple[str, float, float], ...]] = {
    "F": (("C", 5 / 9, -160 / 9),),
    "C": (("F", 9 / 5, 32.0),),
    "mph": (("kmh", 1.609344, 0.0),),
    "kmh": (("mph", 1 / 1.609344, 0.0),),
    "mi": (("km", 1.609344, 0.0),),
    "km": (("mi", 1 / 1.609344, 0.0),),
    "lb": (("kg", 0.45359237, 0.0),),
    "kg": (("lb", 1 / 0.45359237, 0.0),),
    "TB": (("GB", 1000.0, 0.0), ("GB", 1024.0, 0.0)),
    "GB": (("MB", 1000.0, 0.0), ("MB", 1024.0, 0.0), ("TB", 0.001, 0.0)),
    "MB": (("GB", 0.001, 0.0),),
    "h": (("min", 60.0, 0.0), ("s", 3600.0, 0.0)),
    "min": (("s", 60.0, 0.0), ("h", 1 / 60, 0.0)),
    "d": (("h", 24.0, 0.0),),
    "wk": (("d", 7.0, 0.0),),
}
# Words in a field's name that say its unit.
UNIT_HINTS: Mapping[str, frozenset[str]] = {
    "%": frozenset(
        {"pct", "percent", "percentage", "rate", "humidity", "chance", "probability", "ratio", "share", "discount"}
    ),
    "C": frozenset({"c", "celsius", "temperature", "temp"}),
    "F": frozenset({"f", "fahrenheit", "temperature", "temp"}),
    "deg": frozenset({"temperature", "temp", "high", "low", "c", "f"}),
    "s": frozenset({"s", "sec", "seconds", "secs"}),
    "min": frozenset({"min", "mins", "minutes", "duration", "delay"}),
    "h": frozenset({"h", "hours", "hrs"}),
    "d": frozenset({"days", "day"}),
    "kmh": frozenset({"kmh", "kph", "wind", "speed", "gust"}),
    "mph": frozenset({"mph", "wind", "speed", "gust"}),
    "km": frozenset({"km", "distance", "kilometers"}),
    "km2": frozenset({"km2", "area"}),
    "mi": frozenset({"miles", "mi", "distance"}),
    "kg": frozenset({"kg", "weight"}),
    "lb": frozenset({"lb", "lbs", "weight"}),
    "TB": frozenset({"tb"}),
    "GB": frozenset({"gb"}),
    "MB": frozenset({"mb"}),
}
MONEY_WORDS = _words(
    "price prices cost costs total amount balance fee fees fare fares net gross tax subtotal refund payment paid cents"
    " discount budget charge value salary due rate usd eur gbp"
)
MINOR_WORDS = frozenset({"cents", "cent", "minor", "pence"})

# Minutes east of Greenwich.
ZONES: Mapping[str, int] = {
    "UTC": 0, "GMT": 0, "Z": 0, "BST": 60, "CET": 60, "CEST": 120, "EET": 120, "EEST": 180, "IST": 330, "JST": 540,
    "EST": -300, "EDT": -240, "CST": -360, "CDT": -300, "MST": -420, "MDT": -360, "PST": -480, "PDT": -420,
}  # fmt: skip

# Words of one meaning, in answers and in names of fields.
SYNONYMS: Mapping[str, str] = {
    **dict.fromkeys(("arrive", "arrives", "arriving", "arrival", "arrived", "lands", "landing"), "arrival"),
    **dict.fromkeys(
        ("depart", "departs", "departing", "departure", "departed", "departures", "leaves", "leave", "leaving"),
        "departure",
    ),
    **dict.fromkeys(("start", "starts", "starting", "begins", "begin", "started"), "start"),
    **dict.fromkeys(("end", "ends", "ending", "finishes", "until"), "end"),
    **dict.fromkeys(("price", "prices", "priced", "cost", "costs", "fare", "fares", "trades"), "price"),
    **dict.fromkeys(("temp", "temperature", "temperatur"), "temperature"),
    **dict.fromkeys(("delivery", "delivered", "deliver", "arrives by"), "delivery"),
    **dict.fromkeys(("estimated", "estimate", "eta", "expected"), "estimated"),
    **dict.fromkeys(("rated", "rating", "ratings", "stars"), "rating"),
    **dict.fromkeys(("rain", "rains", "rainfall"), "rain"),
    **dict.fromkeys(("delay", "delayed", "late"), "delay"),
    **dict.fromkeys(("due", "fällig", "vence"), "due"),
    **dict.fromkeys(("founded", "founding"), "founded"),
    **dict.fromkeys(("placed", "ordered", "created"), "placed"),
    **dict.fromkeys(("discount", "discounted", "off"), "discount"),
    **dict.fromkeys(("qty", "quantity"), "quantity"),
    **dict.fromkeys(("log", "logins", "logged"), "logins"),
    **dict.fromkeys(("balance", "saldo"), "balance"),
    **dict.fromkeys(("inhabitants", "people", "population", "einwohner"), "population"),
    **dict.fromkeys(("wind", "winds"), "wind"),
}
# Words that name no particular field.
STOP_WORDS = _words(
    "a an and the is are was were be been at in on of for to by from with your you it its this that has have had will"
    " i we our or as per id ids no number value time date day data result item items name type est utc usd eur gbp"
    " cents c f kmh gb pct now new code key info details scheduled"
)
# Words by which somebody speaks of the usual, and not of the thing at hand.
GENERAL_WORDS = _words(
    "usually usual typically typical generally normally standard average averages most commonly threshold minimum"
    " analysts law"
)
EXAMPLE_CUES = ("for example", "e.g.", "such as", "format", "for instance", "look like")
INTENT_CUES = (
    "i'll first",
    "i will first",
    "i'll search",
    "i will search",
    "i will now",
    "i'll now",
    "i'll check",
    "let me",
    "i can search",
    "looking for",
)
# Sentences with one of these may give a value that is to be, not one that is.
CHANGE_WORDS = _words("change update modify upgrade switch exchange replace new instead changed updated upgraded")
# Stems of names that many fields share.
GENERIC_LABELS = frozenset({"total", "price", "amount", "rate", "count", "number"})
# Words beside a date that may be the day after one that a result has.
NEXT_DAY_CUES = ("arriv", "next day", "+1", "a day later", "day after")
# Words that announce a sum, a difference, a share.
SUM_WORDS = _words(
    "total totals together all altogether sum combined comes come with plus both overall including insgesamt makes"
)
DIFFERENCE_WORDS = _words(
    "less more difference than cheaper dearer save saves saving left remaining remains remain free keep minus warmer"
    " colder higher lower longer shorter still additional extra"
)
APPROXIMATE_WORDS = _words(
    "about around roughly nearly approximately approx almost over under circa ca rund etwa environ aproximadamente"
    " shortly after before ~ some"
)
