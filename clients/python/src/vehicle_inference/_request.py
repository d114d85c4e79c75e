"""Requests of endpoints."""

import json
from typing import Any, ClassVar, Dict, Generic, List, Optional, Tuple, TypeVar

from ._files import FileInput, read_file
from ._unset import UNSET

ResultT = TypeVar("ResultT")

#: Fields that hold files; every other field is a parameter.
_FILE_FIELDS = ("image", "images")


class InferenceRequest(Generic[ResultT]):
    """The parameters of an endpoint and its files: sent directly, or named as uploads by `input_ref` or `input_refs`."""

    endpoint: ClassVar[str]
    path: ClassVar[str]

    def __init__(self, **fields: Any) -> None:
        self.fields: Dict[str, Any] = {name: value for name, value in fields.items() if value is not UNSET}

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value!r}" for name, value in self.fields.items() if name not in _FILE_FIELDS)
        return f"{type(self).__name__}({shown})"


def encode_request(request: "InferenceRequest[Any]") -> Dict[str, Any]:
    """Arguments of httpx: multipart for a request with files, JSON for any other."""
    files: List[Tuple[str, Tuple[Optional[str], Any]]] = []
    for name in _FILE_FIELDS:
        files += [(name, read_file(source)) for source in _sources(request.fields.get(name))]
    if not files:
        return {"json": {name: value for name, value in request.fields.items() if name not in _FILE_FIELDS}}
    for name, value in request.fields.items():
        if name not in _FILE_FIELDS:
            # Without a file name, a part is a field.
            files += [(name, (None, text.encode())) for text in _texts(value)]
    return {"files": files}


def _sources(value: Any) -> List[FileInput]:
    if value is None:
        return []
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _texts(value: Any) -> List[str]:
    """Strings are sent unchanged, lists of strings as repeated parts, anything else as JSON."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
        return list(value)
    return [json.dumps(value)]
