"""Draws one instrument cluster flat, with its truth in canvas pixels.

Two layers are kept: `base` (what reflects light: panel, dials, print) and
`emit` (what shines: backlight, displays, lamps). Day, night and an unlit
cluster differ only in how the layers are mixed, as in a real car.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import cv2
import numpy as np
from PIL import Image, ImageDraw

from . import icons
from .typefaces import Style, drums, font, odometer_text, pick_font

CANVAS_WIDTH = 1500


@dataclass
class Element:
    """Truth of one element; `box` is xyxy in canvas pixels."""

    kind: str                    # odometer_digital, odometer_analogue, fuel_gauge, lamp, temp_gauge, text, dark_lamp
    box: tuple[float, float, float, float]
    info: dict = field(default_factory=dict)


@dataclass
class Cluster:
    picture: np.ndarray          # float32 [H,W,3] 0..1, RGB
    mask: np.ndarray             # uint8 [H,W], the panel's outline
    elements: list[Element]
    lit: bool
    night: bool
    style: str


class Canvas:
    def __init__(self, width: int, height: int, rng: np.random.Generator, split: str):
        self.w, self.h, self.rng, self.split = width, height, rng, split
        self.base = Image.new("RGB", (width, height))
        self.emit = Image.new("RGB", (width, height))
        self.db, self.de = ImageDraw.Draw(self.base), ImageDraw.Draw(self.emit)
        self.taken: list[tuple[float, float, float, float]] = []
        self.elements: list[Element] = []
        self.force: dict = {}

    def both(self, method: str, points, base, emit, **more):
        """One primitive on both layers; `base`/`emit` None leaves a layer alone."""
        if base is not None:
            getattr(self.db, method)(points, fill=base, **more)
        if emit is not None:
            getattr(self.de, method)(points, fill=emit, **more)

    def stamp(self, mask: np.ndarray, x: float, y: float, base, emit):
        picture = Image.fromarray(mask)
        at = (int(round(x)), int(round(y)))
        if base is not None:
            self.base.paste(base, at, picture)
        if emit is not None:
            self.emit.paste(emit, at, picture)

    def text(self, text: str, cx: float, cy: float, height: float, path: str, base, emit, anchor: str = "mm") -> tuple:
        face = font(path, max(7, int(height / 0.72)))
        if base is not None:
            self.db.text((cx, cy), text, fill=base, font=face, anchor=anchor)
        if emit is not None:
            self.de.text((cx, cy), text, fill=emit, font=face, anchor=anchor)
        return self.de.textbbox((cx, cy), text, font=face, anchor=anchor)

    def free(self, box, margin: float = 4) -> bool:
        if box[0] < 6 or box[1] < 6 or box[2] > self.w - 6 or box[3] > self.h - 6:
            return False
        return all(box[2] + margin < t[0] or box[0] - margin > t[2] or box[3] + margin < t[1] or box[1] - margin > t[3] for t in self.taken)


def polar(cx, cy, r, degrees):
    a = math.radians(degrees)
    return cx + r * math.cos(a), cy - r * math.sin(a)


def tint(rng, colour, spread=18):
    return tuple(int(np.clip(c + rng.normal(0, spread), 0, 255)) for c in colour)


def scale(colour, k):
    return tuple(int(np.clip(c * k, 0, 255)) for c in colour)


class Theme:
    """Colours of one cluster. Angles are degrees, counter-clockwise from the right."""

    def __init__(self, rng: np.random.Generator):
        dark = [(12, 12, 14), (25, 25, 28), (8, 10, 18), (20, 18, 16), (35, 36, 40), (5, 5, 5), (18, 24, 34), (45, 40, 36), (30, 30, 30), (20, 20, 40), (0, 0, 0)]
        light = [(190, 190, 186), (225, 222, 212), (160, 165, 170), (235, 235, 240)]
        self.panel = tint(rng, dark[rng.integers(len(dark))], 6) if rng.random() < 0.92 else tint(rng, light[rng.integers(len(light))], 8)
        self.light_face = rng.random() < 0.12
        self.face = tint(rng, light[rng.integers(len(light))], 8) if self.light_face else (tint(rng, dark[rng.integers(len(dark))], 6) if rng.random() < 0.8 else self.panel)
        self.print = tint(rng, (25, 25, 30), 8) if self.light_face else tint(rng, [(235, 235, 235), (210, 210, 205), (240, 225, 190)][rng.integers(3)], 8)
        glow = [(255, 255, 255), (240, 245, 255), (255, 160, 60), (255, 60, 40), (90, 255, 120), (80, 170, 255), (120, 220, 255), (255, 235, 190), (60, 255, 200)]
        self.glow = tint(rng, glow[rng.choice(len(glow), p=[.3, .14, .12, .08, .1, .1, .06, .06, .04])], 10)
        needle = [(230, 40, 20), (255, 90, 20), (240, 240, 240), (255, 160, 0), (255, 230, 60), (60, 180, 255), (200, 0, 0)]
        self.needle = tint(rng, needle[rng.integers(len(needle))], 8)
        self.ring = tint(rng, [(70, 70, 74), (160, 160, 165), (200, 200, 200), (40, 40, 44), (110, 90, 60), (90, 110, 130)][rng.integers(6)], 10)


def vertical_gradient(h, w, top, bottom):
    t = np.linspace(0, 1, h, dtype=np.float32)[:, None, None]
    return np.broadcast_to(np.asarray(top, np.float32) * (1 - t) + np.asarray(bottom, np.float32) * t, (h, w, 3))


def panel_mask(rng: np.random.Generator, w: int, h: int, shape: str) -> np.ndarray:
    picture = Image.new("L", (w, h))
    d = ImageDraw.Draw(picture)
    if shape == "rect":
        d.rounded_rectangle((0, 0, w - 1, h - 1), rng.uniform(0, 0.05) * h, fill=255)
    elif shape == "round":
        d.rounded_rectangle((0, 0, w - 1, h - 1), rng.uniform(0.1, 0.5) * h, fill=255)
    elif shape == "ellipse":
        d.ellipse((0, 0, w - 1, h - 1), 255)
    elif shape == "arch":
        k = rng.uniform(0.25, 0.6) * h
        d.ellipse((0, 0, w - 1, 2 * k), 255)
        d.rounded_rectangle((0, k * 0.9, w - 1, h - 1), rng.uniform(0.02, 0.2) * h, fill=255)
    elif shape == "trapezoid":
        k = rng.uniform(0.03, 0.14) * w
        pts = [(k, 0), (w - k, 0), (w, h), (0, h)] if rng.random() < 0.4 else [(0, 0), (w, 0), (w - k, h), (k, h)]
        d.polygon(pts, 255)
    elif shape == "hump":
        r = h * rng.uniform(0.5, 0.56)
        d.ellipse((w * 0.02, 0, w * 0.02 + 2 * r, 2 * r), 255)
        d.ellipse((w * 0.98 - 2 * r, 0, w * 0.98, 2 * r), 255)
        d.rounded_rectangle((r * 0.8, h * rng.uniform(0.08, 0.25), w - r * 0.8, h * 0.97), 20, fill=255)
    mask = np.asarray(picture).copy()
    return mask


def dial(c: Canvas, t: Theme, cx, cy, r, rng, path, kind: str, numbers: bool = True):
    """A big round gauge: face, ring, ticks, numbers, caption and needle."""
    start = rng.uniform(205, 240)
    end = rng.uniform(-60, -25)
    if rng.random() < 0.08:
        start, end = rng.uniform(170, 200), rng.uniform(-20, 10)
    box = (cx - r, cy - r, cx + r, cy + r)
    flavour = rng.integers(4)
    if flavour != 3:
        c.db.ellipse(box, fill=t.face)
        if not t.light_face:
            c.de.ellipse(box, fill=scale(t.glow, rng.choice([0, 0, 0.02, 0.06])))
        else:
            c.de.ellipse(box, fill=scale(t.glow, rng.uniform(0.05, 0.35)))
    ring = max(2, int(r * rng.uniform(0.01, 0.06)))
    if rng.random() < 0.8:
        c.db.ellipse(box, outline=t.ring, width=ring)
        if rng.random() < 0.3:
            c.de.ellipse(box, outline=scale(t.glow if rng.random() < 0.5 else t.needle, 0.7), width=max(1, ring // 2))
    majors = int(rng.integers(6, 15)) if kind == "speed" else int(rng.integers(6, 9))
    minor = int(rng.choice([1, 2, 4, 5]))
    step = float(rng.choice([10, 20, 20, 20, 30, 40])) if kind == "speed" else 1.0
    mark_emit = scale(t.glow, 0.9) if not t.light_face else scale(t.print, 0.6)
    r1 = r * rng.uniform(0.88, 0.96)
    lmaj, lmin = r * rng.uniform(0.07, 0.16), r * rng.uniform(0.03, 0.07)
    wmaj, wmin = max(2, int(r * rng.uniform(0.008, 0.03))), max(1, int(r * rng.uniform(0.004, 0.012)))
    red_from = rng.uniform(0.7, 0.9) if kind == "tach" else 2
    size = r * rng.uniform(0.085, 0.15)
    rn = r1 - lmaj - size * rng.uniform(0.8, 1.2)
    every = 1 if majors <= 9 or (majors <= 12 and size < r * 0.11) else 2
    for i in range(majors * minor + 1):
        f = i / (majors * minor)
        a = start + (end - start) * f
        big = i % minor == 0
        base, emit = (t.print, mark_emit)
        if f > red_from:
            base = emit = (220, 30, 20)
        p0, p1 = polar(cx, cy, r1, a), polar(cx, cy, r1 - (lmaj if big else lmin), a)
        c.both("line", [p0, p1], base, emit, width=wmaj if big else wmin)
        if big and numbers and (i // minor) % every == 0:
            x, y = polar(cx, cy, rn, a)
            c.text(f"{step * (i // minor):g}", x, y, size, path, base, emit)
    if rng.random() < 0.3:
        a0, a1 = 360 - start, 360 - end
        c.de.arc((cx - r1, cy - r1, cx + r1, cy + r1), a0, a1 + (360 if a1 < a0 else 0), fill=mark_emit, width=max(1, wmin))
    caption = str(rng.choice(["km/h", "mph", "KM/H", "MPH"])) if kind == "speed" else str(rng.choice(["x1000 rpm", "1/min x1000", "RPM", "rpm x 1000", "r/min"]))
    if rng.random() < 0.75:
        c.text(caption, cx, cy - r * rng.uniform(0.28, 0.42), size * rng.uniform(0.45, 0.75), path, t.print, mark_emit)
    c.dials.append((cx, cy, r, start, end))
    return start, end, r1, lmaj


def needle(c: Canvas, t: Theme, cx, cy, r, angle, rng, lit: bool, hub: float | None = None):
    tip = polar(cx, cy, r, angle)
    w = r * rng.uniform(0.015, 0.045)
    tail = polar(cx, cy, -r * rng.uniform(0.0, 0.22), angle)
    nx, ny = math.sin(math.radians(angle)) * w, math.cos(math.radians(angle)) * w
    pts = [(tail[0] + nx, tail[1] + ny), (tail[0] - nx, tail[1] - ny), (tip[0] - nx * 0.35, tip[1] - ny * 0.35), (tip[0] + nx * 0.35, tip[1] + ny * 0.35)]
    c.both("polygon", pts, t.needle, t.needle if lit else scale(t.needle, 0.25))
    hub = r * rng.uniform(0.07, 0.2) if hub is None else hub
    colour = tint(rng, (25, 25, 28) if rng.random() < 0.7 else (120, 120, 124), 8)
    c.both("ellipse", (cx - hub, cy - hub, cx + hub, cy + hub), colour, (0, 0, 0))


def level_gauge(c: Canvas, t: Theme, box, rng, path, kind: str, lit: bool, form: str):
    """Fuel, temperature or other gauge (`kind`: fuel, temp, other) inside about `box`. Returns (drawn box, level 0..1)."""
    x0, y0, x1, y1 = box
    w, h = x1 - x0, y1 - y0
    level = float(rng.uniform(0, 1)) if rng.random() < 0.9 else float(rng.choice([0.0, 1.0, 0.5]))
    emit = scale(t.glow, 0.9) if not t.light_face else scale(t.print, 0.6)
    low, high = ("E", "F") if kind == "fuel" else ("C", "H")
    if kind == "fuel" and rng.random() < 0.22:
        low, high = [("0", "1"), ("R", "1/1"), ("0", "1/1"), ("0", "4/4")][rng.integers(4)]
    if kind == "temp" and rng.random() < 0.3:
        low, high = [("50", "130"), ("40", "120"), ("90", "130")][rng.integers(3)]
    warn = (225, 40, 20)
    captions = []
    if kind == "other":   # oil, volts, boost: drawn for lone gauges only
        low, high = [("L", "H"), ("0", "80"), ("8", "16"), ("10", "18"), ("0", "100"), ("-", "+"), ("0", "10")][rng.integers(7)]
        captions = [["OIL"], ["VOLT"], ["V"], ["BOOST"], ["BAR"], ["PSI"], []][rng.integers(7)]
    elif kind == "fuel":
        captions = ["icon"] if rng.random() < 0.6 else (["FUEL"] if rng.random() < 0.6 else [])
    else:
        captions = ["icon"] if rng.random() < 0.55 else (["TEMP"] if rng.random() < 0.6 else [])
    show_ends = rng.random() < 0.88 or not captions
    drawn = [1e9, 1e9, -1e9, -1e9]

    def grow(b):
        drawn[0], drawn[1], drawn[2], drawn[3] = min(drawn[0], b[0]), min(drawn[1], b[1]), max(drawn[2], b[2]), max(drawn[3], b[3])

    def caption(cx, cy, size):
        for item in captions:
            if item == "icon":
                mask = icons.icon("low_fuel" if kind == "fuel" else "coolant_temperature", size * 1.5, rng, c.split)
                c.stamp(mask, cx - mask.shape[1] / 2, cy - mask.shape[0] / 2, t.print, emit)
                grow((cx - mask.shape[1] / 2, cy - mask.shape[0] / 2, cx + mask.shape[1] / 2, cy + mask.shape[0] / 2))
            else:
                grow(c.text(item, cx, cy, size * 0.9, path, t.print, emit))

    if form in ("arc_up", "arc_left", "arc_right", "dial", "arc_down"):
        if form == "dial":
            cx, cy, r = (x0 + x1) / 2, (y0 + y1) / 2, min(w, h) / 2
            c.db.ellipse((cx - r, cy - r, cx + r, cy + r), fill=t.face, outline=t.ring, width=max(2, int(r * 0.05)))
            grow((cx - r, cy - r, cx + r, cy + r))
            half = rng.uniform(50, 125)
            mid = 90
            r *= 0.86
            turn = -1
        else:
            half = rng.uniform(28, 68)
            mid = {"arc_up": 90, "arc_left": 180, "arc_right": 0, "arc_down": 270}[form]
            turn = {"arc_up": -1, "arc_left": -1, "arc_right": 1, "arc_down": 1}[form]
            spread = math.sin(math.radians(half))
            if form in ("arc_up", "arc_down"):
                r = min(w / (2 * spread) * 0.92, h * 0.86)
                cx, cy = (x0 + x1) / 2, (y1 - h * 0.08 if form == "arc_up" else y0 + h * 0.08)
            else:
                r = min(h / (2 * spread) * 0.92, w * 0.86)
                cx, cy = (x1 - w * 0.08 if form == "arc_left" else x0 + w * 0.08), (y0 + y1) / 2
        a0, a1 = mid - turn * half, mid + turn * half   # empty end, full end
        thick = max(2, int(r * rng.uniform(0.015, 0.06)))
        parts = int(rng.choice([4, 4, 4, 8, 2, 6]))
        if rng.random() < 0.6:
            s, e = sorted((-a0, -a1))
            c.db.arc((cx - r, cy - r, cx + r, cy + r), s, e, fill=t.print, width=thick)
            c.de.arc((cx - r, cy - r, cx + r, cy + r), s, e, fill=emit, width=thick)
        for i in range(parts + 1):
            a = a0 + (a1 - a0) * i / parts
            big = i % max(1, parts // 2) == 0
            k = 0.2 if big else 0.12
            danger = (kind == "fuel" and i == 0 or kind == "temp" and i == parts) and rng.random() < 0.6
            c.both("line", [polar(cx, cy, r, a), polar(cx, cy, r * (1 - k), a)], warn if danger else t.print, warn if danger else emit, width=max(2, int(r * (0.05 if big else 0.025))))
            px, py = polar(cx, cy, r, a)
            grow((px, py, px, py))
        size = r * rng.uniform(0.13, 0.24)
        inside = rng.random() < 0.6 or form == "dial"
        rl = r * 0.66 if inside else r * 1.16 + size * 0.2
        if show_ends:
            for label, a in ((low, a0), (high, a1)):
                px, py = polar(cx, cy, rl, a)
                danger = label == "E" and rng.random() < 0.3
                grow(c.text(label, px, py, size, path, warn if danger else t.print, warn if danger else emit))
            if parts % 2 == 0 and rng.random() < 0.25:
                px, py = polar(cx, cy, rl, (a0 + a1) / 2)
                grow(c.text("1/2", px, py, size * 0.75, path, t.print, emit))
        if captions:
            px, py = polar(cx, cy, r * rng.uniform(0.35, 0.5), mid if form != "dial" or half < 110 or rng.random() < .5 else -mid)
            caption(px, py, size * 0.9)
        if kind == "fuel" and lit is False:
            level = 0.0
        shown = a0 + (a1 - a0) * level
        hub = r * rng.uniform(0.06, 0.16)
        if rng.random() < 0.15:  # only the outer part of the needle is visible
            p0, p1 = polar(cx, cy, r * 0.5, shown), polar(cx, cy, r * 1.02, shown)
            c.both("line", [p0, p1], t.needle, t.needle if lit else scale(t.needle, 0.25), width=max(2, int(r * 0.05)))
        else:
            needle(c, t, cx, cy, r * rng.uniform(0.8, 1.02), shown, rng, lit, hub)
            grow((cx - hub, cy - hub, cx + hub, cy + hub))
    else:
        vertical = form in ("bars_v", "bar_v")
        segments = int(rng.integers(4, 13))
        smooth = form in ("bar_h", "bar_v")
        if not smooth:
            filled = int(round(level * segments))
            level = filled / segments
        size = (w if vertical else h) * rng.uniform(0.28, 0.5)
        on = scale(t.glow, 1.0) if rng.random() < 0.6 else icons.COLOURS[str(rng.choice(["green", "amber", "blue", "red"], p=[.4, .3, .2, .1]))][0]
        if kind == "temp" and rng.random() < 0.5:
            on = (60, 140, 255)
        off = scale(on, rng.choice([0.0, 0.12, 0.2]))
        frame = rng.random() < 0.5 or smooth or max(off) < 10
        ends_inline = rng.random() < 0.6
        length = (h if vertical else w)
        room = min(size * 1.3, length * 0.3) if (show_ends and ends_inline) else 0
        if vertical:
            bx0 = x0 + w * rng.uniform(0.1, 0.3)
            bx1 = bx0 + w * rng.uniform(0.25, 0.5)
            by0, by1 = y0 + room, y1 - room
            body = (bx0, by0, bx1, by1)
        else:
            by0 = y0 + h * rng.uniform(0.05, 0.3)
            by1 = by0 + h * rng.uniform(0.25, 0.5)
            bx0, bx1 = x0 + room, x1 - room
            body = (bx0, by0, bx1, by1)
        grow(body)
        taper = rng.random() < 0.15 and not smooth
        by1, bx1 = max(by1, by0 + 6), max(bx1, bx0 + 6)
        if lit:
            if smooth:
                if vertical:
                    c.de.rectangle((bx0, by1 - (by1 - by0) * level, bx1, by1), fill=on)
                else:
                    c.de.rectangle((bx0, by0, bx0 + (bx1 - bx0) * level, by1), fill=on)
            else:
                gap = rng.uniform(0.1, 0.4)
                first_red = rng.random() < 0.3 and kind == "fuel"
                for i in range(segments):
                    f0, f1 = i / segments, (i + 1 - gap) / segments
                    colour = on if i < filled else off
                    if i < filled and first_red and i < max(1, segments // 5):
                        colour = warn
                    k = 0.4 + 0.6 * (i + 1) / segments if taper else 1.0
                    if vertical:
                        rect = (bx0, by1 - (by1 - by0) * f1, bx0 + (bx1 - bx0) * k, by1 - (by1 - by0) * f0)
                    else:
                        rect = (bx0 + (bx1 - bx0) * f0, by1 - (by1 - by0) * k, bx0 + (bx1 - bx0) * f1, by1)
                    if max(colour) > 0:
                        c.de.rectangle(rect, fill=colour)
            if frame:
                c.de.rectangle((bx0 - 3, by0 - 3, bx1 + 3, by1 + 3), outline=emit, width=int(rng.integers(1, 4)))
        if rng.random() < 0.5 or not lit:
            c.db.rectangle((bx0 - 3, by0 - 3, bx1 + 3, by1 + 3), outline=scale(t.print, 0.5), width=2)
        if show_ends:
            base_print, e = t.print, emit
            if vertical:
                spots = ((low, (bx0 + bx1) / 2, by1 + room / 2 + 2), (high, (bx0 + bx1) / 2, by0 - room / 2 - 2)) if ends_inline else ((low, bx1 + size * 0.6, by1 - size * 0.4), (high, bx1 + size * 0.6, by0 + size * 0.4))
            else:
                spots = ((low, bx0 - room / 2 - 2, (by0 + by1) / 2), (high, bx1 + room / 2 + 2, (by0 + by1) / 2)) if ends_inline else ((low, bx0 + size * 0.5, by1 + size * 0.75), (high, bx1 - size * 0.5, by1 + size * 0.75))
            for label, px, py in spots:
                grow(c.text(label, px, py, size * 0.75, path, base_print, e))
        if captions:
            if vertical:
                caption(bx1 + size * 0.9, (by0 + by1) / 2, size * 0.75)
            else:
                caption((bx0 + bx1) / 2, by1 + size * 0.75, size * 0.7)
    drawn = [max(0, drawn[0] - 3), max(0, drawn[1] - 3), min(c.w, drawn[2] + 3), min(c.h, drawn[3] + 3)]
    return tuple(drawn), level


def digital_line(c: Canvas, t: Theme, x: float, y: float, height: float, max_width: float, rng, style: Style, text, unit, colours, align="c", lit=True):
    """Draw a line with its vertical centre at y -> ink box xyxy, or None when the cluster is dark."""
    mask, ghost, box = style.line(text, unit, height)
    if mask.shape[1] > max_width:
        k = max_width / mask.shape[1]
        mask, ghost, box = style.line(text, unit, max(8, height * k * 0.97))
        if height * k < 19:   # too small to be read in any photograph of the whole cluster
            return None
    left = {"c": x - mask.shape[1] / 2, "l": x, "r": x - mask.shape[1]}[align]
    top = y - mask.shape[0] / 2
    base, emit, ghost_colour = colours
    if not lit:
        return None
    if ghost is not None and style.ghost > 0:
        c.stamp((ghost * style.ghost).astype(np.uint8), left, top, base, emit)
    c.stamp(mask, left, top, base, emit)
    left, top = int(round(left)), int(round(top))
    return (left + box[0], top + box[1], left + box[2], top + box[3])


def display(c: Canvas, t: Theme, rect, rng, lit: bool, want_odometer: bool, big_speed: bool):
    """An LCD or TFT area with rows of text, one of them perhaps the odometer."""
    x0, y0, x1, y1 = rect
    w, h = x1 - x0, y1 - y0
    style = Style(rng, c.split, c.force.get("style"))
    path = pick_font(rng, c.split)
    negative = rng.random() < 0.68          # light signs on dark
    lcd = rng.random() < 0.75               # has a visible panel of its own
    if negative:
        glow = t.glow if rng.random() < 0.5 else tint(rng, [(255, 255, 255), (255, 150, 40), (120, 255, 140), (110, 190, 255), (255, 70, 50)][rng.integers(5)], 10)
        ground_base = scale(t.panel, rng.uniform(0.4, 1.2)) if rng.random() < 0.6 else (16, 18, 16)
        ground_emit = scale(glow, rng.choice([0, 0.03, 0.08, 0.14]))
        colours = (None, glow, None)
    else:
        back = [(150, 200, 110), (255, 150, 50), (120, 180, 255), (230, 235, 230), (255, 90, 60), (190, 210, 160), (200, 220, 255)][rng.integers(7)]
        ground_base = tint(rng, (105, 115, 95), 14)
        ground_emit = scale(back, rng.uniform(0.45, 0.85))
        glow = (0, 0, 0)
        colours = (tint(rng, (18, 20, 18), 6), tint(rng, (10, 10, 10), 4), None)
    if lcd or not negative:
        radius = int(rng.choice([0, 4, 10, 20]))
        c.db.rounded_rectangle(rect, radius, fill=ground_base, outline=t.ring if rng.random() < 0.4 else None, width=2)
        c.de.rounded_rectangle(rect, radius, fill=ground_emit if lit else (0, 0, 0))
    small = glow if negative else colours[1]
    rows: list[str] = []
    if want_odometer:
        rows.append("odo")
    others = ["trip", "clock", "temp", "gear", "range", "average", "message"]
    count = int(rng.choice([0, 1, 2, 3], p=[0.25, 0.35, 0.25, 0.15]))
    count = min(count, max(0, int(h / 46) - len(rows)))
    rows += [str(v) for v in rng.choice(others, count, replace=False)]
    if big_speed:
        rows.append("speed")
    rng.shuffle(rows)
    if not rows:
        return
    weights = np.array([2.6 if r == "speed" else (1.5 if r == "odo" and rng.random() < 0.6 else 1.0) for r in rows])
    tops = y0 + h * np.concatenate([[0], np.cumsum(weights) / weights.sum()])
    for row, a, b in zip(rows, tops[:-1], tops[1:]):
        rh = b - a
        cy = (a + b) / 2
        align = str(rng.choice(["c", "c", "l", "r"]))
        pad = w * 0.04
        x = {"c": (x0 + x1) / 2, "l": x0 + pad, "r": x1 - pad}[align]
        height = min(rh * rng.uniform(0.45, 0.74), 84)
        if row == "odo":
            value, digits, unit = odometer_text(rng)
            unit = c.force.get("unit", unit)
            label = str(rng.choice(["ODO", "Odo", "TOTAL", "ODO.", "Total", "A", "odometer"])) if rng.random() < 0.4 else ""
            room = w * 0.92
            if label and lit:
                ls = max(8, height * rng.uniform(0.4, 0.9))
                if rng.random() < 0.7 and w > height * 6.5:   # beside the digits
                    b2 = c.text(label, x0 + pad, cy, ls, path, colours[0], small, "lm")
                    x, align = x1 - pad, "r"
                    room = x1 - pad - b2[2] - height * 0.35
                elif rh > 60:
                    c.text(label, x0 + pad, a + ls * 0.7, ls * 0.7, path, colours[0], small, "lm")
                    cy += ls * 0.4
                    height = min(height, rh * 0.5)
                else:
                    label = ""
            unit_apart = unit and rng.random() < 0.06
            # Sometimes the digits share their row with the clock or the outside temperature.
            if not label and rng.random() < 0.2 and w > height * 9 and lit:
                c.text(clock(rng) if rng.random() < 0.5 else outside(rng), x1 - pad, cy, height * rng.uniform(0.5, 1.0), path, colours[0], small, "rm")
                x, align, room = x0 + pad, "l", w * 0.58
            box = digital_line(c, t, x, cy, height, room, rng, style, digits, "" if unit_apart else unit, colours, align, lit)
            if box:
                if unit_apart:
                    unit = ""
                c.elements.append(Element("odometer_digital", box, {
                    "value": value, "text": f"{digits} {unit}" if unit else digits, "style": style.kind,
                    "unit": {"km": "km", "mi": "mi", "miles": "mi", "": None}[unit.lower()]}))
        elif not lit:
            continue
        elif row == "speed":
            box = digital_line(c, t, x, cy, rh * 0.62, w * 0.8, rng, style, str(rng.integers(0, 200)), "", colours, align, lit)
            if box and rng.random() < 0.6 and box[2] + rh * 0.5 < x1:
                c.text(str(rng.choice(["km/h", "mph"])), box[2] + 8, cy + rh * 0.12, rh * 0.16, path, colours[0], small, "lm")
            if box:
                c.elements.append(Element("text", box))
        else:
            text, tail = distractor(rng, row)
            if tail is not None and rng.random() < 0.6 and row in ("trip", "range", "average"):
                # A trip counter in the odometer's own face: only the label and the tenths tell them apart.
                b2 = None
                if rng.random() < 0.75:
                    b2 = c.text(str(rng.choice(["TRIP", "Trip", "TRIP A", "Trip B", "A", "B", "RANGE", "AVG"])) if row == "trip" else ("RANGE" if row == "range" else "AVG"), x0 + pad, cy, height * 0.6, path, colours[0], small, "lm")
                box = digital_line(c, t, x1 - pad, cy, height * rng.uniform(0.7, 1.0), w * 0.9 - (b2[2] - x0 if b2 else 0), rng, style, text, tail, colours, "r", lit)
            else:
                full = {"trip": f"TRIP {text}", "range": f"Range {text} {tail}", "average": f"{text} {tail}"}.get(row, text)
                face = font(path, max(7, int(height * 0.8 / 0.72)))
                width = face.getlength(full)
                size = height * 0.8 * min(1.0, w * 0.9 / width)
                box = c.text(full, (x0 + x1) / 2, cy, size, path, colours[0], small, "mm")
            if box:
                c.elements.append(Element("text", box))


def clock(rng):
    return f"{rng.integers(0, 24)}:{rng.integers(0, 60):02d}" + (str(rng.choice(["", " AM", " PM"])))


def outside(rng):
    return f"{rng.integers(-20, 41)}" + str(rng.choice(["°C", "°F", "°", " C"]))


def distractor(rng, row):
    if row == "trip":
        return (f"{rng.uniform(0, 999):.1f}", str(rng.choice(["", "km", "mi"])))
    if row == "clock":
        return clock(rng), None
    if row == "temp":
        return outside(rng), None
    if row == "gear":
        return str(rng.choice(["P", "R", "N", "D", "P R N D", "P R N D S", "D4", "M3", "1", "N"])), None
    if row == "range":
        return str(rng.integers(15, 900)), str(rng.choice(["km", "mi"]))
    if row == "average":
        return f"{rng.uniform(3, 40):.1f}", str(rng.choice(["l/100km", "mpg", "km/l", "L/100"]))
    return str(rng.choice(["READY", "ECO", "CRUISE", "CHECK TYRES", "SERVICE IN 900", "SPORT", "AUTO", "MENU", "Bluetooth", "DOOR OPEN", "LOW FUEL", "ICE"])), None


def place_lamps(c: Canvas, t: Theme, rng, lit: bool, spots: list[tuple[float, float]], size: float, lit_share: float, ghost: float):
    """Symbols at the given centres; each is lit or a dark print."""
    codes = list(rng.permutation(icons.CODES))
    weight = rng.uniform(0.045, 0.08)
    for cx, cy in spots:
        if not codes:
            codes = list(rng.permutation(icons.CODES))
        code = str(codes.pop())
        mask = icons.icon(code, size * rng.uniform(0.9, 1.1), rng, c.split, weight * rng.uniform(0.9, 1.15))
        h, w = mask.shape
        box = (cx - w / 2, cy - h / 2, cx + w / 2, cy + h / 2)
        if not c.free(box, size * 0.12):
            continue
        on = lit and rng.random() < lit_share
        if not on and ghost <= 0:
            continue
        c.taken.append(box)
        if on:
            colour = icons.colour(code, rng)
            c.stamp(mask, box[0], box[1], scale(colour, 0.45), colour)
            c.elements.append(Element("lamp", box, {"code": code}))
        else:
            level = int(255 * ghost)
            shade = tuple(int(np.clip(p + level * (-1 if t.light_face and sum(c.base.getpixel((int(cx), int(cy)))) > 380 else 1), 0, 255)) for p in c.base.getpixel((int(np.clip(cx, 0, c.w - 1)), int(np.clip(cy, 0, c.h - 1)))))
            flat_emit = scale(shade, 0.9) if c.flat else None
            c.stamp(mask, box[0], box[1], shade, flat_emit)
            c.elements.append(Element("dark_lamp", box, {"code": code}))


def cluster(rng: np.random.Generator, split: str = "train", force: dict | None = None) -> Cluster:
    """One random instrument cluster. `force` may fix lit, night, layout, odometer (digital|analogue|none), style (kind of digits), unit or lit_share."""
    force = force or {}
    w = CANVAS_WIDTH
    layout = str(force.get("layout") or rng.choice(["two", "centre", "digital", "plain", "strip", "single"], p=[0.40, 0.16, 0.14, 0.18, 0.06, 0.06]))
    aspect = {"two": rng.uniform(0.34, 0.56), "centre": rng.uniform(0.38, 0.6), "digital": rng.uniform(0.3, 0.58), "plain": rng.uniform(0.36, 0.72),
              "strip": rng.uniform(0.25, 0.42), "single": rng.uniform(0.75, 1.05)}[layout]
    h = int(w * aspect)
    c = Canvas(w, h, rng, split)
    c.dials = []
    c.force = force
    t = Theme(rng)
    lit = bool(force.get("lit", rng.random() > 0.12))
    night = bool(force.get("night", rng.random() < 0.5)) if lit else bool(rng.random() < 0.15)
    kind = str(force.get("odometer") or rng.choice(["digital", "analogue", "none"], p=[0.74, 0.2, 0.06]))
    c.flat = layout == "plain"
    path = pick_font(rng, split)

    # Panel
    grad = vertical_gradient(h, w, scale(t.panel, rng.uniform(0.7, 1.4)), scale(t.panel, rng.uniform(0.6, 1.2)))
    if rng.random() < 0.15:
        step = int(rng.integers(3, 9))
        grad = grad * (1 + rng.uniform(0.05, 0.2) * ((np.add.outer(np.arange(h), np.arange(w)) // step) % 2)[..., None])
    c.base.paste(Image.fromarray(np.clip(grad, 0, 255).astype(np.uint8)))
    if c.flat and rng.random() < 0.6:
        c.emit.paste(Image.fromarray(np.clip(grad * 0.5, 0, 255).astype(np.uint8)))
    if rng.random() < 0.25:
        c.db.rectangle((0, 0, w - 1, h - 1), outline=t.ring, width=int(rng.integers(3, 14)))

    numbers_path = pick_font(rng, split)
    spots: list[tuple[float, float]] = []
    display_rects: list[tuple[float, float, float, float]] = []
    gauge_rects: list[tuple[tuple[float, float, float, float], str]] = []
    lamp = w * rng.uniform(0.022, 0.042)

    def gauges(items):
        for cx, cy, r, what in items:
            start, end, r1, lmaj = dial(c, t, cx, cy, r, rng, numbers_path, what)
            f = rng.uniform(0, 0.75) if lit and rng.random() < 0.6 else 0.0
            if what == "tach" and lit:
                f = rng.uniform(0.05, 0.4)
            pending.append((cx, cy, r1 - lmaj * rng.uniform(-0.3, 0.6), start + (end - start) * f))

    pending: list = []
    if layout in ("two", "plain"):
        r = min(h * rng.uniform(0.36, 0.48), w * 0.21)
        cy = h * rng.uniform(0.44, 0.54)
        xl, xr = w * rng.uniform(0.19, 0.27), w * rng.uniform(0.73, 0.81)
        if layout == "plain" and rng.random() < 0.4:
            r *= 0.8
            cy = h * rng.uniform(0.36, 0.46)
        kinds = ["tach", "speed"] if rng.random() < 0.6 else ["speed", "tach"]
        gauges([(xl, cy, r, kinds[0]), (xr, cy, r, kinds[1])])
        gap = (xl + r + 12, xr - r - 12)
        sx = xl if kinds[0] == "speed" else xr
        choices = ["middle", "dial", "bottom"]
        where = str(rng.choice(choices, p=[0.55, 0.3, 0.15]))
        if layout == "plain":
            where = str(rng.choice(choices, p=[0.35, 0.15, 0.5]))
        mid_w = gap[1] - gap[0]
        if where == "middle" and mid_w > 150:
            dh = h * rng.uniform(0.12, 0.6)
            dy = h * rng.uniform(0.08, 0.92 - dh / h)
            display_rects.append((gap[0] + mid_w * rng.uniform(0, 0.08), dy, gap[1] - mid_w * rng.uniform(0, 0.08), dy + dh))
        elif where == "dial" or h - (cy + r) < 40:
            dw, dh = r * rng.uniform(0.75, 1.05), r * rng.uniform(0.16, 0.42)
            dy = cy + r * rng.uniform(0.32, 0.45)
            display_rects.append((sx - dw / 2, dy, sx + dw / 2, dy + dh))
        else:
            dh = min(h * rng.uniform(0.09, 0.17), h - (cy + r) - 8) if layout == "two" else h * rng.uniform(0.08, 0.18)
            dh = max(dh, 44)
            dy = h - dh - h * rng.uniform(0.01, 0.06)
            dw = w * rng.uniform(0.2, 0.42)
            dx = w / 2 if rng.random() < 0.7 else w * rng.uniform(0.3, 0.7)
            display_rects.append((dx - dw / 2, dy, dx + dw / 2, dy + dh))
        gsize = r * rng.uniform(0.55, 0.85)
        for centre_x in (xl, xr):   # small gauges inside the dials' lower part or the middle
            gauge_rects.append(((centre_x - gsize * 0.7, cy + r * 0.32, centre_x + gsize * 0.7, cy + r * 0.32 + gsize * 0.62), "in"))
        gw = min(mid_w * 0.9, r * 0.9)
        if mid_w > 120:
            for gy in (h * 0.04, h * 0.3, h * 0.62):
                gauge_rects.append((((w - gw) / 2, gy, (w + gw) / 2, gy + gw * rng.uniform(0.4, 0.75)), "mid"))
        gw = w * rng.uniform(0.08, 0.14)
        for gx in (0.012 * w, w * 0.988 - gw):
            for gy in (h * 0.03, h * 0.97 - gw * 0.8):
                gauge_rects.append(((gx, gy, gx + gw, gy + gw * 0.8), "corner"))
        if layout == "plain":
            gw = w * rng.uniform(0.1, 0.2)
            for gx in (0.03 * w, w * 0.97 - gw, (w - gw) / 2):
                gauge_rects.insert(int(rng.integers(3)), ((gx, h * 0.8, gx + gw, h * 0.97), "corner"))
        rows = [(h * rng.uniform(0.9, 0.96), 0.05, 0.95), (h * rng.uniform(0.04, 0.1), 0.05, 0.95), (h * rng.uniform(0.1, 0.9), gap[0] / w + 0.02, gap[1] / w - 0.02)]
        in_dial = [(polar(d[0], d[1], d[2] * 0.55, a)) for d in c.dials for a in (250, 270, 290, 225, 315)]
        spots += in_dial if rng.random() < 0.35 else []
    elif layout == "centre":
        r = min(h * rng.uniform(0.42, 0.48), w * 0.24)
        cx, cy = w * rng.uniform(0.46, 0.54), h * rng.uniform(0.48, 0.52)
        gauges([(cx, cy, r, "speed")])
        dw, dh = r * rng.uniform(0.8, 1.1), r * rng.uniform(0.16, 0.4)
        dy = cy + r * rng.uniform(0.3, 0.44)
        display_rects.append((cx - dw / 2, dy, cx + dw / 2, dy + dh))
        r2 = min(h * rng.uniform(0.22, 0.36), w * 0.13)
        sides = [w * rng.uniform(0.12, 0.16), w * rng.uniform(0.84, 0.88)]
        if rng.random() < 0.4:
            i = int(rng.integers(2))
            gauges([(sides[i], h / 2, r2, "tach")])
            sides.pop(i)
        for sx in sides:
            gauge_rects.append(((sx - r2, h / 2 - r2, sx + r2, h / 2 + r2), "side"))
            if rng.random() < 0.5:
                gauge_rects.append(((sx - r2 * 0.8, h * 0.08, sx + r2 * 0.8, h * 0.08 + r2), "side"))
                gauge_rects.append(((sx - r2 * 0.8, h * 0.92 - r2, sx + r2 * 0.8, h * 0.92), "side"))
        rows = [(h * rng.uniform(0.9, 0.95), 0.03, 0.3), (h * rng.uniform(0.9, 0.95), 0.7, 0.97), (h * rng.uniform(0.06, 0.1), 0.03, 0.3), (h * rng.uniform(0.06, 0.1), 0.7, 0.97)]
    elif layout == "digital":
        cols = int(rng.choice([1, 2, 3], p=[0.3, 0.3, 0.4]))
        top, bottom = h * rng.uniform(0.08, 0.2), h * rng.uniform(0.78, 0.92)
        edges = np.linspace(w * 0.05, w * 0.95, cols + 1)
        for a, b in zip(edges[:-1], edges[1:]):
            display_rects.append((a + 8, top, b - 8, bottom))
        rng.shuffle(display_rects)
        gw = w * rng.uniform(0.12, 0.2)
        for gx in (w * 0.06, w * 0.94 - gw, w * 0.4):
            for gy in (h * 0.12, h * 0.62):
                gauge_rects.append(((gx, gy, gx + gw, gy + gw * rng.uniform(0.35, 0.6)), "lcd"))
        rows = [(h * rng.uniform(0.93, 0.96), 0.05, 0.95), (h * rng.uniform(0.04, 0.07), 0.05, 0.95)]
    elif layout == "strip":
        sy0, sy1 = h * rng.uniform(0.15, 0.25), h * rng.uniform(0.45, 0.6)
        c.db.rectangle((w * 0.2, sy0, w * 0.8, sy1), fill=t.face)
        majors = int(rng.integers(8, 13))
        emit = scale(t.glow, 0.9) if not t.light_face else scale(t.print, 0.6)
        for i in range(majors * 2 + 1):
            x = w * (0.22 + 0.56 * i / (majors * 2))
            c.both("line", [(x, sy1 - (24 if i % 2 else 40)), (x, sy1 - 6)], t.print, emit, width=4)
            if i % 2 == 0:
                c.text(str(i * 10), x, sy0 + (sy1 - sy0) * 0.35, (sy1 - sy0) * 0.2, numbers_path, t.print, emit)
        x = w * (0.22 + 0.56 * (rng.uniform(0, 0.8) if lit else 0))
        c.both("line", [(x, sy0 + 4), (x, sy1 - 4)], t.needle, t.needle if lit else None, width=7)
        dw, dh = w * rng.uniform(0.16, 0.3), max(44, h * rng.uniform(0.12, 0.22))
        dy = h * rng.uniform(0.66, 0.72)
        dx = w * rng.uniform(0.4, 0.6)
        display_rects.append((dx - dw / 2, dy, dx + dw / 2, min(h - 8, dy + dh)))
        gw = w * 0.15
        for gx in (w * 0.025, w * 0.975 - gw):
            gauge_rects.append(((gx, h * 0.2, gx + gw, h * 0.7), "side"))
        rows = [(h * rng.uniform(0.88, 0.95), 0.05, 0.95), (h * 0.07, 0.1, 0.9)]
    else:  # single: one big dial, as on small cars and motorcycles, or a close-up
        r = h * rng.uniform(0.43, 0.48) if h < w else w * 0.46
        cx, cy = w / 2, h / 2
        gauges([(cx, cy, r, "speed")])
        dw, dh = r * rng.uniform(0.8, 1.05), r * rng.uniform(0.16, 0.4)
        dy = cy + r * rng.uniform(0.28, 0.4)
        display_rects.append((cx - dw / 2, dy, cx + dw / 2, dy + dh))
        g = r * rng.uniform(0.4, 0.6)
        gauge_rects.append(((cx - g, cy - r * 0.62, cx + g, cy - r * 0.62 + g * 0.7), "in"))
        rows = [(h * rng.uniform(0.9, 0.95), 0.03, 0.3), (h * 0.07, 0.03, 0.3), (h * 0.07, 0.7, 0.97), (h * 0.93, 0.7, 0.97)]
        spots += [polar(cx, cy, r * 0.45, a) for a in (60, 90, 120, 150, 30)]
        lamp *= 1.3

    c.taken += list(display_rects[:1])
    # Odometer
    if kind == "analogue":
        rect = display_rects[0]
        height = min(rect[3] - rect[1], w * rng.uniform(0.026, 0.045)) * rng.uniform(0.8, 1.0)
        height = max(height, 30)
        value = int(rng.integers(0, 10 ** int(rng.choice([5, 6, 6]))))
        digits = str(value).zfill(int(rng.choice([5, 6, 6]))) if value < 100000 else str(value)
        tenths = rng.random() < 0.3
        strip = drums(rng, digits, int(height * 2), split, tenths)   # drawn large, shrunk: smooth edges
        strip = cv2.resize(strip, (strip.shape[1] // 2, int(height)), interpolation=cv2.INTER_AREA)
        if strip.shape[1] > (rect[2] - rect[0]) * 1.3:
            k = (rect[2] - rect[0]) * 1.3 / strip.shape[1]
            strip = cv2.resize(strip, None, fx=k, fy=k, interpolation=cv2.INTER_AREA)
        x, y = (rect[0] + rect[2] - strip.shape[1]) / 2, (rect[1] + rect[3] - strip.shape[0]) / 2
        frame = int(rng.integers(0, 7))
        if frame:
            c.db.rectangle((x - frame, y - frame, x + strip.shape[1] + frame - 1, y + strip.shape[0] + frame - 1), fill=t.ring if rng.random() < 0.5 else (5, 5, 5))
        c.base.paste(Image.fromarray(strip), (int(x), int(y)))
        c.emit.paste(Image.fromarray((strip * rng.uniform(0.5, 0.8)).astype(np.uint8)), (int(x), int(y)))
        box = [x, y, x + strip.shape[1], y + strip.shape[0]]
        unit = str(rng.choice(["", "km", "miles", "mi", "KM"], p=[0.55, 0.22, 0.13, 0.06, 0.04]))
        text = digits
        if unit:
            emit = scale(t.glow, 0.9) if not t.light_face else scale(t.print, 0.6)
            us = strip.shape[0] * rng.uniform(0.35, 0.6)
            if rng.random() < 0.6:
                b2 = c.text(unit, box[2] + frame + us * 0.7, (box[1] + box[3]) / 2, us, path, t.print, emit, "lm")
                if b2[2] < w - 8:
                    box = [box[0], min(box[1], b2[1]), b2[2], max(box[3], b2[3])]
                    text = f"{digits} {unit}"
                else:
                    unit = ""
            else:
                c.text(unit, (box[0] + box[2]) / 2, box[1] - frame - us * 0.9, us, path, t.print, emit, "mm")
                unit = ""
        c.elements.append(Element("odometer_analogue", tuple(box), {
            "value": value, "text": text, "style": "drums", "unit": {"km": "km", "mi": "mi", "miles": "mi", "": None}[unit.lower()]}))
        c.taken.append(tuple(box))
        if rng.random() < 0.25:   # trip drums with tenths beside or below
            trip = drums(rng, str(rng.integers(0, 1000)).zfill(3), int(height * 1.6), split, True)
            trip = cv2.resize(trip, (trip.shape[1] // 2, int(height * 0.8)), interpolation=cv2.INTER_AREA)
            tx, ty = (box[0] + box[2]) / 2 - trip.shape[1] / 2, box[3] + height * 0.6
            tb = (tx, ty, tx + trip.shape[1], ty + trip.shape[0])
            if tb[3] < h - 10:
                c.base.paste(Image.fromarray(trip), (int(tx), int(ty)))
                c.emit.paste(Image.fromarray((trip * 0.6).astype(np.uint8)), (int(tx), int(ty)))
                c.elements.append(Element("text", tb))
                c.taken.append(tb)
    else:
        for i, rect in enumerate(display_rects):
            display(c, t, rect, rng, lit, want_odometer=kind == "digital" and i == 0, big_speed=layout == "digital" and (i == 1 or len(display_rects) == 1))
            c.taken.append(rect)

    # Fuel and temperature gauges
    forms = ["arc_up", "arc_left", "arc_right", "dial", "arc_down", "bars_h", "bars_v", "bar_h", "bar_v"]
    chance = [0.28, 0.08, 0.08, 0.14, 0.05, 0.16, 0.08, 0.09, 0.04]
    if layout == "digital":
        chance = [0.05, 0.03, 0.03, 0.02, 0.0, 0.45, 0.15, 0.2, 0.07]
    wanted = (["fuel"] if rng.random() < 0.82 else []) + (["temp"] if rng.random() < 0.5 else [])
    order = list(rng.permutation(len(gauge_rects)))
    form = str(rng.choice(forms, p=chance))
    for what in wanted:
        if rng.random() < 0.3:
            form = str(rng.choice(forms, p=chance))
        for index in list(order):
            rect, where = gauge_rects[index]
            f = "dial" if where == "side" and layout == "centre" and rng.random() < 0.6 else form
            x0, y0, x1, y1 = rect
            if f in ("bars_v", "bar_v", "arc_left", "arc_right"):
                gh = (y1 - y0) * 1.25
                gw = min(x1 - x0, gh * rng.uniform(0.45, 0.75))
                x0 = (x0 + x1 - gw) / 2
                rect = (x0, y0, x0 + gw, y0 + gh)
            elif f in ("bars_h", "bar_h"):
                rect = (x0, y0, x1, y0 + min(y1 - y0, (x1 - x0) * rng.uniform(0.22, 0.4)))
            x0, y0, x1, y1 = rect
            if layout in ("two", "plain") and where == "in" and (kind != "none" and c.dials and any(abs((x0 + x1) / 2 - (d[0] + d[2]) / 2) < 80 for d in c.taken)):
                continue
            if not c.free(rect, 6):
                continue
            # Needles of the big dials must not cross small gauges outside a dial.
            if where in ("mid", "corner") and any(math.hypot(max(x0, min(d[0], x1)) - d[0], max(y0, min(d[1], y1)) - d[1]) < d[2] * 0.97 for d in c.dials):
                continue
            order.remove(index)
            box, level = level_gauge(c, t, rect, rng, path, what, lit, f)
            c.taken.append(box)
            c.elements.append(Element("fuel_gauge" if what == "fuel" else "temp_gauge", box, {"level": level, "form": f}))
            break

    # Needles over everything inside the dials
    for cx, cy, r, angle in pending:
        length = r
        hit = [e for e in c.elements if e.kind in ("odometer_digital", "odometer_analogue", "fuel_gauge")]
        tip = polar(cx, cy, length, angle)
        for e in hit:
            for s in np.linspace(0.1, 1, 12):
                x, y = cx + (tip[0] - cx) * s, cy + (tip[1] - cy) * s
                if e.box[0] - 8 < x < e.box[2] + 8 and e.box[1] - 8 < y < e.box[3] + 8:
                    angle = rng.uniform(60, 150)
                    break
        needle(c, t, cx, cy, length, angle, rng, lit)
        for s in np.linspace(0, 1, 8):
            tip = polar(cx, cy, length * s, angle)
            c.taken.append((tip[0] - 4, tip[1] - 4, tip[0] + 4, tip[1] + 4))

    # Lamps
    chosen = [rows[i] for i in rng.permutation(len(rows))[:int(rng.integers(1, len(rows) + 1))]]
    for y, a, b in chosen:
        pitch = lamp * rng.uniform(1.4, 2.6)
        n = max(1, int((b - a) * w / pitch))
        n = min(n, int(rng.integers(3, 16)))
        centre = (a + b) / 2 * w if rng.random() < 0.7 else rng.uniform(a * w + n * pitch / 2, max(a * w + n * pitch / 2, b * w - n * pitch / 2))
        bend = rng.uniform(-1, 1) * h * 0.04 if rng.random() < 0.3 else 0
        for i in range(n):
            k = (i + 0.5) / n - 0.5
            spots.append((centre + k * n * pitch, y + bend * (4 * k * k)))
    if rng.random() < 0.3:   # turn signals at the top
        k = rng.uniform(0.04, 0.45)
        spots += [(w * (0.5 - k), h * 0.08), (w * (0.5 + k), h * 0.08)]
    if rng.random() < 0.06:
        share = 0.95   # bulb check: all lamps on
    else:
        share = float(rng.choice([0.0, 0.12, 0.25, 0.45], p=[0.1, 0.3, 0.35, 0.25]))
    ghost = float(rng.choice([0.0, rng.uniform(0.03, 0.1), rng.uniform(0.1, 0.22)], p=[0.4, 0.4, 0.2]))
    if c.flat:
        ghost = float(rng.choice([0.0, 0.18, 0.28]))
    place_lamps(c, t, rng, lit, spots, lamp, force.get("lit_share", share) , ghost)

    # Mix the layers
    base = np.asarray(c.base, np.float32) / 255
    emit = np.asarray(c.emit, np.float32) / 255
    if c.flat and rng.random() < 0.5:
        ambient, power = (rng.uniform(0.6, 1.0), 1.0) if lit else (rng.uniform(0.4, 0.8), 0.0)
    elif not lit:
        ambient, power = (rng.uniform(0.45, 1.0) if not night else rng.uniform(0.22, 0.4)), 0.0
    elif night:
        ambient, power = rng.uniform(0.02, 0.14), rng.uniform(0.75, 1.15)
    else:
        ambient, power = rng.uniform(0.35, 0.9), rng.uniform(0.6, 1.0)
    # Backlight of print is off by day in many cars; lamps and displays stay bright because they sit in `emit` at full level.
    picture = np.maximum(base * ambient, emit * power) if rng.random() < 0.5 else base * ambient + emit * power * (1 - 0.35 * ambient)
    if lit and (night or rng.random() < 0.3):
        strength = rng.uniform(0.1, 0.6) if night else rng.uniform(0.05, 0.2)
        small = cv2.resize(emit, (w // 6, h // 6), interpolation=cv2.INTER_AREA)
        halo = cv2.GaussianBlur(small, (0, 0), rng.uniform(1.0, 3.5))
        picture = picture + cv2.resize(halo, (w, h)) * strength * power * 0.5
    shape = str(rng.choice(["rect", "round", "arch", "trapezoid", "hump", "ellipse"], p=[0.3, 0.28, 0.18, 0.1, 0.1, 0.04]))
    if layout == "plain":
        shape = str(rng.choice(["rect", "round", "ellipse"], p=[0.55, 0.35, 0.1]))
    if layout == "single":
        shape = str(rng.choice(["rect", "round", "ellipse"], p=[0.3, 0.4, 0.3]))
    # A narrow outline must not cut off elements: keep the mask only where nothing stands, else widen to a rectangle.
    mask = panel_mask(rng, w, h, shape)
    for e in c.elements:
        if e.kind in ("odometer_digital", "odometer_analogue", "fuel_gauge", "lamp"):
            x0, y0, x1, y1 = (int(v) for v in e.box)
            if mask[max(0, y0):y1 + 1, max(0, x0):x1 + 1].min(initial=255) < 128:
                mask = panel_mask(rng, w, h, "rect")
                break
    return Cluster(np.clip(picture, 0, 1.5).astype(np.float32), mask, c.elements, lit, night, layout)
