"""Export the network of `models/damage-finder` to ONNX, and write its model.json.

    python -m training.export_damage --checkpoint FOLDER/damage.pt --models models [--settings FILE]

Within the network the picture is seen twice, once mirrored, and the logits are averaged. `--settings` is what
`training.evaluate_damage --choose` wrote: thresholds and the calibration of confidences, chosen on the pictures that tune.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import onnx
import torch
from torch import nn
from torch.nn import functional as F

from .backbone import MEAN, STD, Backbone
from .damage_network import TYPES, DamageNetwork
from .export import export, load
from .reduce_print import store_halves
from .write_model_json import digest

MODEL, RELEASE = "damage-finder", "2026-11-24"
# Longest side of what the network sees.
LONGEST = 512
# Confidence from which something with damage on it is a vehicle: a close-up of one panel shows little of one.
VEHICLE = 0.6
DEFAULTS = {"joined": 0.5, "score": 0.6, "minimumPixels": 60, "slope": 1.0, "offset": 0.0}


class Outputs(nn.Module):
    def __init__(self, net: DamageNetwork):
        super().__init__()
        self.net = net

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Logits [1, 1 + types, H / 4, W / 4] whose softmax is the probability of no damage, and of damage of each type."""
        straight, mirrored = self.net(torch.cat([x, x.flip(3)])).chunk(2)
        logits = (straight + mirrored.flip(3)) / 2
        damage, kinds = logits[:, :1], F.log_softmax(logits[:, 1:], 1)
        return torch.cat([torch.zeros_like(damage), damage + kinds], 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--models", type=Path, default=Path("models"))
    parser.add_argument("--settings", type=Path)
    args = parser.parse_args()
    chosen = {**DEFAULTS, **(json.loads(args.settings.read_text()) if args.settings else {})}
    folder = args.models / MODEL / RELEASE
    path = folder / "damage-finder.onnx"
    net = load(DamageNetwork(Backbone()), args.checkpoint)
    sides = {"image": {2: "H", 3: "W"}, "damage": {2: "H4", 3: "W4"}}
    export(Outputs(net), torch.rand(1, 3, 384, LONGEST), path, ["image"], ["damage"], sides)
    halved = onnx.load(str(path))
    store_halves(halved)
    path.write_bytes(halved.SerializeToString())
    print(f"{path} {path.stat().st_size} bytes with half floats")
    image = {
        "shape": [1, 3, "H", "W"], "layout": "NCHW", "dtype": "float32", "colour": "RGB", "range": [0, 1],
        "mean": [*MEAN], "std": [*STD], "resize": "fit", "sides": {"shortest": LONGEST, "longest": LONGEST, "multipleOf": 32}, "pad": 0,
    }
    described = {
        "model": MODEL,
        "release": RELEASE,
        "task": "damage-segmentation",
        "description": "Outlines scratches and dents of a vehicle. Trained on 98 damaged photographs; preview.",
        "license": "Weights trained on nicolasmetallo/car-damage-detector (MIT), sainitejeshwar/dent_multiclass (MIT), "
        "jiyuan312986471/Car_Damage_Mask_RCNN (MIT) and DSMLR Car Parts v2 (Pasupa et al. 2021), no licence stated; replace before "
        "commercial use. Encoder: EfficientNet-Lite0, Apache-2.0",
        "files": {
            "detector": {
                "path": path.name,
                "sha256": digest(path),
                "inputs": {"image": image},
                "outputs": {"damage": {"shape": [1, 1 + len(TYPES), "H4", "W4"]}},
                "decoder": {
                    "name": "semantic-segmentation", "output": "damage", "score": chosen["score"],
                    "minimumPixels": chosen["minimumPixels"], "joined": chosen["joined"],
                },
                "labels": [None, *TYPES],
            }
        },
        "uses": {"parts": "vehicle-parts", "plates": "plate-finder"},
        "thresholds": {"vehicle": VEHICLE},
        "rules": {"confidence": {"slope": chosen["slope"], "offset": chosen["offset"]}},
        "memoryMb": 450,
        "warmUp": {"detector": {"image": [1, 3, 384, LONGEST]}},
    }
    (folder / "model.json").write_text(json.dumps(described, indent=2) + "\n")


if __name__ == "__main__":
    main()
