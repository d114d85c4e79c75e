"""Verifies that a webhook was sent by the service."""

import hashlib
import hmac
import json
import re
import time
from typing import List, Optional, Tuple, Union

from ._errors import WebhookVerificationError
from ._generated.models import JobEvent

#: Allowed difference between the clocks of sender and receiver. Older messages may be replays.
SIGNATURE_TOLERANCE_SECONDS = 300


def verify_webhook(
    body: Union[bytes, str],
    signature: Optional[str],
    secret: str,
    *,
    now: Optional[float] = None,
) -> JobEvent:
    """Verifies the signature of a delivery and returns its event.

    `body` is the raw body: parsed and serialised again, it would not match. `signature` is the value of the header
    `Service-Signature`, `t=<unix>,v1=<hex HMAC-SHA256(secret, t + "." + body)>` with one `v1` for each active secret.
    `now` is in epoch seconds.

    Raises `WebhookVerificationError`.
    """
    if not signature:
        raise WebhookVerificationError("signature_missing", "the request has no Service-Signature header")
    timestamp, signatures = _parse(signature)
    raw = body.encode() if isinstance(body, str) else body
    expected = hmac.new(secret.encode(), timestamp.encode() + b"." + raw, hashlib.sha256).hexdigest()
    # Before the age: an unverified timestamp proves nothing.
    if not any([hmac.compare_digest(expected, candidate) for candidate in signatures]):
        raise WebhookVerificationError("signature_mismatch", "no signature was made with this secret over this body")
    age = (time.time() if now is None else now) - int(timestamp)
    if abs(age) > SIGNATURE_TOLERANCE_SECONDS:
        raise WebhookVerificationError(
            "timestamp_out_of_tolerance",
            f"the message was signed {round(age)} s ago; {SIGNATURE_TOLERANCE_SECONDS} s are allowed",
        )
    return JobEvent(json.loads(raw))


def _parse(header: str) -> Tuple[str, List[str]]:
    """Ignores elements other than `t` and `v1`, so that later signature versions can be added beside them."""
    elements = [element.strip() for element in header.split(",")]
    timestamps = [element[2:] for element in elements if element.startswith("t=")]
    signatures = [element[3:] for element in elements if element.startswith("v1=")]
    is_well_formed = (
        len(timestamps) == 1
        and re.fullmatch(r"[1-9][0-9]{0,14}", timestamps[0])
        and signatures
        and all(re.fullmatch(r"[0-9a-f]{64}", candidate) for candidate in signatures)
    )
    if not is_well_formed:
        raise WebhookVerificationError("signature_malformed", "Service-Signature is not of the form t=<unix>,v1=<hex>")
    return timestamps[0], signatures
