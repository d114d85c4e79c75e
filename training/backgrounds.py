"""What stands round a cluster, and whole pictures without one.

Training and held-out pictures use different procedures: training builds on
gradients, blobs and line work; held-out on fractal noise, weaves, shards
and discs of light. The kinds of pictures without a dashboard overlap in
subject but are drawn by separate functions.
"""

from __future__ import annotations

import math

import cv2
import numpy as np
from PIL import Image, ImageDraw

from .typefaces import Style, font, odometer_text, pick_font


def rgb(rng, low=0, high=256):
    return tuple(int(v) for v in rng.integers(low, high, 3))


def muted(rng, level=None):
    """A greyish interior colour."""
    level = rng.uniform(10, 200) if level is None else level
    return tuple(int(np.clip(level + rng.normal(0, 10), 0, 255)) for _ in range(3))


def as_float(picture: Image.Image) -> np.ndarray:
    return np.asarray(picture, np.float32) / 255


def gradient(rng, w, h, a, b) -> np.ndarray:
    angle = rng.uniform(0, 2 * math.pi)
    yy, xx = np.mgrid[0:1:h * 1j, 0:1:w * 1j].astype(np.float32)
    t = xx * math.cos(angle) + yy * math.sin(angle)
    t = ((t - t.min()) / (np.ptp(t) + 1e-6))[..., None]
    return (np.asarray(a, np.float32) * (1 - t) + np.asarray(b, np.float32) * t) / 255


def interior(rng, w, h) -> np.ndarray:
    """Training surround: dashboard slopes, hood, wheel rim, vents, windscreen."""
    level = rng.uniform(8, 130)
    picture = gradient(rng, w, h, muted(rng, level), muted(rng, level * rng.uniform(0.4, 1.6)))
    roll = rng.random()
    if roll < 0.08:
        return np.broadcast_to(np.float32(rgb(rng)) / 255, (h, w, 3)).copy()
    if roll < 0.16:
        return gradient(rng, w, h, rgb(rng), rgb(rng))
    image = Image.fromarray((np.clip(picture, 0, 1) * 255).astype(np.uint8))
    d = ImageDraw.Draw(image)
    if rng.random() < 0.5:   # windscreen or bright strip
        y = h * rng.uniform(0.05, 0.3)
        d.polygon([(0, 0), (w, 0), (w, y * rng.uniform(0.5, 1.2)), (0, y)], fill=muted(rng, rng.uniform(90, 250)))
    for _ in range(int(rng.integers(0, 5))):   # soft dashboard shapes
        c = muted(rng, level * rng.uniform(0.3, 1.8))
        if rng.random() < 0.5:
            x, y, a, b = rng.uniform(-0.2, 1.0) * w, rng.uniform(-0.2, 1.0) * h, rng.uniform(0.2, 0.9) * w, rng.uniform(0.1, 0.6) * h
            d.ellipse((x, y, x + a, y + b), fill=c)
        else:
            pts = [(rng.uniform(-0.2, 1.2) * w, rng.uniform(-0.2, 1.2) * h) for _ in range(4)]
            d.polygon(pts, fill=c)
    for _ in range(int(rng.integers(0, 3))):   # vents
        x, y, a, b = rng.uniform(0, 0.9) * w, rng.uniform(0, 0.9) * h, rng.uniform(0.1, 0.25) * w, rng.uniform(0.08, 0.2) * h
        d.rounded_rectangle((x, y, x + a, y + b), 12, fill=muted(rng, level * 0.4))
        for i in range(5):
            d.line((x + 6, y + b * (i + 0.5) / 5, x + a - 6, y + b * (i + 0.5) / 5), fill=muted(rng, level * 1.2), width=3)
    if rng.random() < 0.2:   # seams
        for _ in range(int(rng.integers(1, 8))):
            d.line([(rng.uniform(0, w), rng.uniform(0, h)), (rng.uniform(0, w), rng.uniform(0, h))], fill=rgb(rng), width=int(rng.integers(1, 6)))
    picture = as_float(image)
    picture = cv2.GaussianBlur(picture, (0, 0), rng.uniform(0.5, 5) * w / 900)
    if rng.random() < 0.5:   # grained plastic
        n = cv2.GaussianBlur(rng.standard_normal((h // 2, w // 2), dtype=np.float32), (0, 0), rng.uniform(0.4, 2.0))
        picture = picture + cv2.resize(n, (w, h))[..., None] * rng.uniform(0.01, 0.08)
    return np.clip(picture, 0, 1)


def wheel_rim(rng, w, h, picture: np.ndarray, keep_free=None) -> np.ndarray:
    """Part of a steering wheel, only where it hides nothing in `keep_free` (xyxy boxes)."""
    layer = Image.new("L", (w, h))
    d = ImageDraw.Draw(layer)
    r = w * rng.uniform(0.45, 1.0)
    cx, cy = w * rng.uniform(0.2, 0.8), h * rng.uniform(0.9, 1.5)
    thick = int(w * rng.uniform(0.03, 0.08))
    ry = r * rng.uniform(0.6, 1.0)
    d.ellipse((cx - r, cy - ry, cx + r, cy + ry), None, 255, thick)
    if rng.random() < 0.6:
        d.rectangle((cx - r, cy - thick * rng.uniform(0, 1), cx + r, cy + thick), fill=255)
    mask = np.asarray(layer)
    for box in keep_free or []:
        x0, y0, x1, y1 = (int(v) for v in box)
        if mask[max(0, y0 - 4):max(0, y1 + 4), max(0, x0 - 4):max(0, x1 + 4)].max(initial=0) > 0:
            return picture
    alpha = cv2.GaussianBlur(mask, (0, 0), 1.5 + w / 900).astype(np.float32)[..., None] / 255
    shade = gradient(rng, w, h, muted(rng, rng.uniform(8, 60)), muted(rng, rng.uniform(10, 90)))
    return picture * (1 - alpha) + shade * alpha


def fractal(rng, w, h, octaves=5, base=3) -> np.ndarray:
    """Sum of resized noise fields, 0..1 [h,w]."""
    out = np.zeros((h, w), np.float32)
    amplitude = 1.0
    for k in range(octaves):
        n = base * 2 ** k
        out += cv2.resize(rng.random((max(2, n * h // w + 1), n), dtype=np.float32), (w, h), interpolation=cv2.INTER_CUBIC) * amplitude
        amplitude *= rng.uniform(0.4, 0.65)
    out -= out.min()
    return out / (out.max() + 1e-6)


def held_out_surround(rng, w, h) -> np.ndarray:
    """Held-out surround: marbled noise, weave, shards, discs of light or wood."""
    kind = int(rng.integers(5))
    a, b = np.float32(muted(rng)) / 255, np.float32(muted(rng)) / 255
    if kind == 0:
        f = fractal(rng, w, h)[..., None]
        return a * f + b * (1 - f)
    if kind == 1:   # weave
        p = int(rng.integers(6, 24))
        yy, xx = np.mgrid[0:h, 0:w]
        f = (((xx // p) % 2) ^ ((yy // p) % 2)).astype(np.float32) * 0.5 + 0.25 + 0.2 * fractal(rng, w, h)
        return np.clip(a * f[..., None] + b * (1 - f[..., None]) * 0.5, 0, 1)
    if kind == 2:   # shards
        n = int(rng.integers(6, 30))
        px, py = rng.uniform(0, w / 8, n), rng.uniform(0, h / 8, n)
        yy, xx = np.mgrid[0:h // 8 + 1, 0:w // 8 + 1]
        nearest = ((xx[..., None] - px) ** 2 + (yy[..., None] - py) ** 2).argmin(-1)
        shades = np.clip(a + rng.normal(0, 0.12, (n, 3)), 0, 1).astype(np.float32)
        return cv2.GaussianBlur(cv2.resize(shades[nearest], (w, h), interpolation=cv2.INTER_LINEAR), (0, 0), 2)
    if kind == 3:   # discs of light behind a dark edge
        image = np.broadcast_to(a * 0.3, (h, w, 3)).astype(np.float32).copy()
        for _ in range(int(rng.integers(6, 30))):
            over = image.copy()
            cv2.circle(over, (int(rng.uniform(0, w)), int(rng.uniform(0, h * 0.7))), int(rng.uniform(0.01, 0.06) * w), tuple(float(v) for v in rng.uniform(0.3, 1, 3)), -1, cv2.LINE_AA)
            image = image * 0.6 + over * 0.4
        return cv2.GaussianBlur(image, (0, 0), rng.uniform(1, 4))
    yy = np.linspace(0, 1, h, dtype=np.float32)[:, None]   # wood or brushed metal
    f = np.sin((yy * rng.uniform(20, 80) + fractal(rng, w, h, 4, 2) * rng.uniform(2, 10)) * 2) * 0.25 + 0.5
    return np.clip((a * f[..., None] + b * (1 - f[..., None])) * rng.uniform(0.5, 1.1), 0, 1)


def held_out_interior(rng, w, h) -> np.ndarray:
    picture = held_out_surround(rng, w, h)
    if rng.random() < 0.6:   # a hood line of another make than in training: sine edge
        xx = np.linspace(0, 1, w)
        edge = h * (rng.uniform(0.1, 0.3) - rng.uniform(0.02, 0.12) * np.sin(xx * math.pi * rng.uniform(0.8, 2.2) + rng.uniform(0, 1)))
        below = (np.arange(h)[:, None] > edge[None]).astype(np.float32)
        below = cv2.GaussianBlur(below, (0, 0), 3)[..., None]
        plastic = np.float32(muted(rng, rng.uniform(10, 80))) / 255 * (0.8 + 0.4 * fractal(rng, w, h, 3, 2)[..., None])
        picture = picture * (1 - below) + plastic * below
    return np.clip(picture, 0, 1).astype(np.float32)


# ---------------------------------------------------------------- pictures without a dashboard

def landscape(rng, w, h, split):
    horizon = rng.uniform(0.3, 0.7)
    sky = gradient(rng, w, h, (rng.integers(90, 200), rng.integers(140, 220), rng.integers(180, 256)), rgb(rng, 150))
    image = Image.fromarray((np.clip(sky, 0, 1) * 255).astype(np.uint8))
    d = ImageDraw.Draw(image)
    for k in range(3):
        y = h * (horizon + 0.08 * k)
        pts = [(0, h)] + [(x, y - abs(math.sin(x / w * rng.uniform(3, 9) + k)) * h * 0.15) for x in np.linspace(0, w, 20)] + [(w, h)]
        d.polygon(pts, fill=(int(rng.integers(20, 130)), int(rng.integers(60, 160)), int(rng.integers(20, 110))))
    if rng.random() < 0.5:
        vx = w * rng.uniform(0.3, 0.7)
        d.polygon([(vx - 8, h * horizon + h * 0.1), (vx + 8, h * horizon + h * 0.1), (w * 0.95, h), (w * 0.05, h)], fill=muted(rng, rng.uniform(40, 120)))
    for _ in range(int(rng.integers(0, 8))):
        x, s = rng.uniform(0, w), rng.uniform(0.03, 0.15) * h
        y = h * (horizon + rng.uniform(0.05, 0.3))
        d.rectangle((x - s * 0.1, y - s * 0.2, x + s * 0.1, y + s), fill=(70, 50, 30))
        d.ellipse((x - s * 0.6, y - s, x + s * 0.6, y), fill=(20, int(rng.integers(60, 140)), 30))
    if rng.random() < 0.4:
        d.ellipse((w * 0.7, h * 0.1, w * 0.7 + h * 0.12, h * 0.22), fill=(255, 245, 200))
    return as_float(image)


def plate(rng, d, x, y, pw, split):
    ph = pw / rng.uniform(2.0, 4.8)
    dark = rng.random() < 0.15
    ground = (20, 20, 25) if dark else [(245, 245, 240), (250, 210, 40), (235, 240, 250)][rng.integers(3)]
    d.rounded_rectangle((x, y, x + pw, y + ph), ph * 0.1, fill=ground, outline=(20, 20, 20), width=max(1, int(ph * 0.04)))
    if rng.random() < 0.4:
        d.rectangle((x, y, x + pw * 0.09, y + ph), fill=(20, 50, 160))
    text = "".join(rng.choice(list("ABCDEFGHJKLMNPRSTUVWXYZ"), int(rng.integers(1, 4)))) + str(rng.choice([" ", "-", ""])) + str(rng.integers(1, 99999))
    face = font(pick_font(rng, split), max(8, int(ph * 0.7)))
    length = face.getlength(text)
    face = font(face.path, max(8, int(ph * 0.7 * min(1, pw * 0.82 / length))))
    d.text((x + pw * 0.53, y + ph / 2), text, fill=(230, 230, 230) if dark else (15, 15, 20), font=face, anchor="mm")


def tyre(rng, d, x, y, r):
    d.ellipse((x - r, y - r, x + r, y + r), fill=muted(rng, rng.uniform(15, 45)))
    rim = r * rng.uniform(0.55, 0.75)
    c = muted(rng, rng.uniform(110, 220))
    d.ellipse((x - rim, y - rim, x + rim, y + rim), fill=muted(rng, rng.uniform(20, 90)), outline=c, width=max(2, int(r * 0.05)))
    n = int(rng.integers(4, 12))
    a0 = rng.uniform(0, 1)
    for i in range(n):
        a = a0 + 2 * math.pi * i / n
        d.line((x, y, x + rim * math.cos(a), y + rim * math.sin(a)), fill=c, width=max(2, int(r * rng.uniform(0.05, 0.12))))
    d.ellipse((x - r * 0.14, y - r * 0.14, x + r * 0.14, y + r * 0.14), fill=c)


def car(rng, w, h, split):
    image = Image.fromarray((landscape(rng, w, h, split) * 255).astype(np.uint8))
    d = ImageDraw.Draw(image)
    c = rgb(rng, 10)
    if rng.random() < 0.5:   # from the side
        x0, y0, s = w * rng.uniform(0.02, 0.2), h * rng.uniform(0.35, 0.5), w * rng.uniform(0.55, 0.8)
        k = s * 0.3
        d.polygon([(x0, y0 + k), (x0 + s * 0.05, y0 + k * 0.55), (x0 + s * 0.22, y0 + k * 0.45), (x0 + s * 0.35, y0), (x0 + s * 0.72, y0), (x0 + s * 0.88, y0 + k * 0.45), (x0 + s, y0 + k * 0.6), (x0 + s, y0 + k)], fill=c)
        d.polygon([(x0 + s * 0.27, y0 + k * 0.43), (x0 + s * 0.37, y0 + k * 0.08), (x0 + s * 0.7, y0 + k * 0.08), (x0 + s * 0.82, y0 + k * 0.43)], fill=muted(rng, rng.uniform(20, 150)))
        for f in (0.2, 0.8):
            tyre(rng, d, x0 + s * f, y0 + k, s * rng.uniform(0.075, 0.1))
    else:   # from behind or ahead
        x0, y0, s = w * rng.uniform(0.1, 0.3), h * rng.uniform(0.15, 0.3), min(w * 0.6, h * 0.8)
        d.rounded_rectangle((x0, y0 + s * 0.35, x0 + s, y0 + s * 0.85), s * 0.08, fill=c)
        d.polygon([(x0 + s * 0.08, y0 + s * 0.4), (x0 + s * 0.2, y0), (x0 + s * 0.8, y0), (x0 + s * 0.92, y0 + s * 0.4)], fill=c)
        d.polygon([(x0 + s * 0.15, y0 + s * 0.37), (x0 + s * 0.24, y0 + s * 0.06), (x0 + s * 0.76, y0 + s * 0.06), (x0 + s * 0.85, y0 + s * 0.37)], fill=muted(rng, rng.uniform(20, 120)))
        lamp = (230, 30, 25) if rng.random() < 0.5 else (250, 250, 230)
        for x in (x0 + s * 0.04, x0 + s * 0.78):
            if rng.random() < 0.5:
                d.ellipse((x, y0 + s * 0.44, x + s * 0.18, y0 + s * 0.62), fill=lamp, outline=(40, 40, 40), width=4)
            else:
                d.rectangle((x, y0 + s * 0.46, x + s * 0.18, y0 + s * 0.58), fill=lamp)
        for x in (x0 + s * 0.06, x0 + s * 0.76):
            d.rectangle((x, y0 + s * 0.85, x + s * 0.18, y0 + s), fill=(20, 20, 20))
        plate(rng, d, x0 + s * 0.32, y0 + s * 0.62, s * 0.36, split)
    return as_float(image)


def paper(rng, w, h, split):
    """Print on paper or a sign: lines of text, or a single large number with a unit."""
    ground = muted(rng, rng.uniform(180, 252)) if rng.random() < 0.65 else muted(rng, rng.uniform(5, 70))
    inkc = muted(rng, rng.uniform(0, 90)) if sum(ground) > 380 else rgb(rng, 170)
    image = Image.fromarray((np.clip(gradient(rng, w, h, ground, tuple(int(v * rng.uniform(0.8, 1)) for v in ground)), 0, 1) * 255).astype(np.uint8))
    d = ImageDraw.Draw(image)
    if rng.random() < 0.55:
        style = Style(rng, split)
        for k in range(int(rng.integers(1, 4))):
            value, digits, unit = odometer_text(rng)
            if rng.random() < 0.3:
                digits, unit = f"{rng.integers(0, 24)}:{rng.integers(0, 60):02d}", ""
            mask, _, _ = style.line(digits, unit, h * rng.uniform(0.05, 0.22))
            if mask.shape[1] > w * 0.9:
                mask = cv2.resize(mask, None, fx=w * 0.9 / mask.shape[1], fy=w * 0.9 / mask.shape[1], interpolation=cv2.INTER_AREA)
            image.paste(inkc, (int(rng.uniform(0, w - mask.shape[1])), int(h * (0.08 + 0.3 * k))), Image.fromarray(mask))
        if rng.random() < 0.4:
            d.rectangle((w * 0.05, h * 0.04, w * 0.95, h * 0.95), outline=inkc, width=int(rng.integers(2, 12)))
    else:
        size = h * rng.uniform(0.025, 0.07)
        face = font(pick_font(rng, split), max(8, int(size)))
        y = h * 0.04
        while y < h * 0.94:
            words = " ".join("".join(rng.choice(list("abcdefghijklmnopqrstuvwxyzABCDEF0123456789"), int(rng.integers(2, 10)))) for _ in range(int(rng.integers(3, 12))))
            d.text((w * 0.05, y), words, fill=inkc, font=face)
            y += size * rng.uniform(1.4, 2.2)
    return as_float(image)


def clock_face(rng, w, h, split):
    """A lone clock or watch, thermometer or scale on some ground."""
    ground = interior(rng, w, h) if split == "train" else held_out_surround(rng, w, h)
    image = Image.fromarray((np.clip(ground, 0, 1) * 255).astype(np.uint8))
    d = ImageDraw.Draw(image)
    for _ in range(1 if rng.random() < 0.75 else 2):
        r = min(w, h) * rng.uniform(0.15, 0.46)
        cx, cy = rng.uniform(r * 0.7, w - r * 0.7), rng.uniform(r * 0.8, h - r * 0.8)
        dark = rng.random() < 0.45
        face_colour = muted(rng, rng.uniform(5, 50)) if dark else muted(rng, rng.uniform(190, 250))
        inkc = muted(rng, rng.uniform(200, 250)) if dark else muted(rng, rng.uniform(0, 60))
        d.ellipse((cx - r, cy - r, cx + r, cy + r), fill=face_colour, outline=rgb(rng), width=max(2, int(r * rng.uniform(0.02, 0.12))))
        face = font(pick_font(rng, split), max(8, int(r * rng.uniform(0.14, 0.24))))
        roman = ["XII", "I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI"]
        kind = int(rng.integers(3))
        for i in range(60):
            a = math.radians(6 * i - 90)
            big = i % 5 == 0
            if kind == 2 and not big:
                continue
            d.line((cx + r * 0.9 * math.cos(a), cy + r * 0.9 * math.sin(a), cx + r * (0.8 if big else 0.86) * math.cos(a), cy + r * (0.8 if big else 0.86) * math.sin(a)), fill=inkc, width=max(1, int(r * (0.025 if big else 0.008))))
            if big and kind != 1:
                label = roman[i // 5] if rng.random() < 0.05 or (kind == 2) else str(i // 5 or 12)
                d.text((cx + r * 0.66 * math.cos(a), cy + r * 0.66 * math.sin(a)), label, fill=inkc, font=face, anchor="mm")
        for length, width in ((0.45, 0.05), (0.7, 0.03), (0.75, 0.01)):
            a = rng.uniform(0, 2 * math.pi)
            d.line((cx, cy, cx + r * length * math.cos(a), cy + r * length * math.sin(a)), fill=inkc if width > 0.02 else (200, 30, 20), width=max(1, int(r * width)))
        if rng.random() < 0.3:
            d.text((cx, cy + r * 0.35), str(rng.choice(["QUARTZ", "12 45", "MON 21", "21", "AUTOMATIC", "100 m"])), fill=inkc, font=font(pick_font(rng, split), max(8, int(r * 0.1))), anchor="mm")
    return as_float(image)


def tyres(rng, w, h, split):
    ground = interior(rng, w, h) if split == "train" else held_out_surround(rng, w, h)
    image = Image.fromarray((np.clip(ground, 0, 1) * 255).astype(np.uint8))
    d = ImageDraw.Draw(image)
    for _ in range(int(rng.integers(1, 4))):
        tyre(rng, d, rng.uniform(0.1, 0.9) * w, rng.uniform(0.2, 0.8) * h, min(w, h) * rng.uniform(0.15, 0.55))
    return as_float(image)


def screen(rng, w, h, split):
    """Radio, phone, calculator, alarm clock, oven panel: digits on a display, but no instruments."""
    ground = interior(rng, w, h) if split == "train" else held_out_surround(rng, w, h)
    image = Image.fromarray((np.clip(ground, 0, 1) * 255).astype(np.uint8))
    d = ImageDraw.Draw(image)
    sw, sh = w * rng.uniform(0.4, 0.95), h * rng.uniform(0.3, 0.95)
    if rng.random() < 0.25:
        sw, sh = min(sw, h * 0.45), h * 0.95   # upright phone
    x0, y0 = rng.uniform(0, w - sw), rng.uniform(0, h - sh)
    case = muted(rng, rng.uniform(8, 200))
    d.rounded_rectangle((x0, y0, x0 + sw, y0 + sh), min(sw, sh) * rng.uniform(0, 0.12), fill=case, outline=muted(rng), width=4)
    dx0, dy0, dx1, dy1 = x0 + sw * 0.06, y0 + sh * 0.08, x0 + sw * 0.94, y0 + sh * rng.uniform(0.35, 0.92)
    ground_colour = (12, 14, 16) if rng.random() < 0.6 else [(150, 170, 130), (240, 240, 245), (30, 60, 140), (250, 180, 90)][rng.integers(4)]
    inkc = rgb(rng, 120) if sum(ground_colour) < 300 else (10, 12, 14)
    d.rectangle((dx0, dy0, dx1, dy1), fill=ground_colour)
    style = Style(rng, split)
    y = dy0 + (dy1 - dy0) * 0.08
    while y < dy1 - (dy1 - dy0) * 0.15:
        hh = (dy1 - dy0) * rng.uniform(0.1, 0.5)
        if y + hh > dy1:
            break
        choice = int(rng.integers(6))
        text = [f"{rng.integers(0, 24)}:{rng.integers(0, 60):02d}", f"{rng.uniform(87, 108):.1f}", str(rng.integers(0, 999999)), f"{rng.integers(0, 99999999)}", f"{rng.uniform(0, 99):.2f}", str(rng.integers(0, 100))][choice]
        unit = ["", "FM", "", "", "", "%"][choice]
        mask, _, _ = style.line(text, unit, hh)
        if mask.shape[1] > (dx1 - dx0) * 0.95:
            k = (dx1 - dx0) * 0.95 / mask.shape[1]
            mask = cv2.resize(mask, None, fx=k, fy=k, interpolation=cv2.INTER_AREA)
        image.paste(inkc, (int(dx0 + rng.uniform(0, max(1, dx1 - dx0 - mask.shape[1]))), int(y)), Image.fromarray(mask))
        y += mask.shape[0] * rng.uniform(1.2, 2.0)
    if y0 + sh - dy1 > sh * 0.15:
        rows, cols = int(rng.integers(1, 5)), int(rng.integers(2, 7))
        for i in range(rows):
            for j in range(cols):
                bx, by = x0 + sw * (0.08 + 0.84 * j / cols), dy1 + (y0 + sh - dy1) * (0.1 + 0.85 * i / rows)
                bw, bh = sw * 0.6 / cols, (y0 + sh - dy1) * 0.6 / rows
                c = muted(rng, rng.uniform(20, 220))
                if rng.random() < 0.15:
                    d.ellipse((bx, by, bx + min(bw, bh), by + min(bw, bh)), fill=c, outline=(10, 10, 10))
                else:
                    d.rounded_rectangle((bx, by, bx + bw, by + bh), bh * 0.2, fill=c)
                    d.text((bx + bw / 2, by + bh / 2), str(rng.integers(0, 10)), fill=inkc if sum(c) > 300 else (220, 220, 220), font=font(style.unit_path, max(8, int(bh * 0.5))), anchor="mm")
    return as_float(image)


def shapes(rng, w, h, split):
    image = Image.fromarray((np.clip(gradient(rng, w, h, rgb(rng), rgb(rng)), 0, 1) * 255).astype(np.uint8))
    d = ImageDraw.Draw(image)
    for _ in range(int(rng.integers(3, 40))):
        x, y, a, b = rng.uniform(-0.1, 1) * w, rng.uniform(-0.1, 1) * h, rng.uniform(0.02, 0.5) * w, rng.uniform(0.02, 0.5) * h
        kind = int(rng.integers(4))
        if kind == 0:
            d.ellipse((x, y, x + a, y + b), fill=rgb(rng) if rng.random() < 0.6 else None, outline=rgb(rng), width=int(rng.integers(1, 12)))
        elif kind == 1:
            d.rectangle((x, y, x + a, y + b), fill=rgb(rng) if rng.random() < 0.7 else None, outline=rgb(rng), width=int(rng.integers(1, 8)))
        elif kind == 2:
            d.polygon([(x, y), (x + a, y + rng.uniform(-b, b)), (x + a / 2, y + b)], fill=rgb(rng))
        else:
            d.line((x, y, x + a, y + b), fill=rgb(rng), width=int(rng.integers(1, 15)))
    if rng.random() < 0.3:
        d.text((rng.uniform(0, 0.6) * w, rng.uniform(0, 0.8) * h), str(rng.integers(0, 999999)), fill=rgb(rng), font=font(pick_font(rng, split), int(h * rng.uniform(0.05, 0.2))))
    return as_float(image)


def plates(rng, w, h, split):
    ground = interior(rng, w, h) if split == "train" else held_out_surround(rng, w, h)
    image = Image.fromarray((np.clip(ground, 0, 1) * 255).astype(np.uint8))
    plate(rng, ImageDraw.Draw(image), w * rng.uniform(0.02, 0.4), h * rng.uniform(0.1, 0.5), w * rng.uniform(0.3, 0.6), split)
    return as_float(image)


def bare(rng, w, h, split):
    picture = interior(rng, w, h) if split == "train" else held_out_interior(rng, w, h)
    for _ in range(int(rng.integers(0, 3))):
        picture = wheel_rim(rng, w, h, picture)
    return picture


def noise(rng, w, h, split):
    kind = int(rng.integers(3))
    if kind == 0:
        return np.clip(0.5 + rng.standard_normal((h, w, 3), dtype=np.float32) * rng.uniform(0.05, 0.4), 0, 1)
    if kind == 1:
        return np.broadcast_to(np.float32(rgb(rng)) / 255, (h, w, 3)).copy()
    return np.clip(np.stack([fractal(rng, w, h, 4) for _ in range(3)], -1), 0, 1)


def seven_on_dark(rng, w, h, split):
    """Digits alone on a dark ground: a scoreboard, taximeter or pump, no instruments round it."""
    image = Image.new("RGB", (w, h), muted(rng, rng.uniform(0, 30)))
    style = Style(rng, split, str(rng.choice(["seven", "dot", "font"])))
    for k in range(int(rng.integers(1, 5))):
        _, digits, unit = odometer_text(rng)
        mask, _, _ = style.line(digits, unit if rng.random() < 0.3 else "", h * rng.uniform(0.06, 0.3))
        if mask.shape[1] > w * 0.9:
            mask = cv2.resize(mask, None, fx=w * 0.9 / mask.shape[1], fy=w * 0.9 / mask.shape[1], interpolation=cv2.INTER_AREA)
        image.paste(rgb(rng, 100), (int(rng.uniform(0, w - mask.shape[1])), int(rng.uniform(0, max(1, h - mask.shape[0])))), Image.fromarray(mask))
    return as_float(image)


def shelves(rng, w, h, split):
    """Held-out only: book shelf or building front, many upright and level edges."""
    image = Image.new("RGB", (w, h), muted(rng, rng.uniform(20, 120)))
    d = ImageDraw.Draw(image)
    rows = int(rng.integers(2, 6))
    for i in range(rows):
        x = 0.0
        while x < w:
            b = rng.uniform(0.01, 0.06) * w
            d.rectangle((x, h * i / rows + h * rng.uniform(0.01, 0.06), x + b - 1, h * (i + 1) / rows - 6), fill=rgb(rng))
            if rng.random() < 0.3:
                d.text((x + 2, h * (i + 0.5) / rows), str(rng.integers(0, 99)), fill=rgb(rng), font=font(pick_font(rng, split), max(8, int(b * 0.6))))
            x += b
    return as_float(image)


def discs(rng, w, h, split):
    """Held-out only: plates, coins or records seen from above."""
    image = Image.fromarray((held_out_surround(rng, w, h) * 255).astype(np.uint8))
    d = ImageDraw.Draw(image)
    for _ in range(int(rng.integers(1, 6))):
        r, x, y = min(w, h) * rng.uniform(0.08, 0.35), rng.uniform(0, w), rng.uniform(0, h)
        c = muted(rng)
        for k in np.linspace(1, 0.2, int(rng.integers(2, 7))):
            d.ellipse((x - r * k, y - r * k, x + r * k, y + r * k), fill=tuple(int(v * rng.uniform(0.6, 1)) for v in c), outline=muted(rng))
    return as_float(image)


TRAIN_NEGATIVES = [(landscape, 1.2), (car, 1.6), (paper, 2.2), (clock_face, 2.2), (tyres, 1.2), (screen, 2.4), (shapes, 1.6), (plates, 1.0), (bare, 2.4), (noise, 0.5), (seven_on_dark, 1.4)]
HELD_OUT_NEGATIVES = [(landscape, 1), (car, 1), (paper, 1.2), (clock_face, 1.2), (tyres, 0.8), (screen, 1.4), (plates, 0.8), (bare, 1.4), (seven_on_dark, 1), (shelves, 1), (discs, 1)]


def negative(rng, w, h, split) -> tuple[np.ndarray, str]:
    """float [h,w,3] 0..1 without a dashboard, and the kind of subject."""
    table = TRAIN_NEGATIVES if split == "train" else HELD_OUT_NEGATIVES
    p = np.array([t[1] for t in table])
    draw = table[int(rng.choice(len(table), p=p / p.sum()))][0]
    picture = np.clip(draw(rng, w, h, split), 0, 1).astype(np.float32)
    if rng.random() < 0.25:
        picture *= rng.uniform(0.2, 0.7)
    if rng.random() < 0.25:
        m = cv2.getRotationMatrix2D((w / 2, h / 2), rng.uniform(-12, 12), rng.uniform(1.0, 1.3))
        picture = cv2.warpAffine(picture, m, (w, h), borderMode=cv2.BORDER_REFLECT)
    return picture, draw.__name__
