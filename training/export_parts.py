"""Export the network of `models/vehicle-parts` to ONNX for one picture, and write its model.json.

    python -m training.export_parts --checkpoint FOLDER/parts.pt --heads FOLDER/heads.pt --models models

One network serves four files of the model: its output `parts` is decoded for parts, its output `vehicle` for the vehicle as a
whole, whose logit is that of "any class but the background", and `view` and `paint` are the heads'. Within it, the
picture is seen twice, once mirrored with left and right exchanged, and the logits are averaged: on pictures held back that
gained 0.016 of mean IoU.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import onnx
import torch
from torch import nn

from .backbone import MEAN, STD, Backbone
from .export import export, load
from .heads_network import SHADES, VIEWS, Features
from .parts_data import CLASSES, LABELS
from .parts_network import SIDE, PartsNetwork
from .reduce_print import store_halves
from .train_heads import heads_of
from .write_model_json import digest

MODEL, RELEASE = "vehicle-parts", "2026-11-26"
# A region is reported from this mean probability of its pixels and this area in pixels of the input.
PARTS_SCORE, PARTS_PIXELS = 0.5, 24
VEHICLE_SCORE, VEHICLE_PIXELS = 0.93, 800


# The least confidence of an answer.
LEAST = {"view": 0.4, "paint": 0.0}


class Outputs(nn.Module):
    def __init__(self, net: PartsNetwork, heads: nn.ModuleDict):
        super().__init__()
        self.net, self.heads, self.features = net, heads, Features()

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        """Logits of the classes, of background and vehicle, and of the heads."""
        stages, parts = self.net.both(x)
        features = self.features(x, stages, parts)
        vehicle = torch.cat([parts[:, :1], torch.logsumexp(parts[:, 1:], 1, keepdim=True)], 1)
        return parts, vehicle, *(head(features) for head in self.heads.values())


def entry(path: Path, output: str, labels: list[str | None], shape: list[int], decoder: dict) -> dict:
    return {
        "path": path.name,
        "sha256": digest(path),
        "inputs": {
            "image": {
                "shape": [1, 3, SIDE, SIDE], "layout": "NCHW", "dtype": "float32", "colour": "RGB", "range": [0, 1],
                "mean": [*MEAN], "std": [*STD], "resize": "stretch", "pad": 0,
            }
        },
        "outputs": {output: {"shape": shape}},
        "decoder": decoder,
        "labels": labels,
    }


def outlines(path: Path, output: str, labels: list[str | None], score: float, pixels: int) -> dict:
    decoder = {"name": "semantic-segmentation", "output": output, "score": score, "minimumPixels": pixels}
    return entry(path, output, labels, [1, len(labels), SIDE // 4, SIDE // 4], decoder)


def classes(path: Path, output: str, labels: list[str | None]) -> dict:
    decoder = {"name": "softmax-classification", "output": output, "score": LEAST[output]}
    return entry(path, output, labels, [1, len(labels)], decoder)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--heads", type=Path, required=True)
    parser.add_argument("--models", type=Path, default=Path("models"))
    args = parser.parse_args()
    folder = args.models / MODEL / RELEASE
    path = folder / "vehicle-parts.onnx"
    net = load(PartsNetwork(Backbone(), CLASSES), args.checkpoint)
    heads = load(heads_of(), args.heads)
    export(Outputs(net, heads), torch.rand(1, 3, SIDE, SIDE), path, ["image"], ["parts", "vehicle", *heads], {})
    halved = onnx.load(str(path))
    store_halves(halved)
    path.write_bytes(halved.SerializeToString())
    print(f"{path} {path.stat().st_size} bytes with half floats")
    files = {
        "detector": outlines(path, "parts", LABELS, PARTS_SCORE, PARTS_PIXELS),
        "vehicle": outlines(path, "vehicle", [None, "car"], VEHICLE_SCORE, VEHICLE_PIXELS),
        "view": classes(path, "view", VIEWS),
        "paint": classes(path, "paint", SHADES),
    }
    described = {
        "model": MODEL,
        "release": RELEASE,
        "task": "vehicle-parts",
        "description": "Outlines the main vehicle of a photograph and 20 of its parts, and tells view and shade of paint. "
        "Trained on 375 labelled photographs, and 128 that an earlier release labelled; preview.",
        "license": "Weights trained on DSMLR Car Parts v2 (Pasupa et al. 2021), no licence stated; replace before commercial use; on "
        "RobertLucian/license-plate-dataset (MIT) and jiyuan312986471/Car_Damage_Mask_RCNN (MIT). "
        "Encoder: EfficientNet-Lite0, Apache-2.0",
        "files": files,
        # Lettering on vehicles, for `vehicle.identify`.
        "uses": {"text": "print-reader"},
        # Measured: 414 MB with a picture of 12 megapixels, and 750 MB with the reader of print.
        "memoryMb": 450,
        "warmUp": {name: {"image": [1, 3, SIDE, SIDE]} for name in files},
    }
    (folder / "model.json").write_text(json.dumps(described, indent=2) + "\n")


if __name__ == "__main__":
    main()
