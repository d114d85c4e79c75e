"""Photographs -> windows that the networks of `models/picture-enhancement` learn from.

    python -m training.enhancer_data --damage FOLDER --street FOLDER --out FOLDER

`--damage` and `--street` are those of `damage_data.py` and `plate_pictures.py`; what `labels/damage-split.json` names judges and is
left out. Each photograph is shrunk until its finest detail is as strong as in a sharp picture, which takes the blocks and
noise of its JPEG with it. A share of the windows gets a drawn plate, so that lettering is never far.

Written as one `photographs.npz`: `sharp` [count, SIDE, SIDE, 3].
"""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path

import cv2
import numpy as np

from .drawn_plates import drawn_plate
from .plate_pictures import put, rectangle, turned

SIDE = 192
# Largest of these at which a photograph is sharp; the last for those that never are.
FACTORS = (0.7, 0.6, 0.5, 0.4, 0.33)
# Contrast between neighbours as a share of that between means of 2 x 2 pixels, from which a picture is sharp.
SHARP = 0.6
# Contrast between neighbours, in levels, below which a window is empty sky or road, or was never sharp.
LEAST_CONTRAST = 9
# Windows per area of a window, most of a photograph, and the share of them that gets a plate.
DENSITY, WINDOWS, PLATES = 4, 24, 0.15
LABELS = Path(__file__).parent / "labels" / "damage-split.json"


def shrunk(pixels: np.ndarray) -> np.ndarray | None:
    """As large as it is sharp; None where no window is left."""
    made = None
    for factor in FACTORS:
        size = (round(pixels.shape[1] * factor), round(pixels.shape[0] * factor))
        if min(size) < SIDE:
            break
        made = cv2.resize(pixels, size, interpolation=cv2.INTER_AREA)
        if fineness(made) >= SHARP:
            break
    return made


def fineness(pixels: np.ndarray) -> float:
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY).astype(np.float32)
    half = cv2.resize(grey, (grey.shape[1] // 2, grey.shape[0] // 2), interpolation=cv2.INTER_AREA)
    return contrast(grey) / max(contrast(half), 1e-3)


def contrast(grey: np.ndarray) -> float:
    return float(np.abs(np.diff(grey, axis=0)).mean() + np.abs(np.diff(grey, axis=1)).mean())


def windows(random: np.random.Generator, pixels: np.ndarray, plates: list) -> list[np.ndarray]:
    out = []
    height, width = pixels.shape[:2]
    for _ in range(min(WINDOWS, math.ceil(DENSITY * height * width / SIDE ** 2))):
        top, left = random.integers(0, height - SIDE + 1), random.integers(0, width - SIDE + 1)
        window = pixels[top:top + SIDE, left:left + SIDE].copy()
        if contrast(cv2.cvtColor(window, cv2.COLOR_RGB2GRAY).astype(np.float32)) < LEAST_CONTRAST:
            continue
        if random.random() < PLATES:
            drawing = plates[random.integers(len(plates))]
            rows, columns = drawing[0].shape[:2]
            half = math.exp(random.uniform(math.log(22), math.log(90))) * np.float32([1, rows / columns])
            centre = random.uniform(0.25 * SIDE, 0.75 * SIDE, 2).astype(np.float32)
            put(random, window, drawing, turned(random, rectangle(*(centre - half), *(centre + half)), (columns, rows)))
        out.append(window)
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--damage", type=Path, required=True)
    parser.add_argument("--street", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    cv2.setNumThreads(1)
    random = np.random.default_rng(args.seed)
    judging = {name for names in json.loads(LABELS.read_text()).values() for name in names}
    paths = [path for path in sorted(args.damage.glob("*/images/*")) if f"{path.parent.parent.name}/{path.name}" not in judging]
    paths += sorted((args.street / "train").glob("*.jpg"))
    plates = [drawn_plate(random) for _ in range(200)]
    made, used = [], 0
    for path in paths:
        pixels = shrunk(cv2.cvtColor(cv2.imread(str(path)), cv2.COLOR_BGR2RGB))
        if pixels is not None:
            made += windows(random, pixels, plates)
            used += 1
    args.out.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(args.out / "photographs.npz", sharp=np.stack(made))
    print(f"{len(made)} windows of {used} photographs")


if __name__ == "__main__":
    main()
