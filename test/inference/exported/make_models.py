"""Makes the tiny networks of this folder: exports as their makers lay them out, whose answers follow from colours.

    python test/inference/exported/make_models.py

Run from the top of the repository, with the `onnx` of `training/requirements.txt`. Each network sees 64 x 64 pixels as
8 x 8 cells. A cell is as much of a class as its colour is red (0), green (1) or blue (2): 1 for the pure colour, 0 for
grey. It proposes a box of 12 x 12 pixels around its middle.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SIDE, CELL, BOX = 64, 8, 12
CELLS = (SIDE // CELL) ** 2
COLOURS = np.array([[1, -0.5, -0.5], [-0.5, 1, -0.5], [-0.5, -0.5, 1]], np.float32)


def constant(name: str, value: np.ndarray) -> onnx.TensorProto:
    return numpy_helper.from_array(value, name)


def centres() -> np.ndarray:
    """[2, CELLS]: x and y of the middle of each cell."""
    y, x = np.mgrid[0 : SIDE // CELL, 0 : SIDE // CELL]
    return (np.stack([x.ravel(), y.ravel()]) * CELL + CELL / 2).astype(np.float32)


def class_scores() -> tuple[list[onnx.NodeProto], list[onnx.TensorProto]]:
    """images [1, 3, 64, 64] -> scores [1, 3, CELLS]"""
    nodes = [
        helper.make_node("AveragePool", ["images"], ["cells"], kernel_shape=[CELL, CELL], strides=[CELL, CELL]),
        helper.make_node("Conv", ["cells", "colours"], ["mixed"]),
        helper.make_node("Relu", ["mixed"], ["positive"]),
        helper.make_node("Reshape", ["positive", "rows"], ["scores"]),
    ]
    constants = [
        constant("colours", COLOURS.reshape(3, 3, 1, 1)),
        constant("rows", np.array([1, 3, CELLS], np.int64)),
    ]
    return nodes, constants


def tensor(name: str, shape: list[int], kind: int = TensorProto.FLOAT) -> onnx.ValueInfoProto:
    return helper.make_tensor_value_info(name, kind, shape)


def save(name: str, nodes, inputs, outputs, constants) -> None:
    graph = helper.make_graph(nodes, name, inputs, outputs, constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="")
    onnx.checker.check_model(model, full_check=True)
    onnx.save(model, Path(__file__).parent / f"{name}.onnx")


IMAGES = tensor("images", [1, 3, SIDE, SIDE])


def yolo_detection() -> None:
    """output0 [1, 4 + 3, CELLS], as Ultralytics exports detection."""
    nodes, constants = class_scores()
    boxes = np.concatenate([centres(), np.full((2, CELLS), BOX, np.float32)])[None]
    nodes.append(helper.make_node("Concat", ["boxes", "scores"], ["output0"], axis=1))
    save("yolo-detection", nodes, [IMAGES], [tensor("output0", [1, 7, CELLS])], [*constants, constant("boxes", boxes)])


def detr_with_postprocessor() -> None:
    """boxes, scores and labels of all cells, scaled to `orig_target_sizes`, as RT-DETR and D-FINE export them."""
    nodes, constants = class_scores()
    corners = np.concatenate([centres() - BOX / 2, centres() + BOX / 2]).T[None] / SIDE
    nodes += [
        helper.make_node("ReduceMax", ["scores"], ["best"], axes=[1], keepdims=0),
        helper.make_node("ArgMax", ["scores"], ["classes"], axis=1, keepdims=0),
        helper.make_node("Identity", ["best"], ["scores_out"]),
        helper.make_node("Identity", ["classes"], ["labels"]),
        helper.make_node("Cast", ["orig_target_sizes"], ["size"], to=TensorProto.FLOAT),
        helper.make_node("Concat", ["size", "size"], ["sizes"], axis=1),
        helper.make_node("Mul", ["shares", "sizes"], ["boxes"]),
    ]
    inputs = [IMAGES, tensor("orig_target_sizes", [1, 2], TensorProto.INT64)]
    outputs = [
        tensor("labels", [1, CELLS], TensorProto.INT64),
        tensor("boxes", [1, CELLS, 4]),
        tensor("scores_out", [1, CELLS]),
    ]
    save("detr-with-postprocessor", nodes, inputs, outputs, [*constants, constant("shares", corners.astype(np.float32))])


def semantic_segmentation() -> None:
    """logits [1, 1 + 3, 8, 8]: background, then the colours."""
    nodes = [
        helper.make_node("AveragePool", ["images"], ["cells"], kernel_shape=[CELL, CELL], strides=[CELL, CELL]),
        helper.make_node("Conv", ["cells", "colours", "bias"], ["logits"]),
    ]
    weights = np.concatenate([np.zeros((1, 3), np.float32), COLOURS * 20]).reshape(4, 3, 1, 1)
    constants = [constant("colours", weights), constant("bias", np.array([5, 0, 0, 0], np.float32))]
    save("semantic-segmentation", nodes, [IMAGES], [tensor("logits", [1, 4, 8, 8])], constants)


def classification() -> None:
    """logits [1, 1 + 3]: none, then the colours, by the mean of the whole picture."""
    nodes = [
        helper.make_node("GlobalAveragePool", ["images"], ["mean"]),
        helper.make_node("Flatten", ["mean"], ["row"]),
        helper.make_node("Gemm", ["row", "colours", "bias"], ["logits"]),
    ]
    weights = np.concatenate([np.zeros((3, 1), np.float32), COLOURS.T * 20], axis=1)
    constants = [constant("colours", weights), constant("bias", np.array([2, 0, 0, 0], np.float32))]
    save("classification", nodes, [IMAGES], [tensor("logits", [1, 4])], constants)


if __name__ == "__main__":
    yolo_detection()
    detr_with_postprocessor()
    semantic_segmentation()
    classification()
