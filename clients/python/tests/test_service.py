"""The clients against a running service in test mode."""

import io
import os
import threading
from pathlib import Path
from typing import Any, Dict, List

import anyio
import httpx
import pytest

from vehicle_inference import (
    AsyncClient,
    AsyncManagementClient,
    Client,
    ConnectionFailedError,
    DashboardRead,
    InsufficientCreditsError,
    InvalidApiKeyError,
    JobEvent,
    JobFailedError,
    ManagementClient,
    ParameterInvalidError,
    ResourceNotFoundError,
    UnsupportedMediaTypeError,
    VehicleSegment,
)

pytestmark = pytest.mark.skipif("VEHICLE_INFERENCE_BASE_URL" not in os.environ, reason="no service is running")

URL = os.environ.get("VEHICLE_INFERENCE_BASE_URL", "")
PICTURE = Path(os.environ.get("EXAMPLE_PICTURE", ""))
PART = 8 * 1024 * 1024
#: More than one part, and only its head is a picture.
LARGE = PART + 1000


@pytest.fixture
def client() -> Any:
    with Client() as opened:
        yield opened


def test_a_picture_is_read_with_its_progress(client: Client):
    seen: List[str] = []
    job = client.run(DashboardRead(image=PICTURE, unit_hint="mi"), on_progress=lambda job: seen.append(job.status))
    assert job.status == "succeeded" and seen[-1] == "succeeded"
    assert job.result.odometer is not None and job.result.odometer.unit in ("km", "mi")


def test_a_job_is_submitted_waited_for_and_followed(client: Client):
    job = client.submit(DashboardRead(image=PICTURE.read_bytes()))
    assert [followed.status for followed in client.follow_job(job.id)][-1] == "succeeded"
    assert client.wait(job).result == client.wait(job.id).result == client.get_job(job.id).result


def test_the_same_idempotency_key_creates_one_job(client: Client):
    request = DashboardRead(image=PICTURE)
    first = client.submit(request, idempotency_key="order-python-0815")
    assert client.submit(request, idempotency_key="order-python-0815").id == first.id


def test_refusals_and_failures_have_classes(client: Client, tmp_path: Path):
    with pytest.raises(ParameterInvalidError) as refused:
        client.run(DashboardRead(image=PICTURE, unit_hint="miles"))  # type: ignore[arg-type]
    assert refused.value.param == "unit_hint" and refused.value.request_id.startswith("req_")
    with pytest.raises(InsufficientCreditsError):
        client.run(DashboardRead(image=PICTURE), test_scenario="insufficient_credits")
    with pytest.raises(JobFailedError) as failed:
        client.run(DashboardRead(image=PICTURE), test_scenario="model_error")
    assert failed.value.code == "model_inference_failed"
    text = tmp_path / "photo.jpg"
    text.write_text("no picture")
    with pytest.raises(UnsupportedMediaTypeError):
        client.run(DashboardRead(image=text))
    with pytest.raises(InvalidApiKeyError), Client("chk_test_wrong") as stranger:
        stranger.get_key_identity()
    with pytest.raises(ResourceNotFoundError):
        client.get_job("job_1CoTsd5kMvWzrNbUoFgrYo")


def test_no_server_is_a_connection_error():
    with Client(base_url="http://127.0.0.1:9", attempts=1) as nobody, pytest.raises(ConnectionFailedError):
        nobody.list_endpoints()


def test_a_dry_run_costs_nothing(client: Client):
    answer = client.dry_run(DashboardRead(image=PICTURE))
    assert answer.credits.reserved == 20 and answer.sufficient


def test_lists_are_read_page_by_page(client: Client):
    client.run(DashboardRead(image=PICTURE))
    client.run(DashboardRead(image=PICTURE))
    jobs = list(client.list_jobs(limit=1, endpoint="dashboard.read"))
    assert len(jobs) >= 2 and len({job.id for job in jobs}) == len(jobs)
    event = next(client.list_events(type="job.succeeded", limit=1))
    assert isinstance(event, JobEvent) and client.get_event(event.id) == event
    endpoints = {endpoint.endpoint: endpoint for endpoint in client.list_endpoints()}
    assert endpoints["dashboard.read"].available
    assert client.get_key_identity().livemode is False


def large_file() -> bytes:
    head = PICTURE.read_bytes()
    return head + bytes(LARGE - len(head))


def test_a_small_file_is_uploaded_in_one_request_and_used(client: Client):
    upload = client.upload(PICTURE)
    assert (upload.status, upload.filename) == ("ready", PICTURE.name)
    assert client.run(DashboardRead(input_ref=upload.id)).status == "succeeded"


def test_a_large_file_is_uploaded_in_parts_with_progress(client: Client):
    received: List[int] = []
    file = io.BytesIO(large_file())
    upload = client.upload(
        file, filename="large.jpg", on_progress=lambda upload: received.append(upload.received_bytes)
    )
    assert upload.status == "ready" and received == [0, PART, LARGE]
    assert not file.closed


def test_an_interrupted_upload_resumes_where_it_stopped(tmp_path: Path):
    path = tmp_path / "large.jpg"
    path.write_bytes(large_file())
    begun: List[str] = []

    class Breaking(httpx.HTTPTransport):
        def handle_request(self, request: httpx.Request) -> httpx.Response:
            if request.headers.get("Content-Range", "").startswith(f"bytes {PART}-"):
                raise httpx.WriteError("broken")
            return super().handle_request(request)

    with Client(attempts=1, http_client=httpx.Client(transport=Breaking())) as broken:
        with pytest.raises(ConnectionFailedError):
            broken.upload(path, on_progress=lambda upload: begun.append(upload.id))
    with Client() as whole:
        received: List[int] = []
        upload = whole.upload(path, resume=begun[0], on_progress=lambda part: received.append(part.received_bytes))
    assert upload.id == begun[0] and upload.status == "ready" and received == [PART, LARGE]


def test_a_file_that_a_job_made_is_saved_whole_or_not_at_all(client: Client, tmp_path: Path):
    job = client.run(VehicleSegment(image=PICTURE))
    assert job.result.matte is not None
    saved = client.download(job.result.matte, tmp_path / "matte.png")
    assert saved.stat().st_size == job.result.matte.bytes
    with pytest.raises(ResourceNotFoundError):
        client.download(f"{URL}/v1/artefacts/art_1CoTsd5kMvWzrNbUoFgrYo.png?expires=1&signature=00", tmp_path / "b")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["matte.png"]


def test_one_client_serves_many_threads(client: Client):
    statuses: Dict[int, str] = {}

    def run(number: int) -> None:
        statuses[number] = client.run(DashboardRead(image=PICTURE)).status

    threads = [threading.Thread(target=run, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert statuses == {number: "succeeded" for number in range(4)}


@pytest.mark.anyio
async def test_the_asynchronous_client_does_the_same():
    async with AsyncClient() as client:
        results: List[Any] = []

        async def run() -> None:
            results.append((await client.run(DashboardRead(image=PICTURE))).result)

        async with anyio.create_task_group() as group:
            for _ in range(3):
                group.start_soon(run)
        assert len(results) == 3 and results[0] == results[2]
        job = await client.submit(DashboardRead(image=PICTURE))
        assert [followed.status async for followed in client.follow_job(job.id)][-1] == "succeeded"
        assert job.id in [listed.id async for listed in client.list_jobs(limit=2)]
        upload = await client.upload(large_file(), filename="large.jpg")
        assert upload.status == "ready"
        with pytest.raises(JobFailedError):
            await client.run(DashboardRead(image=PICTURE), test_scenario="model_error")


def test_a_member_manages_keys():
    with ManagementClient(os.environ["MANAGEMENT_TOKEN"], URL) as management:
        key = management.create_api_key(name="Python", livemode=False, scopes=["*"])
        with Client(key.secret) as client:
            assert client.get_key_identity().id == key.id
        assert key.id in [listed.id for listed in management.list_api_keys(limit=1, livemode=False)]
        assert management.revoke_api_key(key.id).revoked_at is not None


@pytest.mark.anyio
async def test_a_member_manages_keys_asynchronously():
    async with AsyncManagementClient(os.environ["MANAGEMENT_TOKEN"], URL) as management:
        key = await management.create_api_key(name="Python", livemode=False)
        assert key.id in [listed.id async for listed in management.list_api_keys(limit=1)]
        assert (await management.get_organization()).object == "organization"
