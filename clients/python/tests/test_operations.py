"""Every operation of the OpenAPI document has a method, and no method calls anything else."""

import inspect
import json
import os
import re
from pathlib import Path
from typing import Any, Iterator, Set, Tuple

import httpx

import vehicle_inference
from vehicle_inference import Client, ManagementClient
from vehicle_inference._request import InferenceRequest

PATHS = json.loads(Path(os.environ["OPENAPI_PATH"]).read_text())["paths"]
#: Another spelling of an endpoint.
ALIASES = {("POST", "/v1/vehicle/analyse")}


def _answer(request: httpx.Request) -> httpx.Response:
    signed = "https://api.example.com/v1/uploads/upl_1/content"
    page = {"object": "list", "data": [], "has_more": False}
    answer = {**page, "id": "x", "type": "x", "status": "succeeded", "endpoint": "vin.read"}
    if request.method == "POST" and request.url.path == "/v1/uploads":
        return httpx.Response(200, json={"received_bytes": 0, "upload_url": signed, "upload_headers": {}})
    if request.url.path.endswith("/events") and request.url.path.startswith("/v1/jobs/"):
        return httpx.Response(200, text=f"data: {json.dumps(answer)}\n\n")
    return httpx.Response(200, json=answer)


def _called(folder: Path) -> Iterator[Tuple[str, str]]:
    requests = []

    def handle(request: httpx.Request) -> httpx.Response:
        requests.append((request.method, request.url.path))
        return _answer(request)

    def http() -> httpx.Client:
        return httpx.Client(transport=httpx.MockTransport(handle))

    client = Client("chk_test_x", "https://api.example.com", http_client=http())
    for name in vehicle_inference._requests:
        request_class = getattr(vehicle_inference, name)
        assert issubclass(request_class, InferenceRequest)
        # Only the path matters here.
        request = InferenceRequest.__new__(request_class)
        request.fields = {}
        client.submit(request)
    for one, skipped in ((client, {"run", "submit", "dry_run", "wait", "download"}), (ManagementClient, set())):
        is_client = isinstance(one, Client)
        target: Any = one if is_client else ManagementClient("jwt", "https://api.example.com", http_client=http())
        for name, method in inspect.getmembers(type(target), inspect.isfunction):
            if name.startswith("_") or name == "close" or name in skipped:
                continue
            result = getattr(target, name)(**_arguments_of(method))
            if inspect.isgenerator(result):
                list(result)
    client.download("https://api.example.com/v1/artefacts/art_1.png", folder / "a.png")
    yield from requests


def _arguments_of(method: Any) -> Any:
    required = [
        parameter
        for parameter in list(inspect.signature(method).parameters.values())[1:]
        if parameter.default is inspect.Parameter.empty
    ]
    return {parameter.name: b"a" if parameter.name == "file" else "x1" for parameter in required}


def test_every_operation_has_a_method(tmp_path: Path):
    documented = {(method.upper(), path) for path, methods in PATHS.items() for method in methods}
    called: Set[Tuple[str, str]] = set()
    strangers = []
    for method, path in _called(tmp_path):
        exact = (method, path)
        matching = [one for one in documented if one[0] == method and _template(one[1]).fullmatch(path)]
        if not matching:
            strangers.append(exact)
        # `/v1/jobs/x1` is not another spelling of a path without parameters.
        called.update([exact] if exact in matching else matching)
    assert strangers == []
    assert documented - called - ALIASES == set()


def _template(path: str) -> "re.Pattern[str]":
    return re.compile(re.sub(r"\{\w+\}", "[^/]+", path))
