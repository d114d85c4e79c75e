"""Makes the networks that the benchmark of inference runs: of the size and shape of real ones, and good for nothing.

    python bench/inference/make_networks.py

Run from the top of the repository, with the `onnx` of `training/requirements.txt`. Weights are one constant each, which
ONNX Runtime unfolds when it loads the file: what they are changes nothing of how long a run takes.
"""

from pathlib import Path

import onnx
from onnx import TensorProto, helper

FOLDER = Path(__file__).parent


class Graph:
    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []

    def add(self, operator: str, inputs: list[str], **attributes) -> str:
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(operator, inputs, [name], **attributes))
        return name

    def weights(self, *shape: int) -> str:
        name = f"w{len(self.initializers)}"
        self.initializers.append(helper.make_tensor(name, TensorProto.INT64, [len(shape)], list(shape)))
        value = helper.make_tensor("value", TensorProto.FLOAT, [1], [1e-3])
        return self.add("ConstantOfShape", [name], value=value)

    def save(self, name: str, side: int, last: str, classes: int) -> None:
        self.nodes.append(helper.make_node("Identity", [last], ["scores"]))
        graph = helper.make_graph(
            self.nodes,
            name,
            [helper.make_tensor_value_info("images", TensorProto.FLOAT, ["N", 3, side, side])],
            [helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["N", classes])],
            self.initializers,
        )
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        onnx.checker.check_model(model)
        onnx.save(model, FOLDER / f"{name}.onnx")


def convolution() -> None:
    """7 GFLOP a picture of 640 x 640, as the smallest YOLO11: bound by arithmetic, so that a batch gains nothing on a CPU."""
    graph = Graph()
    channels = 3
    last = "images"
    for wide, stride in [(16, 2), (32, 2), (64, 2), *[(128, 1)] * 4]:
        convolved = graph.add(
            "Conv", [last, graph.weights(wide, channels, 3, 3)], strides=[stride, stride], pads=[1, 1, 1, 1]
        )
        last = graph.add("Relu", [convolved])
        channels = wide
    pooled = graph.add("GlobalAveragePool", [last])
    graph.save("convolution", 640, graph.add("Flatten", [pooled]), channels)


def dense() -> None:
    """150 MB of weights that every run reads: bound by memory, as recurrent and attention layers are, so that a batch gains."""
    graph = Graph()
    last = graph.add("Flatten", ["images"])
    for wide, deep in [(3 * 64 * 64, 1536), (1536, 4096), (4096, 2560), (2560, 512)]:
        last = graph.add("Relu", [graph.add("MatMul", [last, graph.weights(wide, deep)])])
    graph.save("dense", 64, last, 512)


convolution()
dense()
