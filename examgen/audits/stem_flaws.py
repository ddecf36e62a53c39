"""Item-writing flaws of the stem. NBME = NBME Item-Writing Guide (2020), ch. 3; HDR = Haladyna, Downing & Rodriguez,
Applied Measurement in Education 15 (2002) 309-333.
"""

from __future__ import annotations

import re

from examgen.audits.items import AuditItem
from examgen.audits.observations import Observation, counted, yes

_AUXILIARY = r"(?:is|are|was|were|does|do|did|would|should|could|can|may|might|has|have|had|will|must)"
_NEGATIVE = re.compile(
    rf"\b(?P<a>except)(?: for)?\s*[:?.]*\s*$|\b(?:all|each|every) of (?:the following|these)\b.*\b(?P<b>except|but)\b"
    rf"|(?:\b(?:which|what)|(?:^|[,;:] )who)(?: one)?(?: of (?:the )?(?:following|these|above|listed)(?: (?!who\b|"
    rf"that\b|whom\b)[\w'-]+){{0,8}}?)?(?: (?!who\b|that\b|whom\b)[\w-]+){{0,4}}? "
    rf"{_AUXILIARY}(?: (?P<c>not|least|never)\b|(?P<d>n['’]t)\b)"
    rf"|\b(?P<e>least) (?:likely|appropriate|suitable|probable|useful|important|accurate|common|consistent)\b"
    rf"|\bwhich (?:one )?(?:of (?:the )?(?:following|these|above)[^?]{{0,60}} )?{_AUXILIARY} (?:an? |the "
    rf")?(?P<f>incorrect|false|untrue|wrong|inaccurate)\b"
    rf"|\b(?:following|which) [^?.]{{0,60}}\b(?:is|are) (?P<g>not) (?:a|an|the|true|correct|associated|part|one|"
    rf"considered|characteristic)\b",
    re.IGNORECASE,
)


def _negative(item: AuditItem) -> re.Match[str] | None:
    return _NEGATIVE.search(item.lead_in)


def _operator(match: re.Match[str]) -> tuple[str, int]:
    name = next(name for name in "abcdefg" if match[name])
    return match[name], match.start(name)


def negative_stem(item: AuditItem) -> Observation:
    """The lead-in asks for what is not so ("which is NOT", "all except", "least likely").

    A "not" that describes the case ("a patient who does not respond") asks nothing. NBME, HDR: avoid negatives.
    """
    match = _negative(item)
    return yes(match is not None, match.group() if match else "")


def unmarked_negative(item: AuditItem) -> Observation:
    """A negative lead-in whose negative word is neither in capitals nor in bold or italics, so that readers
    overlook it.

    HDR: if negatives must be used, emphasise them.
    """
    match = _negative(item)
    if match is None:
        return counted(())
    word, start = _operator(match)
    around = item.lead_in[max(0, start - 3) : start + len(word) + 4]
    marked = word.isupper() or re.search(r"[*_]{1,2}\w|</?(?:b|strong|em|i|u)>|\"\w+\"", around) is not None
    return yes(not marked, match.group())


_NEGATED = re.compile(r"\b(?:not|no|never|without|none|neither|cannot|nor)\b|n['’]t\b|\bnon-", re.IGNORECASE)


def double_negative(item: AuditItem) -> Observation:
    """Options with a negation under a negative lead-in. NBME, HDR: the reader has to resolve two negatives."""
    if _negative(item) is None:
        return counted(())
    return counted(option for option in item.options if _NEGATED.search(option))


_BLANK = re.compile(r"(?<!\w)_{2,}(?!\w)|\.{5,}|\[\s*blank\s*\]|\(\s*blank\s*\)", re.IGNORECASE)


def inner_blank(item: AuditItem) -> Observation:
    """A blank to fill inside the stem; one at its very end only marks where the options go on.

    HDR: use question or completion format, no fill-in blanks. Underscores of program text (`__init__`) are no blanks.
    """
    blanks = list(_BLANK.finditer(item.stem))
    inner = [m for m in blanks if item.stem[m.end() :].strip(" .?:;\"'”)")]
    return counted(item.stem[max(0, m.start() - 20) : m.end() + 20] for m in inner)


_FURNITURE = re.compile(
    r"\b(?:which|what|who|one|ones|of|the|following|above|these|those|is|are|was|were|be|best|most|correct|true|false|incorrect|"
    r"statements?|options?|answers?|choices?|select|choose|pick|identify|regarding|concerning|about|a|an|to|that|for|in|with|"
    r"right|wrong|accurate|appropriate|likely|not|except|all|describes?|following)\b",
    re.IGNORECASE,
)
_ASKING = re.compile(
    r"\b(?:which|what|who|whom|whose|where|when|why|how|select|choose|pick|identify|calculate|compute|find|determine|evaluate|solve|"
    r"simplify|estimate|give|name|state|decide|indicate|assume|suppose|complete|match|express|write|predict|consider|classify|describe|explain|compare|"
    r"statement 1|statement 2|true or false|is|are|does|do|can|will|should)\b",
    re.IGNORECASE,
)


def unfocused_stem(item: AuditItem) -> Observation:
    """Covering the options leaves no question: fewer than two words beside "which of the following is true" and the
    like, or a bare topic or statement that ends in a full stop and asks nothing.

    NBME, HDR: cover-the-options rule. (Whether a focused stem can be answered is for a reader or a model.)
    """
    own = [word for word in _FURNITURE.sub(" ", item.stem).split() if re.search(r"[\w=+<>∈]", word)]
    named = re.match(r"\s*(?:what|who) (?:is|are|was|were) ", item.stem, re.IGNORECASE) is not None
    if len(own) < (1 if named else 2) and len(item.stem) < 60:
        return yes(True, item.stem[:100])
    topic_only = len(item.stem_words) <= 4 and not item.asks and not _ASKING.search(item.stem)
    closed = item.stem.rstrip().endswith(".") and not item.stem.rstrip().endswith("..") and not _BLANK.search(item.stem)
    statement = closed and not _ASKING.search(item.lead_in) and not _ASKING.search(item.stem)
    return yes((topic_only and closed) or statement, item.lead_in[:100])


_STATEMENTS = re.compile(
    r"\bwhich (?:one )?(?:of (?:the )?(?:following|these|above) |statements? |answers? )?(?:statements? |sentences? "
    r"|claims? |assertions? |conclusions? )?"
    r"(?:about [^?]{1,80} |regarding [^?]{1,80} |concerning [^?]{1,80} )?(?:is|are) (?:the )?(?:most )?(?:true|"
    r"correct|accurate|right|false|incorrect|not true)"
    r"(?: (?:about|of|regarding|concerning|for)\b[^?]{0,120}| statements?)?\s*\??$",
    re.IGNORECASE,
)


def statement_lead_in(item: AuditItem) -> Observation:
    """The lead-in only asks which statement is true ("which of the following is correct about X?"): a true-false
    family.

    NBME: such stems pose no one question and their options cannot be ranked on one dimension.
    """
    lead = item.lead_in.strip()
    return yes(bool(_STATEMENTS.search(lead)), lead)


_OPINION = re.compile(
    r"\b(?:do|would|should) you (?:think|believe|feel|consider|prefer|like|recommend)\b|\bin your (?:opinion|view|"
    r"experience|judg(?:e)?ment)\b"
    r"|\bwhat is your (?:opinion|favou?rite|view|preference)\b|\bhow do you feel\b",
    re.IGNORECASE,
)


def opinion_stem(item: AuditItem) -> Observation:
    """The stem asks what the examinee thinks, believes or prefers. HDR: avoid opinion-based items."""
    return counted(match.group() for match in _OPINION.finditer(item.stem))
