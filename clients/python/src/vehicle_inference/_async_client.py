"""The client of the service."""

import os
import time
from pathlib import Path
from typing import Any, AsyncIterator, List, Optional, Union

import httpx
from typing_extensions import Literal, Self

from ._async_transport import AsyncTransport
from ._decisions import DEFAULT_ATTEMPTS, DEFAULT_TIMEOUT_SECONDS, Call
from ._errors import ConnectionFailedError, WaitTimeoutError
from ._files import FileInput, UploadSource
from ._generated.models import (
    CreditsEvent,
    DryRun,
    Endpoint,
    JobEvent,
    KeyIdentity,
    SdkLicense,
    SdkLicenseView,
    Upload,
)
from ._job import FinishedJob, Job, JobStatus, ResultT
from ._model import Model
from ._operations import (
    FIRST_POLL_SECONDS,
    HELD_SECONDS,
    LASTING_STREAM_SECONDS,
    WAIT_TIMEOUT_SECONDS,
    ChangedJobs,
    JobProgress,
    UploadProgress,
    finished,
    first_upload_call,
    item_path,
    next_part_call,
    poll_pauses,
    submission_of,
    url_of,
)
from ._request import InferenceRequest
from ._unset import UNSET, Unset


class AsyncClient:
    """The service with an API key. Use it as a context manager, or call `aclose`.

    `api_key` and `base_url` default to the environment's `VEHICLE_INFERENCE_API_KEY` and `VEHICLE_INFERENCE_BASE_URL`.
    A request that got no response, a 429 or a 5xx is sent `attempts` times in all; `POST` with the same Idempotency-Key.
    """

    def __init__(
        self,
        api_key: Optional[str] = None,
        base_url: Optional[str] = None,
        *,
        attempts: int = DEFAULT_ATTEMPTS,
        timeout_seconds: float = DEFAULT_TIMEOUT_SECONDS,
        http_client: Optional[httpx.AsyncClient] = None,
    ) -> None:
        key = api_key or os.environ.get("VEHICLE_INFERENCE_API_KEY") or ""
        url = base_url or os.environ.get("VEHICLE_INFERENCE_BASE_URL") or ""
        if not url:
            raise ValueError("base_url is needed, such as https://api.example.com")
        http = http_client or httpx.AsyncClient(timeout=timeout_seconds)
        self._transport = AsyncTransport(key, url, attempts, http)

    async def run(
        self,
        request: InferenceRequest[ResultT],
        *,
        timeout_seconds: float = WAIT_TIMEOUT_SECONDS,
        on_progress: Optional[JobProgress] = None,
        idempotency_key: Optional[str] = None,
        cancel_after: Optional[str] = None,
        model_version: Optional[str] = None,
        test_scenario: Optional[str] = None,
    ) -> FinishedJob[ResultT]:
        """Submits a job and waits until it ends. Returns a job with a result, complete or partial.

        Raises `ApiError` if the request is refused, `JobFailedError` if the job ends without a result, and
        `WaitTimeoutError` if it lasts longer than `timeout_seconds`.
        """
        job = await self.submit(
            request,
            wait_seconds=min(HELD_SECONDS, timeout_seconds),
            idempotency_key=idempotency_key,
            cancel_after=cancel_after,
            model_version=model_version,
            test_scenario=test_scenario,
        )
        return finished(await self.wait(job, timeout_seconds=timeout_seconds, on_progress=on_progress))

    async def submit(
        self,
        request: InferenceRequest[ResultT],
        *,
        wait_seconds: Optional[float] = None,
        idempotency_key: Optional[str] = None,
        cancel_after: Optional[str] = None,
        model_version: Optional[str] = None,
        test_scenario: Optional[str] = None,
    ) -> Job[ResultT]:
        """Submits a job and returns its current state: queued, or ended if `wait_seconds` sufficed.

        `cancel_after` shortens its time in the queue, such as `30s`; `model_version` pins a build,
        `<model>@<release date>`; `test_scenario` selects the outcome in test mode.
        """
        call = submission_of(
            request,
            idempotency_key=idempotency_key,
            wait_seconds=wait_seconds,
            cancel_after=cancel_after,
            model_version=model_version,
            test_scenario=test_scenario,
        )
        return Job(await self._transport.json(call))

    async def dry_run(
        self,
        request: InferenceRequest[Any],
        *,
        model_version: Optional[str] = None,
        test_scenario: Optional[str] = None,
    ) -> DryRun:
        """Validates a request and returns its cost without creating a job. Raises `ApiError` as `submit` does."""
        call = submission_of(
            request,
            dry_run=True,
            idempotency_key=None,
            wait_seconds=None,
            cancel_after=None,
            model_version=model_version,
            test_scenario=test_scenario,
        )
        return DryRun(await self._transport.json(call))

    async def wait(
        self,
        job: Union[Job[ResultT], str],
        *,
        timeout_seconds: float = WAIT_TIMEOUT_SECONDS,
        on_progress: Optional[JobProgress] = None,
    ) -> Job[ResultT]:
        """Polls a job until it has ended, with a result or without. Raises `WaitTimeoutError`."""
        deadline = time.monotonic() + timeout_seconds
        current: Job[ResultT] = await self.get_job(job) if isinstance(job, str) else job
        for pause in poll_pauses():
            if on_progress is not None:
                on_progress(current)
            if current.ended:
                break
            if time.monotonic() >= deadline:
                raise WaitTimeoutError(current)
            await self._transport.sleep(pause)
            current = await self.get_job(current.id)
        return current

    async def follow_job(self, job_id: str) -> AsyncIterator[Job[Any]]:
        """Yields the job at every change until it ends, pushed by the service. Reconnects when the connection breaks."""
        changes = ChangedJobs()
        breaks = 0
        while breaks < self._transport.decisions.attempts:
            opened_at = time.monotonic()
            breaks += 1
            try:
                async for data in self._transport.events(Call("GET", item_path("jobs", job_id, "/events"))):
                    job = changes.read(data)
                    if job is None:
                        continue
                    breaks = 0
                    yield job
                    if job.ended:
                        return
            except httpx.TransportError:
                pass
            if time.monotonic() - opened_at >= LASTING_STREAM_SECONDS:
                breaks = 0
            await self._transport.sleep(FIRST_POLL_SECONDS)
        raise ConnectionFailedError(f"the event stream of {job_id} keeps breaking off")

    async def get_job(self, job_id: str) -> Job[Any]:
        return Job(await self._transport.json(Call("GET", item_path("jobs", job_id))))

    async def cancel_job(self, job_id: str) -> Job[Any]:
        """Cancels a queued job. Raises `JobNotCancelableError` for one that was picked up."""
        return Job(await self._transport.json(Call("POST", item_path("jobs", job_id, "/cancel"))))

    async def list_jobs(
        self,
        *,
        status: Optional[JobStatus] = None,
        endpoint: Optional[str] = None,
        created_gte: Optional[int] = None,
        created_lt: Optional[int] = None,
        limit: Optional[int] = None,
    ) -> AsyncIterator[Job[Any]]:
        """Jobs from newest to oldest. Pages of `limit` jobs are fetched on demand."""
        query = {
            "status": status,
            "endpoint": endpoint,
            "created[gte]": created_gte,
            "created[lt]": created_lt,
            "limit": limit,
        }
        async for item in self._transport.pages("/v1/jobs", query):
            yield Job(item)

    async def list_events(
        self,
        *,
        type: Optional[Literal["job.succeeded", "job.partial", "job.failed", "credits.low_balance"]] = None,
        created_gte: Optional[int] = None,
        created_lt: Optional[int] = None,
        limit: Optional[int] = None,
    ) -> AsyncIterator[Union[JobEvent, CreditsEvent]]:
        """Events of the last 30 days, from newest to oldest."""
        query = {"type": type, "created[gte]": created_gte, "created[lt]": created_lt, "limit": limit}
        async for item in self._transport.pages("/v1/events", query):
            yield _event_of(item)

    async def get_event(self, event_id: str) -> Union[JobEvent, CreditsEvent]:
        return _event_of(await self._transport.json(Call("GET", item_path("events", event_id))))

    async def upload(
        self,
        file: FileInput,
        *,
        filename: Optional[str] = None,
        mime_type: Optional[str] = None,
        resume: Optional[str] = None,
        on_progress: Optional[UploadProgress] = None,
    ) -> Upload:
        """Uploads a file for `input_ref`: a small one in one request, a large one in parts.

        A broken connection costs at most one part. If all attempts fail, call again with the id of the incomplete
        upload as `resume`; `on_progress` receives it once it exists, and again after every part.
        """
        with UploadSource(file) as source:
            if resume is None:
                upload = Upload(await self._transport.json(first_upload_call(source, filename, mime_type)))
            else:
                upload = await self.get_upload(resume)
            while True:
                if on_progress is not None:
                    on_progress(upload)
                call = next_part_call(upload, source)
                if call is None:
                    return upload
                upload = Upload(await self._transport.json(call))

    async def get_upload(self, upload_id: str) -> Upload:
        return Upload(await self._transport.json(Call("GET", item_path("uploads", upload_id))))

    async def download(self, artefact: Union[str, Model], path: Union[str, "os.PathLike[str]"]) -> Path:
        """Saves a file that a job made: an artefact of its result, or its URL. The path never holds half a file."""
        target = Path(path)
        partial = target.with_name(f".{target.name}.{os.getpid()}.part")
        try:
            async with self._transport.stream(Call("GET", url_of(artefact))) as response:
                with open(partial, "wb") as file:
                    async for chunk in response.aiter_bytes():
                        file.write(chunk)
            os.replace(partial, target)
        except httpx.TransportError as error:
            raise ConnectionFailedError(f"the download broke off: {error or 'no response'}") from error
        finally:
            if partial.exists():
                partial.unlink()
        return target

    async def list_endpoints(self) -> List[Endpoint]:
        """All endpoints with availability, prices, limits and installed builds."""
        page = await self._transport.json(Call("GET", "/v1/endpoints"))
        return [Endpoint(item) for item in page["data"]]

    async def get_key_identity(self) -> KeyIdentity:
        """Organisation, mode and scopes of the key."""
        return KeyIdentity(await self._transport.json(Call("GET", "/v1/api-keys/self")))

    async def get_sdk_license(self, sdk: str) -> SdkLicenseView:
        return SdkLicenseView(await self._transport.json(Call("GET", item_path("sdk-licenses", sdk))))

    async def issue_sdk_license(self, sdk: str, *, regenerate: Union[bool, Unset] = UNSET) -> SdkLicense:
        body = {} if regenerate is UNSET else {"regenerate": regenerate}
        call = Call("POST", item_path("sdk-licenses", sdk), body={"json": body})
        return SdkLicense(await self._transport.json(call))

    async def get_license_keys(self) -> Any:
        """The public keys that verify SDK licences, as a JSON Web Key Set."""
        return await self._transport.json(Call("GET", "/.well-known/jwks.json"))

    async def aclose(self) -> None:
        await self._transport.http.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()


def _event_of(data: Any) -> Union[JobEvent, CreditsEvent]:
    return CreditsEvent(data) if str(data["type"]).startswith("credits.") else JobEvent(data)
