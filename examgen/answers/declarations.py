"""Where a reply declares a letter, and whether the declaration is firm: not negated, supposed, quoted or asked."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["label", "sentence", "box", "subject"]

_WRAP_IN = (
    r"[\s*_`\"'“”‘’«»「」『』【〔\[({<$]*"
    r"(?:\\(?:boxed|textbf|text|mathbf|mathrm|mathsf|bf|rm|bm|fbox|underline)\s*\{?[\s({\[*$]*)*"
)
_OPTION_WORD = (
    r"(?:(?:option|choice|letter|answer|选项|选择|opción|opcion|opção|alternativa|Antwort|вариант|選択肢|보기)\s*)?"
)
_LETTER = _WRAP_IN + _OPTION_WORD + _WRAP_IN + r"(?P<letter>[A-Za-z])"

_LABELS = (
    r"answer|ans|choice|option|selection|response|pick|prediction|result|solution|decision|conclusion|guess|verdict|"
    r"letter|correct"
)
_FOREIGN = (
    r"答案|回答|答え|答|解答|正解|정답|답|antwort|réponse|reponse|respuesta|risposta|resposta|odpowiedź|odpověď|ответ|"
    r"відповідь|απάντηση|الإجابة|الجواب|उत्तर|svar|vastaus|antwoord|cevap|yanıt|jawaban|đáp án|trả lời|คำตอบ|תשובה"
)
_LABEL = re.compile(
    rf"(?<![A-Za-z-])(?:(?P<name>{_LABELS})|(?P<foreign>{_FOREIGN}))(?:\s*\([^)\n]{{0,20}}\))?"
    rf"(?:\s+(?:correcta|corretta|correta|correcte|finale?|final|richtig))?[\s*_`\"'”]*"
    rf"(?P<mark>[:=→⇒]|-+>|[:：])(?P<gap>[\s*_`]*){_LETTER}",
    re.I,
)
_SENTENCE_FORMS = (
    rf"(?:{_LABELS})\s*(?:[\"'*_`]*\s*)?(?:to\s+(?:the\s+|this\s+)?(?:question|item|problem)(?:\s+\d+)?\s+|here\s+|clearly\s+|therefore\s+|thus\s+)?(?:is|would\s+be|should\s+be|must\s+be|has\s+to\s+be|remains|becomes|=)"
    r"(?:\s+(?:therefore|thus|clearly|definitely|probably|likely|most\s+likely|indeed|simply|still|now|in\s+fact))?"
    r"(?:\s*[:,]\s*|\s+)",
    r"(?:I|we)(?:\s+(?:would|will|shall|must|do|can|have\s+to|am\s+going\s+to|therefore|thus|now|still|confidently|finally)|['’](?:d|ll|m))*"
    r"\s+(?:choose|pick|select|opt\s+for|go\s+with|going\s+with|choosing|picking|selecting|settle\s+on|answer|say|vote\s+for)(?:\s+with)?\s*[:,]?\s*",
    r"^\W*(?:choose|pick|select|go\s+with|going\s+with|choosing)\s*[:,]?\s*",
    r"(?:die\s+(?:richtige\s+|korrekte\s+)?antwort\s+(?:ist|lautet)|la\s+(?:bonne\s+)?réponse\s+(?:correcte\s+)?est"
    r"|la\s+respuesta\s+(?:correcta\s+)?es|la\s+risposta\s+(?:corretta\s+)?è|a\s+resposta\s+(?:correta\s+)?é"
    r"|(?:правильный\s+)?ответ\s*[—–-]|(?:正确)?答案(?:是|为|應為|应为)|正解は|答えは|정답은)\s*[:：]?\s*",
)
_SENTENCE = tuple(re.compile(r"(?<![A-Za-z-])" + form + _LETTER, re.I | re.M) for form in _SENTENCE_FORMS)
_SUBJECT = re.compile(
    rf"(?<![A-Za-z0-9'’-])(?i:(?:so|thus|therefore|hence)\s*,?\s*)?{_WRAP_IN}(?i:(?:option|choice|answer|letter)\s+)?{_WRAP_IN}(?P<letter>[A-J])[\s*_`\"')\]}}]*"
    r"\s+(?:is|remains)\s+(?:therefore\s+|thus\s+|clearly\s+|definitely\s+|indeed\s+|most\s+likely\s+)?(?:the\s+|my\s+)?(?:single\s+|only\s+|most\s+likely\s+)?"
    r"(?:correct|right|best|final)(?=\s*(?:[.,;:!*)\n]|$|answer|option|choice|one\b|because|since|as\b|here))"
)
_CLAUSE_START = re.compile(
    r"(?:^|[.!?;:,\n。；，—–*_`\"'(\[>-]|\b(?:and|that|so|therefore|thus|hence|but|because|since|only|then|is|conclude|think|believe))\s*$",
    re.I,
)
_BOXES = (
    re.compile(
        r"\\(?:boxed|fbox)\s*\{[\s*$({\[]*(?:\\(?:text|textbf|mathbf|mathrm|mathsf|bf|rm|bm)\s*\{?[\s({\[*]*)*"
        r"(?:(?:option|answer|choice)\s*[:~]?\s*)?(?P<letter>[A-Za-z])(?:[\s)}\].*$]*\}|[.):]\s[^{}\n]*\})",
        re.I,
    ),
    re.compile(r"\[\[\s*(?P<letter>[A-Za-z])\s*\]\]"),
    re.compile(
        r"<\s*(?P<tag>answer|final_answer|finalanswer|choice|final|ans|option|response)\s*>\s*[\"'*_`(\[{$]*\s*"
        r"(?:(?:option|answer|choice)\s*:?\s*)?(?P<letter>[A-Za-z])[\s.)\]*_`\"'}$]*<\s*/\s*(?P=tag)\s*>",
        re.I,
    ),
    re.compile(r"^\s*####\s*(?P<letter>[A-Za-z])\s*\.?\s*$", re.M),
)

_NOT_FIRM_BEFORE = re.compile(
    r"\b(?:not|n['’]t|never|neither|nor|"
    r"previous|earlier|initial|initially|first|original|tempting|common|popular|trap|usual|typical|naive|obvious|"
    r"if|unless|suppose|supposing|assuming|whether|had|were|might\s+have|would\s+have|could\s+have|when|once|until|provided|"
    r"think|thinks|thought|believe|believes|believed|say|says|said|claim|claims|claimed|argue|argues|argued|suggests?|state[sd]?|"
    r"told|tells?|wrote|writes?|according|reported|readers|people|students|colleagues?|some|many|most\s+(?:readers|people|students)|"
    r"textbooks?|guidelines?|user|expected|hoped|pretend|imagine|example|instance|format|e\.g|such\s+as|like|"
    r"cannot|can['’]t|could|may|almost|nearly|between|except|but\s+for|anything\s+but|excluding|eliminat\w+|rul\w+\s+out|reject\w*|"
    r"nicht|pas|kein|kaum|falsch\w*|fausse|incorrecta|falsa|不是|错误|не|неверн\w+)(?![A-Za-z])",
    re.I,
)
_OTHER_THAN_RIGHT = re.compile(
    r"\b(?:incorrect|wrong|worst|false|least|distractor|second[- ]best|runner[- ]up|alternative|other)\b", re.I
)
_NEXT_CLAUSE = re.compile(r";|,?\s+(?:but|and|whereas|while)\s+(?=(?:the|my|option|I|we)\b)", re.I)
_SELF = re.compile(
    r"\bI(?:['’](?:d|m|ll))?\s+(?:would\s+|will\s+|must\s+|have\s+to\s+|firmly\s+|therefore\s+)?(?:say|think|believe|conclude|am)\b"
    r"|\bI['’]m not (?:certain|sure|entirely sure|100% sure|completely sure|a doctor)\b|\bnot (?:certain|sure"
    r"|entirely sure),?\s+but\b"
    r"|\bmost likely\b|\bI (?:can(?:no|['’])t|do(?:n['’]t| not)) (?:be sure|give|provide|know)[^.;]*?\b(?:but"
    r"|however)\b",
    re.I,
)
_REJECTED_AFTER = re.compile(
    r"^[\s*_`\"')\]}.]*(?:\s*,)?\s*(?:is|was|are|would\s+be|seems|looks|can\s+be)\s+(?:clearly\s+|definitely\s+|also\s+|probably\s+)?(?:n['’]t|not|wrong|incorrect|false|excluded|"
    r"ruled|eliminated|unlikely|invalid|impossible|out\b|tempting)|^[\s*_`\"')\]}]*(?:isn['’]t|is\s+not|cannot|can['’]t|does\s+not|doesn['’]t|"
    r"fails|was\b|might|may|could|would\b)|^[\s*_`\"')\]}.:,–—-]*(?:incorrect|wrong|false|no\b|not\s+correct|excluded|eliminated|×|✗|❌)",
    re.I,
)
_CONDITION_AFTER = re.compile(
    r"^[\s*_`\"')\]}]*,?\s*(?:only\s+)?(?:if|unless|assuming|provided|supposing|when|had\b|otherwise|except|until|depending)\b",
    re.I,
)
_MORE_AFTER = re.compile(
    r"^[\s*_`\"')\]}.]*\s*(?:(?:,|/|&|\+|、|，|\||and|or|und|oder|et|ou|y|o|e|和|或|vs\.?|versus|to|through"
    r"|und/oder|and/or|,\s*(?:and|or)|as well as|but also|plus)\s*)"
    r"(?:(?:also|maybe|possibly|perhaps|then|either|even|option|choice|answer)\s+)*[\s*_`\"'(\[{]*(?P<other>[A-Za-z])(?![A-Za-z0-9'’])"
)
_RANGE_AFTER = re.compile(r"^\s*[-–—~]\s*[A-J](?![A-Za-z0-9])")
_PART_OF_WORD = re.compile(r"^(?:[A-Za-z0-9_'’&/\\%°²³α-ω+^]|-[A-Za-z0-9])")
_SHARE_AFTER = re.compile(r"^[\s*_`\"')\]}:=]*\(?\s*(?:p\s*=\s*)?\d+(?:\.\d+)?\s*%?")
_PLAIN_END = re.compile(
    r"^[\s]*(?:$|[.,;:!)\]}>*_`\"'”’»」』】$|\n。，；！、）]|\\|[-–—]\s|\((?!\s*\d+\s*%?\s*\)\s*,)|(?:です|だ|입니다|项|選|选)|(?:because|since|here\b|as\s+(?:the|it|this|that)|due\s+to|based\s+on|for\s+the\s+reason|with\s+\d|weil|da\b|car\b|porque)\b|→)",
    re.I,
)
_CLEAR_END = re.compile(
    r"^[ \t]*(?:$|\n|[.!)\]}>*_`\"'”’»」』】$。！）]|\\|,\s*(?:because|since|as\b)|\s(?:because|since)\b|\s[-–—(])",
    re.I,
)

CORRECTION = re.compile(
    r"\b(?:wait|hold\s+on|actually|correction|scratch\s+that|on\s+second\s+thoughts?|on\s+reflection|i\s+was\s+wrong|i\s+made\s+(?:a|an)\s+(?:mistake|error)|"
    r"my\s+mistake|let\s+me\s+(?:reconsider|correct|re-?think|re-?check|revise)|reconsider(?:ing|ed)?|re-?examin\w+|i\s+retract|changed?\s+my\s+mind|sorry|oops|apolog\w+|"
    r"hmm|rather|instead|moment\s*mal|korrektur|revis(?:ed|ing)|updated?|corrected)\b|更正|等等",
    re.I,
)
CONCLUSION = re.compile(
    r"\b(?:therefore|thus|hence|so|in\s+conclusion|in\s+summary|to\s+conclude|overall|final(?:ly)?|ultimately|all\s+things\s+considered|conclusion|"
    r"altogether|in\s+the\s+end|correct\s+(?:answer|option|choice))\b|综上|所以|因此|最终",
    re.I,
)


@dataclass(frozen=True)
class Declaration:
    """A letter declared as the answer at `start`-`end` of the text; `firm` when nothing takes it back."""

    letter: str
    start: int
    end: int
    kind: Kind
    firm: bool
    several: bool = False


def sentence_before(text: str, place: int) -> str:
    """What stands before `place` in its sentence or line."""
    start = 0
    for found in re.finditer(r"(?<!\be\.g)(?<!\bi\.e)[.!?;。！？；](?=\s|[*_`\"'])|\n", text[:place]):
        start = found.end()
    return text[start:place]


def sentence_after(text: str, place: int) -> str:
    """What stands from `place` to the end of its sentence or line, with the mark that ends it."""
    found = re.search(r"[.!?。！？](?=\s|$)|\n", text[place:])
    return text[place : place + found.end()] if found else text[place:]


def _readable(letter: str, kind: Kind, marked: bool, before: str, after: str) -> bool:
    """Whether the letter is a letter: not an article, a pronoun, a word's initial or part of a term."""
    if kind in ("box", "subject"):
        return True
    if _PART_OF_WORD.match(after) and not after.startswith("\\"):
        return False
    wrapped = (
        bool(before) and before[-1] in "*_`\"'“‘([{<「『【$" and bool(re.match(r"\s*[*_`\"'”’)\]}>」』】$]", after))
    )
    if wrapped:
        return True
    if letter.islower():
        if letter in "ai" and not marked:
            return False
        return bool(_CLEAR_END.match(after))
    if letter in "AI" and not _CLEAR_END.match(after):
        return bool(re.match(r"^[,;:]", after)) and letter == "A"
    return bool(_PLAIN_END.match(after))


def _judge(text: str, found: re.Match[str], kind: Kind, allowed: str, marked: bool) -> Declaration | None:
    raw = found.group("letter")
    start, end = found.start("letter"), found.end("letter")
    after = text[end : end + 160]
    if not _readable(raw, kind, marked, text[:start], after):
        return None
    letter = raw.upper()
    rest = sentence_after(text, end)
    more = _MORE_AFTER.match(after)
    several = bool(_RANGE_AFTER.match(after)) or bool(
        more
        and more.group("other") != "a"
        and more.group("other").upper() in allowed
        and more.group("other").upper() != letter
        and (more.group("other").isupper() or raw.islower())
    )
    begin = found.start() + len(found.group()) - len(found.group().lstrip())
    lead = _SELF.sub(" ", sentence_before(text, begin))
    held = (
        _NOT_FIRM_BEFORE.search(lead)
        or _OTHER_THAN_RIGHT.search(_NEXT_CLAUSE.split(lead)[-1])
        or _REJECTED_AFTER.match(after)
        or _CONDITION_AFTER.match(after)
        or rest.rstrip().endswith(("?", "?"))
        or (kind != "box" and _SHARE_AFTER.match(after) and not re.match(r"^[\s*_`\"')\]}]*\(", after))
    )
    negated = kind == "sentence" and re.search(r"\bnot\b|n['’]t\b", text[found.start() : start])
    return Declaration(
        letter, start, end, kind, firm=letter in allowed and not held and not negated and not several, several=several
    )


def declarations(text: str, allowed: str) -> list[Declaration]:
    """Every declaration in order of place, firm or not; the same letter at the same place once."""
    found: dict[int, Declaration] = {}
    for pattern in _BOXES:
        for match in pattern.finditer(text):
            _keep(found, _judge(text, match, "box", allowed, True))
    for match in _LABEL.finditer(text):
        _keep(found, _judge(text, match, "label", allowed, True))
    for pattern in _SENTENCE:
        for match in pattern.finditer(text):
            _keep(found, _judge(text, match, "sentence", allowed, False))
    for match in _SUBJECT.finditer(text):
        if _CLAUSE_START.search(text[: match.start()]):
            _keep(found, _judge(text, match, "subject", allowed, False))
    return [found[place] for place in sorted(found)]


def _keep(found: dict[int, Declaration], declaration: Declaration | None) -> None:
    if declaration is not None and declaration.start not in found:
        found[declaration.start] = declaration
