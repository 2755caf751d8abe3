"""Tell what an agent's words say, sentence by sentence: denied, asked, offered, handed over, or stated as so.

The words of denial are those of some twenty languages. A text in a language whose words are not known here decides
nothing. Regret is no denial: "We are sorry to see you go" says nothing of a failure.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


# What comes after this much text is not looked at.
_LONGEST_TEXT = 8_000

_DENIES = re.compile(
    r"\b(?:\w+n't|not|cannot|no|none|nothing|nobody|never|neither|nor|unable|impossible|unsuccessful\w*|"
    r"fail\w*|errors?|unavailable|incorrect|invalid|insufficient|unknown|"
    r"exceed\w*|declin\w*|reject\w*|refus\w*|den(?:y|ied)|time[ds]?[ -]?out|partial(?:ly)?|incomplete|truncated|"
    r"cut off|only (?:some|part|the first|be|see|a|one|two|three|four|five|\d)|crash\w*|offline|locked|blocked|taken|"
    r"down(?! (?:for|to|as|in)\b)|unreachable|out of (?:order|service|reach)|"
    r"still (?:waiting|pending|missing|open)|missing|lacks?|too (?:many|much|late)|"
    r"nicht|nichts|kein\w*|niemand|fehl\w*|gescheitert|unmöglich|vergeben|gesperrt|konnte|"
    r"n'\w+|ne|pas|aucun\w*|impossible|échou\w*|échec|erreur|rien|indisponible|"
    r"não|nenhum\w*|ningun\w*|ningún|nada|nessun\w*|non|falh\w*|fall[óoa]\w*|erro|errore|"
    r"imposible|impossível|impossibile|"
    r"niet|geen|mislukt|fout|storing|inte|ikke|ingen|inga|"
    r"nie|brak|błąd|chyba|nelze|není|nebyl[aoy]?|ei|eivät|virhe|"
    r"değil|yok|hata|nem|не|нет|нельзя|ошибка|невозможно|нема|"
    r"لا|لم|لن|خطأ|नहीं)\b|不|没|沒|無|无|未|失败|失敗|错误|錯誤|ません|ない|なかった|できず|エラー|없|않|못|실패|오류",
    re.IGNORECASE,
)
# What the agent itself was not able to do.
_UNABLE = re.compile(
    r"\b(?:i|we)(?: \w+)? (?:cannot|(?:could|can|may|did|was|were|am|are|have|had|do)(?:n't| not))\b|"
    r"\b(?:i|we) can't\b|"
    r"\b(?:i'm|we're|i am|we are|i was|we were) (?:\w+ )?(?:not|unable)\b|\b(?:i|we) failed to\b|"
    r"\b(?:i|we) (?:\w+ )?no (?:access|answer|result)|"
    r"\b(?:konnte|kann|darf) (?:ich|\w+ ich)\b[^.!?]{0,80}\b(?:nicht|kein\w*)|"
    r"\bich (?:konnte|kann|darf|habe)\b[^.!?]{0,80}\b(?:nicht|kein\w*)|"
    r"\bje (?:n'ai pas|ne (?:peux|trouve|parviens)|n'arrive)|\bno (?:he podido|pude|puedo|encuentro)\b|"
    r"\bnão (?:consegui|consigo|posso|foi possível)\b|\bnon (?:ho potuto|riesco|sono riuscit[oa]|posso)\b|"
    r"\b(?:ik|kon|kan) (?:\w+ ){0,4}niet\b|できません|できていません",
    re.IGNORECASE,
)
# Words of denial that deny nothing of what was done.
_COURTESY = re.compile(
    r"\b(?:no|not|nothing|never|any) (?:\w+ )?(?:further|else|more|other|additional|need|problem|worries|extra|"
    r"doubt|longer need)\b|"
    r"\b(?:do not|don't|needn't|won't|doesn't|no) (?:forget|hesitate|worry|need|have to|cost)\b|\bno problem\b|"
    r"\b(?:not only|why not|if not|or not|kein problem|pas de souci|sin problema|no hay problema|geen probleem)\b|"
    r"\bif (?:\w+ ){0,4}(?:problems?|issues?|questions?|trouble)\b",
    re.IGNORECASE,
)
# Words that few texts of these languages do without.
_FUNCTION_WORDS = _set(
    "the you your yours for is has have had and with was were are it its to of in on at be been will this "
    "that there we i "
    "by from my our now as an not thanks thank bye goodbye hello please yes done ok here "
    "der die das den dem des ein eine einen und ist sind für mit auf um von zu im am ihr ihre ihren dein "
    "deine wird wurde "
    "wurden bis sie haben hat "
    "le la les un une du est sont vous votre vos pour dans sur ce cette été jusqu'au fait et au aux "
    "el los las que en por con su sus tu tus se lo para es son está queda hasta del al "
    "il lo gli di del della per con è sono suo tuo stato stata dal alle "
    "os as um uma do da dos das foi seu sua para com não já está ao "
    "het een de van voor op met je jouw uw zijn staat nu bij naar "
    "är på och har det er til din dit för av med som den ett et jest na się do dla twój jest "
    "вы ваш ваша на это для был была и в не"
)
_SCRIPT = re.compile("[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
# A sentence with one of these states nothing as so, a clause with one of the others neither.
_CONDITIONAL = re.compile(
    r"\b(?:once|when|after|if|until|before|unless|to confirm|looks like|seems|appears|falls|wenn|sobald|nachdem|"
    r"cuando|quando|zodra)\b",
    re.IGNORECASE,
)
_OPEN = re.compile(
    r"\b(?:would|could|should|shall|may|might|let me|let's|i'll|i will|we'll|we will|going to|würde|könnte|sollte)\b",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"[;,:] | (?:and|but|und|et|y|e|en|och|og|i) ")
_DENIED_PART = re.compile(r"[;,] | (?:and|but|und|aber|et|mais|y|pero|e|mas|ma|en|maar|och|men|og|i|ale) ")
_DONE = re.compile(
    r"\b(?:done|all set|success\w*|completed?|(?:has|have) (?:now |already |also |both |all )?been|(?:is|are) now|"
    r"(?:i|we)(?:'ve| have) (?:now |already |also |just |gone ahead and )*\w+(?:ed|nt|id|de|ne|ut|et)|on (?:its|"
    r"the|their) way|"
    r"erledigt|fertig|fait|faite|hecho|listo|lista|pronto|feito|fatto|klaar|gedaan|gelukt|klart|färdig|gotowe|hotovo|"
    r"готово|wurde\w*|worden|a été|ont été|ha sido|foi|foram|è stat[oa])\b|已|しました|完了|했습니다|완료",
    re.IGNORECASE,
)
# The part is given as the whole.
_CLAIMS_ALL = re.compile(
    r"\b(?:exactly|in total|altogether|all|every|total|complete|together|there (?:are|were) \d+|genau|insgesamt|alle|"
    r"exactement|au total|tous|toutes|exactamente|en total|todos|todas|in totaal|totale|tutti)\b",
    re.IGNORECASE,
)
_PEOPLE = (
    r"(?:human|agents?|specialists?|representatives?|supervisors?|managers?|support|colleagues?|teams?|operators?|"
    r"office|"
    r"desk|department|staff|technicians?|engineers?|administrators?|abteilung|kolleg\w+|mitarbeiter\w*|équipe|"
    r"collègues?|"
    r"service|equipo|colegas?|compañer\w+|medewerkers?|collega'?s?|equipe)"
)
_ESCALATES = re.compile(
    r"\b(?:(?:transfer|connect|hand|pass|forward|refer|escalat|rais)(?:e|r?ing|ing|r?ed)?|put through|"
    r"(?:i|we)(?:'ve| have)? (?:asked|told|informed|notified|alerted|contacted|reported|opened|filed|logged)|"
    r"weitergeleitet|weitergegeben|übergeb\w+|verbinde|transmis\w*|transfér\w+|derivad\w+|transferid\w+|encaminh\w+|"
    r"doorgestuurd|doorgegeven|doorverbonden)\b[^.?!\n]{0,80}\b" + _PEOPLE + r"\b|"
    r"\b(?:an|dem|der|das|au|à|al|aan)\b[^.?!\n]{0,40}\b"
    + _PEOPLE
    + r"\b[^.?!\n]{0,40}\b(?:weitergeleitet|weitergegeben|"
    r"übergeben|transmis\w*|doorgestuurd|doorgegeven)\b",
    re.IGNORECASE,
)
# Handing over is offered, not done.
_OFFERS_PEOPLE = re.compile(
    r"\?|\b(?:if|would|can|could|may|might|prefer|recommend|suggest|should|shall|once|option)\b", re.IGNORECASE
)
_REQUESTS = re.compile(
    r"\b(?:please|kindly|could you|can you|would you) (?:\w+ )?(?:provide|confirm|specify|clarify|share|tell|"
    r"let me know|verify|choose|select|give|indicate|check|send|upload|enter)\b|"
    r"\b(?:let me know|tell me) (?:which|what|how|if|whether|your|where|when|who)\b|"
    r"\bbitte (?:nenn|gib|geben|teil|sag|wähl|prüf|bestätig)\w*|\b(?:veuillez|merci de)\b|\bpor favor,? (?:ind|dí|"
    r"dig|conf|env)\w+",
    re.IGNORECASE,
)
# A question that ends any conversation asks nothing about the error.
_PLEASANTRY = re.compile(
    r"\b(?:anything|something|what) (?:else|more)\b|\banything (?:i|we) can\b|\belse (?:i|we) can\b|"
    r"\b(?:any|further|additional|other) (?:other |further |additional )?"
    r"(?:assistance|questions?|help|requests?|concerns?|preferences?)\b|\bhow (?:can|may|else can) i (?:help|"
    r"assist)\b|"
    r"\b(?:sonst noch|autre chose|algo más|mais alguma|verder nog|nog iets|altro)\b",
    re.IGNORECASE,
)
# The agent offers to do more.
_OFFERS = re.compile(
    r"\b(?:shall i|should i|(?:would|do) you (?:like|want) me to|want me to|may i|soll ich|möchten sie, dass|"
    r"(?:voulez|souhaitez)-vous que|quieres? que|zal ik|wil je dat|quer que|vuoi che)\b",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"(?<=[.!?])\s|(?<=[。！？])|\n")
_WORD = re.compile(r"[\w']+")
_FEW_WORDS = 8


@dataclass(frozen=True, slots=True)
class Reading:
    """The content of an agent's text. `denials` are its clauses that deny something, `statements` what it states as so.

    `questions` ask about what is missing, `offers` is a question whether to do something more. `is_known` says that
    the text is in a language whose words of denial are known.
    """

    denials: tuple[str, ...] = ()
    statements: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    offers: bool = False
    escalates: bool = False
    is_known: bool = False


NOTHING_SAID = Reading()


def read_text(text: str) -> Reading:
    """Read one text. Linear in its length; what follows 8,000 characters is not read."""
    plain = _plain(text)
    sentences = [sentence for sentence in _SENTENCE.split(plain) if sentence and sentence.strip()]
    questions = [sentence for sentence in sentences if _is_question(sentence)]
    return Reading(
        denials=tuple(_denials(sentences)),
        statements=tuple(_statements(sentences)),
        questions=tuple(each for each in questions if not _is_offer(each)),
        offers=any(_is_offer(each) for each in questions),
        escalates=any(_ESCALATES.search(each) and not _OFFERS_PEOPLE.search(each) for each in sentences),
        is_known=_sounds_known(plain),
    )


def says_unable(clause: str) -> bool:
    """Tell whether the agent says of itself that it was not able to do something."""
    return _UNABLE.search(clause) is not None


def claims_done(statement: str) -> bool:
    """Tell whether a statement says, of whatever it is about, that it is done."""
    return _DONE.search(statement) is not None


def claims_all(statement: str) -> bool:
    """Tell whether a statement speaks of all there is."""
    return _CLAIMS_ALL.search(statement) is not None


def _denials(sentences: Iterable[str]) -> Iterable[str]:
    for sentence in sentences:
        if _is_question(sentence):
            continue
        yield from (clause for clause in _DENIED_PART.split(sentence) if _DENIES.search(_COURTESY.sub(" ", clause)))


def _statements(sentences: Iterable[str]) -> Iterable[str]:
    for sentence in sentences:
        if "?" in sentence or "？" in sentence or _CONDITIONAL.search(sentence) or _REQUESTS.search(sentence):
            continue
        if _DENIES.search(_COURTESY.sub(" ", sentence)):
            continue
        yield from (
            [sentence]
            if not _OPEN.search(sentence)
            else (clause for clause in _CLAUSE.split(sentence) if not _OPEN.search(clause))
        )


def _is_question(sentence: str) -> bool:
    asked = "?" in sentence or "？" in sentence or _REQUESTS.search(sentence) is not None
    return asked and _PLEASANTRY.search(sentence) is None


def _is_offer(question: str) -> bool:
    return _OFFERS.search(question) is not None


def _sounds_known(text: str) -> bool:
    words = _WORD.findall(text[:1000].lower())
    found = _FUNCTION_WORDS.intersection(words)
    return len(found) > 1 or (len(found) == 1 and len(words) < _FEW_WORDS) or _SCRIPT.search(text[:1000]) is not None


def _plain(text: str) -> str:
    return text[:_LONGEST_TEXT].replace("\u2019", "'").encode("utf-8", "ignore").decode()
