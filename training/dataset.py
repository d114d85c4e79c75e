"""Render training data once and keep it as uint8 arrays.

    python -m training.dataset --out DIR --seed 1 --worker 0 --clusters 2500 --negatives 2000 --lines 40000 --gauges 6000

Writes shards `DIR/*.npz`; several workers with different `--worker` numbers
may write to one folder. `--split held_out` renders validation shards with
the held-out typefaces and surrounds.

Arrays per scene shard (S pictures):
    locator  uint8 [S,256,256,3]   letterboxed picture
    present  uint8 [S]; lit uint8 [S] (2 = not applicable)
    cluster  float32 [S,4]         xyxy, locator input pixels
    elements uint8 [D,256,448,3]   letterboxed cluster crops
    boxes    float32 [B,6]         crop index, class, xyxy in crop input pixels
    lamp     uint8 [L,48,48,3], lamp_class uint8 [L]
    fuel     uint8 [F,64,64,3], fuel_level float32 [F] (-1 = not a fuel gauge)
    line     uint8 [32, sum of widths], line_width int32 [T], line_text [T]
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import cv2
import numpy as np
from PIL import Image

from . import icons, photograph, scene
from .labels import LAMP_CODES
from .lines import cut, sample_line
from .networks import ELEMENT_CLASSES, ELEMENTS_HEIGHT, ELEMENTS_WIDTH, FUEL_SIZE, LAMP_SIZE
from .picture import dashboard_shot, negative_shot
from .reader import PAD
from .typefaces import pick_font

FILTERS = [Image.BILINEAR, Image.BILINEAR, Image.BOX, Image.BICUBIC, Image.LANCZOS]


def letterbox(rng, picture: Image.Image, box, width: int, height: int):
    """As reader.letterbox, but uint8 and with a random filter, so that the client's resizer hardly matters."""
    bw, bh = box[2] - box[0], box[3] - box[1]
    k = min(width / bw, height / bh)
    w, h = max(1, round(bw * k)), max(1, round(bh * k))
    left, top = (width - w) // 2, (height - h) // 2
    canvas = np.full((height, width, 3), PAD, np.uint8)
    canvas[top:top + h, left:left + w] = np.asarray(picture.resize((w, h), FILTERS[int(rng.integers(len(FILTERS)))], box=tuple(box)))
    return canvas, k, left, top


def square(rng, picture: Image.Image, box, factor: float, size: int, jitter: float) -> np.ndarray:
    """Square crop with a jittered centre and side -> uint8 [size,size,3]."""
    longer = max(box[2] - box[0], box[3] - box[1])
    side = max(4.0, factor * longer * float(np.exp(rng.normal(0, jitter * 0.9))))
    cx = (box[0] + box[2]) / 2 + rng.normal(0, jitter) * longer
    cy = (box[1] + box[3]) / 2 + rng.normal(0, jitter) * longer
    x0, y0, n = int(np.floor(cx - side / 2)), int(np.floor(cy - side / 2)), int(np.ceil(side))
    window = Image.new("RGB", (n, n), (PAD, PAD, PAD))
    a, b, c, d = max(0, x0), max(0, y0), min(picture.width, x0 + n), min(picture.height, y0 + n)
    if c > a and d > b:
        window.paste(picture.crop((a, b, c, d)), (a - x0, b - y0))
    return np.asarray(window.resize((size, size), FILTERS[int(rng.integers(len(FILTERS)))]))


class Shard:
    def __init__(self) -> None:
        self.locator, self.present, self.lit, self.cluster = [], [], [], []
        self.elements, self.boxes = [], []
        self.lamp, self.lamp_class = [], []
        self.fuel, self.fuel_level = [], []
        self.line, self.line_text = [], []

    def save(self, path: Path) -> None:
        stack = lambda items, shape: np.stack(items) if items else np.zeros((0, *shape), np.uint8)
        temporary = path.with_suffix(".part")
        with open(temporary, "wb") as out:
            np.savez(out, locator=stack(self.locator, (256, 256, 3)), present=np.array(self.present, np.uint8), lit=np.array(self.lit, np.uint8),
                     cluster=np.array(self.cluster, np.float32).reshape(-1, 4), elements=stack(self.elements, (ELEMENTS_HEIGHT, ELEMENTS_WIDTH, 3)),
                     boxes=np.array(self.boxes, np.float32).reshape(-1, 6), lamp=stack(self.lamp, (LAMP_SIZE, LAMP_SIZE, 3)), lamp_class=np.array(self.lamp_class, np.uint8),
                     fuel=stack(self.fuel, (FUEL_SIZE, FUEL_SIZE, 3)), fuel_level=np.array(self.fuel_level, np.float32),
                     line=np.hstack(self.line) if self.line else np.zeros((32, 0), np.uint8),
                     line_width=np.array([v.shape[1] for v in self.line], np.int32), line_text=np.array(self.line_text, dtype="U24"))
        temporary.rename(path)


def add_shot(shard: Shard, rng: np.random.Generator, shot) -> None:
    pixels = photograph.jpeg(shot.pixels, shot.quality)
    picture = Image.fromarray(pixels)
    w, h = picture.size
    image, k, left, top = letterbox(rng, picture, (0, 0, w, h), 256, 256)
    shard.locator.append(image)
    shard.present.append(shot.cluster_box is not None)
    shard.lit.append(2 if shot.lit is None else int(shot.lit))
    if shot.cluster_box is None:
        shard.cluster.append([0, 0, 0, 0])
        for _ in range(1):
            s = rng.uniform(0.02, 0.2) * w
            x, y = rng.uniform(0, w - s), rng.uniform(0, max(1, h - s))
            shard.lamp.append(square(rng, picture, (x, y, x + s, y + s), 1.3, LAMP_SIZE, 0.05))
            shard.lamp_class.append(0)
        return
    b = shot.cluster_box
    shard.cluster.append([b[0] * k + left, b[1] * k + top, b[2] * k + left, b[3] * k + top])
    # Cluster crop with the errors of an imperfect locator.
    bw, bh = b[2] - b[0], b[3] - b[1]
    e = np.clip(rng.normal(0.06, 0.045, 4), -0.03, 0.2)
    crop = (max(0.0, b[0] - e[0] * bw), max(0.0, b[1] - e[1] * bh), min(float(w), b[2] + e[2] * bw), min(float(h), b[3] + e[3] * bh))
    image, k, left, top = letterbox(rng, picture, crop, ELEMENTS_WIDTH, ELEMENTS_HEIGHT)
    index = len(shard.elements)
    shard.elements.append(image)
    negatives = []
    for item in shot.elements:
        x0, y0, x1, y1 = item["box"]
        kind = item["kind"]
        if kind in ELEMENT_CLASSES:
            m = [(x0 - crop[0]) * k + left, (y0 - crop[1]) * k + top, (x1 - crop[0]) * k + left, (y1 - crop[1]) * k + top]
            shard.boxes.append([index, ELEMENT_CLASSES.index(kind), *m])
        if kind == "lamp":
            shard.lamp.append(square(rng, picture, item["box"], 1.3, LAMP_SIZE, 0.07))
            shard.lamp_class.append(LAMP_CODES.index(item["code"]))
        elif kind in ("dark_lamp", "text", "temp_gauge"):
            negatives.append(item["box"])
        if kind == "fuel_gauge" and shot.lit:
            for _ in range(2):
                shard.fuel.append(square(rng, picture, item["box"], 1.15, FUEL_SIZE, 0.05))
                shard.fuel_level.append(item["level"])
        elif kind == "temp_gauge" and rng.random() < 0.4:
            shard.fuel.append(square(rng, picture, item["box"], 1.15, FUEL_SIZE, 0.05))
            shard.fuel_level.append(-1)
        if kind.startswith("odometer") and (y1 - y0) >= 9:
            for _ in range(2):
                shard.line.append(cut(rng, pixels, item["box"]))
                shard.line_text.append(item["text"])
    for _ in range(2):   # anywhere on the cluster
        s = rng.uniform(0.03, 0.1) * bw
        x, y = b[0] + rng.uniform(0, bw - s), b[1] + rng.uniform(0, max(1.0, bh - s))
        box = (x, y, x + s, y + s)
        if all(v["kind"] != "lamp" or box[0] > v["box"][2] or box[2] < v["box"][0] or box[1] > v["box"][3] or box[3] < v["box"][1] for v in shot.elements):
            negatives.append(box)
    rng.shuffle(negatives)
    for box in negatives[:4]:
        x0, y0, x1, y1 = box
        if (x1 - x0) > 3 * (y1 - y0):   # part of a text line
            x0 = rng.uniform(x0, x1 - (y1 - y0))
            x1 = x0 + (y1 - y0)
        shard.lamp.append(square(rng, picture, (x0, y0, x1, y1), 1.3, LAMP_SIZE, 0.08))
        shard.lamp_class.append(0)
    if rng.random() < 0.2:
        s = rng.uniform(0.05, 0.3) * bw
        x, y = rng.uniform(b[0], b[2] - s), rng.uniform(b[1], max(b[1] + 1, b[3] - s))
        if not any(v["kind"] == "fuel_gauge" and v["box"][0] < x + s and v["box"][2] > x and v["box"][1] < y + s and v["box"][3] > y for v in shot.elements):
            shard.fuel.append(square(rng, picture, (x, y, x + s, y + s), 1.15, FUEL_SIZE, 0.05))
            shard.fuel_level.append(-1)


def lone_shot(rng: np.random.Generator, split: str, c: scene.Canvas, box, longer: float) -> tuple[Image.Image, tuple]:
    """Photographs a small canvas so that the longer side of `box` is about `longer` pixels -> picture, box in its pixels."""
    base, emit = np.asarray(c.base, np.float32) / 255, np.asarray(c.emit, np.float32) / 255
    night = rng.random() < 0.5
    ambient = rng.uniform(0.02, 0.14) if night else rng.uniform(0.35, 1.0)
    picture = np.clip(base * ambient + emit * rng.uniform(0.6, 1.1) * (1 - 0.35 * ambient), 0, 1.5)
    if rng.random() < 0.4:
        halo = cv2.GaussianBlur(cv2.resize(emit, (c.w // 6, c.h // 6), interpolation=cv2.INTER_AREA), (0, 0), rng.uniform(0.8, 3))
        picture = picture + cv2.resize(halo, (c.w, c.h)) * rng.uniform(0.05, 0.4)
    k = longer / max(box[2] - box[0], box[3] - box[1])
    w, h = max(16, int(c.w * k)), max(16, int(c.h * k))
    matrix = photograph.placement(rng, (c.w, c.h), (w, h), 1.0)
    ground = np.full((h, w, 3), rng.uniform(0, 0.5), np.float32)
    picture = photograph.paste(ground, picture, np.full((c.h, c.w), 255, np.uint8), matrix)
    # The camera blurs by the width of a picture, of which this is a small part.
    if rng.random() < 0.6:
        picture = cv2.GaussianBlur(picture, (0, 0), 0.3 + min(abs(rng.normal(0, 0.7)), 0.05 * longer))
    pixels, quality = photograph.camera(rng, picture, 0.12 * longer, night, split == "held_out")
    return Image.fromarray(photograph.jpeg(pixels, quality)), photograph.map_box(matrix, box)


GAUGES = ["arc_up", "arc_left", "arc_right", "dial", "arc_down", "bars_h", "bars_v", "bar_h", "bar_v"]


def lone_gauge(rng: np.random.Generator, split: str):
    """A gauge on its own small canvas -> (uint8 [64,64,3], level; -1 if it does not show fuel)."""
    t = scene.Theme(rng)
    c = scene.Canvas(420, 360, rng, split)
    c.dials, c.flat = [], False
    c.base.paste(t.panel, (0, 0, 420, 360))
    kind = str(rng.choice(["fuel", "temp", "other", "scale"], p=[0.6, 0.26, 0.08, 0.06]))
    form = str(rng.choice(GAUGES, p=[0.28, 0.1, 0.1, 0.16, 0.06, 0.12, 0.07, 0.07, 0.04]))
    gw = rng.uniform(120, 260)
    gh = gw * (rng.uniform(0.25, 0.4) if form in ("bars_h", "bar_h") else rng.uniform(0.5, 0.95))
    if form in ("bars_v", "bar_v", "arc_left", "arc_right"):
        gh = rng.uniform(140, 240)
        gw = gh * rng.uniform(0.45, 0.8)
    x, y = 210 - gw / 2, 180 - gh / 2
    path = pick_font(rng, split)
    if kind == "scale":   # a speedometer or tachometer
        r = rng.uniform(80, 150)
        start, end, r1, _ = scene.dial(c, t, 210, 180, r, rng, path, str(rng.choice(["speed", "tach"])))
        scene.needle(c, t, 210, 180, r1, start + (end - start) * rng.uniform(0, 1), rng, True)
        box, level = (210 - r, 180 - r, 210 + r, 180 + r), -1.0
    else:
        box, level = scene.level_gauge(c, t, (x, y, x + gw, y + gh), rng, path, kind, True, form)
    picture, box = lone_shot(rng, split, c, box, float(np.exp(rng.uniform(np.log(28), np.log(160)))))
    return square(rng, picture, box, 1.15, FUEL_SIZE, 0.06), level if kind == "fuel" else -1.0


def lone_lamp(rng: np.random.Generator, split: str):
    """A symbol or print on a small piece of a panel -> (uint8 [48,48,3], class; 0 unless it is a lit lamp)."""
    t = scene.Theme(rng)
    c = scene.Canvas(240, 240, rng, split)
    c.flat = False
    ground = t.face if rng.random() < 0.5 else t.panel
    c.base.paste(ground, (0, 0, 240, 240))
    path = pick_font(rng, split)
    glow = scene.scale(t.glow, 0.9) if not t.light_face else scene.scale(t.print, 0.6)
    size = rng.uniform(56, 88)
    roll = rng.random()
    if roll < 0.1:   # print of a dial or a display, with no lamp
        text = str(rng.choice([str(10 * rng.integers(0, 30)), str(rng.integers(0, 10)), "km/h", "mph", "E", "F", "C", "H", "ODO", "P", "PRND", "x1000", "1/2"]))
        box = c.text(text, 120, 120, size * rng.uniform(0.3, 0.7), path, t.print, glow)
        pixels, box = lone_shot(rng, split, c, box, float(np.exp(rng.uniform(np.log(9), np.log(70)))))
        return square(rng, pixels, box, 1.3, LAMP_SIZE, 0.08), 0
    if rng.random() < 0.4:   # what stands beside it: a number, a mark of a scale, a dark symbol
        x, y = scene.polar(120, 120, size * rng.uniform(0.75, 1.1), rng.uniform(0, 360))
        beside = rng.integers(3)
        if beside == 0:
            c.text(str(rng.integers(0, 260)), x, y, size * rng.uniform(0.3, 0.7), path, t.print, glow)
        elif beside == 1:
            c.both("line", [(x - 12, y - 12), (x + 12, y + 12)], t.print, glow, width=int(rng.integers(3, 9)))
        else:
            mask = icons.icon(str(rng.choice(icons.CODES)), size, rng, split)
            c.stamp(mask, x - mask.shape[1] / 2, y - mask.shape[0] / 2, scene.scale(ground, rng.uniform(1.2, 1.8)), None)
    code = str(rng.choice(icons.CODES))
    mask = icons.icon(code, size, rng, split, rng.uniform(0.04, 0.09), tile=0.5)
    h, w = mask.shape
    box = (120 - w / 2, 120 - h / 2, 120 + w / 2, 120 + h / 2)
    lit = roll >= 0.22
    if lit:
        colour = icons.colour(code, rng)
        c.stamp(mask, box[0], box[1], scene.scale(colour, 0.45), colour)
    else:
        shade = tuple(int(np.clip(v + 255 * rng.uniform(0.03, 0.25) * (-1 if sum(ground) > 380 else 1), 0, 255)) for v in ground)
        c.stamp(mask, box[0], box[1], shade, None)
    pixels, box = lone_shot(rng, split, c, box, float(np.exp(rng.uniform(np.log(9), np.log(70)))))
    return square(rng, pixels, box, 1.3, LAMP_SIZE, 0.08), LAMP_CODES.index(code) if lit else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--worker", type=int, default=0)
    parser.add_argument("--split", default="train", choices=["train", "held_out"])
    parser.add_argument("--clusters", type=int, default=0, help="each gives two pictures")
    parser.add_argument("--negatives", type=int, default=0)
    parser.add_argument("--lines", type=int, default=0)
    parser.add_argument("--gauges", type=int, default=0)
    parser.add_argument("--lamps", type=int, default=0)
    parser.add_argument("--shard", type=int, default=250)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    assert icons.CODES == LAMP_CODES[1:]
    start = time.time()

    done = 0
    ratio = args.negatives / args.clusters if args.clusters else 0
    while done < args.clusters:
        shard = Shard()
        n = min(args.shard, args.clusters - done)
        for i in range(n):
            rng = np.random.default_rng([args.seed, args.worker, 0, done + i])
            drawn = scene.cluster(rng, args.split)
            for _ in range(2):
                add_shot(shard, rng, dashboard_shot(rng, args.split, drawn, widest=1200, least_line=9.5))
            for _ in range(int(ratio * (done + i + 1)) - int(ratio * (done + i))):
                add_shot(shard, rng, negative_shot(rng, args.split, 900))
        shard.save(args.out / f"scenes-{args.split}-{args.seed}-{args.worker}-{done:06d}.npz")
        done += n
        print(f"worker {args.worker}: {done} clusters, {time.time() - start:.0f} s", flush=True)

    for number, (name, total) in enumerate((("lines", args.lines), ("gauges", args.gauges), ("lamps", args.lamps)), 1):
        done = 0
        while done < total:
            shard = Shard()
            n = min(2000, total - done)
            rng = np.random.default_rng([args.seed, args.worker, number, done])
            for _ in range(n):
                if name == "lines":
                    pixels, text = sample_line(rng, args.split)
                    shard.line.append(pixels)
                    shard.line_text.append(text)
                elif name == "gauges":
                    pixels, level = lone_gauge(rng, args.split)
                    shard.fuel.append(pixels)
                    shard.fuel_level.append(level)
                else:
                    pixels, lamp_class = lone_lamp(rng, args.split)
                    shard.lamp.append(pixels)
                    shard.lamp_class.append(lamp_class)
            shard.save(args.out / f"{name}-{args.split}-{args.seed}-{args.worker}-{done:06d}.npz")
            done += n
            print(f"worker {args.worker}: {done} {name}, {time.time() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
