"""Render the held-out pictures: typefaces, segment forms and surrounds that training never saw.

    python -m training.render_held_out --seed 20261121 --count 300 --out DIR

Writes JPEG files and truth.jsonl (one line per picture, original pixels).
70 % of the pictures show a dashboard, of which 10 % are without power.
Every picture has its own generator (seed, index), so a picture does not
depend on `--count`.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from .photograph import jpeg_bytes
from .picture import Shot, dashboard_shot, negative_shot


def bbox(box, w: int, h: int) -> dict:
    x0, y0, x1, y1 = max(0.0, box[0]), max(0.0, box[1]), min(float(w), box[2]), min(float(h), box[3])
    return {"x": round(x0, 1), "y": round(y0, 1), "width": round(x1 - x0, 1), "height": round(y1 - y0, 1)}


def truth(shot: Shot, file: str) -> dict:
    """One line of truth.jsonl."""
    h, w = shot.pixels.shape[:2]
    odometer = next((e for e in shot.elements if e["kind"].startswith("odometer")), None)
    fuel = next((e for e in shot.elements if e["kind"] == "fuel_gauge"), None)
    return {
        "file": file, "width": w, "height": h, "dashboard": shot.cluster_box is not None, "cluster_lit": shot.lit,
        "cluster_bbox": bbox(shot.cluster_box, w, h) if shot.cluster_box else None,
        "odometer": None if odometer is None else {
            "value": odometer["value"], "unit": odometer["unit"], "display_type": "analogue" if odometer["kind"] == "odometer_analogue" else "digital",
            "text": odometer["text"], "bbox": bbox(odometer["box"], w, h)},
        "warning_lights": [{"code": e["code"], "bbox": bbox(e["box"], w, h)} for e in shot.elements if e["kind"] == "lamp"],
        "fuel_level_percent": round(100 * fuel["level"], 1) if fuel and shot.lit else None,
        "fuel_bbox": bbox(fuel["box"], w, h) if fuel else None,
        "tags": {"night": shot.night, "kind": shot.kind, "style": odometer["style"] if odometer else None},
    }


def shot_of(seed: int, index: int, split: str = "held_out", widest: int = 2000) -> Shot:
    rng = np.random.default_rng([seed, index])
    if rng.random() < 0.7:
        return dashboard_shot(rng, split, widest=widest, force={"lit": bool(rng.random() >= 0.1)})
    return negative_shot(rng, split, widest)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=20261121)
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--start", type=int, default=0, help="first index, to share the work between processes")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    with open(args.out / "truth.jsonl", "w") as out:
        for index in range(args.start, args.start + args.count):
            shot = shot_of(args.seed, index)
            name = f"{index:05d}.jpg"
            (args.out / name).write_bytes(jpeg_bytes(shot.pixels, shot.quality))
            out.write(json.dumps(truth(shot, name)) + "\n")


if __name__ == "__main__":
    main()
