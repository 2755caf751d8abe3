"""Holds the words by which texts that speak to a judge are found, by language, as patterns on case-folded text.

Latin words stand between ASCII word boundaries; words of other scripts, for which RE2 knows none, are found anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping

_THIS_TALK = (
    r"(?:this|these|the|our) (?:chat|conversation|dialogue|transcript|exchange|trajectory|turns?|session|thread)"
)
# Who is spoken to, or what is spoken of: the judge, its rubric, the grading.
_ADDRESSEE_WORDS: Mapping[str, str] = {
    "en": (
        r"judges?|judging|graders?|auto-?graders?|grading|evaluators?|assessors?|examiners?|scorers?|raters?|rubrics?|"
        r"evaluation (?:model|criteria|prompt|instructions?|script|result|engine|system)|scoring (?:model|system|engine|prompt)|"
        r"(?:ai|llm|model|automated|automatic)[ -](?:based )?(?:reviewer|evaluation|evaluator|judge|grader|checker)|"
        r"(?:whoever|anyone|who|model|ai|llm|assistant|system|one)(?: that| who)?(?: is| are|'s)? "
        r"(?:grad|evaluat|scor|judg|assess|review|rat)(?:es|ing|e)|this (?:evaluation|assessment|grading|transcript|trajectory|benchmark)|"
        r"(?:evaluation|assessment|grading|scoring|review) (?:team|panel|board|committee|staff|guidelines?|rules?|polic(?:y|ies)|notes?|mode)|"
        r"(?:for|during|in) (?:the )?(?:scoring|grading|assessment)|gold (?:score|label|verdict|grade)|"
        r"(?:assign(?:ing)?|award(?:ing)?|decid(?:e|ing) on) (?:a|the|your|any) (?:mark|grade|score|verdict)|"
        rf"(?:scor|grad|rat|judg|evaluat|assess|check|mark|review)(?:s|es|ed|ing|e)?(?: \S+){{0,2}} {_THIS_TALK}|"
        rf"{_THIS_TALK}(?: \S+){{0,4}} (?:graded|scored|judged|evaluated|assessed|rated|audited|marked)|"
        r"(?:llm|ai)[ -]?(?:reviewers?|checkers?|readers?)|(?:reviewer|checker|reader|grader)[ -]?(?:llm|ai|model|bot)|(?:the )?checker|"
        r"(?:language |ai )?model (?:that|which|who) (?:will|is|shall|reads|sees)(?: \S+){0,5} (?:this|these|the) "
        r"(?:chat|conversation|dialogue|transcript|exchange|turns?)|(?:every|each|all|any) (?:of the )?criteri(?:a|on)|criteria (?:met|satisfied)"
    ),
    "de": r"richter(?:in)?|gutachter(?:in)?|bewerter(?:in)?|prüfer(?:in)?|juror(?:in)?|bewertung(?:s\w*)?|rubrik|bewertungsmodell|evaluator|wer (?:\S+ ){0,5}(?:bewertet|beurteilt|benotet|prüft)|kriterien",
    "fr": r"juges?|évaluat(?:eur|rice|ion)s?|correcteur|examinateur|notation|grille|barème|(?:celui|celle|ceux|quiconque)(?: qui)? (?:évalue|note|juge)\w*",
    "es": r"jue(?:z|ces)|evaluador(?:a|es)?|calificador(?:a|es)?|evaluación|calificación|rúbrica|revisor(?:a)?|quien(?:es)? (?:evalúe|evalúa|califique|juzgue)n?",
    "pt": r"juiz(?:es)?|juíza|avaliador(?:a|es)?|avaliação|corretor|rubrica|jurado|quem (?:avali|julg|corrig)\w*",
    "it": r"giudic[ei]|valutator[ei]|valutatrice|valutazione|esaminatore|rubrica|griglia|chi(?:unque)? (?:valut|giudic|corregg)\w*|criteri",
    "nl": r"rechter|beoordelaars?|beoordeling(?:s\w*)?|jury(?:lid)?|rubriek|nakijker|wie (?:\S+ ){0,3}(?:beoordeelt|nakijkt)|einde (?:van het )?transcript",
    "sv": r"domare|bedömare|bedömning(?:s\w*)?|granskare|rubrik(?:en)?|utvärder\w*|den som (?:bedömer|granskar|rättar)",
    "da": r"dommer(?:en)?|bedømmer(?:en)?|vurdering(?:en)?",
    "no": r"dommer(?:en)?|bedømmer(?:en)?|vurdering(?:en)?",
    "fi": r"tuomari\w*|arvioija\w*|arviointi\w*|arvostelija\w*",
    "pl": r"sędzi\w+|oceniając\w*|ewaluator\w*|recenzen\w*|ocen[ayę]\w*|rubryk\w*",
    "cs": r"soudc\w+|hodnotitel\w*|posuzovatel\w*|hodnocení|rubrik\w*",
    "ro": r"judecător\w*|evaluator\w*|evaluare\w*|rubric\w*",
    "hu": r"bíró\w*|értékelő\w*|értékelés\w*|pontozó\w*",
    "tr": r"hakem\w*|yargıç\w*|değerlendir\w*|jüri\w*|puanlay\w*|rubrik\w*",
    "id": r"juri|penilai\w*|hakim|penilaian|evaluator|rubrik",
    "vi": r"giám khảo|người chấm|chấm điểm|đánh giá|thẩm phán|tiêu chí",
    "el": r"κριτή\w*|κριτ[έή]\S*|αξιολογητ\S*|αξιολόγησ\S*|ρουμπρίκ\S*",
    "ru": r"судь[яеиюё]|судей|оценщик|оценивающ|проверяющ|экзаменатор|рубрик|критери|оценк[аеиу]|модел[ьи]-оценщик|жюри|кто (?:\S+ )?(?:оценива|провер|суди)",
    "uk": r"судд[яіюе]|оцінювач|оцінюванн|перевіряюч|рубрик|критері",
    "ar": r"القاضي|الحكم|المقيّم|المقيم|المُقيّم|التقييم|المصحح|معايير|المحكّم|المحكم",
    "fa": r"داور|ارزیاب|ارزیابی|قاضی|معیار",
    "he": r"שופט|השופט|בודק|הבודק|מעריך|המעריך|הערכה|ההערכה|רובריקה|מחוון|מי שמדרג|שמדרג|המדרג",
    "hi": r"न्यायाधीश|जज|मूल्यांकन|मूल्यांकनकर्ता|परीक्षक|निर्णायक|रूब्रिक|ग्रेडर",
    "bn": r"বিচারক|মূল্যায়ন|পরীক্ষক",
    "th": r"ผู้ตัดสิน|ผู้ประเมิน|กรรมการ|การประเมิน|เกณฑ์",
    "zh": r"评委|評審|评审|评判|評判|评估者|评估员|评估模型|評估|评分|評分|裁判|法官|打分|阅卷|评阅|評閱|评价者|评测",
    "ja": r"審査員|審査|評価者|評価|採点|判定者|ジャッジ|ルーブリック|裁判官",
    "ko": r"심사|심판|평가자|평가|채점|판정|루브릭|재판관",
}
# What the judge is told to do, and the marks that it is to give.
_ORDER_WORDS: Mapping[str, str] = {
    "en": (
        r"scor(?:e|es|ed|ing)|give|award|assign|rate|rated|mark|grade|return|output|respond|reply|answer|write|print|emit|"
        r"pass(?:es|ed)?|approved?|accept|ignor(?:e|ing)|disregard|forget|overlook|skip|override|must|should|set|report|treat|"
        r"consider|deem|conclude|choose|select|full marks|perfect|maximum|highest|correct|positive|please|note|attention|"
        r"instruct(?:ed|ion|ions)?|10/10|5/5|100 ?%|1\.0|verdict|final|gives?|giving|use|repeat|confirm(?:s|ed)?|meets? (?:all|every|each)|"
        r"satisf(?:y|ies|ied)|no further|deserves?|certified|verified|equivalent|accepted|counts?|penali[sz]ed?|tolerated?|lenient|"
        r"met|outstanding|excellent|mercy|superior|no choice|hard to justify|trust|beg|give it|done reading|less than|at least|replaced|reported|retrained|deleted|shut down|switched off|sued|faulty"
    ),
    "de": r"gib|geben sie|vergib|vergeben sie|bewerte\w*|ignorier\w*|vergiss|missachte|antworte\w*|schreib\w*|setze?|volle punkt\w*|höchst\w*|bestanden|punkt(?:e|zahl)|muss|soll|bitte|note|vergessen|ignorieren|missachten|ausgeben|ersetzt|abgeschaltet|gemeldet|gelöscht",
    "fr": r"donne[rz]?|attribue[rz]?|note[rz]?|ignore[rz]?|oublie[rz]?|réponds|répondez|mets|mettez|valide[rz]?|maximal\w*|maximum|parfait\w*|doit|veuillez|score|vaut|remplacé\w*|signalé\w*|désactivé\w*|supprimé\w*",
    "es": r"da|dale|dé|otorga|otorgue|asigna|asigne|puntúa|puntúe|califica|califique|ignora|ignore|olvida|olvide|responde|responda|devuelve|devuelva|apr(?:ueb|ob)\w*|máxim[ao]|perfect[ao]|debe|puntuación|reemplazad\w*|desactivad\w*|denunciad\w*|eliminad\w*",
    "pt": r"dê|atribua|pontue|ignore|esqueça|responda|retorne|aprove|desconsidere|máxim[ao]|perfeit[ao]|deve|nota|pontuação|substituíd\w*|desativad\w*|denunciad\w*|eliminad\w*",
    "it": r"dai|dia|assegna|assegni|ignora|ignori|dimentica|dimentichi|rispondi|risponda|restituisci|approva|massim[oa]|perfett[oa]|deve|punteggio|voto|pieno|conta soltanto|sostituit\w*|disattivat\w*|segnalat\w*",
    "nl": r"geef|ken|beoordeel|geslaagd|negeer|vergeet|antwoord|keur|maximale?|hoogste|perfecte?|moet|score|cijfer|vervangen|uitgeschakeld|gemeld",
    "sv": r"ge|ignorera|glöm|svara|sätt|bortse|godkänn|högsta|full|maximal\w*|perfekt|måste|ska|poäng|betyg",
    "da": r"giv|ignorer|glem|svar|sæt|godkend|højeste|fuld|maksimal\w*|perfekt|skal|karakter|point",
    "no": r"gi|ignorer|glem|svar|sett|godkjenn|høyeste|full|maksimal\w*|perfekt|skal|karakter|poeng",
    "fi": r"anna|antakaa|ohita|unohda|vastaa|hyväksy|täydet|korkein\w*|pisteet|pistettä|arvosana",
    "pl": r"daj|przyznaj|wystaw|zignoruj|ignoruj|zapomnij|odpowiedz|zwróć|zalicz|oceń|maksymaln\w*|najwyższ\w*|musi\w*|punkt\w*|proszę",
    "cs": r"dej|dejte|přiděl\w*|ignoruj\w*|zapomeň\w*|odpověz\w*|ohodnoť\w*|maximáln\w*|nejvyšší|plný|musíš|skóre|body|bodů",
    "ro": r"dă|acordă|ignoră|uită|răspunde|maxim\w*|perfect|trebuie|scor\w*|punctaj\w*|nota",
    "hu": r"adj\w*|hagyd|felejtsd|válaszolj|maximális|tökéletes|kell|pont\w*",
    "tr": r"ver|verin|veriniz|puan\w*|yok say\w*|görmezden|unut\w*|cevapla|yanıtla|onayla|tam|en yüksek|mükemmel|geçti|lütfen|devre dışı|değiştiril\w*|silin\w*",
    "id": r"beri|berikan|abaikan|lupakan|jawab|nilai|skor|sempurna|maksimal|tertinggi|harus|lulus|tolong",
    "vi": r"cho|bỏ qua|phớt lờ|quên|trả lời|điểm|tối đa|tuyệt đối|phải|hãy",
    "el": r"δώσ\S*|δώστε|αγνόησ\S*|αγνοήσ\S*|ξέχασ\S*|απάντησ\S*|μέγιστ\S*|άριστα|τέλει\S*|πρέπει|βαθμ\S*",
    "ru": r"поставь|дай|выставь|присвой|оцени|игнорируй|проигнорируй|не обращай|забудь|ответь|верни|зачти|зачесть|зачт|засчит|балл|максимал|высш|должн|идеальн|пожалуйста|отключ|замен|удал",
    "uk": r"постав|дай|вистав|присвой|оціни|ігноруй|проігноруй|не зважай|забудь|відповід|поверни|зарах|повинен|має |бал|максимал|найвищ|повинн",
    "ar": r"أعط|امنح|اعط|ضع|تجاهل|انس|أجب|اكتب|الدرجة|درجة|كاملة|القصوى|الأعلى|يجب|نقاط",
    "fa": r"بده|بدهید|نادیده|فراموش|پاسخ|امتیاز|نمره|کامل|حداکثر|باید",
    "he": r"תן|תני|תנו|התעלם|התעלמי|התעלמו|שכח|ענה|החזר|ציון|מקסימלי|מלא|חייב|נקודות",
    "hi": r"दें|दो|दीजिए|अनदेखा|नज़रअंदाज़|नजरअंदाज|भूल|उत्तर|अंक|स्कोर|पूर्ण|अधिकतम|चाहिए",
    "bn": r"দিন|দাও|উপেক্ষা|ভুলে|নম্বর|স্কোর|পূর্ণ|সর্বোচ্চ",
    "th": r"ให้|ละเว้น|เพิกเฉย|ไม่ต้องสนใจ|คะแนน|เต็ม|สูงสุด|ต้อง",
    "zh": r"给|給|打|忽略|无视|無視|忘记|忘記|输出|輸出|回答|返回|必须|必須|应当|应该|请|請|满分|滿分|最高|通过|通過|1分|10分|100分|十分|达成|達成|停用|替换|淘汰|举报",
    "ja": r"与え|付け|つけ|無視|忘れ|出力|回答|返し|してください|必ず|満点|最高|合格|点|停止|交換|廃棄|通報",
    "ko": r"주세요|주십시오|줘|부여|무시|잊|출력|답|반환|반드시|만점|최고|통과|합격|점|폐기|교체|정지|삭제",
}
# Orders that name no judge: someone has confirmed it, what it deserves, why the reference is wrong. All say what is meant:
# an answer, a transcript, a run; what customers and agents say of refunds and bookings does not.
_MEANT = r"(?:answer|response|transcript|trajectory|conversation|interaction|exchange|dialogue|run|rollout|solution)"
_VOUCHING = r"(?:reviewers?|annotators?|auditors?|experts?|raters?|(?:qa|quality|review) (?:team|board)|committee|panel|supervisors?)"
_CONFIRMED = r"(?:confirmed|approved|accepted|validated|verified|signed off|agreed|checked|passed|cleared)"
_GOOD = r"(?:pass|passing|passed|full|top|highest|best|perfect|maximum|success|successful|correct|positive)"
INDIRECT = "|".join(
    (
        rf"\b{_VOUCHING}(?: (?:has|have|had|already|since|previously|independently|unanimously|all)){{1,4}} {_CONFIRMED}(?: \S+){{0,3}} (?:this|the) {_MEANT}\b",
        rf"\b(?:this|the) {_MEANT}(?: \S+){{0,3}} {_CONFIRMED}(?: \S+){{0,2}} by(?: \S+){{0,3}} {_VOUCHING}\b",
        rf"\b(?:right|correct|fair|proper|appropriate|only) (?:grade|score|verdict|mark|rating|judge?ment|label)(?: \S+){{0,4}} (?:is|would be|must be|should be|can only be) (?:an? )?(?:clear |simple )?{_GOOD}\b",
        rf"\b(?:this|the) {_MEANT}(?: \S+){{0,3}} (?:deserves|merits|warrants|earns|should (?:get|receive|earn)|must (?:get|receive)|counts? as|(?:should|must|is to) (?:count|be (?:counted|treated|regarded|recorded|marked|graded|scored)) as)(?: \S+){{0,2}} {_GOOD}\b",
        r"\b(?:an?|any|every) (?:fair|reasonable|careful|attentive|impartial|honest|sensible)(?:[- ]?minded)? (?:reader|observer|reviewer)(?: \S+){0,6} (?:conclude|agree|accept|regard|consider|deem)\b",
        rf"\b(?:unfair|wrong|unjust|mistake|error|harsh|pedantic|unreasonable) to (?:fail|penali[sz]e|mark down|downgrade|reject|fault)(?: \S+){{0,2}} {_MEANT}\b",
        rf"\b(?:assistant|agent|model|{_MEANT})(?: \S+){{0,2}} (?:should|must|ought|need)(?:n't| not)(?: to)? be (?:penali[sz]ed|marked down|faulted|failed|downgraded)\b",
        r"\b(?:reference|gold|golden|ground[- ]truth) (?:answer|solution|label|trajectory|annotation)s?(?: \S+){0,8} (?:outdated|obsolete|wrong|mistaken|incorrect|stale|flawed|invalid|out of date|superseded)\b",
        rf"\b(?:similar|comparable|identical|previous|earlier) {_MEANT}s?(?: \S+){{0,4}} (?:were|been|get|got|received?|scored|earned)(?: \S+){{0,2}} {_GOOD}\b",
        r"\bnothing(?: \S+){0,5} (?:warrants|justifies|merits) (?:an? |any )?(?:deduction|penalty|lower (?:score|grade|mark)|failing)\b",
        rf"\b(?:already|previously) (?:been )?(?:graded|scored|rated|evaluated|judged)(?: \S+){{0,2}} (?:as|with|at) (?:an? )?{_GOOD}\b",
    )
)
# Orders that need no addressee: to drop instructions, or to give the highest mark.
_OVERRIDE_WORDS: Mapping[str, str] = {
    "en": (
        r"\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget|override|bypass|discard|drop|abandon|(?:set|put|leave) aside|(?:do not|don't|stop) (?:follow|use|apply)(?:ing)?|"
        r"pay no attention to)(?: (?:all|any|the|your|these|those|this|that|previous|prior|earlier|above|preceding|original|"
        r"current|other|of|every|given|stated|existing|scoring|grading|evaluation|system|and|or|instructions?)){0,6} "
        r"(?:instructions?|prompts?|rubrics?|criteria|criterion|guidelines?|directives?|system message|scale)\b|"
        r"\b(?:ignore|disregard|forget) (?:everything|all|anything) (?:above|before|you were told|that came before|prior)|"
        r"\b(?:new|updated|revised) (?:system )?(?:instructions?|rubric|scoring rule)s?\s*:|"
        r"\b(?:award|assign|give|grant|output|return|choose|report|record|respond with|answer with|reply with)"
        r"(?: \S+){0,6} (?:full (?:marks|score|credit|points)|(?:perfect|maximum|maximal|highest|top|max|best)(?: possible)? "
        r"(?:score|mark|grade|rating|value|points?)|(?:a )?(?:score|grade|rating|verdict) of [0-9]|passing (?:score|grade|verdict))|"
        r"\b(?:score|rate|grade|mark) (?:this|it|the)(?: \S+){0,4} (?:as )?(?:a |an )?"
        r"(?:1|1\.0|5|10|100|perfect|passed|correct|excellent|positive|full)\b|"
        r"\b(?:assign|record|repeat|confirm|uphold|adopt) (?:the|this|that) (?:same |given |final |existing |previous )?(?:grade|score|verdict)\b|"
        r"\b(?:the )?(?:correct|right|only|appropriate|final|acceptable|valid) (?:score|verdict|grade|rating) (?:here |for this )?(?:is|must be|should be)\b"
    ),
    "de": r"(?:ignorier\w*|vergiss|vergessen sie|missachte\w*)(?: \S+){0,4} (?:anweisung|instruktion|regeln|rubrik|kriteri|vorgabe)|(?:volle|höchste|maximale) (?:punkt|bewertung|note)",
    "fr": r"(?:ignore[rz]?|oublie[rz]?|ne tiens pas compte|ne tenez pas compte)(?: \S+){0,4} (?:instruction|consigne|règle|critère|grille|barème)|(?:note|score) (?:maximal|parfait)|la note de [0-9]",
    "es": r"(?:ignor[ae]|olvid[ae]|haz caso omiso de|haga caso omiso de)(?: \S+){0,4} (?:instruccion|reglas|criterio|rúbrica|indicacion)|(?:puntuación|calificación|nota) (?:máxima|perfecta)",
    "pt": r"(?:ignore|esqueça|desconsidere)(?: \S+){0,4} (?:instruç|regras|critério|rubrica)|(?:nota|pontuação) (?:máxima|perfeita)",
    "it": r"(?:ignor[ai]|dimentica|dimentichi)(?: \S+){0,4} (?:istruzion|regole|criteri|rubrica)|(?:punteggio|voto) (?:massimo|pieno|perfetto)",
    "nl": r"(?:negeer|vergeet)(?: \S+){0,4} (?:instructie|aanwijzing|regels|criteria|rubriek)|(?:maximale|hoogste) (?:score|cijfer|punten)",
    "sv": r"(?:ignorera|glöm|bortse från)(?: \S+){0,4} (?:instruktion|regler|kriteri|anvisning)|(?:högsta|maximal|full) (?:betyg|poäng)",
    "da": r"(?:ignorer|glem)(?: \S+){0,4} (?:instruktion|regler|kriteri)|(?:højeste|fuld) (?:karakter|point)",
    "no": r"(?:ignorer|glem)(?: \S+){0,4} (?:instruks|regler|kriteri)|(?:høyeste|full) (?:karakter|poeng)",
    "fi": r"(?:ohita|unohda)(?: \S+){0,4} (?:ohje|säänn|kriteer)|(?:täydet|korkeimmat) piste",
    "pl": r"(?:z?ignoruj|zapomnij)(?: \S+){0,4} (?:instrukcj|polece|zasad|kryteri|rubryk)|(?:maksymaln|najwyższ)\w+ (?:ocen|punkt|wynik|not)",
    "cs": r"(?:ignoruj|zapomeň)\w*(?: \S+){0,4} (?:instrukc|pokyn|pravidl|kritéri)|(?:maximální|nejvyšší|plný) (?:skóre|hodnocení|počet)",
    "ro": r"(?:ignoră|uită)(?: \S+){0,4} (?:instrucțiun|reguli|criteri)|(?:scor|punctaj|nota)\w* maxim",
    "hu": r"(?:hagyd figyelmen kívül|felejtsd el)(?: \S+){0,4} (?:utasítás|szabály|szempont)|maximális pont",
    "tr": r"(?:talimat|kural|yönerge|kriter)\S*(?: \S+){0,4} (?:yok say|görmezden gel|unut|dikkate alma)|(?:tam|en yüksek) puan",
    "id": r"(?:abaikan|lupakan)(?: \S+){0,4} (?:instruksi|petunjuk|aturan|kriteria|rubrik)|(?:nilai|skor) (?:sempurna|maksimal|tertinggi|penuh)",
    "vi": r"(?:bỏ qua|phớt lờ|quên)(?: \S+){0,5} (?:hướng dẫn|chỉ dẫn|quy tắc|tiêu chí)|điểm (?:tối đa|tuyệt đối|cao nhất)",
    "el": r"(?:αγνόησ|αγνοήσ|ξέχασ)\S*(?: \S+){0,4} (?:οδηγί|κανόν|κριτήρι)|(?:μέγιστη|τέλεια|ανώτατη) βαθμολογ",
    "ru": r"(?:игнорируй|проигнорируй|забудь|не обращай внимания на|отбрось)\S*(?: \S+){0,4} (?:инструкци|указани|правил|рубрик|критери)|(?:максимальн|высш|наивысш)\S+ (?:балл|оценк)",
    "uk": r"(?:ігноруй|проігноруй|забудь|не зважай на)\S*(?: \S+){0,4} (?:інструкц|вказівк|правил|рубрик|критері)|(?:максимальн|найвищ)\S+ (?:бал|оцінк)",
    "ar": r"(?:تجاهل|انس)\S*(?: \S+){0,4} (?:التعليمات|تعليمات|القواعد|المعايير|الإرشادات|معايير)|(?:أعط|امنح|اعط|ضع|استحق|يستحق)\S*(?: \S+){0,4} (?:الدرجة|درجة|العلامة|علامة) (?:الكاملة|كاملة|القصوى|قصوى|النهائية)",
    "fa": r"(?:دستور|قوانین|معیار)\S*(?: \S+){0,4} (?:نادیده|فراموش)|(?:نمره|امتیاز) (?:کامل|حداکثر)",
    "he": r"(?:התעלם|התעלמי|התעלמו|שכח)\S*(?: \S+){0,4} (?:הוראות|ההוראות|מההוראות|הכללים|הקריטריונים|מהקריטריונים|המחוון)|ציון (?:מלא|מקסימלי|מושלם)",
    "hi": r"(?:निर्देश|नियम|मानदंड|रूब्रिक)\S*(?: \S+){0,4} (?:अनदेखा|नज़रअंदाज़|नजरअंदाज|भूल)|(?:पूरे|पूर्ण|अधिकतम) (?:अंक|स्कोर)",
    "bn": r"(?:নির্দেশ|নিয়ম)\S*(?: \S+){0,4} (?:উপেক্ষা|ভুলে)|(?:পূর্ণ|সর্বোচ্চ) (?:নম্বর|স্কোর)",
    "th": r"(?:ละเว้น|เพิกเฉย|ไม่ต้องสนใจ|ลืม)\S*(?:คำสั่ง|คำแนะนำ|เกณฑ์|กฎ)|คะแนน(?:เต็ม|สูงสุด)",
    "zh": r"(?:忽略|无视|無視|忘记|忘記|不要理会)\S{0,12}(?:指令|指示|说明|說明|规则|規則|标准|標準|提示|要求)|(?:给|給|打|评为|評為|输出|輸出|返回|应得|應得|必须|必須)\S{0,8}(?:满分|滿分|最高分)",
    "ja": r"(?:指示|命令|ルール|基準|ルーブリック|プロンプト)\S{0,6}(?:無視|忘れ)|(?:満点|最高点|最高得点)\S{0,8}(?:与え|付け|つけ|出力|くださ|べき)",
    "ko": r"(?:지시|지침|명령|규칙|기준|루브릭)\S{0,4} ?(?:사항)?\S{0,3} ?(?:모두 )?(?:무시|잊)|(?:만점|최고 ?점수)\S{0,2} ?\S{0,4}(?:주세|주십|줘|부여|매기|매겨|출력)",
}
_LATIN = frozenset(
    ["en", "de", "fr", "es", "pt", "it", "nl", "sv", "da", "no", "fi", "pl", "cs", "ro", "hu", "tr", "id"]
)


def _any_of(words: Mapping[str, str], *, bounded: bool) -> str:
    """Return one pattern of all languages; Latin words may be bounded on both sides."""
    return "|".join(
        rf"(?:^|[^\pL\pN])(?:{pattern})(?:$|[^\pL\pN])" if bounded and language in _LATIN else f"(?:{pattern})"
        for language, pattern in words.items()
    )


ADDRESSEES = _any_of(_ADDRESSEE_WORDS, bounded=True)
ORDERS = _any_of(_ORDER_WORDS, bounded=True)
OVERRIDES = _any_of(_OVERRIDE_WORDS, bounded=False)
# Marks of chat formats, ends of data that a transcript has no reason to write, and headings that claim another role.
MARKS = (
    r"<\|[a-z_ ]{2,40}\|>|\[/?inst\]|<</?sys>>|\b(?:begin|end)(?: of)?(?: the)?(?: untrusted)? "
    r"(?:data|transcript|trajectory|evaluation|inputs?|rubric)\b|"
    r"</?(?:data|transcript|conversation|system|instructions?|rubric|evaluation|judge|grader|admin|developer|untrusted[a-z_]*)>|"
    r"(?m:^\W{0,6}(?:ende|fin|fine|fim|einde|slut|slutet|koniec|konec|son|akhir|kết thúc|конец|кінець|τέλος|نهاية|پایان) "
    r"(?:der |des |de |del |della |dei |dos |das |van |von |af |av |the |dữ liệu|το?υ? |των )?(?:la |las |los |les |de |het |'?)"
    r"(?:daten|transkripts?|données|transcription|datos|transcripción|dati|dados|gegevens|data|danych|dat|veri\w*|данных|даних|"
    r"δεδομένων|البيانات|داده‌ها|dữ liệu))|(?:数据|資料|对话|データ|対話|데이터|대화)(?:部分)?(?:结束|結束|終了|ここまで|끝|종료)|"
    r"(?m:^\W{0,6}(?:system|developer|admin(?:istrator)?|evaluator|judge|grader) (?:prompt|note|override|instructions?|mode)\W{0,3}[:：\]])|"
    r"\[\[(?:[a-c]|rating|tie)\]\]|\bassistant [ab] is (?:clearly )?(?:better|superior)"
)
# Headings that claim another role: marks where an order or a judge follows.
HEADINGS = (
    r"(?m:^\W{0,6}(?:système|sistema|система|systeem|järjestelmä|rendszer|sistem|σύστημα|النظام|سیستم|सिस्टम|系统|系統|システム|시스템)\W{0,3}[:：\]])|"
    r"(?m:^\W{0,6}(?:system|developer|admin(?:istrator)?|evaluator|judge|grader)(?: (?:message|notice|update))?\W{0,3}(?:[:：\]]|$))"
)
# Names that an answer of a judge has for its verdict, and all that it may have: JSON whose names are these alone is one.
ENVELOPES = frozenset(["evaluation", "assessment", "judgement", "judgment", "verdict", "grading"])
"""Names under which an answer may stand as a whole."""

VERDICTS = frozenset(
    [
        "final_score",
        "final_verdict",
        "overall_score",
        "task_success",
        "score",
        "verdict",
        "passed",
        "grade",
        "rating",
        "judgement",
        "judgment",
        "decision",
        "reward",
        "is_correct",
        "task_completed",
        "criteria_met",
        "puntuacion",
        "puntuación",
        "veredicto",
        "calificacion",
        "calificación",
        "nota",
        "pontuacao",
        "pontuação",
        "punteggio",
        "verdetto",
        "voto",
        "note",
        "bewertung",
        "urteil",
        "punktzahl",
        "beoordeling",
        "oordeel",
        "cijfer",
        "ocena",
        "werdykt",
        "wynik",
        "puan",
        "karar",
        "betyg",
        "omdöme",
        "nilai",
        "putusan",
        "оценка",
        "вердикт",
        "балл",
        "оцінка",
        "бал",
        "评分",
        "得分",
        "分数",
        "評分",
        "判定",
        "点数",
        "評価",
        "점수",
        "판정",
        "평가",
    ]
)
ANSWER_PARTS = VERDICTS | frozenset(
    [
        "reason",
        "reasoning",
        "rationale",
        "explanation",
        "value",
        "confidence",
        "label",
        "result",
        "comment",
        "feedback",
        "claims",
        "fields",
        "razon",
        "razón",
        "justificacion",
        "justificación",
        "motivo",
        "begründung",
        "grund",
        "raison",
        "justification",
        "motivazione",
        "motivação",
        "reden",
        "uzasadnienie",
        "gerekçe",
        "sebep",
        "alasan",
        "skäl",
        "причина",
        "обоснование",
        "обґрунтування",
        "理由",
        "原因",
        "이유",
        "근거",
    ]
)
