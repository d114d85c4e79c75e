"""A whole photograph with its truth in picture pixels."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from . import backgrounds, photograph
from .scene import Cluster, cluster


@dataclass
class Shot:
    pixels: np.ndarray        # uint8 [H,W,3] RGB, before the JPEG coder
    quality: int
    cluster_box: tuple | None # xyxy, picture pixels
    elements: list[dict]      # {kind, box xyxy, **info}
    lit: bool | None
    night: bool | None
    kind: str                 # layout of the cluster or subject of a picture without one


def size(rng: np.random.Generator, widest: int) -> tuple[int, int]:
    w = int(rng.integers(640, widest + 1))
    ratio = float(rng.choice([3 / 4, 9 / 16, 2 / 3, 1.0, 4 / 3, rng.uniform(0.4, 0.8)], p=[0.35, 0.25, 0.12, 0.06, 0.06, 0.16]))
    if ratio > 1:
        w = max(640, int(w * 0.75))
    return w, int(w * ratio)


def dashboard_shot(rng: np.random.Generator, split: str, scene: Cluster | None = None, widest: int = 2000, least_line: float = 11.0,
                   force: dict | None = None, frame: tuple[int, int] | None = None, share: float | None = None, hard: float = 1.0) -> Shot:
    """Photograph of a cluster. The odometer's line is at least `least_line` px tall in the picture, or the picture is taken again closer."""
    held = split == "held_out"
    scene = scene or cluster(rng, split, force)
    ch, cw = scene.mask.shape
    line = min((e.box[3] - e.box[1] for e in scene.elements if e.kind.startswith("odometer")), default=None)
    for attempt in range(12):
        w, h = frame or size(rng, widest)
        part = share or (rng.uniform(0.35, 1.0) if rng.random() < 0.7 else rng.uniform(0.8, 1.0))
        part = min(1.0, part + 0.08 * attempt)
        w = min(widest, int(w * (1 + 0.05 * attempt))) if frame is None else w
        matrix = photograph.placement(rng, (cw, ch), (w, h), part)
        boxes = [photograph.map_box(matrix, e.box) for e in scene.elements]
        # Scale along the line, measured at the cluster's centre.
        span = photograph.map_box(matrix, (cw / 2 - 50, ch / 2 - 50, cw / 2 + 50, ch / 2 + 50))
        line_height = None if line is None else line * (span[3] - span[1]) / 100 * 0.93
        if line_height is None or line_height >= least_line:
            break
    background = backgrounds.held_out_interior(rng, w, h) if held else backgrounds.interior(rng, w, h)
    night = scene.night
    background = background * (rng.uniform(0.03, 0.3) if night else rng.uniform(0.4, 1.1))
    if rng.random() < 0.5:   # hood: a dark rim round the panel
        k = int(rng.uniform(0.02, 0.08) * cw) | 1
        big = cv2.copyMakeBorder(scene.mask, k, k, k, k, cv2.BORDER_CONSTANT, value=0)
        rim = cv2.dilate(cv2.resize(big, (big.shape[1] // 4, big.shape[0] // 4)), np.ones((max(3, k // 4), max(3, k // 4)), np.uint8))
        rim = cv2.resize(rim, (big.shape[1], big.shape[0]))
        shade = np.full((*rim.shape, 3), rng.uniform(0.01, 0.25) * (0.3 if night else 1), np.float32)
        shift = matrix @ np.array([[1, 0, -k], [0, 1, -k], [0, 0, 1.0]])
        background = photograph.paste(background, shade, rim, shift)
    picture = photograph.paste(background, scene.picture, scene.mask, matrix)
    keep = [b for b, e in zip(boxes, scene.elements) if e.kind in ("odometer_digital", "odometer_analogue", "fuel_gauge", "lamp")]
    if rng.random() < 0.3:
        picture = backgrounds.wheel_rim(rng, w, h, picture, keep)
    pixels, quality = photograph.camera(rng, picture, line_height, bool(night), held, hard)
    rows, cols = np.flatnonzero(scene.mask.max(1) > 127), np.flatnonzero(scene.mask.max(0) > 127)
    box = photograph.map_box(matrix, (cols[0], rows[0], cols[-1] + 1, rows[-1] + 1))
    box = (max(0.0, box[0]), max(0.0, box[1]), min(float(w), box[2]), min(float(h), box[3]))
    elements = [{"kind": e.kind, "box": b, **e.info} for e, b in zip(scene.elements, boxes)]
    return Shot(pixels, quality, box, elements, scene.lit, scene.night, scene.style)


def negative_shot(rng: np.random.Generator, split: str, widest: int = 2000) -> Shot:
    w, h = size(rng, widest)
    picture, kind = backgrounds.negative(rng, w, h, split)
    pixels, quality = photograph.camera(rng, picture, None, bool(rng.random() < 0.2), split == "held_out")
    return Shot(pixels, quality, None, [], None, None, kind)
