"""Single text lines for the line reader: odometers, VINs, plates, tire sidewalls."""

from __future__ import annotations

import cv2
import numpy as np
from PIL import Image

from . import photograph
from .typefaces import Style, drums, font_mask, odometer_text, pick_font

VIN = list("ABCDEFGHJKLMNPRSTUVWXYZ0123456789")
LETTERS = list("ABCDEFGHIJKLMNOPQRSTUVWXYZ")


def sample_text(rng: np.random.Generator, kind: str | None = None) -> tuple[str, str, str]:
    """-> (kind, main text, unit)."""
    kind = kind or str(rng.choice(["odometer", "drums", "vin", "plate", "tire", "mixed"], p=[0.50, 0.14, 0.11, 0.10, 0.10, 0.05]))
    if kind in ("odometer", "drums"):
        _, digits, unit = odometer_text(rng)
        if rng.random() < 0.08:   # a trip counter: its decimal point must be read
            digits = f"{rng.uniform(0, 2000):.1f}"
        return kind, digits, unit
    if kind == "vin":
        return kind, "".join(rng.choice(VIN, 17)), ""
    if kind == "plate":
        a = "".join(rng.choice(LETTERS, int(rng.integers(1, 4))))
        b = "".join(rng.choice(LETTERS, int(rng.integers(0, 4))))
        n = str(rng.integers(1, 10 ** int(rng.integers(1, 6))))
        sep = str(rng.choice([" ", "-", ""]))
        parts = [p for p in ([a, n, b] if rng.random() < 0.6 else [n, a, b]) if p]
        if len(a) + len(b) == 0:
            parts = [n]
        return kind, sep.join(parts), ""
    if kind == "tire":
        roll = rng.random()
        if roll < 0.65:
            size = f"{5 * rng.integers(27, 68)}/{5 * rng.integers(5, 17)}{rng.choice(['', ' '])}{rng.choice(['R', 'R', 'R', 'ZR'])}{rng.integers(12, 24)}"
            if rng.random() < 0.65:
                size += f" {rng.integers(68, 122)}{rng.choice(list('QRSTUHVWY'))}"
            if rng.random() < 0.15:
                size = str(rng.choice(["P", "LT"])) + size
            return kind, size, ""
        if roll < 0.9:
            code = f"{rng.integers(1, 54):02d}{rng.integers(5, 27):02d}"
            prefix = "DOT " if rng.random() < 0.8 else ""
            middle = " ".join("".join(rng.choice(VIN, int(rng.integers(2, 5)))) for _ in range(int(rng.integers(0, 3))))
            return kind, f"{prefix}{middle + ' ' if middle else ''}{code}", ""
        return kind, str(rng.choice(["M/S", "TUBELESS", "RADIAL", "EXTRA LOAD", "OUTSIDE", "INSIDE", "TREADWEAR 300", "MAX LOAD 615 KG", "XL", "REINFORCED"])), ""
    text = "".join(rng.choice(LETTERS + list("0123456789") + list(" .-/,"), int(rng.integers(3, 12)))).strip(" ")
    return kind, " ".join(text.split()) or "A1", ""


def sample_line(rng: np.random.Generator, split: str = "train", kind: str | None = None) -> tuple[np.ndarray, str]:
    """-> (grey uint8 [32,W], its text). The crop has the jittered margins an imperfect box gives."""
    kind, text, unit = sample_text(rng, kind)
    height = 40.0
    if kind == "drums":
        digits = "".join(ch for ch in text.split(".")[0] if ch.isdigit()) or "0"
        digits = digits.zfill(int(rng.choice([5, 6, 6])))
        strip = drums(rng, digits, int(height * 2), split, rng.random() < 0.3)
        strip = cv2.resize(strip, (strip.shape[1] // 2, int(height)), interpolation=cv2.INTER_AREA).mean(2)
        text = digits
        gh, gw = strip.shape
        pad = 60
        ground = rng.uniform(5, 90) if rng.random() < 0.7 else rng.uniform(90, 230)
        grey = np.full((gh + 2 * pad, gw + 2 * pad), ground, np.float32)
        grey[pad:pad + gh, pad:pad + gw] = strip
        box = [pad, pad, pad + gw, pad + gh]
        if unit and rng.random() < 0.7:
            tail, below = font_mask(unit, pick_font(rng, split), height * rng.uniform(0.3, 0.55))
            canvas = np.full((grey.shape[0], grey.shape[1] + tail.shape[1] + 20), ground, np.float32)
            canvas[:, :grey.shape[1]] = grey
            grey = canvas
            x = box[2] + int(rng.uniform(5, 22))
            y = (box[1] + box[3] - tail.shape[0]) // 2
            alpha = tail.astype(np.float32) / 255
            ink = ground + (rng.uniform(80, 160) if ground < 110 else -rng.uniform(70, 100))
            region = grey[y:y + tail.shape[0], x:x + tail.shape[1]]
            region[:] = region * (1 - alpha) + ink * alpha
            box[2] = x + tail.shape[1]
            text = f"{digits} {unit}"
        grey = grey / 255
    else:
        odo = kind == "odometer"
        style = Style(rng, split, None if odo else "font")
        mask, ghost, ink_box = style.line(text, unit, height)
        if unit:
            text = f"{text} {unit}"
        pad = 60
        gh, gw = mask.shape
        alpha = np.zeros((gh + 2 * pad, gw + 2 * pad), np.float32)
        alpha[pad:pad + gh, pad:pad + gw] = mask / 255.0
        dark = rng.uniform(0.0, 0.45)
        light = min(1.0, dark + rng.uniform(0.15, 0.9))
        if kind == "tire":
            light = dark + rng.uniform(0.08, 0.5)
        a, b = (dark, light) if rng.random() < (0.65 if odo else 0.4) else (light, dark)
        ground = np.full(alpha.shape, a, np.float32)
        ground += np.linspace(0, rng.uniform(-0.15, 0.15), alpha.shape[1])[None]
        if ghost is not None and rng.random() < 0.5:
            g = np.zeros_like(alpha)
            g[pad:pad + gh, pad:pad + gw] = ghost / 255.0
            ground = ground * (1 - g * rng.uniform(0, 0.14)) + b * g * rng.uniform(0, 0.14)
        if kind == "tire" and rng.random() < 0.5:   # raised letters: a light and a dark edge
            shift = np.roll(alpha, (int(rng.integers(-3, 4)), int(rng.integers(-3, 4))), (0, 1))
            ground = ground - shift * rng.uniform(0.05, 0.25)
        grey = ground * (1 - alpha) + b * alpha
        box = [pad + ink_box[0], pad + ink_box[1], pad + ink_box[2], pad + ink_box[3]]
        # Neighbours: a label before the digits, other rows above and below, a display's frame.
        if rng.random() < 0.35:
            for _ in range(int(rng.integers(1, 4))):
                side = rng.random()
                words = str(rng.choice(["ODO", "TRIP", "12:45", "km/h", "21°C", "P R N D", "A", "120", "Range"]))
                m, _ = font_mask(words, style.unit_path, height * rng.uniform(0.4, 0.9))
                m = m[:, :grey.shape[1]]
                bw, bh = m.shape[1], m.shape[0]
                if side < 0.4:
                    y, x = int(box[1] - bh - rng.uniform(6, 30)), int(rng.uniform(0, max(1, grey.shape[1] - bw)))
                elif side < 0.8:
                    y, x = int(box[3] + rng.uniform(6, 30)), int(rng.uniform(0, max(1, grey.shape[1] - bw)))
                else:
                    y, x = int(box[1]), int(box[0] - bw - rng.uniform(12, 30))
                if y >= 0 and x >= 0 and y + bh <= grey.shape[0] and x + bw <= grey.shape[1]:
                    region = grey[y:y + bh, x:x + bw]
                    region[:] = region * (1 - m / 255.0) + b * (m / 255.0)
        if rng.random() < 0.15:
            k = int(rng.uniform(3, 14))
            cv2.rectangle(grey, (box[0] - k * 2, box[1] - k), (box[2] + k * 2, box[3] + k), float(rng.uniform(0, 1)), int(rng.integers(1, 4)))
    # Skew, then the scale it had in the photograph, then blur, noise and JPEG at that scale.
    h, w = grey.shape
    angle = float(np.clip(rng.normal(0, 2.0), -6, 6))
    m = cv2.getRotationMatrix2D((w / 2, h / 2), angle, 1.0)
    m[0, 1] += rng.normal(0, 0.05)
    grey = cv2.warpAffine(grey.astype(np.float32), m, (w, h), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE)
    corners = np.array([[box[0], box[1], 1], [box[2], box[1], 1], [box[2], box[3], 1], [box[0], box[3], 1]]) @ m.T
    x0, y0, x1, y1 = corners[:, 0].min(), corners[:, 1].min(), corners[:, 0].max(), corners[:, 1].max()
    target = float(np.exp(rng.uniform(np.log(10), np.log(60))))
    k = target / (y1 - y0)
    small = cv2.resize(grey, None, fx=k, fy=k, interpolation=cv2.INTER_AREA if k < 1 else cv2.INTER_LINEAR)
    box = np.array([x0, y0, x1, y1]) * k
    picture = np.repeat(small[..., None], 3, 2) * rng.uniform(0.6, 1.2)
    pixels, quality = photograph.camera(rng, picture, target * 0.9, rng.random() < 0.4, split == "held_out")
    pixels = photograph.jpeg(pixels, quality)
    return cut(rng, pixels, box), text


def cut(rng: np.random.Generator, pixels: np.ndarray, box, exact: bool = False) -> np.ndarray:
    """Crop a line as the reader would, with box errors: box xyxy in pixels -> grey uint8 [32,W<=512]."""
    x0, y0, x1, y1 = box
    w, h = x1 - x0, y1 - y0
    ex, ey = (0.0, 0.0) if exact else (0.10, 0.09)
    n = rng.normal(0, 1, 4) if not exact else np.zeros(4)
    # Horizontal errors scale with the line's height: half a digit at most on either side.
    x0 = x0 - 0.06 * w + np.clip(n[0] * ex * h * 2, -0.30 * h, 0.8 * h) * (-1)
    x1 = x1 + 0.06 * w + np.clip(n[1] * ex * h * 2, -0.30 * h, 0.8 * h)
    y0 = y0 - 0.14 * h - np.clip(n[2] * ey * h * 1.3, -0.16 * h, 0.35 * h)
    y1 = y1 + 0.14 * h + np.clip(n[3] * ey * h * 1.3, -0.16 * h, 0.35 * h)
    ph, pw = pixels.shape[:2]
    x0, y0, x1, y1 = max(0.0, x0), max(0.0, y0), min(float(pw), x1), min(float(ph), y1)
    if x1 - x0 < 3 or y1 - y0 < 3:
        x0, y0, x1, y1 = 0, 0, pw, ph
    w = int(np.clip(round((x1 - x0) * 32 / (y1 - y0)), 8, 512))
    picture = Image.fromarray(pixels)
    filters = [Image.BILINEAR, Image.BILINEAR, Image.BOX, Image.BICUBIC]
    small = picture.resize((w, 32), filters[int(rng.integers(4))], box=(x0, y0, x1, y1))
    grey = np.asarray(small, np.float32) @ np.array([0.299, 0.587, 0.114], np.float32)
    return np.clip(grey + 0.5, 0, 255).astype(np.uint8)
