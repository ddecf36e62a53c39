"""Words that carry a checkable detail, spelled once: number words, units, comparators, opposites, sites, drug
endings.
"""

from __future__ import annotations

_TEENS = """
zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen
eighteen nineteen twenty
"""
NUMBER_WORDS: dict[str, str] = {word: str(value) for value, word in enumerate(_TEENS.split())} | {
    "thirty": "30",
    "forty": "40",
    "fifty": "50",
    "hundred": "100",
    "half": "0.5",
    "once": "1",
    "twice": "2",
}
"""Number words and their values in digits."""

_UNIT_SPELLINGS: dict[str, str] = {
    "mm": "mm millimetre millimetres millimeter millimeters",
    "cm": "cm centimetre centimetres centimeter centimeters",
    "m": "m metre metres meter meters",
    "km": "km kilometres kilometers",
    "µm": "µm μm um micrometre micrometres",
    "T": "T tesla Tesla",
    "%": "% percent",
    "mg": "mg milligram milligrams",
    "g": "g gram grams",
    "kg": "kg",
    "µg": "µg μg mcg microgram micrograms",
    "mL": "mL ml millilitre millilitres",
    "L": "L litre litres liters",
    "mmol": "mmol",
    "mol": "mol",
    "mmol/kg": "mmol/kg",
    "mmol/L": "mmol/L mmol/l",
    "mg/kg": "mg/kg",
    "mg/dL": "mg/dL",
    "year": "year years yr yrs",
    "month": "month months",
    "week": "week weeks wk wks",
    "day": "day days",
    "hour": "hour hours h hr hrs",
    "minute": "minute minutes min mins",
    "second": "second seconds s sec",
    "ms": "ms millisecond milliseconds",
    "Hz": "Hz",
    "kHz": "kHz",
    "MHz": "MHz",
    "GHz": "GHz",
    "V": "V volts volt",
    "W": "W watt watts",
    "J": "J joule joules",
    "N": "N newton newtons",
    "Pa": "Pa",
    "kPa": "kPa",
    "mmHg": "mmHg",
    "°C": "°C",
    "K": "K",
    "eV": "eV",
    "segment": "segment segments",
    "lesion": "lesion lesions",
    "site": "site sites topography topographies region regions",
    "vertebra": "vertebra vertebrae",
    "$": "dollars",
    "fold": "fold",
    "degree": "degree degrees °",
    "IU": "IU units",
    "bpm": "bpm",
    "scan": "scan scans",
    "attack": "attack attacks",
    "plane": "plane planes",
    "relapse": "relapse relapses",
}
UNITS: dict[str, str] = {spelling: unit for unit, all_ in _UNIT_SPELLINGS.items() for spelling in all_.split()}
"""Spelling of a unit, as found after a number, and its one name."""

_COMPARATOR_PHRASES: dict[str, tuple[str, ...]] = {
    ">=": (
        "at least",
        "or more",
        "or greater",
        "or higher",
        "or longer",
        "or older",
        "no fewer than",
        "no less than",
        "not less than",
        "a minimum of",
        "minimum",
        "≥",
        ">=",
        "and above",
    ),
    "<=": (
        "at most",
        "or less",
        "or fewer",
        "or lower",
        "or shorter",
        "or younger",
        "no more than",
        "not more than",
        "up to",
        "a maximum of",
        "maximum",
        "≤",
        "<=",
        "not exceeding",
    ),
    ">": ("more than", "greater than", "higher than", "longer than", "larger than", "older than", "exceeding", ">"),
    "<": ("less than", "fewer than", "lower than", "shorter than", "smaller than", "younger than", "<"),
    "above": ("above",),
    "below": ("below",),
    "before": ("before", "prior to"),
    "after": ("after", "following"),
    "within": ("within",),
    "exactly": ("exactly",),
    "only": ("only",),
    "all": ("all",),
    "most": ("most",),
}
COMPARATORS: dict[str, str] = {phrase: value for value, all_ in _COMPARATOR_PHRASES.items() for phrase in all_}
"""Comparing phrase and its one sign."""

_OPPOSITE_WORDS = """
present absent; presence absence; increase decrease; increased decreased; increases decreases; increasing
decreasing; high low; higher lower; anterior posterior; left right; unilateral bilateral; central peripheral;
centrally peripherally; short long; shorter longer; hyperintense hypointense isointense; symmetric asymmetric;
symmetrical asymmetrical; single multiple; acute chronic; transient persistent; required optional; mandatory
optional; proximal distal; medial lateral; superior inferior; dorsal ventral; perpendicular parallel; axial sagittal
coronal; positive negative; early late; earlier later; adult paediatric; adults children; men women; male female;
active inactive; sensitivity specificity; sensitive specific; cervical thoracic lumbar; benign malignant; large
small; larger smaller; thick thin; thicker thinner; include exclude; includes excludes; included excluded; mild
severe; deep superficial; rapid slow; relapsing progressive; upper lower; internal external; direct indirect;
permitted prohibited; better worse; gain loss; common rare; frequent infrequent; more less; accept reject; maximum
minimum; hot cold; open closed; true false; correct incorrect; reversible irreversible; stable unstable; focal
diffuse; enhancing non-enhancing; supports contradicts
"""
_OPPOSITE_SETS = [" ".join(group.split()) for group in _OPPOSITE_WORDS.split(";")]
OPPOSITES: dict[str, str] = {
    word: f"{group.split()[0]}:{word}" for group in reversed(_OPPOSITE_SETS) for word in group.split()
}
"""Word with an opposite, and the pair it belongs to with its own side."""

_PREFIX_GROUPS = """
hyper hypo iso; intra extra inter; supra infra; pre post; macro micro; uni bi; homo hetero; ipsi contra; endo exo;
ante retro; in ex; - non; - un; - in; - im; - dis; - a; over under; up down
"""
PREFIXES: tuple[tuple[str, ...], ...] = tuple(
    tuple("" if part == "-" else part for part in group.split()) for group in _PREFIX_GROUPS.split(";")
)
"""Contrary prefixes before one stem; "-" in the list above is no prefix at all."""

_SITE_NAMES = """
periventricular, juxtacortical, intracortical, cortical, infratentorial, supratentorial, brainstem, cerebellum,
cerebellar, thalamus, thalamic, pons, pontine, medulla, midbrain, putamen, hippocampus, hypothalamus, cortex, conus,
hemisphere, ventricle, chiasm, orbit, retina, meninges, leptomeningeal, temporal, frontal, parietal, occipital,
subcortical, callosum, callosal, striatum, caudate, pallidum, amygdala, insula, liver, kidney, lung, heart, spleen,
pancreas, spinal cord, optic nerve, optic chiasm, corpus callosum, basal ganglia, white matter, grey matter, gray
matter, area postrema, cerebral peduncle, middle cerebellar peduncle, internal capsule
"""
_SITES = [" ".join(name.split()) for name in _SITE_NAMES.split(",")]
TERMS: dict[str, str] = dict.fromkeys(_SITES, "site")
"""Terms of a closed class that carry a detail without a capital letter, and their kind."""

_DRUGS = """
mab tinib imod ciclovir navir pril sartan statin conazole cillin mycin cycline olol dipine prazole setron triptan
gliptin gliflozin glutide parin xaban gatran floxacin profen barbital azepam azolam cept limus ribine flunomide
fumarate tidine prednisolone dexamethasone interferon glatiramer trexate phosphamide platin rubicin metformin
warfarin aspirin lithium gadobutrol gadoterate gadopentetate gadodiamide
"""
DRUG_ENDINGS: tuple[str, ...] = tuple(_DRUGS.split())
"""Endings, and a few whole names, by which drugs are known."""
