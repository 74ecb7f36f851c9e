"""Stock openings by language: phrases that announce an answer and hold none of it.

One phrase per entry, without case, punctuation or apostrophes; accents as written.
"""

from __future__ import annotations

FILLERS = (
    "okay", "ok", "so", "well", "now", "hmm", "alright", "right", "then", "first", "and", "great",
    "wait", "hi", "hello", "understood", "got it", "i understand", "here", "to begin with",
    "to start with", "first of all", "firstly",
    "好的", "わかりました", "承知しました", "알겠습니다", "entendido", "daccord",
    "хорошо", "حسنا",
)  # fmt: skip
"""May stand between openings; alone they are an answer ("Reply with OK") and no opening."""

_BY_LANGUAGE: dict[str, str] = {
    "en": """
        solution; the solution; solution is; the solution is; the solution is as follows
        solution steps; answer; the answer; the answer is; answer is; final answer
        the final answer; the final answer is; my answer; my answer is; my final answer is
        correct answer; the correct answer is; your answer; response; my response; explanation
        analysis; reasoning; proof; derivation; summary; approach; thought; thoughts
        thought process; my thought process; thinking; thinking process; rationale
        reasoning process; chain of thought; problem analysis; step by step
        step by step solution; step by step reasoning; detailed solution; detailed explanation
        detailed answer; full solution; complete solution; step 1; step one; question; problem
        output; result; the result is; lets solve this; lets solve this problem
        lets solve the problem; lets solve it; lets solve this problem step by step
        lets solve the problem step by step; lets solve this step by step
        lets solve it step by step; lets think; lets think step by step; lets think about this
        lets see; lets think about this step by step; lets think through this
        lets think through this step by step; lets work through this
        lets work through this step by step; lets work this out; lets begin; lets start
        lets work this out step by step; lets work this out in a step by step way
        lets break this down
        lets work this out in a step by step way to be sure we have the right answer
        lets break it down; lets break this down step by step; lets break this problem down
        lets analyze this; lets go; lets analyze the problem
        lets analyze this problem step by step; lets dive in; lets get started
        lets dive into it; lets consider this; lets consider the problem; lets look at this
        lets start by; lets start by understanding the problem; lets take this step by step
        lets go step by step; lets do this step by step; lets approach this step by step
        lets reason step by step; lets tackle this; lets tackle this step by step
        lets take a look; lets figure this out; lets explore this; we need to solve this problem
        we need to find the answer; we need to solve this step by step; to solve this problem
        to solve this; to solve this problem we need to; to answer this question
        to solve this problem we can follow these steps; to solve this we need to
        to answer this; to solve this problem we will follow these steps; to find the answer
        to find the solution; to find the solution we need to
        to answer this question we need to; we can follow these steps; we need to; we can
        we will; i need to; i will; i think; i believe; i would say; in order to
        first we need to; first lets; we first need to; we start by; follow these steps; we have
        so we have; let me think; let me think about this; let me think step by step
        let me think about this step by step; let me solve this; let me solve this step by step
        let me see; let me explain; let me help; let me help you with that
        let me break this down; let me work through this; let me answer that
        let me work through this step by step; let me analyze this; let me help you
        let me start; ill solve this; ill solve this step by step; ill help you
        ill help you with that; i will solve this; i will solve this problem step by step
        ill think step by step; ill explain; ill do my best; i can help; i can help you
        i can help with that; i can help you with that; id be happy to help
        i would be happy to help; id be glad to help; i am happy to help; im happy to help
        happy to help; id be happy to help you with that; id be happy to help with that
        im glad you asked; glad you asked; im here to help; thank you for your question
        thanks for asking; thank you for asking; thanks for your question; great question
        good question; thats a great question; thats a good question; that is a great question
        what a great question; excellent question; interesting question
        thats an interesting question; no problem; sure; sure thing; certainly; of course
        absolutely here; sure here; sure here is; sure heres; sure here you go; here you go
        here it is; here we go; here is; heres; here are; sure i can help
        sure i can help with that; sure id be happy to help; certainly here is
        sure i can help you with that; of course here is; certainly heres; of course heres
        sure lets; here is the answer; heres the answer; here is my answer; heres my answer
        here is an answer; here is the solution; heres the solution; here is a solution
        heres a solution; heres my solution; here is my solution; here is my response
        heres my response; here is a response; here is the response; here is the explanation
        heres the explanation; here is an explanation; heres an explanation
        here is a step by step solution; heres a step by step solution
        here is a detailed solution; here is a step by step explanation
        heres a step by step explanation; here is how; heres how; here is a detailed explanation
        heres a detailed explanation; here is the code; heres the code; here is what i think
        heres what i think; here is what you need to know; here is my reasoning
        here is a possible solution; heres a possible solution; here is the summary
        heres the summary; here is a summary; heres a summary; here is the translation
        heres the translation; heres a list; here is a list; here is the list
        here are the steps; here are some; here is the result; heres my thought process
        here is my thought process; below is; below is the solution; below is the answer
        the following; as follows; the answer is as follows; the answer to the question is
        the answer to this question is; the answer to your question is; as an ai language model
        as an ai
    """,
    "zh": """
        解; 解答; 解析; 解法; 解题; 解题过程; 解题思路; 解题步骤; 答; 答案; 答案是; 答案为
        答案如下; 最终答案; 最终答案是; 最终答案为; 回答; 我的回答; 回答如下; 分析; 思路; 思考
        思考过程; 思路分析; 推理; 推理过程; 证明; 步骤; 步骤一; 第一步; 首先; 结果; 结果是; 总结
        问题; 题目; 解答如下; 解如下; 过程如下; 让我们一步一步地思考; 让我们一步一步思考
        让我们一步步思考; 让我们逐步思考; 我们一步一步来; 让我们一步一步地解决这个问题
        让我们一步一步解决这个问题; 让我们逐步解决这个问题; 让我们来解决这个问题; 让我们来分析
        让我们来分析一下; 让我们来看看; 我来帮你; 我来帮您; 我来回答; 我来解答; 我来分析一下
        当然; 当然可以; 没问题; 以下是; 以下是答案; 以下是我的回答; 以下是解答; 以下是解决方案
        如下; 下面是; 下面是答案; 下面是解答; 我们来解这道题; 这是一个很好的问题; 好问题; 我认为
        让我想想; 让我想一想; 解決; 答案如下所示; 讓我們一步一步地思考; 讓我們一步一步思考
        讓我們逐步解決這個問題; 當然; 解題過程
    """,
    "ja": """
        解; 解答; 解説; かいせつ; 回答; 答え; こたえ; 答えは; 答えは次のとおりです; 最終的な答え
        最終回答; 思考過程; 思考プロセス; 考え方; 解法; 解き方; 説明; 分析; 証明; 手順
        ステップ1; まず; 以下; 以下の通り; 以下の通りです; 以下は; 以下に示します; もちろん
        もちろんです; 順を追って考えましょう; ステップバイステップで考えましょう
        ステップバイステップで考えてみましょう; 一歩一歩考えましょう; 段階的に考えましょう
        この問題を解きましょう; この問題を段階的に解いてみましょう; 考えてみましょう; では
        それでは; 見てみましょう; 良い質問ですね; いい質問ですね; ご質問ありがとうございます
        お答えします
    """,
    "ko": """
        풀이; 해설; 해답; 답; 답변; 정답; 정답은; 답은; 최종 답; 최종 답변; 최종 정답; 설명
        분석; 사고 과정; 생각 과정; 추론; 추론 과정; 증명; 단계 1; 1단계; 먼저
        단계별로 생각해 봅시다; 단계별로 생각해보겠습니다; 차근차근 생각해 봅시다
        차근차근 풀어 봅시다; 단계별로 풀어 봅시다; 단계별로 풀어보겠습니다
        이 문제를 단계별로 풀어 봅시다; 이 문제를 단계별로 해결해 보겠습니다; 물론입니다
        물론이죠; 다음은; 다음과 같습니다; 답변은 다음과 같습니다; 좋은 질문입니다
        도와드리겠습니다; 생각해 봅시다
    """,
    "es": """
        solución; la solución; la solución es; solución paso a paso; respuesta; la respuesta
        la respuesta es; respuesta final; la respuesta final es; mi respuesta; explicación
        análisis; razonamiento; proceso de pensamiento; proceso de razonamiento; demostración
        paso 1; primero; resultado; resumen; vamos a resolver este problema paso a paso
        resolvamos este problema paso a paso; vamos a resolverlo; resolvamos este problema
        pensemos paso a paso; vamos paso a paso; paso a paso; veamos; vamos a ver
        analicemos el problema; para resolver este problema; para responder a esta pregunta
        claro; claro que sí; por supuesto; aquí está; aquí tienes; aquí está la respuesta
        aquí tienes la respuesta; aquí está la solución; a continuación; con gusto
        buena pregunta; gran pregunta; excelente pregunta; aqui esta la respuesta; solucion
        desde luego; estaré encantado de ayudarte
    """,
    "fr": """
        solution; la solution; la solution est; réponse; la réponse; la réponse est
        réponse finale; la réponse finale est; ma réponse; explication; analyse; raisonnement
        processus de réflexion; démonstration; preuve; étape 1; première étape; tout dabord
        dabord; résultat; résumé; voyons; voici; résolvons ce problème étape par étape
        résolvons ce problème; réfléchissons étape par étape; pensons étape par étape
        étape par étape; pas à pas; analysons le problème; voici la réponse; voici la solution
        voici ma réponse; pour résoudre ce problème; pour répondre à cette question; bien sûr
        certainement; bonne question; excellente question; avec plaisir; reponse
        je serais ravi de vous aider; voici une explication; voyons cela étape par étape
    """,
    "de": """
        lösung; die lösung; die lösung ist; lösungsweg; antwort; die antwort; die antwort ist
        die antwort lautet; endgültige antwort; meine antwort; erklärung; analyse; begründung
        überlegung; gedankengang; denkprozess; beweis; schritt 1; zuerst; zunächst; ergebnis
        das ergebnis ist; zusammenfassung; rechnung
        lassen sie uns dieses problem schritt für schritt lösen
        lösen wir dieses problem schritt für schritt
        lass uns dieses problem schritt für schritt lösen; lass uns schritt für schritt denken
        denken wir schritt für schritt; gehen wir schritt für schritt vor; schritt für schritt
        um dieses problem zu lösen; um diese frage zu beantworten; sicher; natürlich
        selbstverständlich; gerne; hier ist; hier ist die antwort; hier ist die lösung
        hier ist meine antwort; gute frage; hier sind; ich helfe ihnen gerne
        ich helfe dir gerne; loesung; klar; aber gerne; sehr gerne
    """,
    "it": """
        soluzione; la soluzione; la soluzione è; risposta; la risposta; la risposta è
        risposta finale; spiegazione; analisi; ragionamento; processo di pensiero; dimostrazione
        passo 1; passaggio 1; risolviamo questo problema passo dopo passo
        risolviamo il problema passo per passo; passo dopo passo; pensiamo passo dopo passo
        pensiamo passo per passo; vediamo; per risolvere questo problema; certo; certamente
        ecco; ecco la risposta; ecco la soluzione; ottima domanda; bella domanda; volentieri
    """,
    "pt": """
        solução; a solução; a solução é; resposta; a resposta; a resposta é; resposta final
        a resposta final é; explicação; análise; raciocínio; processo de pensamento
        demonstração; passo 1; resultado; vamos resolver este problema passo a passo
        vamos resolver esse problema passo a passo; passo a passo; vamos pensar passo a passo
        vamos resolver; vejamos; para resolver este problema; claro; com certeza; aqui está
        aqui está a resposta; aqui está a solução; ótima pergunta; boa pergunta; certamente
        solucao
    """,
    "nl": """
        oplossing; de oplossing; antwoord; het antwoord; het antwoord is; uitleg; analyse
        redenering; denkproces; stap 1; laten we dit probleem stap voor stap oplossen
        laten we stap voor stap denken; stap voor stap; om dit probleem op te lossen; zeker
        natuurlijk; hier is; hier is het antwoord; hier is de oplossing; goede vraag
        graag gedaan
    """,
    "ru": """
        решение; ответ; мой ответ; окончательный ответ; итоговый ответ; объяснение; пояснение
        анализ; рассуждение; рассуждения; ход мыслей; ход рассуждений; доказательство; шаг 1
        сначала; результат; давайте решим эту задачу шаг за шагом
        давайте решим эту задачу по шагам; решим задачу; пошагово; давайте подумаем шаг за шагом
        давайте рассуждать шаг за шагом; шаг за шагом; давайте разберемся
        чтобы решить эту задачу; конечно; вот; вот ответ; вот решение; хороший вопрос
        отличный вопрос; ответ на вопрос; дано
    """,
    "uk": """
        розвязок; розвязання; відповідь; пояснення; давайте розвяжемо цю задачу крок за кроком
        крок за кроком; звичайно; звісно; ось відповідь; хід думок
    """,
    "pl": """
        rozwiązanie; odpowiedź; odpowiedź to; ostateczna odpowiedź; wyjaśnienie; analiza
        rozumowanie; proces myślowy; krok 1; rozwiążmy ten problem krok po kroku
        pomyślmy krok po kroku; krok po kroku; oczywiście; jasne; oto; oto odpowiedź
        oto rozwiązanie; dobre pytanie
    """,
    "tr": """
        çözüm; cevap; yanıt; cevabım; nihai cevap; açıklama; analiz; düşünce süreci
        akıl yürütme; adım 1; bu problemi adım adım çözelim; adım adım düşünelim; adım adım
        elbette; tabii ki; tabii; işte; işte cevap; işte çözüm; güzel soru
    """,
    "ar": """
        الحل; الجواب; الإجابة; الإجابة هي; الجواب هو; الإجابة النهائية; الشرح; التحليل
        عملية التفكير; الخطوة 1; الخطوة الأولى; دعنا نحل هذه المسألة خطوة بخطوة
        لنحل هذه المشكلة خطوة بخطوة; دعونا نفكر خطوة بخطوة; لنفكر خطوة بخطوة; خطوة بخطوة; بالطبع
        بالتأكيد; إليك; إليك الإجابة; إليك الحل; سؤال جيد
    """,
    "fa": """
        راه حل; پاسخ; جواب; پاسخ نهایی; توضیح; بیایید این مسئله را گام به گام حل کنیم
        گام به گام; البته; حتما
    """,
    "he": """
        פתרון; הפתרון; תשובה; התשובה היא; הסבר; בואו נפתור את הבעיה צעד אחר צעד; צעד אחר צעד
        כמובן; בטח
    """,
    "hi": """
        हल; समाधान; उत्तर; जवाब; अंतिम उत्तर; व्याख्या; विश्लेषण; विचार प्रक्रिया; चरण 1
        उत्तर है; आइए इस समस्या को चरण दर चरण हल करें; आइए इसे चरण दर चरण हल करें
        आइए चरण दर चरण सोचें; चरण दर चरण; ज़रूर; बिल्कुल; यहाँ उत्तर है; यह रहा उत्तर
        अच्छा प्रश्न
    """,
    "bn": """
        সমাধান; উত্তর; ব্যাখ্যা; চলুন এই সমস্যাটি ধাপে ধাপে সমাধান করি; ধাপে ধাপে; অবশ্যই
    """,
    "id": """
        solusi; jawaban; jawabannya adalah; jawaban akhir; penjelasan; analisis; proses berpikir
        langkah 1; mari kita selesaikan masalah ini langkah demi langkah
        mari kita pikirkan langkah demi langkah; langkah demi langkah; tentu; tentu saja
        berikut; berikut adalah; berikut jawabannya; pertanyaan bagus
    """,
    "vi": """
        lời giải; giải; bài giải; đáp án; đáp án là; trả lời; câu trả lời; câu trả lời là
        giải thích; phân tích; quá trình suy nghĩ; bước 1; hãy giải bài toán này từng bước
        hãy suy nghĩ từng bước; từng bước; chắc chắn rồi; tất nhiên; dưới đây là
        đây là câu trả lời; câu hỏi hay
    """,
    "th": """
        คำตอบ; คำตอบคือ; วิธีทำ; เฉลย; คำอธิบาย; การวิเคราะห์; กระบวนการคิด; ขั้นตอนที่ 1
        แน่นอน; ได้เลย; มาแก้ปัญหานี้ทีละขั้นตอน; มาคิดทีละขั้นตอน; ทีละขั้นตอน; นี่คือคำตอบ
        ต่อไปนี้คือ
    """,
    "sv": """
        lösning; svar; svaret är; förklaring; låt oss lösa detta problem steg för steg
        steg för steg; självklart; visst; här är svaret; bra fråga; tankeprocess
    """,
    "cs": """
        řešení; odpověď; vysvětlení; pojďme vyřešit tento problém krok za krokem; krok za krokem
        samozřejmě; jistě; zde je odpověď; myšlenkový proces
    """,
    "el": """
        λύση; απάντηση; η απάντηση είναι; εξήγηση; ας λύσουμε αυτό το πρόβλημα βήμα προς βήμα
        βήμα προς βήμα; φυσικά; βεβαίως; ορίστε η απάντηση
    """,
    "sw": """
        suluhisho; jibu; jibu ni; maelezo; hebu tutatue tatizo hili hatua kwa hatua
        hatua kwa hatua; bila shaka
    """,
}

PHRASES: tuple[str, ...] = tuple(
    phrase.strip()
    for listed in _BY_LANGUAGE.values()
    for line in listed.splitlines()
    for phrase in line.split(";")
    if phrase.strip()
)
"""Every stock opening of every language."""
