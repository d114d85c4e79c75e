"""Makes misbehaving networks with the shapes of models/tiny: endless.onnx never ends, hoarding.onnx
takes 24 GB, and of roots.onnx, y = sqrt(x - 50), what is below 50 has no root.

    python test/inference/misbehaving/make_networks.py

Run from the top of the repository, with the `onnx` of `training/requirements.txt`.
"""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def constant(name: str, value) -> onnx.TensorProto:
    return numpy_helper.from_array(np.asarray(value), name)


def save(name: str, nodes: list[onnx.NodeProto], constants: list[onnx.TensorProto]) -> None:
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N"])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N"])
    graph = helper.make_graph(nodes, name, [x], [y], constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, Path(__file__).parent / f"{name}.onnx")


def value(name: str, kind: int, shape: list[int]) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


body = helper.make_graph(
    [helper.make_node("Identity", ["going"], ["goes_on"]), helper.make_node("Mul", ["number", "half"], ["halved"])],
    "body",
    [value("round", TensorProto.INT64, []), value("going", TensorProto.BOOL, []), value("number", TensorProto.FLOAT, [])],
    [value("goes_on", TensorProto.BOOL, []), value("halved", TensorProto.FLOAT, [])],
    [constant("half", np.float32(0.5))],
)
save(
    "endless",
    [
        helper.make_node("ReduceSum", ["x"], ["sum"], keepdims=0),
        helper.make_node("Loop", ["rounds", "true", "sum"], ["last"], body=body),
        helper.make_node("Add", ["x", "last"], ["y"]),
    ],
    [constant("rounds", np.int64(10**15)), constant("true", True)],
)
save(
    "hoarding",
    [
        helper.make_node("ReduceSum", ["x"], ["sum"], keepdims=1),
        helper.make_node("Cast", ["sum"], ["whole"], to=TensorProto.INT64),
        helper.make_node("Add", ["whole", "length"], ["shape"]),
        helper.make_node("ConstantOfShape", ["shape"], ["hoard"], value=helper.make_tensor("", TensorProto.FLOAT, [1], [1])),
        helper.make_node("ReduceMax", ["hoard"], ["one"], keepdims=1),
        helper.make_node("Add", ["x", "one"], ["y"]),
    ],
    [constant("length", np.array([6 * 10**9], np.int64))],
)
save(
    "roots",
    [helper.make_node("Sub", ["x", "fifty"], ["above"]), helper.make_node("Sqrt", ["above"], ["y"])],
    [constant("fifty", np.float32(50))],
)
