"""Makes classifiers whose inputs are not planes of 32-bit floats: half-floats.onnx takes and gives half floats, bytes.onnx
takes bytes, channels last. Their three logits are 8 times the mean red, green and blue of 64 x 64 pixels, from 0 to 1.

    python test/inference/exported/make_typed_models.py

Run from the top of the repository, with the `onnx` of `training/requirements.txt`.
"""

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SIDE, FACTOR = 64, 8.0


def save(name: str, nodes: list[onnx.NodeProto], picture, logits, constants: dict[str, np.ndarray]) -> None:
    initializers = [numpy_helper.from_array(value, key) for key, value in constants.items()]
    graph = helper.make_graph(nodes, name, [picture], [logits], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, Path(__file__).parent / f"{name}.onnx")


save(
    "half-floats",
    [
        helper.make_node("ReduceMean", ["images"], ["means"], axes=[2, 3], keepdims=0),
        helper.make_node("Mul", ["means", "factor"], ["logits"]),
    ],
    helper.make_tensor_value_info("images", TensorProto.FLOAT16, ["N", 3, SIDE, SIDE]),
    helper.make_tensor_value_info("logits", TensorProto.FLOAT16, ["N", 3]),
    {"factor": np.float16(FACTOR)},
)
save(
    "bytes",
    [
        helper.make_node("Cast", ["images"], ["levels"], to=TensorProto.FLOAT),
        helper.make_node("ReduceMean", ["levels"], ["means"], axes=[1, 2], keepdims=0),
        helper.make_node("Mul", ["means", "factor"], ["logits"]),
    ],
    helper.make_tensor_value_info("images", TensorProto.UINT8, ["N", SIDE, SIDE, 3]),
    helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["N", 3]),
    {"factor": np.float32(FACTOR / 255)},
)
