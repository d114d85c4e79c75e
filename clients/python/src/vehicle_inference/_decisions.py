"""What is sent, and when it is sent again: decisions that need no connection."""

import random
import re
import uuid
from dataclasses import dataclass, field
from typing import Any, Dict, List, Mapping, Optional, Union

import httpx

from ._errors import ApiError, ConnectionFailedError, api_error_of
from ._unset import UNSET

DEFAULT_ATTEMPTS = 4
DEFAULT_TIMEOUT_SECONDS = 120.0
_FIRST_PAUSE_SECONDS = 0.25
_LONGEST_PAUSE_SECONDS = 8.0
_LONGEST_HINT_SECONDS = 60.0
_RETRIED_STATUSES = (429, 500, 502, 503, 504)


@dataclass
class Call:
    """One request, the same in every attempt."""

    method: str
    #: A path of the service, or a signed URL of its own, which needs no key.
    target: str
    headers: Dict[str, str] = field(default_factory=dict)
    #: Arguments of httpx: `json`, `files` or `content`.
    body: Dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.method == "POST":
            self.headers.setdefault("Idempotency-Key", str(uuid.uuid4()))


def query_of(values: Mapping[str, Any]) -> str:
    """The query of the given values, with its question mark."""
    given = {name: _text_of(value) for name, value in values.items() if value is not UNSET and value is not None}
    return f"?{httpx.QueryParams(given)}" if given else ""


def _text_of(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


class Decisions:
    def __init__(self, credential: str, base_url: str, attempts: int) -> None:
        credential = credential.strip()
        if not credential:
            raise ValueError("an API key or token is needed")
        # Here, as httpx would print it: errors are logged.
        if not re.fullmatch(r"[\x21-\x7e]+", credential):
            raise ValueError("the API key or token has characters that none has")
        base_url = base_url.strip()
        if not re.match(r"https?://.", base_url):
            raise ValueError(f'base_url "{base_url}" is not an address such as https://api.example.com')
        if attempts < 1:
            raise ValueError("attempts must be at least 1")
        self._credential = credential
        self._base_url = base_url.rstrip("/")
        self.attempts = attempts

    def arguments_of(self, call: Call) -> Dict[str, Any]:
        is_own = call.target.startswith("/")
        headers = {"Authorization": f"Bearer {self._credential}"} if is_own else {}
        url = self._base_url + call.target if is_own else call.target
        return {"method": call.method, "url": url, "headers": {**headers, **call.headers}, **call.body}

    def pause_before_retry(self, outcome: Union[httpx.Response, httpx.TransportError], attempt: int) -> Optional[float]:
        """Seconds until the next attempt; `None` for a response to return. Raises the error that ends the call."""
        if isinstance(outcome, httpx.Response) and (outcome.is_success or outcome.status_code == 308):
            return None
        error = error_of(outcome)
        if attempt >= self.attempts or not _is_retryable(error):
            raise error from (outcome if isinstance(outcome, Exception) else None)
        hint = outcome.headers.get("Retry-After") if isinstance(outcome, httpx.Response) else None
        return pause_seconds(attempt, hint)


def error_of(outcome: Union[httpx.Response, httpx.TransportError]) -> Union[ApiError, ConnectionFailedError]:
    if isinstance(outcome, httpx.TransportError):
        host = outcome.request.url.netloc.decode()
        return ConnectionFailedError(f"no response from {host}: {outcome or type(outcome).__name__}")
    try:
        error = outcome.json()["error"]
        return api_error_of(outcome.status_code, {**error, "code": str(error["code"])})
    except (ValueError, KeyError, TypeError):
        return ConnectionFailedError(f"not a response of the service: {outcome.status_code} {outcome.reason_phrase}")


def _is_retryable(error: Union[ApiError, ConnectionFailedError]) -> bool:
    if isinstance(error, ConnectionFailedError):
        return True
    # A missing model does not appear within seconds.
    if error.code == "endpoint_unavailable":
        return False
    return error.status in _RETRIED_STATUSES or error.code == "idempotency_request_in_progress"


def pause_seconds(attempt: int, hint: Optional[str]) -> float:
    """What the service asks for, or exponential backoff with jitter, so that clients do not return together."""
    if hint is not None and hint.isdigit() and int(hint) > 0:
        return min(float(hint), _LONGEST_HINT_SECONDS)
    pause = min(_FIRST_PAUSE_SECONDS * 2.0 ** (attempt - 1), _LONGEST_PAUSE_SECONDS)
    return pause * (0.5 + random.random() / 2)


def data_of_event(lines: List[str]) -> str:
    """The data of one server-sent event."""
    return "\n".join(line[5:].lstrip(" ") for line in lines if line.startswith("data:"))
