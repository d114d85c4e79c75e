"""Pictures without a vehicle: windows of photographs beside the vehicle, drawings, and drawn dashboards and interiors.

    python -m training.empty_pictures --data FOLDER/parts.npz --out FOLDER/empty.npz

A window may show a vehicle in the background that is not labelled; the labels of the set call it background too.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import cv2
import numpy as np

from . import backgrounds
from .parts_data import SIDE
from .picture import dashboard_shot, negative_shot

# Kinds of `training.backgrounds` in which nothing resembles a vehicle, for training and for tests.
DRAWN = {
    "train": (backgrounds.landscape, backgrounds.shapes, backgrounds.bare, backgrounds.noise),
    "held_out": (backgrounds.landscape, backgrounds.bare, backgrounds.discs),
}
# Smallest window, as a share of the picture's side.
LEAST = 0.25


def windows(random: np.random.Generator, picture: np.ndarray, labels: np.ndarray) -> list[np.ndarray]:
    """At most one window of a picture without a labelled pixel."""
    best = None
    for _ in range(60):
        side = int(SIDE * random.uniform(LEAST, 0.6))
        x, y = random.integers(0, SIDE - side + 1, 2)
        if (best is None or side > best[0]) and not labels[y : y + side, x : x + side].any():
            best = side, x, y
    if best is None:
        return []
    side, x, y = best
    return [cv2.resize(picture[y : y + side, x : x + side], (SIDE, SIDE), interpolation=cv2.INTER_LINEAR)]


def drawing(random: np.random.Generator, split: str) -> np.ndarray:
    """RGB [SIDE, SIDE, 3]."""
    draw = DRAWN[split][random.integers(len(DRAWN[split]))]
    return np.round(np.clip(draw(random, SIDE, SIDE, split), 0, 1) * 255).astype(np.uint8)


def interior(random: np.random.Generator) -> np.ndarray:
    """A drawn dashboard, or what else a picture of one may show. RGB [SIDE, SIDE, 3]."""
    shot = (dashboard_shot if random.random() < 0.6 else negative_shot)(random, "train", widest=800)
    return cv2.resize(shot.pixels, (SIDE, SIDE), interpolation=cv2.INTER_AREA)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--drawings", type=int, default=120)
    parser.add_argument("--interiors", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    random = np.random.default_rng(args.seed)
    cv2.setNumThreads(1)
    with np.load(args.data) as stored:
        pairs = list(zip(stored["pictures"], stored["labels"]))
    empty = [window for picture, labels in pairs for window in windows(random, picture, labels)]
    photographs = len(empty)
    empty += [drawing(random, "train") for _ in range(args.drawings)]
    empty += [interior(random) for _ in range(args.interiors)]
    np.savez(args.out, pictures=np.stack(empty), labels=np.zeros((len(empty), SIDE, SIDE), np.uint8))
    print(f"{photographs} windows of photographs, {args.drawings} drawings, {args.interiors} interiors")


if __name__ == "__main__":
    main()
