"""The reading process: takes files over a pipe, reads each under limits of memory and time, answers in JSON."""

from __future__ import annotations

import json
import math
import os
import resource
import signal
import struct
import sys
import zipfile
import zlib
from pathlib import Path
from typing import Any, BinaryIO

from lxml import etree

from examgen.ids import digest
from examgen.matter import card, drop_references
from examgen.resemblance import sketch
from examgen.texts import compose
from tasks.corpus_files import ZIPPED
from tasks.read_markup import check_zip, epub_chapters, looks_binary, office_card, rst_to_html
from tasks.reading import ReadError, Reading

SPARE_SECONDS = 15
"""The process ends itself this long after the limit, should the one that started it be gone."""

_FAILURES: tuple[type[Exception], ...] = (
    ValueError, LookupError, TypeError, AttributeError, AssertionError, OSError, EOFError, RuntimeError,
    ArithmeticError, zipfile.BadZipFile, zlib.error, struct.error, etree.LxmlError,
)
"""What parsers raise on files that are not what their name says. Anything else ends the process, and is told so."""

_LATER_FAILURES = (
    ("docx.opc.exceptions", "OpcError"), ("docx.exceptions", "PythonDocxError"), ("pptx.exc", "PythonPptxError"),
)


def read(path: Path, media_type: str, options: dict[str, Any]) -> dict[str, Any]:
    """Read one file: the fields of its row, its text with sections and pages, and a sketch of its words."""
    try:
        return _laid_out(_open(path, media_type, options), options)
    except ReadError as error:
        return _unreadable(str(error))
    except MemoryError:
        return _unreadable(f"needs more memory than corpus.limits.memory_bytes allows ({options['memory_bytes']})")
    except RecursionError:
        return _unreadable("nested too deeply")
    except (*_FAILURES, *_loaded_failures()) as error:
        return _unreadable(f"{type(error).__name__}: {' '.join(str(error).split())[:300]}")


def _unreadable(reason: str) -> dict[str, Any]:
    return {"status": "unreadable", "reason": reason}


def _loaded_failures() -> tuple[type[Exception], ...]:
    """The errors of office libraries that have been imported so far."""
    return tuple(getattr(sys.modules[module], name) for module, name in _LATER_FAILURES if module in sys.modules)


def _open(path: Path, media_type: str, options: dict[str, Any]) -> Reading:
    """Choose the reader by media type; formats that are zip archives are checked before anything opens them."""
    front, references = options["drop_front_matter"], options["drop_references"]
    if media_type == "application/pdf":
        from tasks.read_pdf import read_pdf

        return read_pdf(path, front)
    if media_type == "application/xml":
        from tasks.read_xml import read_xml

        return read_xml(path, references, front)
    from tasks.read_sources import unstructured_reading

    if media_type in ZIPPED:
        check_zip(path, options["file_bytes"])
    if media_type == "application/epub+zip":
        book = Reading([], reader="unstructured (epub)")
        for chapter in epub_chapters(path):
            part = unstructured_reading(path, chapter.encode(), "text/html", front)
            book.blocks += part.blocks
            book.about = book.about or part.about
        return book
    data = path.read_bytes()
    if media_type not in ZIPPED and looks_binary(data):
        raise ReadError("binary content under the name of a text file")
    if media_type == "text/x-rst":
        reading = unstructured_reading(path, rst_to_html(data).encode(), "text/html", front)
        reading.reader = "docutils, unstructured"
        return reading
    reading = unstructured_reading(path, data, media_type, front)
    if media_type in ZIPPED:
        reading.about = office_card(path)
    return reading


def _laid_out(reading: Reading, options: dict[str, Any]) -> dict[str, Any]:
    blocks = reading.blocks
    if options["drop_front_matter"]:
        furniture = sum(len(block.text) for block in blocks if block.kind == "furniture")
        reading.note("headers, footers and repeated titles", furniture)
        blocks = [block for block in blocks if block.kind != "furniture"]
    if options["drop_references"]:
        blocks, dropped = drop_references(blocks)
        reading.note("references", dropped)
    text = compose("", "", blocks, reading.pages)
    if len(text.text) > options["characters"]:
        return _unreadable(f"{len(text.text)} characters, more than corpus.limits.characters allows")
    heading = next((section.title for section in text.sections), "")
    row = {
        "title": heading, **card(reading.about), "pages": reading.pages, "characters": len(text.text),
        "reader": reading.reader, "text_hash": digest("text", text.text),
    }
    if not text.text:
        return {**row, "status": "empty", "reason": reading.empty_reason}
    left_out = "; ".join(f"{name} ({count} characters)" for name, count in sorted(reading.left_out.items()))
    return {
        **row, "status": "indexed", "reason": f"left out: {left_out}" if left_out else "", "text": text.text,
        "sections": [section.model_dump() for section in text.sections], "page_starts": list(text.page_starts),
        "sketch": sketch(text.text),
    }


def _refuse_network(event: str, _: tuple[Any, ...]) -> None:
    if event in ("socket.connect", "socket.getaddrinfo"):
        raise OSError("the reading process may not use the network")


def _limit_memory(memory_bytes: int) -> None:
    """Bound the address space to what is used now and `memory_bytes` more."""
    with open("/proc/self/statm", encoding="ascii") as handle:
        used = int(handle.read().split()[0]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + memory_bytes, hard))


def serve(requests: BinaryIO, replies: BinaryIO) -> None:
    """Answer each request line with a reply line until the other side closes the pipe."""
    # Elsewhere than on Linux the size of a process is not to be had this way; there only time is limited.
    limited = os.path.exists("/proc/self/statm")
    for line in requests:
        request = json.loads(line)
        options = request["options"]
        if limited:
            _limit_memory(options["memory_bytes"])
        signal.alarm(math.ceil(options["seconds"]) + SPARE_SECONDS)
        reply = read(Path(request["location"]), request["media_type"], options)
        signal.alarm(0)
        replies.write(json.dumps(reply).encode() + b"\n")
        replies.flush()


def main() -> None:
    """Serve on standard input and output; whatever a library prints goes to standard error."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.addaudithook(_refuse_network)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    serve(sys.stdin.buffer, replies)


if __name__ == "__main__":
    main()
