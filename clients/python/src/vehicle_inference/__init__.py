"""The typed client of the Vehicle Inference Service."""

from ._async_client import AsyncClient
from ._client import Client
from ._errors import (
    ApiError,
    ConnectionFailedError,
    JobFailedError,
    VehicleInferenceError,
    WaitTimeoutError,
    WebhookVerificationError,
)
from ._files import FileInput
from ._generated import errors, models
from ._generated.errors import *  # noqa: F403
from ._generated.errors import __all__ as _errors_by_code
from ._generated.async_management import AsyncManagementClient
from ._generated.management import ManagementClient
from ._generated.models import Endpoint, JobEvent, KeyIdentity, Upload
from ._generated.requests import *  # noqa: F403
from ._generated.requests import __all__ as _requests
from ._job import FinishedJob, Job, JobError, JobStatus
from ._webhooks import verify_webhook

__version__ = "0.1.0"

__all__ = [
    "ApiError",
    "AsyncClient",
    "AsyncManagementClient",
    "Client",
    "ConnectionFailedError",
    "Endpoint",
    "FileInput",
    "FinishedJob",
    "Job",
    "JobError",
    "JobEvent",
    "JobFailedError",
    "JobStatus",
    "KeyIdentity",
    "ManagementClient",
    "Upload",
    "VehicleInferenceError",
    "WaitTimeoutError",
    "WebhookVerificationError",
    "errors",
    "models",
    "verify_webhook",
    *_errors_by_code,
    *_requests,
]
