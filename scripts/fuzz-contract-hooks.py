"""What schemathesis cannot know of this service: whose key to use, and which files, uploads and jobs exist.

Random text names none of them, and every request would end at the first look-up. About half of the requests therefore
get real ones, chosen by their own content, so that a request that is repeated is repeated as it was.
"""

import atexit
import json
import os
import re
import zlib
from collections import Counter
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import schemathesis
from schemathesis.specs.openapi.checks import negative_data_rejection

CUSTOMERS = json.loads(Path(os.environ["FUZZ_CUSTOMERS"]).read_text())
BY_AUTHORIZATION = {f"Bearer {customer['key']}": customer for customer in CUSTOMERS}
PICTURE = Path(os.environ["FUZZ_PICTURE"]).read_bytes()

statuses: Counter[int] = Counter()
# How deep the requests went: a run of refusals alone would prove little.
atexit.register(lambda: print("Answers by status:", *(f"{status}×{n}" for status, n in sorted(statuses.items()))))

# Of each operation, how many customers have used up their rate limit.
spent: dict[str, int] = {}


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """OpenAPI 3.1 describes a stream as one text; schemathesis takes the schema for that of a single event."""
    stream = raw_schema["paths"]["/v1/jobs/{id}/events"]["get"]["responses"]["200"]["content"]
    del stream["text/event-stream"]["schema"]


@schemathesis.auth(refresh_interval=None)
class CustomerKeys:
    """The key of one customer until its rate limit is spent, which would hide every other answer; then the next."""

    def get(self, case, context):
        return authorization(case)

    def set(self, case, value, context):
        case.headers["Authorization"] = value


def authorization(case):
    return f"Bearer {CUSTOMERS[spent.get(case.operation.label, 0) % len(CUSTOMERS)]['key']}"


@schemathesis.check
def negative_json_rejection(context, response, case):
    """Parts of a multipart body are text without a type: what the schema calls wrong, such as "1" for 1, is right."""
    if case.media_type != "multipart/form-data":
        return negative_data_rejection(context, response, case)
    return None


@schemathesis.hook
def after_call(context, case, response):
    statuses[response.status_code] += 1
    if response.headers.get("ratelimit-remaining") == ["0"]:
        spent[case.operation.label] = spent.get(case.operation.label, 0) + 1


@schemathesis.hook
def before_call(context, case, kwargs):
    headers = case.headers or {}
    # Its half minute a job would only fill the worker; test/contract waits for it.
    if headers.get("X-Service-Test-Scenario") == "slow":
        headers["X-Service-Test-Scenario"] = "low_confidence"
    # A key that was set when the request was made up, long before it is sent; a wrong one stays wrong.
    if headers.get("Authorization") in BY_AUTHORIZATION:
        headers["Authorization"] = authorization(case)
    customer = BY_AUTHORIZATION.get(headers.get("Authorization"))
    dice = zlib.crc32(repr((case.path_parameters, case.query, case.body)).encode(errors="replace"))
    # Keys that come again: replays, and keys used for another payload.
    key = headers.get("Idempotency-Key")
    if isinstance(key, str) and len(key) >= 8 and dice % 3 == 0:
        headers["Idempotency-Key"] = f"repeated-{dice % 8}"
    if dice % 2 == 0:
        return
    if "PUT" in case.operation.label.upper():
        put_announced_content(case)
    elif customer is not None:
        name_what_exists(case, customer, dice)


def put_announced_content(case):
    url = urlsplit(CUSTOMERS[0]["announced"])
    case.path_parameters["id"] = url.path.split("/")[3]
    case.query.update({name: values[0] for name, values in parse_qs(url.query).items()})


def name_what_exists(case, customer, dice):
    path = case.operation.path
    if "id" in (case.path_parameters or {}):
        if path.startswith("/v1/jobs/"):
            case.path_parameters["id"] = customer["damage" if dice % 4 == 1 else "spin"]
        elif path.startswith("/v1/uploads/"):
            case.path_parameters["id"] = customer["picture"]
    body = case.body
    if not isinstance(body, dict):
        return
    for name in ("input_ref", "input_refs"):
        if name in body:
            upload = customer["video" if path.startswith(("/v1/render/video", "/v1/video/")) else "picture"]
            body[name] = with_real_ids(body[name], "upl_", upload)
    if "job_id" in body:
        body["job_id"] = with_real_ids(body["job_id"], "job_", customer["damage" if "pricing" in path else "spin"])
    if case.media_type == "multipart/form-data":
        for name in ("image", "images", "file"):
            if name in body:
                body[name] = [PICTURE for _ in body[name]] if isinstance(body[name], list) else PICTURE


def with_real_ids(value, prefix, real):
    """What does not look like an id stays as wrong as it is meant to be."""
    if isinstance(value, list):
        return [with_real_ids(item, prefix, real) for item in value]
    is_id = isinstance(value, str) and re.fullmatch(prefix + "[1-9A-HJ-NP-Za-km-z]{8,32}", value)
    return real if is_id else value
