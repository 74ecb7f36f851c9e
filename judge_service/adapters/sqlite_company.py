"""Whether other processes have the embedded store open, too.

Each holds a lock for reading on a file beside the store; the system says whether somebody else's
stands in the way of one for writing, which is never taken. It is Linux's lock of an open file, so
that two stores of one process are two as well, and ends with the process, however that ends.
"""

from __future__ import annotations

import fcntl
import os
import struct
import sys
from pathlib import Path
from typing import Final

_FLOCK: Final = struct.Struct("hhqqi4x")
"""``struct flock`` on 64-bit Linux: type, whence, start, length, process."""
_SET: Final[int | None] = getattr(fcntl, "F_OFD_SETLK", None)
_GET: Final[int | None] = getattr(fcntl, "F_OFD_GETLK", None)
_KNOWN: Final = sys.platform == "linux" and sys.maxsize > 2**32
_ASKED: Final = _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 1, 0)
_FREE: Final = fcntl.F_UNLCK


class Company:
    """One user of the store at ``path``. Where the system cannot say, nobody is ever alone."""

    def __init__(self, path: Path) -> None:
        self._descriptor: int | None = None
        if not _KNOWN or _SET is None:
            return
        try:
            flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC
            self._descriptor = os.open(path.with_name(f"{path.name}.users"), flags, 0o600)
            fcntl.fcntl(self._descriptor, _SET, _FLOCK.pack(fcntl.F_RDLCK, os.SEEK_SET, 0, 1, 0))
        except OSError:
            self.leave()

    @property
    def alone(self) -> bool:
        """Whether nobody else has the store open just now."""
        if self._descriptor is None or _GET is None:
            return False
        try:
            found = fcntl.fcntl(self._descriptor, _GET, _ASKED)
        except OSError:
            return False
        return bool(_FLOCK.unpack(found)[0] == _FREE)

    def leave(self) -> None:
        """Have it open no longer."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None
