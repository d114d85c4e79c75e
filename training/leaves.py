"""Pictures of nothing, to learn from how fine detail looks: shapes of any size that cover each other ("dead leaves", after
Lee, Mumford and Huang, 2001), shaded, textured and lettered.

    python -m training.leaves --out FOLDER --count 500

Written as one `leaves.npz`: `sharp` [count, SIDE, SIDE, 3], as a good camera would take them.
"""

from __future__ import annotations

import argparse
import string
from pathlib import Path

import cv2
import numpy as np

SIDE = 256
# Drawn larger and shrunk, so that edges are as soft as those of a lens.
FACTOR = 3


def leaf(random: np.random.Generator, canvas: int, radius: float) -> np.ndarray:
    """The corners of one shape, in pixels."""
    middle = random.uniform(-0.1, 1.1, 2) * canvas
    count = int(random.choice([3, 4, 4, 4, 5, 24, 24, 40]))
    turn = random.uniform(0, 2 * np.pi)
    angles = turn + np.arange(count) * 2 * np.pi / count
    reach = radius * (random.uniform(0.6, 1.2, count) if count < 24 else 1 + 0.2 * np.sin(angles * random.integers(1, 4)))
    stretch = np.array([1, random.choice([1, random.uniform(0.05, 1)])])
    points = np.stack([np.cos(angles), np.sin(angles)], 1) * reach[:, None] * stretch
    lean = random.uniform(0, np.pi)
    turned = points @ np.array([[np.cos(lean), -np.sin(lean)], [np.sin(lean), np.cos(lean)]])
    return (middle + turned).astype(np.int32)


def texture(random: np.random.Generator, canvas: int, kind: int) -> np.ndarray:
    """[canvas, canvas], about -1 to 1: cloudy noise, stripes or a grid."""
    if kind == 0:
        out = np.zeros((canvas, canvas), np.float32)
        for octave in range(1, 10):
            cells = min(canvas, 2 ** octave + 1)
            out += cv2.resize(random.normal(0, 1, (cells, cells)).astype(np.float32), (canvas, canvas),
                              interpolation=cv2.INTER_CUBIC) * 0.75 ** octave
        return out
    y, x = np.mgrid[0:canvas, 0:canvas].astype(np.float32)
    turn, period = random.uniform(0, np.pi), np.exp(random.uniform(np.log(4), np.log(40))) * FACTOR
    along, across = x * np.cos(turn) + y * np.sin(turn), y * np.cos(turn) - x * np.sin(turn)
    wave = np.sin(along * 2 * np.pi / period)
    if kind == 2:
        wave = wave * np.sin(across * 2 * np.pi / period)
    return np.clip(wave * random.uniform(1, 6), -1, 1)


def picture(random: np.random.Generator) -> np.ndarray:
    """[SIDE, SIDE, 3] uint8"""
    canvas = SIDE * FACTOR
    # A few colours that go together, as in one place.
    lightness = random.normal(random.uniform(60, 190), random.uniform(15, 70), (12, 1))
    tint = random.normal(0, 25, 3) + random.normal(0, random.choice([6, 20, 50]), (12, 3))
    palette = np.clip(lightness + tint, 0, 255)
    drawn = np.full((canvas, canvas, 3), palette[0], np.float32)
    textures = [texture(random, canvas, kind) for kind in (0, 0, *random.integers(0, 3, 2))]
    y, x = np.mgrid[0:canvas, 0:canvas].astype(np.float32) / canvas
    # Small ones count as much of the picture as large ones do.
    least = random.uniform(1.5, 6)
    for _ in range(int(random.uniform(120, 700))):
        radius = FACTOR * least / np.sqrt(random.uniform((least / 90) ** 2, 1))
        mask = np.zeros((canvas, canvas), np.uint8)
        points = leaf(random, canvas, radius)
        kind = random.random()
        if kind < 0.75:
            cv2.fillPoly(mask, [points], 255)
        elif kind < 0.9:
            cv2.polylines(mask, [points], random.random() < 0.5, 255, max(1, int(random.uniform(0.6, 5) * FACTOR)), cv2.LINE_AA)
        else:
            text = "".join(random.choice(list(string.ascii_letters + string.digits), random.integers(1, 8)))
            cv2.putText(mask, text, tuple(int(v) for v in points[0]), int(random.choice([0, 2, 3, 4])),
                        random.uniform(0.4, 2.2) * FACTOR / 2, 255, max(1, int(random.uniform(0.5, 2) * FACTOR)), cv2.LINE_AA)
        left, top, width, height = cv2.boundingRect(mask)
        if width == 0:
            continue
        part = np.s_[top:top + height, left:left + width]
        colour = palette[random.integers(len(palette))] + random.normal(0, 8, 3)
        slope = random.normal(0, 60 if random.random() < 0.5 else 5, 2)
        light = (x[part] - x[part].mean()) * slope[0] + (y[part] - y[part].mean()) * slope[1]
        if random.random() < 0.7:
            light = light + textures[random.integers(len(textures))][part] * np.exp(random.uniform(np.log(2), np.log(50)))
        cover = mask[part][..., None].astype(np.float32) / 255
        drawn[part] += (colour + light[..., None] - drawn[part]) * cover
    soft = random.uniform(0.3, 0.6) * FACTOR
    drawn = cv2.GaussianBlur(np.clip(drawn, 0, 255), (0, 0), soft)
    return np.round(cv2.resize(drawn, (SIDE, SIDE), interpolation=cv2.INTER_AREA)).astype(np.uint8)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--out", type=Path, required=True)
    arguments.add_argument("--count", type=int, default=500)
    arguments.add_argument("--seed", type=int, default=1)
    asked = arguments.parse_args()
    cv2.setNumThreads(1)
    random = np.random.default_rng(asked.seed)
    asked.out.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(asked.out / "leaves.npz", sharp=np.stack([picture(random) for _ in range(asked.count)]))


if __name__ == "__main__":
    main()
