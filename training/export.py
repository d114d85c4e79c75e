"""Export the trained checkpoints to ONNX (float32) and check them in onnxruntime.

    python -m training.export --checkpoints DIR --models models
    python -m training.export --checkpoints DIR --networks lamps fuel
    python -m training.export --random --models models     # interface only

A missing checkpoint exports the freshly initialised network, so that the
interface is complete before the first training run has ended.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import torch

from . import networks as nets
from .labels import LAMP_CODES, RELEASE, TEXT_LABELS, TEXT_RELEASE

OPSET = 17
NETWORKS = ["locator", "elements", "lamps", "fuel", "text-line"]


def load(net: torch.nn.Module, path: Path | None) -> torch.nn.Module:
    """Put a checkpoint's (averaged) weights into `net` when there is one."""
    if path is not None and path.exists():
        net.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
        print(f"{path.name}: loaded")
    else:
        print(f"{path.name if path else 'random'}: no checkpoint, random weights")
    return net.eval()


def export(module: torch.nn.Module, sample: torch.Tensor, target: Path, inputs: list[str],
           outputs: list[str], dynamic: dict) -> None:
    """Write one ONNX file and compare its outputs with PyTorch's."""
    target.parent.mkdir(parents=True, exist_ok=True)
    module.eval()
    with torch.no_grad():
        torch.onnx.export(module, (sample,), str(target), input_names=inputs, output_names=outputs,
                          dynamic_axes=dynamic, opset_version=OPSET, dynamo=False,
                          do_constant_folding=True)
        expected = module(sample)
    onnx.checker.check_model(onnx.load(str(target)))
    session = onnxruntime.InferenceSession(str(target), providers=["CPUExecutionProvider"])
    got = session.run(None, {inputs[0]: sample.numpy()})
    expected = expected if isinstance(expected, tuple) else (expected,)
    gap = max(float(np.abs(g.astype(np.float64) - e.numpy().astype(np.float64)).max()) for g, e in zip(got, expected))
    print(f"{target.name}: {target.stat().st_size / 1e6:.2f} MB, largest difference {gap:.2g}",
          {n: v.shape for n, v in zip(outputs, got)})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoints", type=Path)
    parser.add_argument("--models", type=Path, default=Path("models"))
    parser.add_argument("--random", action="store_true")
    parser.add_argument("--networks", nargs="+", choices=NETWORKS, default=NETWORKS, help="the others stay as they are")
    args = parser.parse_args()
    torch.manual_seed(1)
    where = None if args.random or args.checkpoints is None else args.checkpoints
    path = lambda name: where / f"{name}.pt" if where else None
    dashboard = args.models / "dashboard-reader" / RELEASE
    text = args.models / "text-line" / TEXT_RELEASE

    size, height, width = nets.LOCATOR_SIZE, nets.ELEMENTS_HEIGHT, nets.ELEMENTS_WIDTH
    if "locator" in args.networks:
        export(nets.LocatorExport(load(nets.Locator(), path("locator"))), torch.rand(1, 3, size, size),
               dashboard / "locator.onnx", ["image"], ["boxes", "scores", "lit"], {})
    if "elements" in args.networks:
        export(nets.ElementsExport(load(nets.Elements(), path("elements"))), torch.rand(1, 3, height, width),
               dashboard / "elements.onnx", ["image"], ["boxes", "scores", "labels"], {})
    if "lamps" in args.networks:
        export(nets.LampsExport(load(nets.Lamps(len(LAMP_CODES)), path("lamps"))), torch.rand(3, 3, nets.LAMP_SIZE, nets.LAMP_SIZE),
               dashboard / "lamps.onnx", ["images"], ["probabilities"], {"images": {0: "N"}, "probabilities": {0: "N"}})
    if "fuel" in args.networks:
        export(nets.FuelExport(load(nets.Fuel(), path("fuel"))), torch.rand(3, 3, nets.FUEL_SIZE, nets.FUEL_SIZE),
               dashboard / "fuel.onnx", ["images"], ["level", "confidence"],
               {"images": {0: "N"}, "level": {0: "N"}, "confidence": {0: "N"}})
    if "text-line" in args.networks:
        export(load(nets.TextLine(len(TEXT_LABELS)), path("text-line")), torch.rand(2, 1, nets.LINE_HEIGHT, 224),
               text / "text-line.onnx", ["images"], ["log_probabilities"],
               {"images": {0: "N", 3: "W"}, "log_probabilities": {0: "N", 1: "T"}})


if __name__ == "__main__":
    main()
