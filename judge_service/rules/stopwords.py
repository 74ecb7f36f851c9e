"""Function words: words that carry no content of their own, in the larger languages."""

from __future__ import annotations

_BY_LANGUAGE = {
    "en": """
        a an and are as at be been but by can could did do does for from had has have he her his
        how i if in into is it its itself may me more most must my no not of on one only or
        other our she should so some such than that the their them then there these they this
        those to us was we were what when where which while who why will with would you your
        also all any each about just up out don
    """,
    "es": """
        de la que el en y los del se las por un para con una su al lo como pero sus le ya este
        si porque esta entre cuando muy sin sobre ser es son era fue ha han hay no más o
    """,
    "fr": """
        le la les un une des du de et en que qui dans pour pas sur au aux avec ce cette ces il
        elle ils elles ne se par est sont son sa ses plus ou mais nous vous leur on été être ont
    """,
    "de": """
        der die das den dem des ein eine einer eines einem einen und oder in im zu zur zum von
        vom mit für auf ist sind war nicht auch es sie er wir ihr ich als an bei aus nach wird
        wie dass sich so aber noch nur durch über haben hat kann
    """,
    "it": """
        il lo la gli le un una di da del della dei delle e che in con per su non è sono era ma
        come più si al alla anche questo questa ha hanno
    """,
    "pt": """
        o os as um uma de do da dos das em no na nos nas e que para por com não se mais é são
        foi ser ao como mas ou seu sua este esta tem
    """,
    "nl": """
        de het een en van in is dat op te zijn met voor niet aan er om ook als bij door uit maar
        dan nog naar heeft kan deze
    """,
    "pl": """
        i w na z do nie się że jest to o jak po ale od za przez są dla tak już czy
    """,
    "ru": """
        и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по ее мне
        было вот от меня о из это для при или быть также
    """,
    "tr": """
        ve bir bu da de için ile çok en gibi daha ne o ya ama olarak olan
    """,
    "ar": """
        في من على إلى عن أن هذا هذه التي الذي ما لا هو هي كان و أو مع كل ذلك
    """,
    "hi": """
        के का की में है और को से पर यह कि ने हैं एक भी तो था ही या वह
    """,
    "id": """
        yang dan di ke dari untuk dengan pada ini itu adalah dalam tidak akan atau juga
    """,
    "vi": """
        là và của có trong cho không được một các những này đó với để khi
    """,
    "ko": """
        은 는 이 가 을 를 의 에 에서 와 과 도 로 으로 그 수 것 및
    """,
    "zh": """
        的 一 是 在 不 了 有 和 人 这 中 大 为 上 个 我 以 要 他 会 可 也 你 对 就 与 及 或 而
        到 能 下 用 其 所 之 等 于 把 被
    """,
    "ja": """
        の に は を た が で て と し れ さ あ い も な る か ら こ っ す ま り よ く め や そ
        ん う え お つ き け ど じ ち せ み だ ー
    """,
}

STOPWORDS: frozenset[str] = frozenset(
    word for listed in _BY_LANGUAGE.values() for word in listed.split()
)
