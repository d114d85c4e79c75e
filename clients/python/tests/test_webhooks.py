"""Deliveries that the service signed, and forgeries of them."""

import json
import os

import pytest

from vehicle_inference import WebhookVerificationError, verify_webhook

DELIVERY = json.loads(os.environ["SIGNED_DELIVERY"])
BODY, SIGNATURE, SECRET, NOW = (DELIVERY[name] for name in ("body", "signature", "secret", "timestamp"))


def test_a_delivery_of_the_service_is_verified_and_its_event_returned():
    event = verify_webhook(BODY.encode(), SIGNATURE, SECRET, now=NOW + 299)
    assert event.type == "job.succeeded" and event.data.object.endpoint == "dashboard.read"
    assert verify_webhook(BODY, f"v2=x,{SIGNATURE},v1={'0' * 64}", SECRET, now=NOW - 299) == event


@pytest.mark.parametrize(
    ("body", "signature", "secret", "now", "code"),
    [
        (BODY, None, SECRET, NOW, "signature_missing"),
        (BODY, "v1=abc", SECRET, NOW, "signature_malformed"),
        (BODY, SIGNATURE + ",t=1", SECRET, NOW, "signature_malformed"),
        (BODY + " ", SIGNATURE, SECRET, NOW, "signature_mismatch"),
        (BODY, SIGNATURE, "whsec_other", NOW, "signature_mismatch"),
        (BODY, SIGNATURE, SECRET, NOW + 301, "timestamp_out_of_tolerance"),
        (BODY, SIGNATURE, SECRET, NOW - 301, "timestamp_out_of_tolerance"),
    ],
)
def test_anything_else_is_refused(body, signature, secret, now, code):
    with pytest.raises(WebhookVerificationError) as refused:
        verify_webhook(body, signature, secret, now=now)
    assert refused.value.code == code
