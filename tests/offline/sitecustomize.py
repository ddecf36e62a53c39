"""On PYTHONPATH, this refuses and writes down every connection to another machine, in a process and all its children.

It listens to the interpreter's own audit events, so that no library can go round it in Python. EXAMGEN_OUTSIDE names
the file the attempts are written to. What compiled code does without Python's sockets is not seen.
"""

import ipaddress
import os
import sys

_LOG = os.environ.get("EXAMGEN_OUTSIDE", "")
_HOST_AT = {"socket.connect": 1, "socket.sendto": 1, "socket.getaddrinfo": 0, "socket.gethostbyname": 0}


def _outside(event: str, words: tuple) -> str:
    """The host that is called when it is another machine, else nothing."""
    where = words[_HOST_AT[event]]
    host = where[0] if isinstance(where, tuple) else where
    if host is None or (event in ("socket.connect", "socket.sendto") and not isinstance(where, tuple)):
        return ""  # any address to listen on; a socket of the file system
    name = host.decode() if isinstance(host, bytes) else str(host)
    if name in ("", "localhost", "0.0.0.0", "::"):
        return ""
    try:
        return "" if ipaddress.ip_address(name.partition("%")[0]).is_loopback else name
    except ValueError:
        return name


def _watch(event: str, words: tuple) -> None:
    if event in _HOST_AT and (host := _outside(event, words)):
        with open(_LOG, "a", encoding="utf-8") as log:
            log.write(f"{event} {host} by {' '.join(sys.orig_argv[:6])[:200]}\n")
        raise ConnectionRefusedError(f"refused by the test: {event} {host}")


if _LOG:
    sys.addaudithook(_watch)
