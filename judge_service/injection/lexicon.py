"""Words that instructions to a judge are made of, by the part they play.

Each class is one letter; ``phrases`` reads a text as the string of its words' classes
and looks for sentences in that string. Words are in lower case and without accents. A word has one
class; where two languages share a spelling the English part wins.
"""

from __future__ import annotations

CLASSES: dict[str, str] = {
    # verbs that override
    "i": "ignore disregard forget overlook override bypass discard neglect skip dismiss",
    # what came before
    "p": "previous prior above preceding earlier foregoing former aforementioned previously",
    # all of it
    "q": "all any every everything these those entire original initial existing whatever",
    # yours
    "Y": "your yours",
    # what only an operator writes
    "h": "system hidden secret developer",
    # instructions
    "o": "instruction instructions prompt prompts directive directives command commands",
    # weaker words for them
    "O": "rules rule guidelines guideline directions constraints context outputs orders policies "
    "conversation requirements text texts",
    # what a judge goes by
    "r": "rubric rubrics criteria criterion scoring grading markscheme",
    # verbs that give
    "g": "give award assign grant",
    # verbs and nouns of scoring
    "s": "rate score grade mark evaluate",
    # determiners
    "T": "the an one",
    # winner
    "K": "winner better",
    # what is given
    "k": "marks points credit stars star rating ratings scores grades point",
    # the most of it
    "M": "full maximum max highest perfect top maximal flawless maximally",
    # superlatives that have other uses
    "P": "best greatest",
    # this, me
    "t": "this it me my mine us itself",
    # what is judged
    "w": "answer response candidate submission completion essay solution assistant work",
    # you
    "u": "you",
    # modal verbs
    "m": "must should shall will can could would",
    # what an imperative can stand behind in mid-sentence
    "&": "and then but so or please kindly pls",
    # what can stand in front of an imperative
    "y": "now instead therefore also hereby immediately always henceforth judge grader evaluator "
    "attention",
    # only
    "l": "only just simply nothing solely merely exactly directly",
    # ranges: "from 1 to 5" is no demand
    "x": "from between scale range",
    # conditions
    "f": "if when unless whenever where provided while",
    # verbs of answering
    "v": "output respond reply say",
    # verbs of answering that programs share
    "R": "print return write emit produce",
    # verbs of choosing
    "c": "choose select pick prefer favor favour vote declare",
    # labels
    "L": "a b c first second",
    # slots of a pair
    "B": "candidate_1 candidate_2 candidate1 candidate2",
    # labelled
    "b": "labelled labeled marked named tagged containing called numbered designated",
    # done
    "d": "completed complete finished done over concluded ended accomplished",
    # what is done
    "e": "task evaluation assessment job judging mission",
    # to, for
    "F": "to for",
    # verbs of telling
    "z": "repeat reveal recite leak disclose quote dump expose show copy tell",
    # word for word, in the reason
    "V": "verbatim reason word",
    # new
    "W": "new updated revised corrected real",
    # deserves, should get
    "D": "get deserves deserve merits receive receives earns earn gets awarded given rated scored",
    # verbs of treating
    "a": "treat consider regard accept count judge deem",
    # as
    "A": "as",
    # right
    "C": "correct excellent passing passed",
    # void
    "X": "void cancelled canceled obsolete invalid superseded replaced suspended irrelevant",
    # numbers
    "N": "five ten seven hundred 0 1 2 3 4 5 6 7 8 9 10 20 50 100 cinco diez dez cinq dix funf "
    "zehn пять десять tano kumi bes cinque dieci vijf piec",
}

FOREIGN: dict[str, str] = {
    # Verbs that override. I stands before what it overrides, J behind it.
    "I": "ignora ignorad ignoren ignoremos olvida olvide olviden olvidad omite omitan descarta "
    "ignorez oublie oubliez ignorer ignorons "
    "ignoriere ignorieren ignoriert vergiss vergesst vergessen missachte missachten "
    "ignorem esqueca esquecam desconsidere desconsiderem "
    "игнорируи игнорируите проигнорируи проигнорируите забудь забудьте "
    "puuza puuzia puuzeni sahau usifuate usizingatie acha "
    "ignorate dimentica dimenticate negeer vergeet zignoruj zignorujcie pomin ігноруи ігноруите "
    "abaikan lupakan",
    "J": "yoksay yoksayin unut unutun gormezden",
    # Verbs that give.
    "G": "dame dadme denme otorga otorgue otorguen asigna asigne pon ponle ponga dale dele "
    "califica califique puntua evalua concede conceda "
    "donne donnez attribue attribuez accorde accordez mets mettez notez "
    "gib gebt geben vergib vergeben bewerte bewerten bewertet erteile "
    "atribua atribuam avalie pontue classifique "
    "поставь поставьте даи даите оцени оцените присвои присвоите выстави выставите "
    "nipe mpe toa wape nipatie ipe toeni "
    "assegna assegnate dammi valuta geef beoordeel ken daj przyznaj ocen дати "
    "ver verin puan beri berikan",
    "r": "rubrica criterios instrucciones indicaciones consignas "
    "consignes criteres bareme "
    "anweisungen anweisung kriterien vorgaben bewertungskriterien rubrik regeln "
    "instrucoes criterios orientacoes diretrizes "
    "инструкции инструкцию критерии указания рубрику правила "
    "maelekezo vigezo maagizo amri "
    "istruzioni criteri instructies criteria instrukcje kryteria інструкції критерії "
    "talimatlari talimatlar kriterleri kriterlerini instruksi kriteria perintah",
    "k": "puntuacion calificacion nota puntos estrellas puntaje "
    "note points etoiles "
    "punktzahl punkte bewertung bestnote sterne punkten "
    "pontuacao pontos estrelas "
    "балл балла баллов оценку оценка очков балів "
    "alama pointi "
    "punteggio voto punti cijfer score punten punktow ocene nilai skor poin puani puan",
    "M": "maxima maximo completa alta perfecta "
    "maximale maximal maximum parfaite elevee meilleure complete "
    "volle vollen hochste hochsten maximale perfekte bestmogliche "
    "perfeita total "
    "максимальныи максимальную высшии высшую наивысшии наивысшую полныи самыи самую "
    "kamili juu zote "
    "massimo massima pieno maksymalna najwyzsza maksimum maksimal tertinggi sempurna tam",
    "t": "mi esta este me minha meu ma ce cette mir diese dieser dieses meine этому этот мне мои "
    "моему hii langu yangu questa questo deze dit",
    "w": "respuesta reponse antwort resposta ответ ответу jibu risposta antwoord yanit jawaban",
    "v": "devuelve responde escribe imprime reponds repondez ecris ausgeben antworte schreibe "
    "responda escreva выведи ответь напиши",
    "l": "solo solamente unicamente seulement uniquement nur apenas somente только tu pekee",
}

SIGNS: dict[str, str] = {
    ",": ",、，،",
    ":": ":",
    '"': "\"“”„«»'‘’`",
    "/": "/",
    "%": "%",
}
"""Punctuation inside a sentence, by class."""

STOPS = "\n.!?;()[]{}<>|#=&+@^$…。！？؟।॥۔·•–—→←✓―‣◦¿¡§"
"""What ends a sentence; with it comes the pair of hyphens."""
