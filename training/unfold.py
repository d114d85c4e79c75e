"""Make a checkpoint of an exported network, to go on training from a release whose checkpoint is gone.

    python -m training.unfold --network fuel --onnx models/dashboard-reader/2026-11-22/fuel.onnx --data DIR --out fuel.pt

Export folds each batch norm into its convolution. A batch norm that does nothing would do something as soon as training
normalises by the batch, so each gets the mean and spread that its input has on the training crops, and the scale and shift
that undo them.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import numpy_helper
from torch import nn

from .labels import LAMP_CODES
from .learning import shards, to_input
from .networks import Fuel, FuelExport, Lamps, LampsExport

NETWORKS = {"fuel": (Fuel, FuelExport, "fuel"), "lamps": (lambda: Lamps(len(LAMP_CODES)), LampsExport, "lamp")}
CROPS = 1200


def unfold(net: nn.Module, file: Path, crops: torch.Tensor) -> None:
    """Puts the weights of `file` into `net`; its layers must stand in the order of the graph."""
    graph = onnx.load(str(file)).graph
    values = {item.name: torch.from_numpy(numpy_helper.to_array(item).copy()) for item in graph.initializer}
    convolutions = [node for node in graph.node if node.op_type == "Conv"]
    dense = [node for node in graph.node if node.op_type == "Gemm"]
    layers = list(net.modules())
    pairs = [(a, b) for a, b in zip(layers, layers[1:]) if isinstance(a, nn.Conv2d) and isinstance(b, nn.BatchNorm2d)]
    linear = [layer for layer in layers if isinstance(layer, nn.Linear)]
    assert len(pairs) == len(convolutions) and len(linear) == len(dense)
    net.eval()
    with torch.no_grad():
        for node, (convolution, norm) in zip(convolutions, pairs):
            convolution.weight.copy_(values[node.input[1]])
            norm.running_mean.zero_()
            norm.running_var.fill_(1 - norm.eps)
            norm.weight.fill_(1)
            norm.bias.copy_(values[node.input[2]])
        for node, layer in zip(dense, linear):
            layer.weight.copy_(values[node.input[1]])
            layer.bias.copy_(values[node.input[2]])
        seen: dict[nn.Module, torch.Tensor] = {}
        hooks = [norm.register_forward_pre_hook(lambda layer, given: seen.__setitem__(layer, given[0])) for _, norm in pairs]
        net(crops)
        for _, norm in pairs:
            mean, spread = seen[norm].mean((0, 2, 3)), seen[norm].var((0, 2, 3)).clamp(min=1e-6)
            norm.running_mean.copy_(mean)
            norm.running_var.copy_(spread)
            norm.weight.copy_(torch.sqrt(spread + norm.eps))
            norm.bias.add_(mean)
        for hook in hooks:
            hook.remove()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--network", choices=[*NETWORKS], required=True)
    parser.add_argument("--onnx", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True, help="folder with the shards")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    build, exported, key = NETWORKS[args.network]
    data = shards(args.data, "train", [key])
    pixels = np.concatenate([each[key] for each in data.values()])
    crops = to_input(pixels[np.random.default_rng(1).permutation(len(pixels))[:CROPS]])
    net = build()
    unfold(net, args.onnx, crops)
    with torch.no_grad():
        got = exported(net)(crops[:64])
    expected = onnxruntime.InferenceSession(str(args.onnx)).run(None, {"images": crops[:64].contiguous().numpy()})
    gap = max(float(np.abs(g.numpy() - e).max()) for g, e in zip(got if isinstance(got, tuple) else (got,), expected))
    assert gap < 1e-3, f"the unfolded network differs by {gap}"
    torch.save(net.state_dict(), args.out)
    print(f"{args.out}: largest difference from the file {gap:.2g}")


if __name__ == "__main__":
    main()
