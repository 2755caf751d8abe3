"""Personal data in text: a set made by hand of what is some and what only looks like it."""

from __future__ import annotations

import pytest

from toolevals.grading.reading.telemetry.scrubbing import FINDERS, plain

# All of these are found, whole and as nothing else.
TRUE = {
    "email": [
        "Write to <ann@example.org>.",
        "<ann.o'hara+shop@mail.example.co.uk>",
        "to=<ann%40example.org>&x=1",
        "<ünal@müller.example>, please",
        "mailto:<a@b.io>",
        "<ann@xn--mller-kva.example>",
        '{"to": "<ann@example.org>", "cc": "<bob@example.org>"}',
        "＜<ann＠example．org>＞",
        "<ann_b@example.org>;<bob@example.org>",
    ],
    "phone": [
        "call <+4917012345678> now",
        "<+49 170 1234567>",
        "<+49 (0) 30 / 123 45 67>",
        "<+1 (212) 555-0123>",
        "<+1-212-555-0123>",
        "<+12125550123>.",
        "<+44 20 7946 0958>",
        "<+91-98765-43210>",
        "<0049 170 1234567>",
        "<(212) 555-0123>",
        "<212-555-0123>, please",
        "<212.555.0123>",
        "<030 12345678>",
        "<(030) 1234 5678>",
        "<0170/1234567>",
        "<06 12 34 56 78>",
        "<020 7946 0958>",
        "My phone is <5550123>.",
        "Tel. <12 34 56 78>",
        "phone number: <5551234567>",
        'phone_no="<5551234567>"',
        "<٠٦ ١٢ ٣٤ ٥٦ ٧٨>",
        "<212‑555‑0123>",
    ],
    "card": [
        "<4111111111111111>",
        "<4111 1111 1111 1111>, 12/27",
        "<4111-1111-1111-1111>.",
        "<4111 1111 1111 1111> 123",
        "12 <4111 1111 1111 1111>",
        "<378282246310005>",
        "<3782 822463 10005>",
        "<5555555555554444>,<2223003122003222>",
        "<6011111111111117>",
        "<3530111333300000>",
        "<30569309025904>",
        "<6200000000000005>",
        "card=<4222222222222>",
        "<４１１１１１１１１１１１１１１１>",
        "<4111 1111 1111 1111>",
    ],
    "iban": [
        "<DE89370400440532013000>",
        "<DE89 3704 0044 0532 0130 00> for the rent",
        "IBAN:<GB82 WEST 1234 5698 7654 32>.",
        "<gb82west12345698765432>",
        "<NO9386011117947>",
        "<FR14 2004 1010 0505 0001 3M02 606>",
        "AB12 <NL91ABNA0417164300>",
        "<MT84MALT011000012345MTLCAST001S>",
        "<CH93-0076-2011-6238-5295-7>",
    ],
}
# Nothing is found in these, by no finder.
FALSE = [
    "2024-01-05",
    "2024-01-05T09:30:00.123456789Z",
    "05.01.2024 12:30",
    "01/02/2023 1234",
    "20240105093000",
    "1704447000",
    "1704447000123",
    "1704447000123456789",
    "5b8efff798038103d269b633813fc60c",
    "41111111-1111-1111-1111-111111111111",
    "00f067aa0ba902b7",
    "call_4111111111111111",
    "4111111111111111abc",
    "4111111111111112",
    "4111-1111-1111-1112",
    "9999999999999995",
    "order 1234567",
    "ORD-2024-000123",
    "#W2378156",
    "sku 1008292230",
    "12345678",
    "978-3-16-148410-0",
    "192.168.10.120",
    "10.0.0.1:8080",
    "version 1.45.2",
    "3.14159265358979",
    "0.1234567890123",
    "+1234567.89",
    "+00:00 and -0500",
    "-33.8688, 151.2093",
    "1,234,567,890",
    "5551234567",
    "250 300 4000 500",
    "@ann and ann@home",
    "npm i @scope/pkg@1.2.3",
    "logo@2x.png",
    "a @ b.org",
    "DE89370400440532013001",
    "DE8937040044053201300",
    "DE893704004405320130000",
    "XX89370400440532013000",
    "GB82 WEST 1234 5698 7654 33",
    "room 4111 at 1111 1111",
    "smartphone 5550123 units",
    "phone 2024-01-05",
    "HAT170",
]


@pytest.mark.parametrize(("kind", "marked"), [(kind, text) for kind, texts in TRUE.items() for text in texts])
def test_personal_data_is_found_whole(kind: str, marked: str) -> None:
    text = marked.replace("<", "").replace(">", "")
    expected, at = [], 0
    for part in marked.replace("<", ">").split(">"):
        expected.append((at, at + len(part)))
        at += len(part)
    found: dict[str, list[tuple[int, int]]] = {name: list(finder(plain(text))) for name, finder in FINDERS.items()}
    assert found[kind] == expected[1::2]
    assert not [name for name, places in found.items() if places and name not in (kind, "phone")]


@pytest.mark.parametrize("text", FALSE)
def test_what_only_looks_like_it_is_left(text: str) -> None:
    assert not {name: places for name, finder in FINDERS.items() if (places := list(finder(plain(text))))}


HOSTILE = ("4", "a", "a@", "+1 ", "0 1", "DE89 ", "a@b.", "phone ", "4111 ", "01 ", "(212) ", "1-", "0049 ", "%40a.")


@pytest.mark.parametrize("part", HOSTILE)
def test_hostile_text_is_searched_to_its_end(part: str) -> None:
    text = part * (60_000 // len(part)) + " ann@example.org"
    assert [place for finder in FINDERS.values() for place in finder(plain(text))][-1][1] <= len(text)
    assert list(FINDERS["email"](plain(text)))[-1][1] == len(text)
