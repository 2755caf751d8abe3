"""Find dates and times of day that people write in several words: one value each."""

from __future__ import annotations

import re

# In English, German, French and Spanish.
MONTHS = (
    "january february march april may june july august september october november december "
    "januar jänner februar märz mai juni juli oktober dezember "
    "janvier février mars avril juin juillet août septembre octobre novembre décembre "
    "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre "
    "jan feb mar apr jun jul aug sept sep oct nov dec"
)
WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday"
_MONTH = "|".join(sorted(MONTHS.split(), key=len, reverse=True))
_WEEKDAY = rf"(?:(?:{'|'.join(WEEKDAYS.split())}),?[ ](?:the[ ])?)?"
_DAY = r"\d{1,2}(?:st|nd|rd|th|er|\.)?"
_YEAR = r"(?:(?:\.?,?[ ](?:de[ ])?)\d{4}\b)?"
DATE = re.compile(
    rf"(?<![\w.-]){_WEEKDAY}{_DAY}[ ](?:of[ ]|de[ ])?(?:{_MONTH})\b{_YEAR}"
    rf"|\b{_WEEKDAY}(?:{_MONTH})[ ]\d{{1,2}}(?:st|nd|rd|th)?\b(?![:.]\d){_YEAR}"
    r"|(?<![\w.:-])\d{1,2}(?::\d{2})?[ ]?[ap]\.?m\b"
    r"|(?:\d{4}年)?\d{1,2}月\d{1,2}日",
    re.IGNORECASE,
)
