"""What schemathesis cannot know of this service: whose key or token to use, and which files and resources exist.

Random text names none of them, and every request would end at the first look-up. About half of the requests therefore
get real ones, chosen by their own content, so that a repeated request is identical.
"""

import atexit
import json
import os
import re
import time
import zlib
from collections import Counter
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import schemathesis
from schemathesis.specs.openapi.checks import negative_data_rejection

ORGANIZATIONS = json.loads(Path(os.environ["FUZZ_CUSTOMERS"]).read_text())
CUSTOMERS = ORGANIZATIONS["customers"]
MANAGED = ORGANIZATIONS["managed"]
BY_AUTHORIZATION = {
    **{f"Bearer {customer[name]}": customer for customer in CUSTOMERS for name in ("key", "liveKey")},
    **{f"Bearer {customer['token']}": customer for customer in MANAGED},
}
PICTURE = Path(os.environ["FUZZ_PICTURE"]).read_bytes()

# How deep the requests went: a run of refusals alone would prove little.
statuses: dict[str, Counter[int]] = {"inference": Counter(), "management": Counter()}


@atexit.register
def print_statuses():
    for surface, counted in statuses.items():
        print(f"Answers by status, {surface}:", *(f"{status}×{n}" for status, n in sorted(counted.items())))


# Of each operation that is counted by itself, how many customers have used up their rate limit.
spent: Counter[str] = Counter()

TOMORROW = int(time.time()) + 86_400

# They would take away what the others are to find. What the run itself made and lists is theirs to end.
ENDING = {"deleteWebhookEndpoint", "revokeApiKey"}


@schemathesis.hook
def before_load_schema(context, raw_schema):
    """OpenAPI 3.1 describes a stream as one text; schemathesis takes the schema for that of a single event."""
    stream = raw_schema["paths"]["/v1/jobs/{id}/events"]["get"]["responses"]["200"]["content"]
    del stream["text/event-stream"]["schema"]


@schemathesis.auth(refresh_interval=None)
class CustomerKeys:
    """The key of one customer until its rate limit is spent, because a 429 would hide every other response; then the next."""

    def get(self, case, context):
        return authorization(case)

    def set(self, case, value, context):
        case.headers["Authorization"] = value


def authorization(case):
    if is_management(case):
        return f"Bearer {MANAGED[spent[counter_of(case)] % len(MANAGED)]['token']}"
    customer = CUSTOMERS[spent[counter_of(case)] % len(CUSTOMERS)]
    return f"Bearer {customer['liveKey' if case.operation.path.startswith('/v1/sdk-licenses/') else 'key']}"


def is_management(case):
    return case.operation.path.startswith("/mgmt/")


def operation_id_of(case):
    return case.operation.definition.raw.get("operationId")


def counter_of(case):
    # The two spellings are one endpoint.
    return "management" if is_management(case) else case.operation.label.replace("analyse", "analyze")


@schemathesis.check
def negative_json_rejection(context, response, case):
    """Parts of a multipart body are text without a type: what the schema calls wrong, such as "1" for 1, is right."""
    if case.media_type != "multipart/form-data":
        return negative_data_rejection(context, response, case)
    return None


@schemathesis.hook
def after_call(context, case, response):
    statuses["management" if is_management(case) else "inference"][response.status_code] += 1
    if response.headers.get("ratelimit-remaining") == ["0"]:
        spent[counter_of(case)] += 1


@schemathesis.hook
def before_call(context, case, kwargs):
    headers = case.headers or {}
    # Its half minute a job would only fill the worker; test/contract tries it.
    if headers.get("X-Service-Test-Scenario") == "slow":
        headers["X-Service-Test-Scenario"] = "low_confidence"
    # Nobody can be paid here: 503, as test/api proves.
    if operation_id_of(case) == "topUpCredits" and isinstance(case.body, dict) and case.body.get("livemode") is True:
        case.body["livemode"] = False
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
    elif customer is not None and is_management(case):
        name_what_is_managed(case, customer)
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


def name_what_is_managed(case, customer):
    path = case.operation.path
    names = {"webhook-endpoints": "webhookEndpoint", "api-keys": "apiKey", "jobs": "damage"}
    parameters = case.path_parameters or {}
    if "id" in parameters and operation_id_of(case) not in ENDING:
        parameters["id"] = customer[names[path.split("/")[3]]]
    if "delivery_id" in parameters:
        parameters["delivery_id"] = customer["delivery"]
    if "month" in parameters:
        parameters["month"] = time.strftime("%Y-%m", time.gmtime())
    # What the schema calls wrong stays as wrong as it is meant to be.
    if isinstance(case.body, dict):
        url, expires_at = case.body.get("url"), case.body.get("expires_at")
        if isinstance(url, str) and 1 <= len(url) <= 2_048:
            case.body["url"] = ORGANIZATIONS["receiverUrl"]
        if type(expires_at) is int and 0 <= expires_at < TOMORROW:
            case.body["expires_at"] = TOMORROW


def with_real_ids(value, prefix, real):
    """What does not look like an id stays as wrong as it is meant to be."""
    if isinstance(value, list):
        return [with_real_ids(item, prefix, real) for item in value]
    is_id = isinstance(value, str) and re.fullmatch(prefix + "[1-9A-HJ-NP-Za-km-z]{8,32}", value)
    return real if is_id else value
