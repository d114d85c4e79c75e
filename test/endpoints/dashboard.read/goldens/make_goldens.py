"""Reads the example pictures with the Python reader: `readings.json`, which the TypeScript pipeline is held to.

    python test/endpoints/dashboard.read/goldens/make_goldens.py
    npx biome format --write test/endpoints/dashboard.read/goldens

Run from the top of the repository, in the environment of `training/requirements.txt`, whenever a model changes.
"""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path

from PIL import Image

ROOT = Path(__file__).parents[4]
sys.path.insert(0, str(ROOT))
from training.reader import Reader  # noqa: E402


def corners(box) -> list[float] | None:
    return None if box is None else [round(float(v), 3) for v in box]


def main() -> None:
    reader = Reader(ROOT / "models")
    pictures = {}
    for path in sorted((ROOT / "training" / "examples").glob("*.jpg")):
        got = reader.read(Image.open(path))
        odometer = got["odometer"]
        pictures[path.name] = {
            "cluster_lit": got["cluster_lit"],
            "odometer": odometer and {
                "value": odometer["value"], "unit": odometer["unit"], "display_type": odometer["display_type"],
                "confidence": round(odometer["confidence"], 5), "box": corners(odometer["bbox"])},
            "warning_lights": [{"code": lamp["code"], "confidence": round(lamp["confidence"], 5), "box": corners(lamp["bbox"])}
                               for lamp in got["warning_lights"]],
            "fuel_level_percent": got["fuel_level_percent"],
            "fuel_level_confidence": got["fuel_level_confidence"] and round(got["fuel_level_confidence"], 5),
        }
    files = sorted(f for name in ("dashboard-reader", "text-line") for f in (ROOT / "models" / name).glob("*/*.onnx"))
    models = {str(f.relative_to(ROOT / "models")): hashlib.sha256(f.read_bytes()).hexdigest() for f in files}
    target = Path(__file__).parent / "readings.json"
    target.write_text(json.dumps({"models": models, "pictures": pictures}, indent=2) + "\n")


if __name__ == "__main__":
    main()
