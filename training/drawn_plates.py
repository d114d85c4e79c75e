"""Number plates drawn from nothing: the shapes and colours of Europe, the UK, the US and Canada. Numbers and regions are random."""

from __future__ import annotations

import cv2
import numpy as np

from .typefaces import font_mask, pick_font

LETTERS, DIGITS = "ABCDEFGHJKLMNPRSTUVWXYZ", "0123456789"
COUNTRIES = ("D", "F", "I", "E", "P", "NL", "B", "A", "PL", "CZ", "RO", "H", "S", "FIN", "GB", "N", "DK", "SK", "BG", "HR")
WORDS = (
    "NEW YORK", "TEXAS", "FLORIDA", "CALIFORNIA", "OHIO", "ILLINOIS", "GEORGIA", "OREGON", "NEVADA", "UTAH", "MISSOURI", "ONTARIO",
    "QUEBEC", "ALBERTA", "MANITOBA", "GARDEN STATE", "WILD WONDERFUL", "SUNSHINE", "GREAT LAKES", "FIRST IN FLIGHT", "OPEN FOR BUSINESS",
)
# Pixels of a metre: a European plate of 520 x 112 mm is 520 x 112 pixels.
EUROPEAN, AMERICAN, SQUARE, SHORT = (520, 112), (400, 200), (280, 200), (380, 110)
SHAPES = ((EUROPEAN, 0.4), (AMERICAN, 0.42), (SQUARE, 0.1), (SHORT, 0.08))


def number(random: np.random.Generator, shortest: int = 5, longest: int = 8) -> str:
    length = int(random.integers(shortest, longest + 1))
    kinds = random.integers(0, 2, min(length, int(random.integers(2, 4))))
    groups = [LETTERS if kind else DIGITS for kind in kinds]
    sizes = np.diff([0, *sorted(random.choice(np.arange(1, length), len(groups) - 1, replace=False)), length])
    separator = " " if random.random() < 0.6 else "-" if random.random() < 0.4 else ""
    return separator.join("".join(random.choice(list(group), size)) for group, size in zip(groups, sizes))


def write(random: np.random.Generator, plate: np.ndarray, text: str, box: tuple[float, float, float, float], colour: np.ndarray) -> None:
    """Text that fills a box (x0, y0, x1, y1), in any typeface stretched to it."""
    x0, y0, x1, y1 = (int(round(each)) for each in box)
    mask, _ = font_mask(text, pick_font(random, "train"), max(8, y1 - y0), random.uniform(0, 0.15))
    # Narrow text stays as narrow as it is.
    width = min(x1 - x0, int(mask.shape[1] * (y1 - y0) / mask.shape[0] * random.uniform(0.7, 1.15)))
    mask = cv2.resize(mask, (max(4, width), max(4, y1 - y0)), interpolation=cv2.INTER_AREA)
    left = x0 + (x1 - x0 - mask.shape[1]) // 2
    alpha = mask[..., None].astype(np.float32) / 255
    view = plate[y0:y0 + mask.shape[0], left:left + mask.shape[1]]
    view[:] = view * (1 - alpha) + colour * alpha


def tint(random: np.random.Generator, low: float, high: float) -> np.ndarray:
    return random.uniform(low, high) + random.uniform(-0.12, 0.12, 3).astype(np.float32)


def ground_and_ink(random: np.random.Generator, american: bool) -> tuple[np.ndarray, np.ndarray]:
    """Two colours from 0 to 1."""
    kind = random.random()
    if kind < 0.12:   # light on dark
        return tint(random, 0.05, 0.3), tint(random, 0.75, 0.95)
    ink = tint(random, 0.02, 0.3)
    if american and random.random() < 0.5:
        ink = np.array([(0.1, 0.15, 0.5), (0.55, 0.1, 0.1), (0.05, 0.35, 0.15)][random.integers(3)], np.float32)
    if kind < 0.3:   # yellow, blue, green, orange
        ground = np.array([(0.95, 0.8, 0.15), (0.7, 0.85, 0.95), (0.7, 0.9, 0.7), (0.95, 0.6, 0.3)][random.integers(4)], np.float32)
        return ground * random.uniform(0.8, 1), ink
    return tint(random, 0.75, 0.95), ink


def ground_of(random: np.random.Generator, size: tuple[int, int], colour: np.ndarray, american: bool) -> np.ndarray:
    width, height = size
    plate = np.broadcast_to(colour.astype(np.float32), (height, width, 3)).copy()
    if american and random.random() < 0.6:
        # A gradient, or a landscape of soft patches.
        across = np.linspace(0, 1, height, dtype=np.float32)[:, None, None] ** random.uniform(0.5, 2)
        plate = plate * (1 - across) + tint(random, 0.5, 1) * across
        for _ in range(int(random.integers(0, 4))):
            centre = (int(random.uniform(0, width)), int(random.uniform(0, height)))
            axes = (int(random.uniform(20, 140)), int(random.uniform(10, 80)))
            shade = tuple(float(each) for each in tint(random, 0.35, 0.95))
            patch = plate.copy()
            cv2.ellipse(patch, centre, axes, random.uniform(0, 180), 0, 360, shade, -1)
            plate = cv2.addWeighted(plate, 0.6, cv2.GaussianBlur(patch, (0, 0), random.uniform(1, 8)), 0.4, 0)
    return plate


def drawn_plate(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """RGB [height, width, 3] from 0 to 1 and its mask [height, width] uint8; the plate fills the picture."""
    shape = random.choice(len(SHAPES), p=[share for _, share in SHAPES])
    size = SHAPES[shape][0]
    american = size == AMERICAN
    width, height = size
    ground, ink = ground_and_ink(random, american)
    plate = ground_of(random, size, ground, american)
    left, right = 0.04 * width, 0.96 * width
    if american:
        top, bottom = height * random.uniform(0.2, 0.3), height * random.uniform(0.76, 0.86)
        if random.random() < 0.85:
            write(random, plate, WORDS[random.integers(len(WORDS))], (width * 0.2, height * 0.05, width * 0.8, top - 6), tint(random, 0.05, 0.5))
        if random.random() < 0.6:
            write(random, plate, WORDS[random.integers(len(WORDS))], (width * 0.15, bottom + 8, width * 0.85, height * 0.96), tint(random, 0.05, 0.5))
        text = number(random, 4, 7)
        if random.random() < 0.3:   # an emblem within the number
            middle = width * random.uniform(0.4, 0.6)
            write(random, plate, text[:3].strip() or "A1", (left, top, middle - 30, bottom), ink)
            write(random, plate, text[3:].strip() or "2B", (middle + 30, top, right, bottom), ink)
            cv2.circle(plate, (int(middle), int((top + bottom) / 2)), int(random.uniform(12, 28)), tuple(map(float, tint(random, 0.2, 0.8))), -1)
        else:
            write(random, plate, text, (left, top, right, bottom), ink)
        for _ in range(int(random.integers(0, 3))):   # stickers of the year
            x, y = int(random.choice((0.03, 0.82)) * width), int(random.choice((0.04, 0.76)) * height)
            plate[y:y + 34, x:x + 52] = np.array([random.uniform(0.1, 1), random.uniform(0.1, 1), random.uniform(0.1, 1)])
    else:
        if random.random() < 0.75:
            band = int(width * random.uniform(0.07, 0.1))
            plate[:, :band] = np.array([0.05, 0.15, 0.6]) + random.uniform(-0.05, 0.1, 3)
            write(random, plate, COUNTRIES[random.integers(len(COUNTRIES))], (3, height * 0.62, band - 3, height * 0.9), np.float32([0.95, 0.95, 0.95]))
            left += band
            if random.random() < 0.25:
                plate[:, width - band:] = plate[:, :band] if random.random() < 0.5 else np.array([0.05, 0.15, 0.6])
                right -= band
        if size == SQUARE:
            write(random, plate, number(random, 2, 3), (left, height * 0.08, right, height * 0.47), ink)
            write(random, plate, number(random, 3, 5), (left, height * 0.54, right, height * 0.93), ink)
        else:
            margin = height * random.uniform(0.1, 0.22)
            write(random, plate, number(random), (left, margin, right, height - margin), ink)
    if random.random() < 0.7:   # a rim of its own
        inset = int(random.integers(1, 6))
        cv2.rectangle(plate, (inset, inset), (width - 1 - inset, height - 1 - inset), tuple(map(float, ink)), int(random.integers(1, 4)))
    for _ in range(int(random.integers(0, 5))):   # screws
        cv2.circle(plate, (int(random.uniform(0.05, 0.95) * width), int(random.choice((0.1, 0.5, 0.9)) * height)), 5, tuple(map(float, tint(random, 0.2, 0.8))), -1)
    mask = np.zeros((height, width), np.uint8)
    corner = int(random.integers(0, 14))
    cv2.rectangle(mask, (corner, 0), (width - 1 - corner, height - 1), 255, -1)
    cv2.rectangle(mask, (0, corner), (width - 1, height - 1 - corner), 255, -1)
    for x, y in ((corner, corner), (width - 1 - corner, corner), (corner, height - 1 - corner), (width - 1 - corner, height - 1 - corner)):
        cv2.circle(mask, (x, y), corner, 255, -1)
    return np.clip(plate, 0, 1), mask


def drawn_sign(random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """What is no plate and may look like one: words and prices on boards, badges and stickers."""
    width, height = int(random.uniform(100, 520)), int(random.uniform(60, 260))
    ground, ink = (tint(random, 0.1, 0.95), tint(random, 0, 1))
    plate = ground_of(random, (width, height), ground, True)
    rows = int(random.integers(1, 6))
    for row in range(rows):
        kind = random.random()
        text = WORDS[random.integers(len(WORDS))] if kind < 0.5 else f"{random.integers(1, 99)} %"
        if kind > 0.65:   # too long for a plate: a VIN, a date and a time, an address
            text = " ".join(number(random, 6, 9) for _ in range(int(random.integers(2, 4))))
        write(random, plate, text.lower() if random.random() < 0.5 else text, (width * 0.08, height * (row + 0.15) / rows, width * 0.92, height * (row + 0.85) / rows), ink)
    opaque = random.random() < 0.6
    if opaque:
        return np.clip(plate, 0, 1), np.full((height, width), 255, np.uint8)
    difference = np.abs(plate - ground).max(-1)
    return np.clip(plate, 0, 1), (np.clip(difference * 3, 0, 1) * 255).astype(np.uint8)
