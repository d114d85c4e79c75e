"""Answers as typed objects, without a service."""

import copy
import inspect
import json
import os
import pickle
from pathlib import Path
from typing import Any, Iterator

import pytest
from conftest import job_of

import vehicle_inference
from vehicle_inference import AsyncClient, AsyncManagementClient, Client, Job, ManagementClient, Upload, models
from vehicle_inference._generated.models import RESULTS
from vehicle_inference._model import Model, _attribute_of, _types_of

DOCUMENT = json.loads(Path(os.environ["OPENAPI_PATH"]).read_text())


def test_a_result_has_the_class_of_its_endpoint_wherever_the_job_is_read():
    job: Job[Any] = Job(job_of())
    assert isinstance(job.result, models.DashboardReadResult)
    assert isinstance(job.result.odometer, models.Odometer) and job.result.odometer.value == 12
    event = models.JobEvent({"type": "job.succeeded", "data": {"object": job_of()}})
    assert isinstance(event.data.object.result, models.DashboardReadResult)


def test_an_optional_field_that_was_not_sent_is_none_and_a_misspelled_one_is_an_error():
    upload = Upload({"id": "upl_1"})
    assert upload.upload_url is None
    with pytest.raises(AttributeError, match="Upload has no field uplod_url"):
        upload.uplod_url  # noqa: B018


def test_fields_and_values_of_a_newer_service_are_kept():
    job: Job[Any] = Job(job_of(status="paused", priority={"level": 3}))
    assert job.status == "paused" and job["priority"] == {"level": 3} and job.to_dict()["priority"] == {"level": 3}


def test_a_field_named_like_a_keyword_ends_in_an_underscore():
    vehicle = models.VehicleSegmentResultVehicle({"class": "van"})
    assert vehicle.class_ == "van" and vehicle["class"] == "van"


def test_a_field_named_like_an_endpoint_has_underscores():
    segment = {"status": "succeeded", "result": {"vehicles": []}, "error": None, "charged_credits": 30}
    outcomes = models.Outcomes({"vehicle.segment": segment})
    assert isinstance(outcomes.vehicle_segment, models.OutcomesVehicleSegment)
    assert isinstance(outcomes["vehicle.segment"].result, models.VehicleSegmentResult)
    assert outcomes.vehicle_pose is None and "vehicle_segment" in dir(outcomes)


def test_alternatives_are_told_apart_by_their_constants():
    field = {"type": "money", "name": "total", "value": 3}
    read = models.DocumentReadResult({"fields": [field, {**field, "type": "text"}]})
    assert [type(part) for part in read.fields] == [models.FieldMoney, models.FieldText]


def test_models_are_compared_copied_and_pickled_by_value():
    job: Job[Any] = Job(job_of())
    assert pickle.loads(pickle.dumps(job)) == job == copy.deepcopy(job)
    assert job != Job(job_of(status="failed"))
    assert "dashboard.read" in repr(job)


@pytest.mark.parametrize("endpoint", sorted(RESULTS))
def test_every_field_of_an_example_is_known(endpoint: str):
    operations = [methods["post"] for methods in DOCUMENT["paths"].values() if "post" in methods]
    operation = next(operation for operation in operations if operation["operationId"] == endpoint)
    answers = [operation["responses"][status]["content"]["application/json"] for status in ("200", "202")]
    examples = [example["value"] for answer in answers for example in answer.get("examples", {}).values()]
    results = [Job(example).result for example in examples if example.get("result") is not None]
    assert len(results) > 0
    assert [list(_unknown_fields(result, endpoint)) for result in results] == [[]] * len(results)


def _unknown_fields(value: Any, where: str) -> Iterator[str]:
    if isinstance(value, Model):
        for name in value.to_dict():
            attribute = _attribute_of(name)
            if attribute not in _types_of(type(value)) or getattr(value, attribute) != value[name]:
                yield f"{where}.{name}"
            yield from _unknown_fields(value[name], f"{where}.{name}")
    elif isinstance(value, list):
        for item in value:
            yield from _unknown_fields(item, where)


def test_everything_public_is_listed_once_and_exists():
    assert len(vehicle_inference.__all__) == len(set(vehicle_inference.__all__))
    assert all(hasattr(vehicle_inference, name) for name in vehicle_inference.__all__)


@pytest.mark.parametrize(("one", "other"), [(Client, AsyncClient), (ManagementClient, AsyncManagementClient)])
def test_both_kinds_of_client_offer_the_same(one: type, other: type):
    def methods(of: type) -> Any:
        found = inspect.getmembers(of, inspect.isfunction)
        return {name: list(inspect.signature(function).parameters) for name, function in found if name[0] != "_"}

    of_other = methods(other)
    of_other["close"] = of_other.pop("aclose")
    assert methods(one) == of_other and len(of_other) > 10
