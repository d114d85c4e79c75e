"""Files as callers give them."""

import io
import mimetypes
import os
from pathlib import Path
from typing import IO, Tuple, Union

#: A path, the bytes themselves, or a file opened in binary mode.
FileInput = Union[str, "os.PathLike[str]", bytes, IO[bytes]]

# What mimetypes does not know everywhere.
_TYPES = {".webp": "image/webp", ".avif": "image/avif", ".webm": "video/webm", ".mp4": "video/mp4"}


def read_file(source: FileInput) -> Tuple[str, bytes]:
    """Name and content of a file that is sent in one request."""
    if isinstance(source, bytes):
        return "file", source
    if isinstance(source, (str, os.PathLike)):
        path = Path(source)
        return path.name, path.read_bytes()
    return name_of(source), source.read()


def name_of(file: IO[bytes]) -> str:
    name = getattr(file, "name", None)
    return os.path.basename(name) if isinstance(name, str) else "file"


def media_type_of(filename: str) -> str:
    known = _TYPES.get(os.path.splitext(filename)[1].lower())
    return known or mimetypes.guess_type(filename)[0] or "application/octet-stream"


class UploadSource:
    """A file that is sent in parts: the whole is never in memory. Use it as a context manager."""

    def __init__(self, source: FileInput) -> None:
        self._source = source

    def __enter__(self) -> "UploadSource":
        source = self._source
        self._file: IO[bytes]
        if isinstance(source, bytes):
            self._file = io.BytesIO(source)
        elif isinstance(source, (str, os.PathLike)):
            self._file = open(source, "rb")
        else:
            self._file = source
        self.name = name_of(self._file)
        self.size = self._file.seek(0, io.SEEK_END)
        return self

    def __exit__(self, *_: object) -> None:
        # A file that the caller opened stays open.
        if self._file is not self._source:
            self._file.close()

    def read(self, start: int, end: int) -> bytes:
        self._file.seek(start)
        return self._file.read(end - start)
