"""Warning lamp symbols in the manner of ISO 2575, drawn from primitives.

`icon(code, size, rng)` gives a uint8 mask cropped to its ink whose longer
side is about `size`. Every symbol has several forms and jittered weight and
proportions, so that a classifier learns the sign and not one drawing.
"""

from __future__ import annotations

import math

import cv2
import numpy as np
from PIL import Image, ImageDraw

from .typefaces import font, pick_font, trim

U = 240  # drawing units per side; masks are shrunk afterwards, which smooths edges

COLOURS = {
    "amber": [(255, 170, 0), (255, 190, 30), (255, 140, 0), (250, 200, 40), (255, 215, 0)],
    "red": [(255, 30, 20), (230, 20, 20), (255, 60, 40), (220, 0, 30), (255, 0, 0)],
    "green": [(30, 220, 60), (0, 200, 80), (90, 255, 90), (0, 255, 0)],
    "blue": [(40, 90, 255), (30, 120, 255), (80, 140, 255), (0, 0, 255)],
}
# Usual colours first; now and then a maker chooses another one.
USUAL = {
    "check_engine": ["amber"], "oil_pressure": ["red"], "battery": ["red"], "coolant_temperature": ["red"], "brake": ["red"],
    "abs": ["amber"], "airbag": ["red", "amber"], "tire_pressure": ["amber"], "seat_belt": ["red"], "esp": ["amber"], "low_fuel": ["amber"],
    "door_open": ["red", "amber"], "glow_plug": ["amber"], "power_steering": ["red", "amber"], "high_beam": ["blue"], "turn_signal": ["green"],
    "front_fog": ["green"],
}


def colour(code: str, rng: np.random.Generator) -> tuple[int, int, int]:
    names = USUAL[code]
    name = names[0] if rng.random() < 0.7 else names[int(rng.integers(len(names)))]
    if code not in ("high_beam", "turn_signal", "front_fog") and rng.random() < 0.10:
        name = str(rng.choice(["amber", "red"]))
    base = COLOURS[name][int(rng.integers(len(COLOURS[name])))]
    return tuple(int(np.clip(v + rng.normal(0, 10), 0, 255)) for v in base)


class Pen:
    """Draws in units of 0..1 on a U x U mask with a margin around it."""

    def __init__(self, rng: np.random.Generator, weight: float):
        self.rng, self.w = rng, weight
        self.picture = Image.new("L", (U * 2, U * 2))
        self.d = ImageDraw.Draw(self.picture)

    def p(self, points):
        return [(U * 0.5 + x * U, U * 0.5 + y * U) for x, y in points]

    def width(self, k: float = 1.0) -> int:
        return max(2, int(self.w * k * U))

    def line(self, points, k: float = 1.0, value: int = 255):
        pts = self.p(points)
        w = self.width(k)
        self.d.line(pts, value, w, joint="curve")
        for x, y in (pts[0], pts[-1]):
            self.d.ellipse((x - w / 2, y - w / 2, x + w / 2, y + w / 2), value)

    def shape(self, points, filled: bool, k: float = 1.0, value: int = 255):
        if filled:
            self.d.polygon(self.p(points), value)
        else:
            self.line(list(points) + [points[0], points[1]], k, value)

    def circle(self, x, y, r, filled=False, k: float = 1.0, value: int = 255):
        (cx, cy), = self.p([(x, y)])
        box = (cx - r * U, cy - r * U, cx + r * U, cy + r * U)
        if filled:
            self.d.ellipse(box, value)
        else:
            self.d.ellipse(box, None, value, self.width(k))

    def arc(self, x, y, r, a0, a1, k: float = 1.0, ry: float | None = None):
        (cx, cy), = self.p([(x, y)])
        ry = r if ry is None else ry
        self.d.arc((cx - r * U, cy - ry * U, cx + r * U, cy + ry * U), a0, a1, 255, self.width(k))

    def text(self, text, x, y, height, value: int = 255, path: str | None = None):
        path = path or pick_font(self.rng, self.split)
        face = font(path, max(8, int(height * U / 0.72)))
        (cx, cy), = self.p([(x, y)])
        box = self.d.textbbox((0, 0), text, font=face)
        self.d.text((cx - (box[0] + box[2]) / 2, cy - (box[1] + box[3]) / 2), text, value, face)

    split = "train"


def wave(x0, x1, y, amplitude, cycles, n=24, phase=0.0):
    return [(x0 + (x1 - x0) * i / n, y + amplitude * math.sin(phase + 2 * math.pi * cycles * i / n)) for i in range(n + 1)]


def check_engine(p: Pen, v: int):
    if v == 3:
        p.text("CHECK", 0.5, 0.3, 0.26)
        p.text(str(p.rng.choice(["ENGINE", "ENG"])), 0.5, 0.68, 0.26)
        return
    filled = v == 1
    body = [(0.2, 0.36), (0.33, 0.36), (0.41, 0.27), (0.68, 0.27), (0.74, 0.36), (0.74, 0.44), (0.83, 0.44), (0.83, 0.36), (0.93, 0.36), (0.93, 0.72),
            (0.83, 0.72), (0.83, 0.64), (0.76, 0.64), (0.68, 0.78), (0.36, 0.78), (0.27, 0.68), (0.2, 0.68)]
    p.shape(body, filled)
    p.line([(0.04, 0.40), (0.04, 0.66)])
    p.line([(0.04, 0.53), (0.2, 0.53)])
    p.line([(0.42, 0.17), (0.66, 0.17)])
    p.line([(0.54, 0.17), (0.54, 0.27)])
    if v == 2:
        p.shape([(0.52, 0.34), (0.4, 0.56), (0.5, 0.56), (0.46, 0.72), (0.62, 0.48), (0.52, 0.48)], True)


def oil_pressure(p: Pen, v: int):
    filled = v in (1, 3)
    body = [(0.16, 0.46), (0.6, 0.46), (0.68, 0.54), (0.9, 0.38), (0.94, 0.42), (0.66, 0.72), (0.24, 0.72)]
    p.shape(body, filled)
    p.line([(0.16, 0.48), (0.04, 0.40), (0.08, 0.32), (0.2, 0.40)])
    p.line([(0.4, 0.46), (0.4, 0.36)])
    p.line([(0.3, 0.34), (0.52, 0.34)])
    p.circle(0.96, 0.60, 0.04, True)
    p.shape([(0.96, 0.48), (0.925, 0.58), (0.995, 0.58)], True)
    if v >= 2:
        p.line(wave(0.18, 0.72, 0.86, 0.03, 3))


def battery(p: Pen, v: int):
    filled = v == 1
    p.shape([(0.08, 0.32), (0.92, 0.32), (0.92, 0.82), (0.08, 0.82)], filled)
    for x in (0.18, 0.66):
        p.shape([(x, 0.22), (x + 0.16, 0.22), (x + 0.16, 0.32), (x, 0.32)], v != 2)
    ink = 0 if filled else 255
    p.line([(0.18, 0.55), (0.38, 0.55)], value=ink)
    p.line([(0.62, 0.55), (0.82, 0.55)], value=ink)
    p.line([(0.72, 0.45), (0.72, 0.65)], value=ink)


def coolant_temperature(p: Pen, v: int):
    p.line([(0.5, 0.1), (0.5, 0.6)], 1.5)
    p.circle(0.5, 0.64, 0.1, True)
    for y in (0.16, 0.29, 0.42):
        p.line([(0.5, y), (0.7, y)])
    if v == 0:
        p.line(wave(0.1, 0.38, 0.66, 0.035, 1.5))
        p.line(wave(0.62, 0.9, 0.66, 0.035, 1.5))
        p.line(wave(0.1, 0.9, 0.84, 0.035, 3.5))
    elif v == 1:
        p.line(wave(0.1, 0.9, 0.84, 0.04, 3))
    else:
        p.line([(0.12, 0.72), (0.34, 0.72)])
        p.line([(0.66, 0.72), (0.88, 0.72)])
        p.line(wave(0.12, 0.88, 0.88, 0.03, 4))


def brake(p: Pen, v: int):
    if v == 3:
        p.text("BRAKE", 0.5, 0.5, 0.3)
        return
    if v == 4:
        p.text("BRAKE", 0.5, 0.12, 0.2)
    p.circle(0.5, 0.5, 0.3)
    if v == 1:
        p.text("P", 0.5, 0.5, 0.34)
    else:
        p.line([(0.5, 0.34), (0.5, 0.55)], 1.3)
        p.circle(0.5, 0.66, 0.04, True)
    p.arc(0.5, 0.5, 0.43, 125, 235)
    p.arc(0.5, 0.5, 0.43, -55, 55)


def abs_(p: Pen, v: int):
    if v == 2:
        p.text("ABS", 0.5, 0.5, 0.42)
        return
    p.circle(0.5, 0.5, 0.32)
    p.text("ABS", 0.5, 0.5, 0.2 if v == 0 else 0.17)
    p.arc(0.5, 0.5, 0.44, 130, 230)
    p.arc(0.5, 0.5, 0.44, -50, 50)


def airbag(p: Pen, v: int):
    if v == 2:
        p.text(str(p.rng.choice(["AIRBAG", "AIR BAG", "SRS"])), 0.5, 0.5, 0.28)
        return
    p.circle(0.36, 0.2, 0.1, True)
    p.line([(0.3, 0.36), (0.36, 0.66), (0.62, 0.7), (0.74, 0.92)], 1.8 if v == 0 else 1.2)
    p.line([(0.34, 0.42), (0.56, 0.54)], 1.2)
    p.line([(0.16, 0.4), (0.24, 0.82), (0.5, 0.84)], 0.9)
    p.circle(0.72, 0.46, 0.17, v == 0)


def tire_pressure(p: Pen, v: int):
    if v == 2:
        p.text("TPMS", 0.5, 0.5, 0.3)
        return
    a = 62 if v == 0 else 52
    p.arc(0.5, 0.44, 0.36, 90 + a * 0.5, 270 - a * 0.55)
    p.arc(0.5, 0.44, 0.36, -90 + a * 0.55, 90 - a * 0.5)
    x = 0.36 * math.sin(math.radians(a * 0.5))
    y = 0.44 + 0.36 * math.cos(math.radians(a * 0.5))
    base = min(0.92, y + 0.1)
    p.line([(0.5 - x - 0.02, y - 0.01), (0.5 - x + 0.02, base)])
    p.line([(0.5 + x + 0.02, y - 0.01), (0.5 + x - 0.02, base)])
    n = 4
    points = []
    for i in range(2 * n + 1):
        points.append((0.5 - x + 0.02 + (2 * x - 0.04) * i / (2 * n), base + (0.05 if i % 2 else 0.0)))
    p.line(points)
    p.line([(0.5, 0.24), (0.5, 0.52)], 1.3)
    p.circle(0.5, 0.64, 0.045, True)


def seat_belt(p: Pen, v: int):
    p.circle(0.5, 0.2, 0.12, True)
    if v == 0:
        p.shape([(0.36, 0.36), (0.64, 0.36), (0.72, 0.86), (0.28, 0.86)], True)
        p.line([(0.3, 0.92), (0.72, 0.42)], 1.0, 0)
        p.line([(0.2, 0.9), (0.34, 0.84)], 0.8)
    else:
        p.line([(0.5, 0.36), (0.36, 0.4), (0.28, 0.88), (0.72, 0.88), (0.64, 0.4), (0.5, 0.36)])
        p.line([(0.66, 0.4), (0.3, 0.84)], 1.2)
        p.line([(0.3, 0.72), (0.72, 0.72)], 0.8)


def esp(p: Pen, v: int):
    if v == 2:
        p.text(str(p.rng.choice(["ESP", "ESC", "VSC", "DSC"])), 0.5, 0.5, 0.42)
        return
    if v == 1:  # triangle with an arrow round it
        p.shape([(0.5, 0.24), (0.76, 0.7), (0.24, 0.7)], False)
        p.line([(0.5, 0.4), (0.5, 0.55)])
        p.circle(0.5, 0.63, 0.03, True)
        p.arc(0.5, 0.5, 0.43, 150, 400)
        p.shape([(0.8, 0.84), (0.94, 0.78), (0.82, 0.68)], True)
        return
    p.shape([(0.28, 0.34), (0.36, 0.16), (0.64, 0.16), (0.72, 0.34), (0.78, 0.38), (0.78, 0.54), (0.22, 0.54), (0.22, 0.38)], p.rng.random() < 0.4)
    p.line([(0.28, 0.36), (0.72, 0.36)], 0.8)
    for x in (0.3, 0.7):
        points = [(x + 0.09 * math.sin(t * 2 * math.pi * 1.2), 0.62 + 0.32 * t) for t in np.linspace(0, 1, 20)]
        p.line(points)


def low_fuel(p: Pen, v: int):
    filled = v != 1
    p.shape([(0.2, 0.12), (0.6, 0.12), (0.6, 0.88), (0.2, 0.88)], filled)
    if filled:
        p.shape([(0.27, 0.2), (0.53, 0.2), (0.53, 0.42), (0.27, 0.42)], True, value=0)
    else:
        p.shape([(0.29, 0.22), (0.51, 0.22), (0.51, 0.42), (0.29, 0.42)], False, 0.8)
    p.line([(0.13, 0.9), (0.67, 0.9)])
    p.line([(0.6, 0.52), (0.7, 0.52), (0.71, 0.74), (0.79, 0.76), (0.84, 0.68), (0.84, 0.38), (0.7, 0.22)], 0.9)
    if v == 2:
        p.circle(0.98, 0.82, 0.05, True)


def door_open(p: Pen, v: int):
    if v == 2:
        p.text("DOOR", 0.5, 0.5, 0.34)
        return
    filled = v == 0
    p.shape([(0.36, 0.14), (0.5, 0.08), (0.64, 0.14), (0.68, 0.4), (0.68, 0.84), (0.5, 0.92), (0.32, 0.84), (0.32, 0.4)], filled)
    ink = 0 if filled else 255
    p.line([(0.37, 0.36), (0.63, 0.36)], 0.9, ink)
    p.line([(0.38, 0.74), (0.62, 0.74)], 0.9, ink)
    for side in (-1, 1):
        p.line([(0.5 + side * 0.18, 0.4), (0.5 + side * 0.42, 0.58)], 1.2)
        if v == 1:
            p.line([(0.5 + side * 0.42, 0.58), (0.5 + side * 0.38, 0.66), (0.5 + side * 0.18, 0.56)], 0.8)


def glow_plug(p: Pen, v: int):
    loops = 3 if v == 0 else 2
    y = 0.5
    points = []
    n = 30 * loops
    for i in range(n + 1):
        t = i / n
        points.append((0.24 + 0.52 * t + 0.09 * math.sin(2 * math.pi * loops * t), y - 0.16 * math.cos(2 * math.pi * loops * t) + 0.0))
    p.line([(0.02, 0.66), (0.14, 0.66), (0.2, 0.5)] + points[:1])
    p.line(points)
    p.line(points[-1:] + [(0.8, 0.5), (0.86, 0.66), (0.98, 0.66)])


def power_steering(p: Pen, v: int):
    if v == 2:
        p.text("EPS", 0.5, 0.5, 0.42)
        return
    x = 0.4
    p.circle(x, 0.5, 0.34, k=1.2)
    p.circle(x, 0.5, 0.08, True)
    for a in (90, 200, 340):
        p.line([(x, 0.5), (x + 0.33 * math.cos(math.radians(a)), 0.5 + 0.33 * math.sin(math.radians(a)))])
    if v == 0:
        p.line([(0.9, 0.24), (0.9, 0.6)], 1.4)
        p.circle(0.9, 0.74, 0.05, True)


def high_beam(p: Pen, v: int):
    filled = v == 1
    p.shape([(0.5, 0.2)] + [(0.5 + 0.42 * math.cos(t), 0.5 + 0.3 * math.sin(t)) for t in np.linspace(-math.pi / 2, math.pi / 2, 20)] + [(0.5, 0.8), (0.44, 0.65), (0.44, 0.35)], filled)
    for y in np.linspace(0.24, 0.76, 5 if v != 2 else 4):
        p.line([(0.04, y), (0.36, y)], 0.9)


def front_fog(p: Pen, v: int):
    filled = v == 1
    p.shape([(0.5, 0.2)] + [(0.5 + 0.42 * math.cos(t), 0.5 + 0.3 * math.sin(t)) for t in np.linspace(-math.pi / 2, math.pi / 2, 20)] + [(0.5, 0.8), (0.44, 0.65), (0.44, 0.35)], filled)
    for y in (0.26, 0.48, 0.7):
        p.line([(0.36, y), (0.04, y + 0.1)], 0.9)
    p.line([(0.2 + 0.04 * math.sin(t * 9), 0.14 + 0.76 * t) for t in np.linspace(0, 1, 24)], 0.8)


def turn_signal(p: Pen, v: int):
    filled = v != 1
    points = [(0.06, 0.5), (0.5, 0.12), (0.5, 0.34), (0.94, 0.34), (0.94, 0.66), (0.5, 0.66), (0.5, 0.88)]
    if v == 2:
        points = [(0.14, 0.5), (0.8, 0.12), (0.8, 0.88)]
    if p.rng.random() < 0.5:
        points = [(1 - x, y) for x, y in points]
    p.shape(points, filled)


DRAW = {
    "check_engine": (check_engine, 4, [0.4, 0.3, 0.15, 0.15]), "oil_pressure": (oil_pressure, 4, None), "battery": (battery, 3, None),
    "coolant_temperature": (coolant_temperature, 3, None), "brake": (brake, 5, [0.4, 0.25, 0.05, 0.2, 0.1]), "abs": (abs_, 3, [0.4, 0.3, 0.3]),
    "airbag": (airbag, 3, [0.4, 0.4, 0.2]), "tire_pressure": (tire_pressure, 3, [0.5, 0.4, 0.1]), "seat_belt": (seat_belt, 2, None),
    "esp": (esp, 3, [0.5, 0.25, 0.25]), "low_fuel": (low_fuel, 3, None), "door_open": (door_open, 3, [0.45, 0.45, 0.1]), "glow_plug": (glow_plug, 2, None),
    "power_steering": (power_steering, 3, [0.6, 0.2, 0.2]), "high_beam": (high_beam, 3, None), "turn_signal": (turn_signal, 3, [0.5, 0.25, 0.25]),
    "front_fog": (front_fog, 2, None),
}
CODES = list(DRAW)


def icon(code: str, size: float, rng: np.random.Generator, split: str = "train", weight: float | None = None, tile: float = 0.07) -> np.ndarray:
    """uint8 mask of one symbol, longer side about `size` px; a share of `tile` is left dark on a lit tile."""
    draw, count, chance = DRAW[code]
    pen = Pen(rng, weight if weight is not None else rng.uniform(0.04, 0.085))
    pen.split = split
    draw(pen, int(rng.choice(count, p=chance)))
    mask = np.asarray(pen.picture)
    if rng.random() < 0.5:  # mild change of proportions and slant
        sx, sy = rng.uniform(0.85, 1.12, 2)
        k = rng.uniform(-0.06, 0.06)
        centre = U * 0.98
        m = np.float32([[sx, k, centre - sx * centre - k * centre], [0, sy, centre - sy * centre]])
        mask = cv2.warpAffine(mask, m, (mask.shape[1], mask.shape[0]))
    mask = trim(mask)
    scale = size / max(mask.shape)
    out = (max(3, int(round(mask.shape[1] * scale))), max(3, int(round(mask.shape[0] * scale))))
    mask = cv2.resize(mask, out, interpolation=cv2.INTER_AREA)
    if rng.random() < tile:
        pad = max(2, int(size * 0.15))
        ground = np.zeros((mask.shape[0] + 2 * pad, mask.shape[1] + 2 * pad), np.uint8)
        cv2.rectangle(ground, (0, 0), (ground.shape[1], ground.shape[0]), 255, -1)
        ground[pad:-pad, pad:-pad] = 255 - mask
        mask = ground
    return mask
