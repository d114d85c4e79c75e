"""Export the network of the model `plate-finder` to ONNX with its weights as half floats, and write its model.json.

    python -m training.export_plates --checkpoints FOLDER --models models
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import onnx
import torch

from .backbone import MEAN, STD
from .export import export, load
from .plate_finder import CANDIDATES, Export, PlateFinder
from .reduce_print import save, store_halves
from .write_model_json import PAD, digest

MODEL, RELEASE = "plate-finder", "2026-11-23"
# Longer side of the picture as the network sees it, in pixels.
LONGEST = 768
# From the first score on it may be a plate, from the second it is covered, from the third it is one without a number read on it.
SCORE, COVER, SURE = 0.1, 0.3, 0.45


def described(path: Path) -> dict:
    return {
        "model": MODEL,
        "release": RELEASE,
        "task": "plate-detection",
        "description": "Finds number plates and their corners in photographs. EfficientNet-Lite0 with a feature pyramid, trained on "
                       "Romanian streets and on drawn plates in photographs of cars; preview.",
        "license": "Apache-2.0 (weights of ImageNet: Apache-2.0; street scenes: MIT; photographs of cars: no licence stated, replace "
                   "before commercial use)",
        "files": {
            "detector": {
                "path": path.name,
                "sha256": digest(path),
                "inputs": {
                    "picture": {
                        "shape": [1, 3, "H", "W"], "layout": "NCHW", "dtype": "float32", "colour": "RGB", "range": [0, 1],
                        "mean": list(MEAN), "std": list(STD), "resize": "fit",
                        "sides": {"shortest": LONGEST, "longest": LONGEST, "multipleOf": 96}, "pad": PAD,
                    }
                },
                "outputs": {"plates": {"shape": [1, 13, 2 * CANDIDATES]}},
                "labels": ["plate"],
                "decoder": {"name": "yolo-pose", "output": "plates", "keypoints": 4, "values": 2, "score": SCORE, "overlap": 0.4,
                            "maximum": 30},
            }
        },
        "uses": {"text": "print-reader"},
        "thresholds": {"plate": SURE, "cover": COVER},
        "memoryMb": 500,
        "warmUp": {"detector": {"picture": [1, 3, 96, 96]}},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoints", type=Path, required=True)
    parser.add_argument("--models", type=Path, default=Path("models"))
    args = parser.parse_args()
    folder = args.models / MODEL / RELEASE
    path = folder / "detector.onnx"
    net = load(PlateFinder(), args.checkpoints / f"{MODEL}.pt")
    export(Export(net).eval(), torch.rand(1, 3, 384, 576), path, ["picture"], ["plates"], {"picture": {2: "H", 3: "W"}})
    model = onnx.load(str(path))
    store_halves(model)
    save(model, path)
    (folder / "model.json").write_text(json.dumps(described(path), indent=2) + "\n")


if __name__ == "__main__":
    main()
