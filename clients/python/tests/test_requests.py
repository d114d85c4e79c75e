"""What is sent, when it is sent again, and which error ends it. No service is needed."""

import copy
import pickle

import httpx
import pytest
from conftest import Recorder, job_of, refusal

from vehicle_inference import (
    ApiError,
    AuthenticationError,
    ConnectionFailedError,
    DashboardRead,
    EndpointUnavailableError,
    InsufficientCreditsError,
    InvalidRequestError,
    JobFailedError,
    ParameterInvalidError,
    PricingRepair,
    RateLimitExceededError,
    VehicleAnalyze,
    WaitTimeoutError,
)


def test_a_request_without_files_is_json_and_omits_what_was_not_given():
    recorder = Recorder(job_of())
    recorder.client().submit(DashboardRead(input_ref="upl_1", unit_hint="mi"))
    assert recorder.json() == {"input_ref": "upl_1", "unit_hint": "mi"}
    assert recorder.requests[0].url == "https://api.example.com/v1/dashboard/read"


def test_a_request_with_files_is_multipart_with_lists_repeated_and_objects_as_json(tmp_path):
    recorder = Recorder(job_of())
    path = tmp_path / "front.jpg"
    path.write_bytes(b"from a path")
    recorder.client().submit(VehicleAnalyze(images=[path, b"from memory"], tasks=["vehicle.pose", "vin.read"]))
    body = recorder.requests[0].content
    assert body.count(b'name="images"; filename=') == 2 and b'filename="front.jpg"' in body
    assert body.count(b'name="tasks"\r\n') == 2
    damages = [{"type": "dent", "part": "hood"}]
    recorder.client().submit(PricingRepair(images=[b"a"], damages=damages))  # type: ignore[arg-type]
    assert b'[{"type": "dent", "part": "hood"}]' in recorder.requests[1].content


def test_a_lost_response_is_retried_with_the_same_idempotency_key():
    recorder = Recorder(httpx.ReadError("broke"), httpx.Response(502, text="<html>"), job_of())
    assert recorder.client().submit(DashboardRead(image=b"a")).status == "succeeded"
    assert len({request.headers["Idempotency-Key"] for request in recorder.requests}) == 1
    assert len(recorder.requests) == 3 and len(recorder.pauses) == 2
    assert 0.1 <= recorder.pauses[0] <= 0.25 and 0.25 <= recorder.pauses[1] <= 0.5


def test_an_own_idempotency_key_is_sent():
    recorder = Recorder(job_of())
    recorder.client().submit(DashboardRead(image=b"a"), idempotency_key="order-0815")
    assert recorder.requests[0].headers["Idempotency-Key"] == "order-0815"


def test_the_service_decides_how_long_to_pause():
    recorder = Recorder(refusal(429, "rate_limit_exceeded", "rate_limit_error", **{"Retry-After": "7"}), job_of())
    recorder.client().submit(DashboardRead(image=b"a"))
    assert recorder.pauses == [7.0]


def test_attempts_are_bounded_and_the_last_error_is_raised():
    recorder = Recorder(refusal(429, "rate_limit_exceeded", "rate_limit_error"))
    with pytest.raises(RateLimitExceededError):
        recorder.client(attempts=3).get_job("job_1")
    assert len(recorder.requests) == 3


@pytest.mark.parametrize(
    ("status", "code", "type_", "expected"),
    [
        (400, "parameter_invalid", "invalid_request_error", ParameterInvalidError),
        (402, "insufficient_credits", "billing_error", InsufficientCreditsError),
        (503, "endpoint_unavailable", "api_error", EndpointUnavailableError),
        (401, "code_of_tomorrow", "authentication_error", AuthenticationError),
        (418, "code_of_tomorrow", "type_of_tomorrow", ApiError),
    ],
)
def test_a_refusal_is_raised_once_as_the_class_of_its_code(status, code, type_, expected):
    recorder = Recorder(refusal(status, code, type_))
    with pytest.raises(expected) as raised:
        recorder.client().get_job("job_1")
    assert type(raised.value) is expected
    assert (raised.value.code, raised.value.status, raised.value.request_id) == (code, status, "req_1")
    assert len(recorder.requests) == 1
    assert pickle.loads(pickle.dumps(raised.value)).code == code


def test_codes_are_below_their_type():
    assert issubclass(ParameterInvalidError, InvalidRequestError) and issubclass(InvalidRequestError, ApiError)


def test_no_server_is_a_connection_error_that_names_it():
    recorder = Recorder(httpx.ConnectError("refused"))
    with pytest.raises(ConnectionFailedError, match=r"api\.example\.com"):
        recorder.client(attempts=2).get_job("job_1")


def test_what_is_not_a_response_of_the_service_is_a_connection_error():
    with pytest.raises(ConnectionFailedError, match="not a response of the service: 404"):
        Recorder(httpx.Response(404, text="<html>")).client(attempts=1).get_job("job_1")


def test_the_key_is_sent_to_the_service_only():
    incomplete = {"id": "upl_1", "received_bytes": 0, "upload_url": "https://store.example/put", "upload_headers": {}}
    recorder = Recorder(incomplete, {"id": "upl_1", "received_bytes": 1})
    recorder.client().upload(b"a", resume="upl_1")
    assert [("Authorization" in request.headers) for request in recorder.requests] == [True, False]


def test_a_job_without_a_result_is_raised_and_one_that_lasts_times_out():
    error = {"type": "processing_error", "code": "input_unreadable", "message": "cannot be read"}
    with pytest.raises(JobFailedError, match="cannot be read") as failed:
        Recorder(job_of(status="failed", result=None, error=error)).client().run(DashboardRead(image=b"a"))
    assert failed.value.code == "input_unreadable"
    with pytest.raises(WaitTimeoutError) as late:
        Recorder(job_of(status="queued", result=None)).client().run(DashboardRead(image=b"a"), timeout_seconds=0)
    assert copy.copy(late.value).job.status == "queued"


def test_pages_are_fetched_on_demand():
    page = {"object": "list", "data": [job_of(id="job_1"), job_of(id="job_2")], "has_more": True}
    recorder = Recorder(page, {**page, "has_more": False})
    jobs = recorder.client().list_jobs(limit=2, status="succeeded", created_gte=5)
    assert next(jobs).id == "job_1" and len(recorder.requests) == 1
    assert len(list(jobs)) == 3
    assert dict(recorder.requests[1].url.params) == {
        "limit": "2",
        "status": "succeeded",
        "created[gte]": "5",
        "starting_after": "job_2",
    }


def test_an_event_stream_that_breaks_is_opened_again_and_one_that_keeps_breaking_is_given_up():
    def stream(*jobs):
        return httpx.Response(200, text="".join(f": hi\n\nevent: x\ndata: {job}\n\n" for job in jobs))

    queued = '{"id": "job_1", "status": "queued", "endpoint": "vin.read"}'
    ended = '{"id": "job_1", "status": "succeeded", "endpoint": "vin.read"}'
    recorder = Recorder(stream(queued), stream(queued, ended))
    assert [job.status for job in recorder.client().follow_job("job_1")] == ["queued", "succeeded"]
    with pytest.raises(ConnectionFailedError, match="keeps breaking"):
        list(Recorder(stream()).client(attempts=2).follow_job("job_1"))


def test_a_client_needs_a_key_and_an_address(monkeypatch):
    from vehicle_inference import Client

    monkeypatch.delenv("VEHICLE_INFERENCE_API_KEY", raising=False)
    monkeypatch.delenv("VEHICLE_INFERENCE_BASE_URL", raising=False)
    with pytest.raises(ValueError, match="API key"):
        Client(base_url="https://api.example.com")
    with pytest.raises(ValueError, match="base_url"):
        Client("chk_test_x")
    with pytest.raises(ValueError, match='"localhost:8080" is not an address'):
        Client("chk_test_x", "localhost:8080")


@pytest.mark.parametrize("key", ["chk_test_…", "chk_test_x\nchk_test_y"])
def test_a_key_that_cannot_be_sent_is_refused_at_once_and_not_shown(key):
    from vehicle_inference import Client

    with pytest.raises(ValueError, match="characters that none has") as refused:
        Client(key, "https://api.example.com")
    assert "chk_test" not in str(refused.value)


def test_a_key_from_a_file_may_end_in_a_line_break():
    recorder = Recorder(job_of())
    recorder.client("chk_test_x\n").get_job("job_1")
    assert recorder.requests[0].headers["Authorization"] == "Bearer chk_test_x"
