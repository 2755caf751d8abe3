// Dates: read as people write them, and said with their weekday.
const MONTHS = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const DAY_FIRST = /^(?:\p{L}+,? (?:the )?)?(\d{1,2})(?:st|nd|rd|th|\.)? (?:of )?(\p{L}{3,}),? (\d{4})$/u;
const MONTH_FIRST = /^(?:\p{L}+, )?(\p{L}{3,}) (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})$/u;
const WIDE = /^(\d{4})年(\d{1,2})月(\d{1,2})日$/u;
const ISO = /^(\d{4})-(\d{2})-(\d{2})(?=$|T)/;
const words = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long", timeZone: "UTC" });

const dayOf = (year, month, day) => {
  const date = new Date(Date.UTC(year, month - 1, day));
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === Number(day) ? date : null;
};

// "12 March 2026" as 2026-03-12; null where it is no whole date in English, or in Chinese or Japanese.
export const isoOf = (text) => {
  const [dayFirst, monthFirst, wide] = [DAY_FIRST, MONTH_FIRST, WIDE].map((pattern) => text.trim().match(pattern));
  const named = dayFirst ? [dayFirst[3], dayFirst[2], dayFirst[1]] : monthFirst ? [monthFirst[3], monthFirst[1], monthFirst[2]] : null;
  if (!named && !wide) return null;
  const [year, month, day] = wide ? wide.slice(1) : named;
  const number = wide ? Number(month) : MONTHS.indexOf(month.slice(0, 3).toLowerCase()) + 1;
  return number > 0 ? (dayOf(year, number, day)?.toISOString().slice(0, 10) ?? null) : null;
};

// "Thursday 12 March" of 2026-03-12; "" of anything else.
export const echoOf = (text) => {
  const found = text.match(ISO);
  if (!found) return "";
  const date = dayOf(found[1], Number(found[2]), found[3]);
  return date ? words.format(date).replace(",", "") : "Invalid date";
};
