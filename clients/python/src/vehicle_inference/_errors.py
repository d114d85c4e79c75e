"""Errors of the client.

VehicleInferenceError
├── ApiError                    the service refused a request
│   ├── InvalidRequestError     and so on: one class for each type of error,
│   │   └── ParameterInvalidError      and below it one for each code
├── ConnectionFailedError       no attempt had a usable response
├── JobFailedError              the awaited job ended without a result
├── WaitTimeoutError            the awaited job has not ended in time; it continues
└── WebhookVerificationError    a delivery was not sent by the service
"""

from typing import Any, Mapping, Optional, Type

from typing_extensions import Literal

from ._job import Job


class VehicleInferenceError(Exception):
    """Base of all errors of this package."""


class ApiError(VehicleInferenceError):
    """The service refused a request. The message says what to change."""

    def __init__(self, status: int, body: Mapping[str, Any]) -> None:
        super().__init__(str(body.get("message", "")))
        self.status = status
        self.type: str = body.get("type", "")
        #: One of the closed table of errors.
        self.code: str = body["code"]
        #: The field, header or query parameter at fault.
        self.param: Optional[str] = body.get("param")
        self.doc_url: str = body.get("doc_url", "")
        #: Quote it in support requests.
        self.request_id: str = body.get("request_id", "")

    def __str__(self) -> str:
        return f"{self.code}: {super().__str__()}"

    def __reduce__(self) -> Any:
        names = ("type", "code", "param", "doc_url", "request_id")
        body = {"message": self.args[0], **{name: getattr(self, name) for name in names}}
        return (type(self), (self.status, body))


class ConnectionFailedError(VehicleInferenceError):
    """No usable response: the connection failed, or something between client and service responded."""


class JobFailedError(VehicleInferenceError):
    """The awaited job ended without a result."""

    def __init__(self, job: "Job[Any]") -> None:
        super().__init__(job.error.message if job.error else f"the job {job.id} is {job.status}")
        self.job = job

    @property
    def code(self) -> Optional[str]:
        """The code of the job's error; `None` for a canceled job."""
        return self.job.error.code if self.job.error else None

    def __reduce__(self) -> Any:
        return (type(self), (self.job,))


class WaitTimeoutError(VehicleInferenceError):
    """The job did not end within the caller's timeout. It continues: read it later by its id."""

    def __init__(self, job: "Job[Any]") -> None:
        super().__init__(f"the job {job.id} is still {job.status}")
        self.job = job

    def __reduce__(self) -> Any:
        return (type(self), (self.job,))


WebhookVerificationCode = Literal[
    "signature_missing", "signature_malformed", "signature_mismatch", "timestamp_out_of_tolerance"
]


class WebhookVerificationError(VehicleInferenceError):
    """A delivery that must not be trusted."""

    def __init__(self, code: WebhookVerificationCode, message: str) -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> Any:
        return (type(self), (self.code, self.args[0]))


def api_error_of(status: int, body: Mapping[str, Any]) -> ApiError:
    """The class for the code, or for the type of a code that a newer service has."""
    from ._generated.errors import ERRORS_BY_CODE, ERRORS_BY_TYPE

    by_type: Type[ApiError] = ERRORS_BY_TYPE.get(str(body.get("type")), ApiError)
    return ERRORS_BY_CODE.get(str(body["code"]), by_type)(status, body)
