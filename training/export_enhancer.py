"""Export the networks of `models/picture-enhancement` to ONNX (float32) for one tile, and write their model.json.

    python -m training.export_enhancer --checkpoints DIR --models models
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import torch

from .enhancer import NETWORKS, REACH, Enhancer
from .export import export, load
from .write_model_json import digest

MODEL, RELEASE = "picture-enhancement", "2026-11-24"
TILE = 256


def entry(path: Path, scale: int) -> dict:
    return {
        "path": path.name,
        "sha256": digest(path),
        "inputs": {
            "input": {
                "shape": [1, 3, TILE, TILE], "layout": "NCHW", "dtype": "float32", "colour": "RGB", "range": [0, 1],
                "mean": [0, 0, 0], "std": [1, 1, 1],
            }
        },
        "outputs": {"output": {"shape": [1, 3, TILE * scale, TILE * scale]}},
        # What the tiles' edges spoil is thrown away: a picture is the same in tiles as whole.
        "decoder": {"name": "image-to-image", "output": "output", "scale": scale, "overlap": 4 * REACH, "range": [0, 1]},
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoints", type=Path, required=True)
    parser.add_argument("--models", type=Path, default=Path("models"))
    args = parser.parse_args()
    folder = args.models / MODEL / RELEASE
    files = {}
    for name, (scale, channels) in NETWORKS.items():
        if not (args.checkpoints / f"{name}.pt").exists():
            continue
        path = folder / f"{name}.onnx"
        export(load(Enhancer(scale, channels), args.checkpoints / f"{name}.pt"), torch.rand(1, 3, TILE, TILE), path,
               ["input"], ["output"], {})
        files[name] = entry(path, scale)
    described = {
        "model": MODEL,
        "release": RELEASE,
        "task": "picture-enhancement",
        "description": "Doubles pictures, and takes noise away. Trained on photographs of cars and drawn shapes; preview.",
        "license": "Apache-2.0 (trained on drawn pictures and on photographs under the MIT licence)",
        "files": files,
        # Measured: a picture of 12 megapixels made one of 48.
        "memoryMb": 1200,
        "warmUp": {name: {"input": [1, 3, TILE, TILE]} for name in files},
    }
    (folder / "model.json").write_text(json.dumps(described, indent=2) + "\n")


if __name__ == "__main__":
    main()
