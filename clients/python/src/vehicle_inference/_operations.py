"""What the calls of the two clients send, and how they wait: decisions that need no connection."""

import json
from typing import Any, Callable, Iterator, Mapping, Optional, Union
from urllib.parse import quote

from ._decisions import Call
from ._errors import JobFailedError
from ._files import UploadSource, media_type_of
from ._generated.models import Upload
from ._job import FinishedJob, Job, ResultT
from ._model import Model
from ._request import InferenceRequest, encode_request

FIRST_POLL_SECONDS = 0.25
SLOWEST_POLL_SECONDS = 5.0
WAIT_TIMEOUT_SECONDS = 600.0
#: How long a submission holds its connection for the result.
HELD_SECONDS = 30
#: A stream that lasted so long was ended by the service; one that breaks sooner counts as broken.
LASTING_STREAM_SECONDS = 10.0
#: Size of one part of an upload. Smaller files are sent in one request.
UPLOAD_PART_BYTES = 8 * 1024 * 1024

UploadProgress = Callable[[Upload], None]
JobProgress = Callable[["Job[Any]"], None]


def submission_of(
    request: "InferenceRequest[Any]",
    *,
    dry_run: bool = False,
    idempotency_key: Optional[str],
    wait_seconds: Optional[float],
    cancel_after: Optional[str],
    model_version: Optional[str],
    test_scenario: Optional[str],
) -> Call:
    headers = {
        "Idempotency-Key": idempotency_key,
        # Whole seconds, rounded up.
        "Prefer": None if wait_seconds is None else f"wait={-int(-wait_seconds // 1)}",
        "Cancel-After": cancel_after,
        "Model-Version": model_version,
        "X-Service-Test-Scenario": test_scenario,
    }
    given = {name: value for name, value in headers.items() if value is not None}
    return Call("POST", request.path + ("?dry_run=true" if dry_run else ""), given, encode_request(request))


def item_path(collection: str, id: str, action: str = "") -> str:
    return f"/v1/{collection}/{quote(id, safe='')}{action}"


def finished(job: "Job[ResultT]") -> "FinishedJob[ResultT]":
    """Raises `JobFailedError` for a job without a result."""
    if job.result is None:
        raise JobFailedError(job)
    return FinishedJob(job.to_dict())


def poll_pauses() -> Iterator[float]:
    pause = FIRST_POLL_SECONDS
    while True:
        yield pause
        pause = min(pause * 1.5, SLOWEST_POLL_SECONDS)


class ChangedJobs:
    """The events of a job's streams, without repetitions."""

    def __init__(self) -> None:
        self._known = ""

    def read(self, data: str) -> Optional["Job[Any]"]:
        if data == self._known:
            return None
        self._known = data
        return Job(json.loads(data))


def first_upload_call(source: UploadSource, filename: Optional[str], mime_type: Optional[str]) -> Call:
    """Sends a small file, and announces a large one."""
    name = filename or source.name
    media_type = mime_type or media_type_of(name)
    if source.size <= UPLOAD_PART_BYTES:
        content = source.read(0, source.size)
        return Call("POST", "/v1/uploads", body={"files": {"file": (name, content, media_type)}})
    announced = {"filename": name, "bytes": source.size, "mime_type": media_type}
    return Call("POST", "/v1/uploads", body={"json": announced})


def next_part_call(upload: Upload, source: UploadSource) -> Optional[Call]:
    """The next part of an announced file; `None` once all have arrived."""
    if upload.upload_url is None:
        return None
    start = upload.received_bytes
    content = source.read(start, min(start + UPLOAD_PART_BYTES, source.size))
    # All bytes may have arrived while the response was lost: ask the service for its state.
    span = f"{start}-{start + len(content) - 1}" if content else "*"
    headers = {**(upload.upload_headers or {}), "Content-Range": f"bytes {span}/{source.size}"}
    return Call("PUT", upload.upload_url, headers, {"content": content})


def url_of(artefact: Union[str, Mapping[str, Any], Model]) -> str:
    return artefact if isinstance(artefact, str) else str(artefact["url"])


