"""Lists the words of values: months, weekdays, currencies, numbers, time zones, in English and some other languages."""

from __future__ import annotations

from collections.abc import Mapping


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


def _numbered(*rows: str, first: int = 0) -> dict[str, int]:
    """Return the words of each row with the row's number."""
    return {word: place for place, row in enumerate(rows, first) for word in row.split()}


MONTHS: Mapping[str, int] = _numbered(
    "january jan januar jänner janvier enero gennaio januari janeiro",
    "february feb februar février fevrier febrero febbraio februari fevereiro",
    "march mar märz maerz mars marzo maart março",
    "april apr avril abril aprile",
    "may mai mayo maggio mei maj maio",
    "june jun juni juin junio giugno juni junho",
    "july jul juli juillet julio luglio juli julho",
    "august aug août aout agosto augustus augusti",
    "september sept sep septembre septiembre settembre setembro",
    "october oct oktober okt octobre octubre ottobre outubro",
    "november nov novembre noviembre novembro",
    "december dec dezember dez décembre decembre diciembre dicembre dezembro",
    first=1,
)
WEEKDAYS: Mapping[str, int] = _numbered(
    "monday mon montag maandag lundi lunes lunedì måndag mandag poniedziałek",
    "tuesday tue tues dienstag dinsdag mardi martes martedì tisdag tirsdag wtorek",
    "wednesday wed mittwoch woensdag mercredi miércoles mercoledì onsdag środa środę",
    "thursday thu thurs donnerstag donderdag jeudi jueves giovedì torsdag czwartek",
    "friday fri freitag vrijdag vendredi viernes venerdì fredag piątek",
    "saturday sat samstag zaterdag samedi sábado sabato lördag lørdag sobota sobotę",
    "sunday sun sonntag zondag dimanche domingo domenica söndag søndag niedziela niedzielę",
)
_COUNTS = (
    "two three four five six seven eight nine ten eleven twelve",
    "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    "deux trois quatre cinq six sept huit neuf dix onze douze",
    "dos tres cuatro cinco seis siete ocho nueve diez - doce",
    "twee drie vier vijf zes zeven acht negen tien elf twaalf",
)
NUMBER_WORDS: Mapping[str, int] = {
    **{word: value for words in _COUNTS for value, word in enumerate(words.split(), 2)},
    "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "ninety": 90,
}  # fmt: skip
# Decimals of the currencies that have no two, by ISO 4217.
EXPONENTS: Mapping[str, int] = {
    **dict.fromkeys(words_of("BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX VND VUV XAF XOF XPF"), 0),
    **dict.fromkeys(words_of("BHD IQD JOD KWD LYD OMR TND"), 3),
}
CURRENCY_CODES = EXPONENTS.keys() | words_of(
    "USD EUR GBP JPY CHF CAD AUD NZD CNY INR BRL MXN SEK NOK DKK PLN CZK HUF TRY ZAR KRW SGD HKD"
)
CURRENCY_SYMBOLS: Mapping[str, str] = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR"}
CURRENCY_WORDS: Mapping[str, str] = {
    **dict.fromkeys(("dollar", "dollars", "us dollars", "bucks"), "USD"),
    **dict.fromkeys(("euro", "euros"), "EUR"),
    **dict.fromkeys(("swiss francs", "francs"), "CHF"),
    "pounds sterling": "GBP", "yen": "JPY", "kronor": "SEK", "kr": "NOK", "zł": "PLN", "tl": "TRY", "rupees": "INR",
}  # fmt: skip
# Currencies that share a sign or a word.
SHARED_SIGNS = tuple(map(words_of, ("USD CAD AUD NZD SGD HKD MXN", "JPY CNY", "NOK SEK DKK CZK")))
MULTIPLIERS: Mapping[str, int] = {
    **dict.fromkeys(("k", "thousand", "tausend", "mille"), 10**3),
    **dict.fromkeys(("m", "mn", "mio", "million", "millions", "millionen"), 10**6),
    **dict.fromkeys(("b", "bn", "mrd", "billion", "billions", "milliarden"), 10**9),
    "trillion": 10**12,
}
# A letter that is a unit too: metres, bytes.
AFTER_CURRENCY_ONLY = frozenset({"m", "b"})
# Minutes east of Greenwich.
ZONES: Mapping[str, int] = {
    "UTC": 0, "GMT": 0, "Z": 0, "BST": 60, "CET": 60, "CEST": 120, "EET": 120, "EEST": 180, "IST": 330, "JST": 540,
    "EST": -300, "EDT": -240, "CST": -360, "CDT": -300, "MST": -420, "MDT": -360, "PST": -480, "PDT": -420,
}  # fmt: skip

# Words of one meaning, in answers and in names of fields; the first of a group stands for all.
_SAME = (
    "arrival arrive arrives arriving arrived lands landing arr llegada; departure depart departs departing"
    " departed departures leaves leave leaving dep salida; start starts starting begins begin started from; end"
    " ends ending finishes finish until; price prices priced cost costs fare fares precio; temperature temp"
    " temperatur temps; delivery delivered deliver; average averages averaged avg mean schnitt; maximum max most"
    " peak highest; minimum lowest; rating rated ratings stars; duration takes lasts takes long dauer; recovery"
    " recover; quantity qty; remaining remain left rest reste; points pts point; rear back hinten; front vorn;"
    " number no nr; total altogether overall; visibility vis; balance saldo; humidity rh"
)
SYNONYMS: Mapping[str, str] = {word: words.split()[0] for words in _SAME.split(";") for word in words.split()}
# Words that name no particular field.
STOP_WORDS = words_of(
    "a an and the is are was were be been at in on of for to by with your you it its this that has have had will"
    " i we our or as per id ids value data item items name type est utc now new key info details der die das und ist"
    " le la les de des du et un une el los y een het en op van con di il per if so but not no only here there they he"
    " she would can could should may must than then also just about more one each all any which who"
)
