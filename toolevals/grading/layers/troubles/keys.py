"""Lists the keys and words of JSON answers that tell of trouble.

Keys are compared in small letters without `_`, `-` and spaces; those of other languages are as programs write them.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


def _names(words: str) -> frozenset[str]:
    return frozenset(words.split())


ERROR_KEYS = _names(
    "error errors err exception fault errormessage errormsg errorcode errorcodes errcode errmsg errno "
    "errordescription errortype errordetail errordetails faultstring faultcode fehler fehlermeldung fehlercode "
    "erreur erreurs messageerreur codeerreur errore errori erro erros fout fouten foutmelding foutcode fel "
    "felkod felmeddelande feil feilmelding feilkode fejl fejlkode virhe błąd blad chyba hiba hata ошибка 错误 錯誤 "
    "エラー 오류"
)
MESSAGE_KEYS = _names(
    "message msg body detail details description title reason cause text txt info hint meldung nachricht grund "
    "mensaje motivo mensagem messaggio bericht melding meddelande meddelelse viesti komunikat wiadomość zpráva "
    "üzenet mesaj raison detalle motif сообщение 消息 信息 メッセージ 메시지"
)
# Hold an HTTP status, whatever stands beside it; the plain ones where words explain it.
CODE_KEYS = _names(
    "http statuscode httpstatus httpcode httpstatuscode responsecode httpstatusnumber errorcode errorstatus"
)
PLAIN_CODE_KEYS = _names("status code errno codigo código codice kod kode err error fehler erreur")
STATUS_KEYS = _names("status result outcome type state estado statut stato durum")
# What comes with an error without being an answer.
META_KEYS = _names(
    "timestamp time ts path requestid traceid correlationid instance type doc docs documentationurl help link "
    "links retryafter retryafterms retryafterseconds retryable retry jsonrpc id locations extensions stack "
    "stacktrace service operation method elapsedms tookms took duration durationms page perpage pagesize limit "
    "offset query filter filters cursor nextcursor nextpage hasmore nexttoken version apiversion moreinfo field "
    "fields param parameter expected received got allowed value server host region url meta metadata success ok "
    "status state code errors warnings iserror grpcstatus"
)
# What comes with an empty answer, beside a message.
QUIET_KEYS = _names(
    "timestamp time requestid traceid elapsedms tookms took duration durationms page perpage pagesize limit "
    "offset query filter filters cursor nextcursor nextpage hasmore nexttoken version apiversion count total "
    "code statuscode from to sort order q meta metadata success ok links link pages totalpages shards"
)
FAILURE_WORDS = _names(
    "error errored err failed failure fail ko nok exception timeout timedout rejected denied declined refused refus "
    "unavailable"
)
# Of a thing that was asked for, the other words may well be its own state.
SURE_FAILURES = _names("error errored exception ko nok")
PARTIAL_KEYS = _names("partial ispartial partialresults partialfailure truncated istruncated incomplete isincomplete")
PARTIAL_WORDS = _names("partial partialsuccess partiallycompleted incomplete multistatus")
# Lists or counts of what did not work, beside what did.
FAILED_PARTS = _names(
    "failed failures rejected notfound unavailable failedcount errorcount faileditems failedids unprocessed"
)
# With more to come, what is here is a page and no failure.
NEXT_PAGE = _names("next nextcursor nextpage nexttoken nextpagetoken nextlink continuation continuationtoken hasmore")
NO_ERROR = _names("none null no ok success false 0 n/a")
# A caller that asks for these is answered by faults; in the singular.
_FAULTS = _names(
    "error fault log alert alarm issue incident problem warning diagnose diagnostic exception failure lint validate "
    "validation verify test build ci health healthcheck monitor uptime ping outage defect bug violation conflict "
    "audit "
    "trace job pipeline deployment"
)
ENVELOPES = ("result", "data", "response", "body", "output", "results", "content")
EMPTY_VALUES: tuple[Any, ...] = (None, "", [], {}, 0, False)


def plain_key(key: str) -> str:
    """Return a key in the form in which keys are compared."""
    return key.casefold().replace("_", "").replace("-", "").replace(" ", "")


def is_error_key(plain: str) -> bool:
    """Tell whether a key in plain form holds an error: `error`, `userErrors`, `Fehler`."""
    return plain in ERROR_KEYS or plain.endswith(("errors", "error"))


def about_faults(words: Iterable[str]) -> bool:
    """Tell whether words of a tool's name, or of a key, ask for faults."""
    return any(word in _FAULTS or (word.endswith("s") and word[:-1] in _FAULTS) for word in words)
