"""A job, generic in its result."""

from typing import Any, Generic, List, Optional, TypeVar

from typing_extensions import Literal

from ._model import Model

ResultT = TypeVar("ResultT")

JobStatus = Literal["queued", "processing", "succeeded", "partial", "failed", "expired", "canceled"]

ENDED_STATUSES = ("succeeded", "partial", "failed", "expired", "canceled")


class JobCredits(Model):
    reserved: int
    charged: int


class JobError(Model):
    """Why a job has no result. `code` is one of the closed table of errors."""

    type: str
    code: str
    message: str


class JobStage(Model):
    """One stage of a job that runs in several."""

    name: str
    status: str
    progress: float
    """From 0 to 1."""
    started_at: Optional[int]
    completed_at: Optional[int]
    credits: JobCredits
    error: Optional[JobError]


class Job(Model, Generic[ResultT]):
    """A job in the state in which it was read."""

    id: str
    object: Literal["job"]
    endpoint: str
    status: JobStatus
    livemode: bool
    is_staging: bool
    created: int
    """Epoch seconds, as are the other times."""
    started_at: Optional[int]
    completed_at: Optional[int]
    model_version: Optional[str]
    """`<model>@<release date>`."""
    credits: JobCredits
    result: Optional[ResultT]
    error: Optional[JobError]
    stages: Optional[List[JobStage]]
    test_scenario: Optional[str]

    @property
    def ended(self) -> bool:
        """Whether the status is final."""
        return self.status in ENDED_STATUSES

    def _type_of(self, name: str) -> Any:
        if name != "result":
            return super()._type_of(name)
        from ._generated.models import RESULTS

        return RESULTS.get(self._data["endpoint"])


class FinishedJob(Job[ResultT]):
    """A job that ended with a result."""

    result: ResultT
