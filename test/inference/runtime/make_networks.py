"""Makes the networks of the tests of batches: models/lookup/2026-01-01/lookup.onnx, y = table[index] by sample, which fails
on an index that the table lacks; and summing.onnx, whose y is one number for all samples together.

    python test/inference/runtime/make_networks.py

Run from the top of the repository, with the `onnx` of `training/requirements.txt`.
"""

from pathlib import Path

import onnx
from onnx import TensorProto, helper

TABLE = [float(10 * index) for index in range(8)]

graph = helper.make_graph(
    [helper.make_node("Gather", ["table", "index"], ["value"])],
    "lookup",
    [helper.make_tensor_value_info("index", TensorProto.INT64, ["N", 1])],
    [helper.make_tensor_value_info("value", TensorProto.FLOAT, ["N", 1])],
    [helper.make_tensor("table", TensorProto.FLOAT, [len(TABLE)], TABLE)],
)
model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
onnx.checker.check_model(model)
onnx.save(model, Path(__file__).parent / "models/lookup/2026-01-01/lookup.onnx")

summing = helper.make_graph(
    [helper.make_node("ReduceSum", ["x"], ["y"], keepdims=1)],
    "summing",
    [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N"])],
    [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1])],
)
model = helper.make_model(summing, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
onnx.checker.check_model(model)
onnx.save(model, Path(__file__).parent / "summing.onnx")
