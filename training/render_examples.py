"""Four example pictures for the demonstration, in the held-out manner.

    python -m training.render_examples --out training/examples
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np

from .photograph import jpeg_bytes
from .picture import Shot, dashboard_shot, negative_shot
from .render_held_out import truth

FRAME = (1280, 800)
# name, seed, what is fixed
SPECS = [
    ("night-kilometres.jpg", 2, {"lit": True, "night": True, "odometer": "digital", "style": "font", "unit": "km", "layout": "two", "lit_share": 0.3}),
    ("day-miles-seven-segment.jpg", 7, {"lit": True, "night": False, "odometer": "digital", "style": "seven", "unit": "miles", "layout": "two", "lit_share": 0.2}),
    ("day-mechanical-drums.jpg", 5, {"lit": True, "night": False, "odometer": "analogue", "layout": "centre", "lit_share": 0.1}),
    ("no-dashboard.jpg", 40, None),
]


def draw(seed: int, force: dict | None) -> Shot:
    rng = np.random.default_rng([40, seed])
    if force is None:
        return negative_shot(rng, "held_out", 1280)
    return dashboard_shot(rng, "held_out", force=force, frame=FRAME, share=0.84, least_line=16, hard=0.5)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("training/examples"))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    with open(args.out / "truth.jsonl", "w") as out:
        for name, seed, force in SPECS:
            shot = draw(seed, force)
            quality = 90
            while len(data := jpeg_bytes(shot.pixels, quality)) > 300_000:
                quality -= 5
            (args.out / name).write_bytes(data)
            out.write(json.dumps(truth(shot, name)) + "\n")


if __name__ == "__main__":
    main()
