"""The files of a corpus folder: what each is, told by its name, and which are left alone and why."""

from __future__ import annotations

import fnmatch
import os
import stat
from dataclasses import dataclass
from pathlib import Path

from examgen.errors import CorpusError
from examgen.study import Corpus

MEDIA_TYPES = {
    ".md": "text/markdown", ".markdown": "text/markdown", ".txt": "text/plain", ".text": "text/plain",
    ".html": "text/html", ".htm": "text/html", ".xhtml": "text/html", ".rst": "text/x-rst", ".csv": "text/csv",
    ".tsv": "text/tab-separated-values", ".xml": "application/xml", ".nxml": "application/xml",
    ".pdf": "application/pdf", ".epub": "application/epub+zip",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
}
"""Formats that are read, by the end of the file name."""

ZIPPED = frozenset(MEDIA_TYPES[end] for end in (".epub", ".docx", ".pptx"))
"""Formats that are zip archives inside."""

_ARCHIVES = (".zip", ".tar", ".gz", ".tgz", ".bz2", ".xz", ".7z", ".rar", ".zst")
_IMAGES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".gif", ".bmp", ".webp", ".dcm")
_OLD_OFFICE = (".doc", ".ppt", ".xls", ".rtf", ".odt", ".odp", ".xlsx")


@dataclass(frozen=True, slots=True)
class FileEntry:
    """A file found under the corpus folder; with a `reason` it is not opened at all."""

    path: str
    location: Path
    media_type: str
    bytes: int
    modified_ns: int
    reason: str = ""


def scan(folder: Path, corpus: Corpus) -> list[FileEntry]:
    """Every file under the folder in the order of its path, those left alone with the reason.

    Raises `CorpusError` when the folder is missing, is no folder, or holds no file at all.
    """
    if not folder.exists():
        raise CorpusError(f"{folder}: no such folder: give the folder of documents (in a study: corpus.folder)")
    if not folder.is_dir():
        raise CorpusError(f"{folder}: is a file: give the folder of documents (in a study: corpus.folder)")
    root = folder.resolve()
    try:
        found = [_entry(root, place, corpus) for place in _walk(root)]
    except PermissionError as error:
        raise CorpusError(f"{error.filename}: may not be read: give this user the right to list the folder") from error
    if not found:
        raise CorpusError(f"{folder}: the folder is empty: put documents there ({', '.join(sorted(MEDIA_TYPES))})")
    return sorted(found, key=lambda entry: entry.path)


def _walk(root: Path) -> list[Path]:
    """Files and symbolic links below the root; hidden ones and what lies behind linked folders are not visited."""
    places = []
    for base, folders, files in os.walk(root, followlinks=False):
        links = [name for name in folders if (Path(base) / name).is_symlink()]
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in links)
        places += [Path(base) / name for name in (*links, *files) if not name.startswith(".")]
    return places


def _entry(root: Path, place: Path, corpus: Corpus) -> FileEntry:
    path = place.relative_to(root).as_posix().encode("utf-8", "replace").decode()
    about = place.lstat()
    ending = place.suffix.lower()
    reason = ""
    if any(fnmatch.fnmatchcase(path, pattern) for pattern in corpus.exclude):
        reason = "left out by corpus.exclude"
    elif stat.S_ISLNK(about.st_mode):
        reason, about = _linked(root, place, about)
    elif not stat.S_ISREG(about.st_mode):
        reason = "no regular file"
    media_type = MEDIA_TYPES.get(ending, "application/octet-stream")
    if not reason and ending not in MEDIA_TYPES:
        reason = _unread(ending)
    return FileEntry(path, place, media_type, about.st_size, about.st_mtime_ns, reason)


def _linked(root: Path, place: Path, about: os.stat_result) -> tuple[str, os.stat_result]:
    """Why a symbolic link is left alone, if it is, and what it points to."""
    try:
        target = place.resolve(strict=True)
    except (OSError, RuntimeError):
        return "symbolic link to nothing", about
    if not target.is_relative_to(root):
        return "symbolic link that leaves the corpus folder", about
    if not target.is_file():
        return "symbolic link to a folder: not followed", about
    return "", target.stat()


def _unread(ending: str) -> str:
    if ending in _ARCHIVES:
        return f"archive ({ending}): unpack it into the folder"
    if ending in _IMAGES:
        return f"image ({ending}): no text; run OCR first and add the result"
    if ending in _OLD_OFFICE:
        return f"no reader for {ending}: save it as docx, pptx, csv or pdf"
    return f"no reader for {ending or 'a file without an ending'}"
