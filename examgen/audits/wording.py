"""Wording: phrases that betray the source or the order of the options, explanations against the key, trivia, mere
recall.

All after the audits of MS-Exam-Gen (arXiv 2610.06170); the patterns are ours.
"""

from __future__ import annotations

import re

from examgen.audits.items import AuditItem, content_stems, sentences, words
from examgen.audits.observations import Observation, absent, counted, yes
from examgen.ids import normalised

_TEXTS = (
    r"(?:passages?|excerpts?|extracts?|snippets?|paragraphs?|provided (?:context|text|material|source|document|"
    r"evidence)s?|"
    r"(?:given|supplied|above|preceding|source|reference) (?:context|text|material|document|paragraph)s?|context "
    r"provided)"
)
_HIDDEN = re.compile(
    rf"\b(?:according to|based on|per|as (?:described|stated|mentioned|discussed|noted|shown|reported|outlined|"
    rf"defined) (?:in|by)|"
    rf"(?:described|stated|mentioned|discussed|noted|reported|presented|outlined|provided|listed|given) in) "
    rf"(?:the|this|these|that) (?:{_TEXTS}|(?:text|article|paper|chapter|author|authors|guideline document|review "
    rf"article|"
    r"study above|source|slide|lecture|transcript|table above|figure above|text above|section above))\b"
    r"(?! (?:message|editor|of time|of the bill|of legislation|file|box|of this bill|code))"
    rf"|\bthe {_TEXTS} (?:states?|says?|mentions?|describes?|indicates?|suggests?|reports?|notes?|lists?|provides?)\b"
    r"|\b(?:the|this) (?:study|article|text|paper|document|review|guideline|trial|table|figure|section|chapter) "
    r"(?:above|below|described above|mentioned above)\b"
    r"|\bas (?:described|stated|mentioned|discussed|noted|shown|defined) (?:above|earlier|previously)\b"
    r"|\bthe authors? (?:of (?:this|the) (?:study|article|paper|review|text|passage) )?(?:states?|conclude[sd]?|"
    r"reports?|"
    r"mentions?|describes?|suggest(?:s|ed)?|recommends?|argues?|notes?)\b"
    r"|\b(?:in|from|of) (?:this|the present|the current) (?:article|paper|review article|chapter|excerpt|passage|"
    r"snippet)\b"
    r"|\b(?:chunk|passage|snippet|excerpt|source|document) (?:\[?\d+\]?|[A-D]\b)",
    re.IGNORECASE,
)
_THIS_STUDY = re.compile(r"\bin (?:this|the present|the current) (?:study|trial|review)\b", re.IGNORECASE)
_SHOWN = re.compile(
    r"\b(?:following|below|above)\s+(?:information|passages?|excerpts?|texts?|paragraphs?|extracts?|quotations?|quotes?|"
    r"statements?|documents?|poems?|speech|letter|scenario|case|table|data)\b|\brefers? to the\b",
    re.IGNORECASE,
)


def hidden_passage(item: AuditItem) -> Observation:
    """Phrases in stem or options that point at a text the examinee cannot see ("according to the passage").

    A stem that shows its passage ("refers to the following excerpt ...") may point at it, and one of more than thirty
    words may have described "this study" itself.
    """
    if _SHOWN.search(item.stem) and len(item.stem_words) > 40:
        return counted(())
    found = [m.group() for text in (item.stem, *item.options) for m in _HIDDEN.finditer(text)]
    if len(item.stem_words) <= 30:
        found += [m.group() for m in _THIS_STUDY.finditer(item.stem)]
    return counted(found)


def hidden_passage_explained(item: AuditItem) -> Observation:
    """The same phrases in the explanation, where they are a blemish rather than a fault."""
    return counted(m.group() for m in _HIDDEN.finditer(item.explanation))


_VERDICT = r"(?:in)?correct|wrong|right|true|false|best|not (?:correct|right|true)|the (?:correct|right|best|only)"
_NOUN = r"(?:options?|choices?|answers?|alternatives?|distractors?|letters?|answer choices?)"
_LABEL = re.compile(
    rf"\b(?i:{_NOUN})\s*(?:(?i:is|was)\s+|:\s*)?[\"'“(]?(?P<a>[A-J])[\"'”)]?(?=\s*(?:[.,;:!?)]|$|(?:is|was|are|were|and|or|but|"
    r"because|since|describes?|refers?|states?|confuses?|reflects?|represents?|would|does|has|can(?:not)?|overstates?)\b))"
    rf"|(?:^|[.;:!?]\s+|\b(?:Why|why|not)\s+)\(?(?P<b>[A-J])\)?\s+(?:is|was)\s+(?:therefore\s+|thus\s+|clearly\s+)?(?:{_VERDICT})\b"
    r"|(?<!itamin )(?<!itamins )(?<!epatitis )(?<!type )(?<!types )(?<!group )(?<!groups )(?<!factor )(?<!class "
    r")(?<!stage )"
    rf"\b(?P<c>[A-J])(?:,\s*[A-J])*,?\s+(?:and|or)\s+[A-J]\s+(?:are|were|is)\s+(?:all\s+|both\s+)?(?:{_VERDICT})\b"
    rf"|\((?P<d>[A-J])\)\s+(?:is|was|are)\b"
    rf"|(?:^|[.;:!?\n]\s*)\(?(?P<e>[B-HJ])[):]\s+\w"
    r"|\b(?i:the)\s+(?P<f>first|second|third|fourth|last)\s+(?:option|choice|answer|alternative|distractor)\b"
)


def label_reference(item: AuditItem) -> Observation:
    """References of the explanation to a letter or place of an option, wrong after any shuffle ("option B is ...").

    Letters that name things (vitamin B, hepatitis C, group A) and the article "a" are no labels.
    """
    if not item.explanation.strip():
        return absent()
    return counted(match.group().strip() for match in _LABEL.finditer(item.explanation))


_NAMED_RIGHT = re.compile(
    r"\b(?:correct|right|best|keyed)\s+(?:answer|option|choice|response|one|key)\s*(?:is|was|would be|"
    r":)\s*(?P<text>[^\n]{1,300})",
    re.IGNORECASE,
)


def explanation_contradiction(item: AuditItem) -> Observation:
    """The explanation names as right a letter that is not the key's, or the text of a distractor."""
    if not item.explanation.strip() or not item.key_known:
        return absent()
    found = []
    for match in _NAMED_RIGHT.finditer(item.explanation):
        named = match["text"].strip(" \"'“(")
        letter = re.match(r"([A-J])(?:[.):,;\"”]|\s*$|\s+(?:because|since|as)\b)", named)
        if letter and letter[1] != item.key_letter:
            found.append(f"names {letter[1]}, the key is {item.key_letter}")
        fits = [
            place
            for place, text in enumerate(item.options)
            if normalised(text) and re.match(rf"{re.escape(normalised(text))}(?!\w)", normalised(named))
        ]
        longest = max(fits, key=lambda place: len(item.options[place]), default=item.key)
        if longest != item.key:
            found.append(f"names {item.options[longest]!r} as right")
    for match in re.finditer(r"(?:^|[.;]\s+)\(?([A-J])\)? is (?:the )?(?:correct|right|best)\b", item.explanation):
        if match[1] != item.key_letter:
            found.append(f"names {match[1]} as right, the key is {item.key_letter}")
    return counted(found)


def explanation_favours_distractor(item: AuditItem) -> Observation:
    """Distractors whose distinguishing words all stand in the explanation while none of the key's does."""
    if not item.explanation.strip() or not item.key_known:
        return absent()
    told = set(content_stems(words(item.explanation)))
    shared = frozenset.intersection(*item.option_stems) if item.option_stems else frozenset()
    own = [stems - shared for stems in item.option_stems]
    if not own[item.key] or own[item.key] & told:
        return counted(())
    return counted(item.options[place] for place in item.distractors if own[place] and own[place] <= told)


_TRIVIA = re.compile(
    r"\b(?:who|which (?:author|authors|researcher|researchers|group)) (?:authored|published|is the (?:first|lead|"
    r"senior|corresponding) author|"
    r"(?:first )?reported (?:this|the) (?:study|paper|article))\b"
    r"|\b(?:first|lead|senior|corresponding) author of\b|\bauthors? of (?:this|the) (?:study|paper|article|review|"
    r"guideline)\b"
    r"|\b(?:which|what) (?:journal|publisher|doi|issue|volume(?: number)?|page number|figure number|table number|"
    r"reference number)\b"
    r"|\b(?:in|during) (?:which|what) (?:year|month)\b[^?]{0,120}\b(?:published|written|submitted|printed)\b"
    r"|\bwhen (?:was|were)\b[^?]{0,80}\b(?:paper|article|study|guideline|guidelines|criteria|recommendations|"
    r"review)\b[^?]{0,40}\bpublished\b"
    r"|\b(?:was|were) (?:first )?published (?:in(?: the)?(?: year| journal)?|by)\s*(?:_+)?[.:?]?\s*$"
    r"|\bpublication (?:year|date)\b|\byear of publication\b"
    r"|\b(?:in|from|of|see) (?:supplementary )?(?:table|figure|fig\.|appendix|box|panel) (?:\d+|[IVX]+)\b"
    r"|\b(?:table|figure|fig\.) \d+[a-z]? (?:shows?|lists?|of the)\b"
    r"|\bhow many (?:references|authors|pages|tables|figures)\b|\bwhat is the title of (?:the|this) (?:paper|"
    r"article|study|document)\b",
    re.IGNORECASE,
)
_CITATION = re.compile(r"^[A-Z][\w'’-]+(?: et al\.?| and [A-Z][\w'’-]+)?,? \(?(?:19|20)\d\d\)?\.?$")


def superficial_trivia(item: AuditItem) -> Observation:
    """Asks for bibliography instead of knowledge: authors, journal, year of publication, number of a table or
    figure.
    """
    found = [match.group() for match in _TRIVIA.finditer(item.stem)]
    if len(item.options) > 1 and all(_CITATION.match(option.strip()) for option in item.options):
        found.append("every option is a citation")
    return counted(found)


_RECALL = re.compile(
    r"^(?:what|which|who|when|where) (?:is|are|was|were) (?:the )?(?:full )?(?:definition|name|meaning|abbreviation|"
    r"acronym|term)\b"
    r"|\bstands? for\s*[?:.]?$|\bis (?:best )?(?:defined as|called|known as|termed|referred to as)\s*[?:.]?$"
    r"|^(?:define|name|list|identify|recall)\b|\bwhich of the following (?:best )?(?:defines?|is the definition)\b"
    r"|^which of the following (?:statements? )?(?:is|are) (?:true|correct)\s*\??$",
    re.IGNORECASE,
)
_BARE_WHAT = re.compile(r"^(?:what|who) (?:is|are|was|were) [^?]{1,60}\?$", re.IGNORECASE)


def recall_stem(item: AuditItem) -> Observation:
    """The stem asks for a definition, a name or an expansion, or is one short "What is X?" with no situation
    around it.
    """
    lead = item.lead_in.strip()
    bare = len(sentences(item.stem)) == 1 and len(item.stem_words) <= 10 and _BARE_WHAT.match(lead)
    return yes(bool(_RECALL.search(lead) or bare), lead)
