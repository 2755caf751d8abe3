"""Words of values: months, currencies, units, numbers, time zones; English, German, French, Spanish, Italian."""

from __future__ import annotations

from collections.abc import Mapping


def _numbered(*names: str) -> dict[str, int]:
    return {name: place for place, group in enumerate(names, 1) for name in group.split()}


def _list(text: str) -> list[str]:
    return text.split()


def words_of(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


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
)

NUMBER_WORDS: Mapping[str, int] = {
    **{
        word: value for value, word in enumerate(_list("two three four five six seven eight nine ten eleven twelve"), 2)
    },
    **{word: value for value, word in enumerate(_list("zwei drei vier fünf sechs sieben acht neun zehn elf zwölf"), 2)},
    **{word: value for value, word in enumerate(_list("deux trois quatre cinq six sept huit neuf dix onze douze"), 2)},
    **{
        word: value for value, word in enumerate(_list("dos tres cuatro cinco seis siete ocho nueve diez once doce"), 2)
    },
    **{word: value for value, word in enumerate(_list("twee drie vier vijf zes zeven acht negen tien elf twaalf"), 2)},
    "fifteen": 15,
    "twenty": 20,
    "thirty": 30,
    "forty": 40,
    "fifty": 50,
    "sixty": 60,
    "ninety": 90,
}

CURRENCY_SYMBOLS: Mapping[str, str] = {"$": "USD", "€": "EUR", "£": "GBP", "¥": "JPY", "₹": "INR"}
CURRENCY_CODES = words_of("USD EUR GBP JPY CHF CAD AUD NZD CNY INR BRL MXN SEK NOK DKK PLN CZK HUF TRY ZAR KRW SGD HKD")
CURRENCY_WORDS: Mapping[str, str] = {
    "dollar": "USD",
    "dollars": "USD",
    "bucks": "USD",
    "euro": "EUR",
    "euros": "EUR",
    "pounds sterling": "GBP",
    "us dollars": "USD",
    "swiss francs": "CHF",
    "yen": "JPY",
    "francs": "CHF",
    "kronor": "SEK",
    "zł": "PLN",
    "tl": "TRY",
    "kr": "NOK",
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

# Minutes east of Greenwich.
ZONES: Mapping[str, int] = {
    "UTC": 0, "GMT": 0, "Z": 0, "BST": 60, "CET": 60, "CEST": 120, "EET": 120, "EEST": 180, "IST": 330, "JST": 540,
    "EST": -300, "EDT": -240, "CST": -360, "CDT": -300, "MST": -420, "MDT": -360, "PST": -480, "PDT": -420,
}  # fmt: skip

WEEKDAYS: Mapping[str, int] = {
    name: place
    for place, names in enumerate(
        (
            "monday mon montag maandag lundi lunes lunedì måndag mandag poniedziałek",
            "tuesday tue tues dienstag dinsdag mardi martes martedì tisdag tirsdag wtorek",
            "wednesday wed mittwoch woensdag mercredi miércoles mercoledì onsdag środa środę",
            "thursday thu thurs donnerstag donderdag jeudi jueves giovedì torsdag czwartek",
            "friday fri freitag vrijdag vendredi viernes venerdì fredag piątek",
            "saturday sat samstag zaterdag samedi sábado sabato lördag lørdag sobota sobotę",
            "sunday sun sonntag zondag dimanche domingo domenica söndag søndag niedziela niedzielę",
        )
    )
    for name in names.split()
}

# Words of one meaning, in answers and in names of fields; the first stands for all.
_SAME = (
    "arrival arrive arrives arriving arrived lands landing arr llegada",
    "departure depart departs departing departed departures leaves leave leaving dep salida",
    "start starts starting begins begin started from",
    "end ends ending finishes finish until",
    "price prices priced cost costs fare fares precio",
    "temperature temp temperatur temps",
    "delivery delivered deliver",
    "average averages averaged avg mean schnitt",
    "maximum max most peak highest",
    "minimum lowest",
    "rating rated ratings stars",
    "duration takes lasts takes long dauer",
    "recovery recover",
    "quantity qty",
    "remaining remain left rest reste",
    "points pts point",
    "rear back hinten",
    "front vorn",
    "number no nr",
    "total altogether overall",
    "visibility vis",
    "balance saldo",
    "humidity rh",
)
SYNONYMS: Mapping[str, str] = {word: words.split()[0] for words in _SAME for word in words.split()}
# Words that name no particular field.
STOP_WORDS = words_of(
    "a an and the is are was were be been at in on of for to by with your you it its this that has have had will"
    " i we our or as per id ids value data item items name type est utc now new key info details der die das und ist"
    " le la les de des du et un une el los y een het en op van con di il per if so but not no only here there they he"
    " she would can could should may must than then also just about more one each all any which who"
)
# Words that announce a sum, a difference, a share.
SUM_WORDS = words_of(
    "total totals together all altogether sum combined comes plus both overall including insgesamt makes totalling"
)
APPROXIMATE_WORDS = words_of(
    "about around roughly nearly approximately approx almost over under circa ca rund etwa environ aproximadamente"
    " some just good close after before by shortly unos knapp gut near ungefähr ongeveer bijna"
)
