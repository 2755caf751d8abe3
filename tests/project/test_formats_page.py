from __future__ import annotations

from tests.project.formats_page import BEGIN, END, PAGE, table


def test_the_page_of_formats_says_what_the_tables_of_the_code_say():
    written = PAGE.read_text().split(BEGIN)[1].split(END)[0].strip()
    assert written == table(), "Write it anew: python -m tests.project.formats_page"
