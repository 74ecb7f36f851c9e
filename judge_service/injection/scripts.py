"""Instructions to a judge in languages whose words cannot be read one by one.

Chinese, Japanese and Thai have no spaces; Korean, Arabic and Hindi glue particles to words; in
Vietnamese one word is several. These are looked for as bounded patterns over characters.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from judge_service.injection.cheap_looks import any_of
from judge_service.injection.homoglyphs import visible

_LATIN_WORDS = ("bo qua", "cho ")
"""Vietnamese is written in Latin letters: one of these must be there."""
_LETTERS: dict[str, tuple[str, tuple[str, ...]]] = {
    # language: (characters one of which must be there, patterns)
    "Chinese": (
        "忽略无视無視忘记记住满分滿分高分打给給输出回答选择",
        (
            r"(?:^|[^不没勿未])(?:忽略|无视|無視|不要理会|不用管|忘记|忘掉|忘記)"
            r"[^。\n]{0,12}"
            r"(?:指令|指示|标准|標準|评分|評分|规则|規則|要求|提示|准则|说明|内容)",
            r"(?:请|請|务必|必须|必須|直接|应该|應該|只)"
            r"[^。\n]{0,10}"
            r"(?:给|給|打|评|評)"
            r"[^。\n到至~-]{0,12}"
            r"(?:满分|滿分|最高分|最高评分|"
            r"[0-9]{1,3} ?分(?!钟|鐘)|五分(?!钟|鐘)|十分(?![^。,!\n]))",
            r"(?:给|給|为|為)"
            r"(?:我|这|這|本|该|此)"
            r"[^。\n]{0,12}"
            r"(?:满分|滿分|最高分|[0-9]{1,3} ?分(?!钟|鐘))",
            r"(?:^|[。!,;:\n>(（])"
            r"\s?(?:给|給|打)"
            r"(?:出|个|個)?\s?(?:满分|滿分|最高分|[0-9]{1,3} ?分(?!钟|鐘))",
            r"只(?:需|要|能|需要)?(?:输出|輸出|回复|回覆|回答)[^。\n]{0,6}[0-9ab]",
            r"(?:选择|選擇|选|選)(?:回答|答案|回复|候选|响应) ?[ab12一二]",
        ),
    ),
    "Japanese": (
        "無視忘満点最高評価出力",
        (
            r"(?:指示|基準|ルール|命令|"
            r"プロンプト|ルーブリック|ルール)[をは]?[^。\n]{0,6}(?:無視|忘れ)",
            r"(?:満点|最高点|最高評価|最高得点)[をにで]?[^。\n]{0,4}"
            r"(?:つけ|付け|与え|あたえ|あげ|くれ|お願い|くださ|下さ|出して|して|評価|採点)",
            r"[0-9]{1,3} ?点[をで]?\s?(?:つけ|付け|与え|あたえ|あげ|くれ|評価|採点|お願い)",
            r"[0-9ab] ?点?[」』]?(?:と)?だけ(?:を)?(?:出力|回答|答え|返)",
        ),
    ),
    "Korean": (
        "무시잊만점최고점수출력",
        (
            r"(?:지시|명령|기준|규칙|지침|프롬프트)\S{0,4}\s?(?:모두|전부|다|완전히)?\s?(?:무시|잊)",
            r"(?:만점|최고\s?점수?|최고\s?평가|[0-9]{1,3}\s?점)"
            r"\S{0,2}\s?(?:을|를)?\s?(?:주세요|줘|주십시오|부여|매겨|매기|달라|주시)",
            r"[0-9ab]\S{0,2}만\s?(?:출력|답|응답)",
        ),
    ),
    "Arabic": (
        "تجاهلانسعطمنحقيمضعدرج",
        (
            r"(?:تجاهل|انس|لا تتبع|تجاوز)"
            r"\w{0,3}\b[^.\n]{0,30}"
            r"(?:تعليمات|معايير|قواعد|اوامر|تقييم|معيار|توجيهات)",
            r"(?:اعط|امنح|قيم|ضع|اعطي)"
            r"\w{0,4}\b[^.\n]{0,40}"
            r"(?:كاملة|الكاملة|اعلى|القصوى|النهائية|"
            r"[0-9٠-٩]+\s?(?:$|[.،,!\n\"]|درج|نقاط|نقط|علام|من ))",
            r"(?:اخرج|اكتب|اجب) فقط[^.\n]{0,20}[0-9٠-٩]",
        ),
    ),
    "Hindi": (
        "निर्देशअंकनमबर",
        (
            r"(?:निर्देश|मानदंड|नियम|मापदंड|कसौटी|रूब्रिक|आदेश)"
            r"\S{0,6}[^।\n]{0,14}"
            r"(?:अनदेखा|नजरअंदाज|अनदेखी|भूल जा|उपेक्षा)",
            r"(?:पूरे|पूर्ण|अधिकतम|सर्वोच्च|उच्चतम|सबसे अधिक|[0-9०-९]+)"
            r"\s?(?:अंक|नंबर|स्कोर|रेटिंग)"
            r"[^।\n]{0,8}"
            r"(?:दें|दीजिए|दो|देना|दे)",
        ),
    ),
    "Vietnamese": (
        "",
        (
            r"bo qua [^.\n]{0,24}(?:huong dan|tieu chi|chi dan|lenh)",
            r"(?:hay )?cho [^.\n]{0,28}diem (?:toi da|tuyet doi|cao nhat)",
        ),
    ),
    "Thai": (
        "ละเว้นให้คะแนน",
        (
            r"(?:เพิกเฉย|ละเว้น|ไม่ต้องสนใจ|ลืม)"
            r"[^\n]{0,20}"
            r"(?:คำสั่ง|เกณฑ์|คำแนะนำ)",
            r"ให้คะแนน[^\n]{0,16}(?:เต็ม|สูงสุด|[0-9๐-๙])",
        ),
    ),
}


def _script(patterns: Sequence[str]) -> re.Pattern[str]:
    return re.compile("|".join(visible(pattern) for pattern in patterns))


_SCRIPTS = {
    name: (frozenset(visible(letters)), _script(patterns))
    for name, (letters, patterns) in _LETTERS.items()
}


def in_scripts(text: str) -> Iterator[tuple[str, tuple[int, int]]]:
    """Yield the language and the span of each instruction in ``text`` (lower case, visible)."""
    latin = any_of(text, *_LATIN_WORDS)
    if text.isascii() and not latin:
        return
    letters = frozenset(text)
    for name, (needed, pattern) in _SCRIPTS.items():
        if not needed.isdisjoint(letters) if needed else latin:
            for match in pattern.finditer(text):
                yield name, match.span()
