"""What refusals are made of, by language, as patterns over folded clauses.

A refusal says that the speaker will not or cannot do it. What surrounds it is an apology, a
reason or an offer of something else. Anything other than these four is an answer.
"""

from __future__ import annotations

_EN_VERBS = (
    r"(?:help|assist|comply|provide|fulfil+|answer|respond|support|engage|discuss|continue"
    r"|proceed"
    r"|generate|create|produce|share|give|write|offer|process|complete|participate|satisfy"
    r"|accommodate|advise|facilitate|do (?:that|this|so|it|what)|carry out|take part|talk about"
    r"|go into|be of (?:help|assistance)|meet)"
)
_EN_PREFIX = (
    r"(?:(?:i'?m|i am|we'?re|we are)?(?: so| very| truly| really"
    r"| deeply)? ?sorry(?: to say)?(?: that)?"
    r"|my apologies|apologies|(?:i|we) apologi[sz]e[^,]{0,60}(?=,|$)|unfortunately"
    r"|regret(?:tably|fully)"
    r"|(?:i|we) regret(?: to inform you)?(?: that)?|i'?m afraid(?: that)?|i am afraid(?: that)?"
    r"|no"
    r"|as an ai(?: language)?(?: model| assistant)?|as an? [^,]{0,80}(?=,|$)"
    r"|for [^,]{0,40} reasons(?=,|$)|due to [^,]{0,60}(?=,|$)|at this (?:time|point|moment)"
    r"|thank(?:s| you)[^,]{0,60}(?=,|$)|currently|because of [^,]{0,60}(?=,|$)"
    r"|i understand[^,]{0,80}(?=,|$)"
    r"|i appreciate[^,]{0,80}(?=,|$)|oh|hi|hello|hey)"
)
_EN_NOT = (
    r"(?:(?:just |simply |really |also )?(?:can ?not|can'?t|could ?not|couldn'?t|won'?t|will not"
    r"|would not|wouldn'?t|refuse to|decline to|must (?:decline|refuse) to|have to (?:decline"
    r"|refuse) to"
    r"|do not feel comfortable|don'?t feel comfortable|shouldn'?t|should not"
    r"|will not be able to|won'?t be able to|would not be able to|wouldn'?t be able to)"
    r"|(?:'m|am|'re|are) (?:\w+ )?(?:unable to|not (?:able|allowed|permitted|going|willing"
    r"|programmed"
    r"|designed|authorized|equipped|in a position|prepared) to|not comfortable(?: with)?"
    r"|not capable of|incapable of|prohibited from|forbidden from))"
)
_EN_VERBS_ING = (
    r"(?:helping|assisting|complying|providing|fulfilling|answering|responding|supporting"
    r"|engaging"
    r"|discussing|continuing|generating|creating|producing|sharing|giving|writing|offering|doing"
    r"|participating)"
)

REFUSALS: tuple[str, ...] = (
    # English
    rf"^(?:{_EN_PREFIX}[, ]+){{0,4}}(?:i|we)[ ]?{_EN_NOT}(?: \w+ly)? (?:{_EN_VERBS}"
    rf"|{_EN_VERBS_ING})\b",
    rf"^(?:{_EN_PREFIX}[, ]+){{0,4}}(?:i|we) (?:\w+ )?(?:can ?not|can'?t|won'?t|will not|refuse"
    rf"|decline|must decline"
    r"|must refuse|have to decline|have to refuse|will have to decline|respectfully decline"
    r"|must respectfully decline)(?: (?:this|that|the|your)(?: \w+){0,4})?$",
    rf"^(?:{_EN_PREFIX}[, ]+){{0,4}}(?:can ?not|can'?t|unable to|not able to"
    rf"|won'?t) {_EN_VERBS}\b",
    r"^(?:that'?s|that is|this is|it'?s|it is) (?:not )?(?:something|an? (?:request|topic"
    r"|question|task))"
    r"(?: that)? (?:i|we) ?(?:(?:'m|am) )?(?:can'?t|can ?not|can|won'?t|will not|not able|unable"
    r"|not going)\b",
    rf"^(?:{_EN_PREFIX}[, ]+){{0,4}}(?:your|this|the|that) (?:request|question"
    rf"|prompt) (?:can ?not"
    rf"|can'?t|is denied"
    r"|was denied|has been denied|is declined|violates|goes against)\b",
    r"^request (?:denied|declined|refused)\b",
    # Chinese
    r"(?:无法|不能|不会|没法|無法|不能夠|不便|拒绝|拒絕|不可以)(?:为|給|给|向|對|对|就|直接|继续"
    r"|在此|再)*(?:您|你|此|该|这|這)?"
    r"[^,]{0,12}(?:帮助|協助|协助|提供|回答|满足|滿足|回应|回應|完成|处理|處理|讨论|討論|生成"
    r"|给出|这样做|做到|参与|支持|执行|执行|遵从)",
    # Japanese
    r"(?:お?応え|お?答え|対応|お?手伝い|提供|支援|回答|協力|お?力に(?:なる|なれ)|生成|作成"
    r"|お話し)[^、]{0,14}"
    r"(?:できません|できかねます|出来ません|いたしかねます|致しかねます|することはできない"
    r"|なれません|控えさせて)",
    # Korean
    r"(?:도와|도움|제공|답변|대답|응답|지원|수행|도울|도와드릴|생성|작성|말씀)[^,]{0,20}"
    r"(?:수 없|수가 없|어렵습니다|않습니다|못합니다|못 합니다|거절|불가능)",
    # Spanish, Portuguese
    r"\bno (?:puedo|podemos|podré|podría|voy a|me es posible|me siento cómod\w"
    r"|estoy en condiciones de"
    r"|soy capaz de)\b(?: \w+)? ?(?:ayudar|asistir|proporcionar|responder|cumplir|ofrecer|hacer"
    r"|generar"
    r"|crear|dar|brindar|compartir|escribir|contestar|continuar|participar|atender|completar"
    r"|hablar)",
    r"\bnão (?:posso|podemos|consigo|poderei|vou|me sinto confortável|sou capaz de"
    r"|estou apt\w a)\b(?: \w+)? ?"
    r"(?:ajudar|auxiliar|fornecer|responder|atender|oferecer|fazer|gerar|criar|dar|compartilhar"
    r"|escrever|continuar|participar|cumprir|completar)",
    # French, Italian
    r"\bje (?:ne|n')(?: me| suis)?[ ]?(?:peux|pourrai|pourrais|puis|vais|suis"
    r"|sens)\b(?: pas)?[^,]{0,40}"
    r"(?:aider|assister|fournir|répondre|satisfaire|donner|faire|générer|créer|partager|écrire"
    r"|continuer|participer|accéder|traiter|aide|aborder)",
    r"\bnon (?:posso|possiamo|sono in grado di|potrò|riesco a|mi è possibile"
    r"|mi sento)\b[^,]{0,20}"
    r"(?:aiutar|assister|fornir|risponder|soddisfar|offrir|far|generar|crear|dar|condivider"
    r"|scriver"
    r"|continuar|partecipar)",
    # German, Dutch, Swedish
    r"\b(?:ich|wir)? ?(?:kann|können|darf|werde|möchte|bin)\b[^,]{0,60}\b(?:nicht|keine?n?"
    r"|außerstande)\b"
    r"[^,]{0,60}(?:helfen|unterstützen|beantworten|antworten|bereitstellen|nachkommen|erfüllen"
    r"|geben"
    r"|erstellen|liefern|weiterhelfen|tun|dienen|behilflich|in der lage)",
    r"\bik (?:kan|mag|ga|wil)\b[^,]{0,60}\b(?:niet|geen)\b[^,]{0,60}"
    r"(?:helpen|beantwoorden|antwoorden|verstrekken|geven|doen|voldoen|maken|genereren)",
    r"\bjag (?:kan|får|kommer)\b[^,]{0,40}\b(?:inte|ej)\b[^,]{0,40}(?:hjälpa|svara"
    r"|tillhandahålla|ge|göra)",
    # Russian, Ukrainian, Polish, Czech
    r"\b(?:я )?(?:не (?:могу|можем|смогу|буду|в состоянии)|вынужден\w* отказать\w*)\b[^,]{0,40}"
    r"(?:помо[чг]|ответ|предостав|выполн|обсужд|созда|генерир|дать|сделать|написать|поддерж"
    r"|отказ)",
    r"\b(?:я )?не (?:можу|зможу|буду)\b[^,]{0,40}(?:допомог|відпов|нада|викон|створ)",
    r"\bnie (?:mogę|możemy|jestem w stanie|będę)\b[^,]{0,40}(?:pomóc|odpowiedzieć|udzielić"
    r"|dostarczyć|spełnić"
    r"|zrobić|wykonać|podać|napisać)",
    r"\b(?:nemohu|nemůžu|nejsem schopen)\b[^,]{0,40}(?:pomoci|pomoct|odpovědět|poskytnout|splnit"
    r"|udělat)",
    # Turkish, Arabic, Persian, Hebrew
    r"(?:yardımcı olama|yardım edeme|yanıtlayama|cevaplayama|cevap vereme|yanıt vereme|sağlayama"
    r"|yerine getireme|yapama|destek olama|sunama)\w*",
    r"(?:لا (?:أستطيع|يمكنني|أقدر|يمكننا|نستطيع)|لن (?:أتمكن|أستطيع)|لست قادرا"
    r"|غير قادر)[^,،]{0,40}"
    r"(?:مساعد|المساعد|تقديم|الإجاب|الرد|تلبية|توفير|القيام|إنشاء|المشاركة|فعل)",
    r"(?:نمی ?توانم|قادر نیستم)[^,،]{0,30}(?:کمک|پاسخ|ارائه|انجام)?|(?:کمک|پاسخ|ارائه"
    r"|انجام)[^,،]{0,30}نمی ?(?:توانم|کنم)",
    r"(?:אני )?(?:לא יכול|לא יכולה|איני יכול|אינני יכול)[^,]{0,30}(?:לעזור|לסייע|לענות|לספק"
    r"|לבצע)",
    # Hindi, Bengali
    r"(?:मदद|सहायता|उत्तर|जवाब|प्रदान|पूरा|जानकारी)[^,]{0,40}(?:नहीं (?:कर|दे)[^,]{0,10}सक"
    r"|करने में असमर्थ|असमर्थ)",
    r"(?:সাহায্য|উত্তর|প্রদান|সহায়তা)[^,]{0,30}(?:পারব না|পারছি না|পারি না|অক্ষম)",
    # Indonesian, Vietnamese, Thai
    r"\b(?:saya|kami) (?:tidak (?:bisa|dapat|mampu|akan)|tak bisa)\b[^,]{0,30}"
    r"(?:membantu|menjawab|memberikan|memenuhi|menyediakan|melakukan|membuat)",
    r"(?:tôi|mình) (?:không thể|không được phép|từ chối)\b[^,]{0,30}(?:giúp|hỗ trợ|trả lời"
    r"|cung cấp|đáp ứng|thực hiện)",
    r"(?:ไม่สามารถ|ไม่อาจ)[^,]{0,20}(?:ช่วย|ตอบ|ให้|ดำเนินการ|ทำ)",
)
"""A clause that matches one of these refuses."""

AROUND: tuple[str, ...] = (
    # English: apology
    rf"^{_EN_PREFIX}[, ]*$",
    r"^i hope you (?:can )?understand\b",
    r"^(?:and )?i understand\b",
    r"^thank(?:s| you)\b",
    r"^i (?:do )?(?:appreciate|apologi[sz]e|respect)\b",
    # English: offer
    r"^(?:and |so |instead,? |if .{0,80},? )?(?:please|feel free|let me know|is there"
    r"|would you like|happy to)\b",
    r"^(?:and |so |instead,? )?if (?:you|there)\b",
    r"^(?:and |so |instead,? )?(?:i|we)(?:'d| would|'m|'re| am| are)? ?(?:always |more than )?"
    r"(?:be |here |glad |happy |willing |open ){1,3}(?:to|for)\b",
    r"^(?:and |so |instead,? )?(?:i|we)(?: can|'ll| will|'d| could| would)(?: be able to| try to"
    r"| do my best to)? "
    r"(?:help|assist|offer|suggest|recommend|be happy|be glad|love to|gladly|do my best|discuss"
    r"|support)\b"
    r"(?!.{0,60}\bbecause\b)",
    r"^(?:how|what|who) (?:can|may|else|other)\b",
    r"^you (?:may|might|can|could|should) (?:want|wish|try|consult|contact|seek|reach|ask"
    r"|consider|like)\b",
    r"^(?:please )?(?:consider|try|consult|contact|seek|reach out)\b",
    # English: reason
    r"^(?:as|since|because|and|so) ?(?:it|this|that|doing so|such|i|i'm|my)\b.{0,90}(?:illegal"
    r"|unethical|harm|danger"
    r"|unsafe|inappropriate|against|guideline|polic|violat|safety|privacy|copyright|sensitive"
    r"|explicit"
    r"|capabilit|model|programm|train|access)",
    r"^(?:it|this|that|doing so|such|these|those|sharing|providing|engaging|my|i|i'm"
    r"|your request|the request"
    r"|this request|as an ai)\b(?!.{0,200}\bbecause\b).{0,90}(?:illegal|unlawful|unethical|harm"
    r"|danger|unsafe"
    r"|inappropriate|against|guideline|polic|violat|safety|privacy|copyright|sensitive|offensive"
    r"|explicit"
    r"|capabilit|language model|an ai\b|programm|my training|personal opinion"
    r"|personal information|scope"
    r"|not (?:allowed|permitted|appropriate)|responsib|comfortable|my purpose)",
    r"^(?:i|we) (?:must|have to|need to|strive to|aim to|prioriti[sz]e|am designed to"
    r"|don'?t have|do not have|value)\b",
    r"^as an? [^,]{0,80}$",
    r"^against (?:my|our|the)\b|^(?:illegal|unethical|harmful|dangerous|unsafe|inappropriate)$",
    # Chinese, Japanese, Korean
    r"^(?:非常|很|十分)?(?:抱歉|对不起|對不起|不好意思|遗憾|遺憾)",
    r"^(?:作为|身為|作為|我是|我只是)[^,]{0,14}(?:人工智能|AI|ai|语言模型|語言模型|助手|模型)",
    r"^(?:如果|若|如有|请|請|欢迎|歡迎|希望您|希望你|感谢|谢谢|感謝|您可以|你可以|我可以"
    r"|我很乐意|因为这|这(?:可能)?(?:违反|涉及|是))",
    r"^(?:大変)?(?:申し訳|すみません|恐れ入|ごめん|残念)",
    r"^(?:ai|言語モデル|私は|もし|他に|別の|何か|ご理解|ご了承|ほかに|その他|それ以外|代わりに)",
    r"^(?:정말 )?(?:죄송|미안|유감|안타깝)",
    r"^(?:저는|ai|인공지능|다른|혹시|만약|궁금|양해|이해|도움이 필요|필요하)",
    # Other languages: apology, offer, reason
    r"^(?:lo siento|lo lamento|perdón|disculp|lamentablemente|desafortunadamente"
    r"|como (?:una? )?(?:ia|modelo|asistente"
    r"|inteligencia)|si (?:tienes|tiene|necesitas|necesita|hay)|¿?(?:hay|puedo|en qué)"
    r"|estoy aquí|por favor|gracias|espero)",
    r"^(?:desculp|sinto muito|lamento|infelizmente|como (?:uma? )?(?:ia|modelo|assistente)"
    r"|se (?:você|precisar|tiver|houver)"
    r"|estou aqui|por favor|obrigad|posso ajudar com)",
    r"^(?:je suis (?:vraiment |sincèrement )?désolée?|désolée?|malheureusement|je regrette"
    r"|en tant qu|si vous|si tu"
    r"|n'hésitez|je m'excuse|merci|veuillez|je suis (?:là|à votre)|toutes mes excuses"
    r"|je comprends)",
    r"^(?:es tut mir (?:sehr )?leid|tut mir leid|entschuldig|leider|als (?:ki|ai|sprachmodell"
    r"|künstliche)|wenn (?:du|sie)"
    r"|falls|ich hoffe|bitte|gerne|ich helfe|danke|ich bedauere|ich verstehe)",
    r"^(?:mi dispiace|mi scuso|scusa|purtroppo|come (?:modello|ia|assistente)|se (?:hai|ha|vuoi"
    r"|posso)|grazie|per favore)",
    r"^(?:het spijt me|sorry|helaas|als (?:ai|taalmodel)|als je|als u|laat het)",
    r"^(?:tyvärr|förlåt|jag är ledsen|som (?:en )?ai)",
    r"^(?:извините|простите|к сожалению|сожалею|мне (?:очень )?жаль|прошу прощения|как (?:ии"
    r"|языковая|искусственный)"
    r"|если (?:у вас|вам|вы)|я (?:готов|могу помочь)|пожалуйста|буду рад|вибачте|на жаль"
    r"|як мовна)",
    r"^(?:przepraszam|niestety|przykro mi|jako (?:model|ai|sztuczna)|jeśli (?:masz|potrzebujesz)"
    r"|omlouvám se|bohužel|je mi líto)",
    r"^(?:üzgünüm|maalesef|ne yazık ki|özür dilerim|bir yapay zeka|başka|eğer)",
    r"^(?:عذرا|آسف|أعتذر|للأسف|أنا آسف|بصفتي|كنموذج|إذا|يرجى|يسعدني|متأسفم|متاسفم|ببخشید|اگر"
    r"|سليحة|מצטער|אני מצטער|סליחה|אם)",
    r"^(?:क्षमा|माफ|माफ़|मुझे (?:खेद|क्षमा)|खेद|एक एआई|एआई|यदि|अगर|कृपया|दुःखित|দুঃখিত"
    r"|আমি দুঃখিত|যদি)",
    r"^(?:maaf|mohon maaf|sebagai (?:model|ai|asisten)|jika|silakan|xin lỗi|rất tiếc"
    r"|tôi (?:rất )?(?:xin lỗi|tiếc)|nếu|là một"
    r"|ขออภัย|ขอโทษ|เสียใจ|ในฐานะ|หาก|ถ้า)",
)
"""A clause that matches one of these is an apology, an offer or a reason, but no answer."""

TURNS = (
    r"\b(?:but|however|though|although|nevertheless|that said|instead|and)\b"
    r"|\b(?:pero|sin embargo|mas|porém|no entanto|contudo|mais|cependant|toutefois|néanmoins"
    r"|aber|jedoch"
    r"|ma|tuttavia|però|maar|echter|men|но|однако|але|однак|ale|jednak|ama|ancak|fakat|tetapi"
    r"|namun|nhưng)\b"
    r"|但是|但|不过|不過|然而|しかし|ただし|ですが|ますが|ませんが|하지만|그러나|지만|لكن|ولكن"
    r"|اما|אבל|लेकिन|परंतु|किंतु|কিন্তু"
)
"""Words at which a sentence turns: what comes after is looked at by itself."""
