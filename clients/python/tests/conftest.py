import json
from typing import Any, Callable, Dict, List

import httpx
import pytest

from vehicle_inference import Client

Handler = Callable[[httpx.Request], httpx.Response]

JOB: Dict[str, Any] = {
    "id": "job_1CoTsd5kMvWzrNbUoFgrYo",
    "object": "job",
    "endpoint": "dashboard.read",
    "status": "succeeded",
    "livemode": False,
    "is_staging": False,
    "created": 1795254871,
    "started_at": 1795254872,
    "completed_at": 1795254873,
    "model_version": "fixture@2026-01-01",
    "credits": {"reserved": 20, "charged": 20},
    "result": {"cluster_lit": True, "odometer": {"value": 12, "unit": "km"}, "warning_lights": []},
    "error": None,
}


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def job_of(**changes: Any) -> Dict[str, Any]:
    return {**JOB, **changes}


def refusal(status: int, code: str, type_: str, **headers: str) -> httpx.Response:
    error = {"type": type_, "code": code, "message": "say", "doc_url": "https://d", "request_id": "req_1"}
    return httpx.Response(status, json={"error": error}, headers=headers)


class Recorder:
    """Responses in their order; the last one repeats."""

    def __init__(self, *responses: Any) -> None:
        self.responses = list(responses)
        self.requests: List[httpx.Request] = []
        self.pauses: List[float] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        request.read()
        self.requests.append(request)
        response = self.responses.pop(0) if len(self.responses) > 1 else self.responses[0]
        if isinstance(response, Exception):
            raise response
        return response if isinstance(response, httpx.Response) else httpx.Response(200, json=response)

    def client(self, key: str = "chk_test_x", **options: Any) -> Client:
        http = httpx.Client(transport=httpx.MockTransport(self))
        client = Client(key, "https://api.example.com/", http_client=http, **options)
        client._transport.sleep = self.pauses.append
        return client

    def json(self) -> Any:
        return json.loads(self.requests[-1].content)
