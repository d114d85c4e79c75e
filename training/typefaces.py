"""Typefaces and own digit drawings, split into TRAIN and HELD-OUT families.

A rendered line is a uint8 mask (0 = no ink) cropped to its ink; callers
colour it. `Style` objects decide typeface, spacing, slant and unit size, so
that one style serves a whole display.
"""

from __future__ import annotations

import glob
import functools

import cv2
import numpy as np
from PIL import Image, ImageDraw, ImageFont

ROOT = "/usr/share/fonts"
# Families whose glyphs the networks see while training.
TRAIN_PATTERNS = [
    "truetype/dejavu/DejaVuSans*.ttf", "truetype/liberation2/LiberationSans-*.ttf", "truetype/liberation2/LiberationMono-*.ttf",
    "truetype/freefont/FreeSans*.ttf", "truetype/freefont/FreeMonoBold*.ttf", "truetype/roboto/unhinted/RobotoCondensed-*.ttf",
    "truetype/roboto/unhinted/RobotoTTF/Roboto-*.ttf", "truetype/open-sans/OpenSans-*.ttf", "opentype/urw-base35/NimbusSans*.otf",
    "opentype/urw-base35/NimbusMonoPS-Bold*.otf", "opentype/urw-base35/URWGothic-*.otf", "truetype/noto/NotoSans-[BRMLCSI]*.ttf",
    "truetype/noto/NotoSansMono-[BRM]*.ttf", "truetype/noto/NotoSansDisplay-[BRMC]*.ttf", "truetype/inconsolata/*.otf", "truetype/hack/*.ttf",
    "truetype/comfortaa/*.ttf", "opentype/courier-prime/Courier Prime Sans*.otf", "truetype/crosextra/Carlito-*.ttf",
    "truetype/firacode/FiraCode-*.ttf", "fonts-go/Go-[BMR]*.ttf", "truetype/jetbrains-mono/*.ttf", "truetype/karla/*.ttf",
    "opentype/league-mono/LeagueMono-*.otf", "truetype/mononoki/*.ttf", "truetype/oxygen/*.ttf", "truetype/quicksand/*.ttf",
    "truetype/andika/*.ttf", "truetype/dejavu/DejaVuSerif*.ttf", "truetype/liberation2/LiberationSerif-*.ttf", "opentype/junction/*.otf",
]
# Families that only the held-out pictures use.
HELD_OUT_PATTERNS = [
    "truetype/lato/Lato-[BHMRS]*.ttf", "opentype/b612/B612*.otf", "opentype/cabin/Cabin-*.otf", "opentype/cantarell/Cantarell-[BER]*.otf",
    "truetype/play/Play-*.ttf", "truetype/anonymous-pro/Anonymous Pro*.ttf", "truetype/monofur/*.ttf",
    "opentype/league-spartan/LeagueSpartan-[BEMRS]*.otf", "opentype/roboto/slab/*.otf",
]
# Seven-segment typefaces: held-out only; training draws its own segments.
HELD_OUT_SEVEN = ["truetype/dseg/DSEG7Classic-*.ttf", "truetype/dseg/DSEG7ClassicMini-*.ttf", "truetype/dseg/DSEG7Modern-*.ttf", "truetype/dseg/DSEG7ModernMini-*.ttf"]
UNSUITABLE = ("Hairline", "Thin", "ExtraLight", "UltraLight", "SpecialE", "Gyre", "Icons")


@functools.lru_cache(None)
def families(split: str) -> list[list[str]]:
    """One list of files per family, so that a family with many weights is not drawn more often."""
    patterns = {"train": TRAIN_PATTERNS, "held_out": HELD_OUT_PATTERNS, "seven": HELD_OUT_SEVEN}[split]
    found = []
    for pattern in patterns:
        files = sorted(f for f in glob.glob(f"{ROOT}/{pattern}") if not any(u in f for u in UNSUITABLE))
        if files:
            found.append(files)
    return found


@functools.lru_cache(400)
def font(path: str, size: int) -> ImageFont.FreeTypeFont:
    return ImageFont.truetype(path, size)


def pick_font(rng: np.random.Generator, split: str) -> str:
    group = families(split)
    files = group[rng.integers(len(group))]
    return files[rng.integers(len(files))]


def trim(mask: np.ndarray) -> np.ndarray:
    """Crop to ink; a blank mask becomes 1x1."""
    rows = np.flatnonzero(mask.max(1) > 40)
    cols = np.flatnonzero(mask.max(0) > 40)
    if not len(rows):
        return np.zeros((1, 1), np.uint8)
    return mask[rows[0]:rows[-1] + 1, cols[0]:cols[-1] + 1]


def font_mask(text: str, path: str, height: float, tracking: float = 0.0) -> tuple[np.ndarray, int]:
    """Text in a typeface with digits `height` px tall -> (mask, rows below the baseline)."""
    probe = font(path, 100).getbbox("0", anchor="ls")
    size = max(6, int(round(height * 100 / max(1, -probe[1]))))
    face = font(path, size)
    margin = size
    if tracking:
        width = int(sum(face.getlength(ch) + tracking * size for ch in text)) + 2 * margin
    else:
        width = int(face.getlength(text)) + 2 * margin
    picture = Image.new("L", (width, 3 * size))
    draw = ImageDraw.Draw(picture)
    if tracking:
        x = float(margin)
        for ch in text:
            draw.text((x, 2 * size), ch, 255, face, anchor="ls")
            x += face.getlength(ch) + tracking * size
    else:
        draw.text((margin, 2 * size), text, 255, face, anchor="ls")
    full = np.asarray(picture)
    rows = np.flatnonzero(full.max(1) > 40)
    mask = trim(full)
    below = int(rows[-1] + 1 - 2 * size) if len(rows) else 0
    return mask, below


SEGMENTS = {  # a b c d e f g
    "0": "abcdef", "1": "bc", "2": "abdeg", "3": "abcdg", "4": "bcfg", "5": "acdfg", "6": "acdefg", "7": "abc", "8": "abcdefg", "9": "abcdfg",
    "-": "g", "E": "adefg", "F": "aefg", "H": "bcefg", "C": "adef", "L": "def", "P": "abefg",
}


def seven_digit(ch: str, p: dict, height: int) -> tuple[np.ndarray, np.ndarray]:
    """One seven-segment digit -> (lit mask, all-segments mask), both [height*4//4, width]."""
    scale = 3
    h = height * scale
    w = int(h * p["ratio"])
    t = h * p["thick"]
    g = h * p["gap"]
    lit = Image.new("L", (w, h))
    ghost = Image.new("L", (w, h))
    dl, dg = ImageDraw.Draw(lit), ImageDraw.Draw(ghost)
    on = SEGMENTS.get(ch, "")
    if ch == "6" and p["short6"]:
        on = "cdefg"
    if ch == "9" and p["short9"]:
        on = "abcfg"
    if ch == "7" and p["hook7"]:
        on = "abcf"
    m = h / 2
    half = t / 2

    def bar(x0, y0, x1, y1):
        """Segment between two ends of its centre line, with the end shape of the style."""
        horizontal = abs(x1 - x0) > abs(y1 - y0)
        e = {"hex": half, "rect": 0.0, "mitre": half * 0.55}[p["ends"]]
        if horizontal:
            a, b = x0 + g, x1 - g
            return [(a, y0), (a + e, y0 - half), (b - e, y0 - half), (b, y0), (b - e, y0 + half), (a + e, y0 + half)]
        a, b = y0 + g, y1 - g
        return [(x0, a), (x0 + half, a + e), (x0 + half, b - e), (x0, b), (x0 - half, b - e), (x0 - half, a + e)]

    inset = 0 if p["ends"] == "hex" else half * 0.9
    parts = {
        "a": bar(half + inset, half, w - half - inset, half), "g": bar(half + inset, m, w - half - inset, m),
        "d": bar(half + inset, h - half, w - half - inset, h - half),
        "f": bar(half, half, half, m), "b": bar(w - half, half, w - half, m), "e": bar(half, m, half, h - half), "c": bar(w - half, m, w - half, h - half),
    }
    for name, polygon in parts.items():
        dg.polygon(polygon, fill=255)
        if name in on:
            dl.polygon(polygon, fill=255)
    size = (max(2, w // scale), height)
    return np.asarray(lit.resize(size, Image.BILINEAR)), np.asarray(ghost.resize(size, Image.BILINEAR))


def seven_mask(text: str, p: dict, height: float) -> tuple[np.ndarray, np.ndarray]:
    """A line of own seven-segment digits -> (lit mask, ghost mask), untrimmed, slanted alike."""
    height = max(8, int(round(height)))
    lit_parts, ghost_parts = [], []
    space = max(1, int(height * p["space"]))
    for ch in text:
        if ch == " ":
            block = np.zeros((height, int(height * p["ratio"] * p["blank"])), np.uint8)
            lit_parts.append(block)
            ghost_parts.append(block if p["blank"] < 0.9 else seven_digit("8", p, height)[1][:, :block.shape[1]] * 0)
        elif ch in ".,:":
            t = max(2, int(height * p["thick"]))
            block = np.zeros((height, t), np.uint8)
            if ch == ":":
                block[height // 3 - t // 2:height // 3 - t // 2 + t] = 255
                block[2 * height // 3 - t // 2:2 * height // 3 - t // 2 + t] = 255
            else:
                block[-t:] = 255
            lit_parts.append(block)
            ghost_parts.append(block * 0)
        else:
            a, b = seven_digit(ch, p, height)
            lit_parts.append(a)
            ghost_parts.append(b)
        lit_parts.append(np.zeros((height, space), np.uint8))
        ghost_parts.append(np.zeros((height, space), np.uint8))
    lit, ghost = np.hstack(lit_parts[:-1]), np.hstack(ghost_parts[:-1])
    if p["slant"]:
        shift = p["slant"] * height
        matrix = np.float32([[1, -p["slant"], shift], [0, 1, 0]])
        size = (int(lit.shape[1] + shift + 2), height)
        lit, ghost = cv2.warpAffine(lit, matrix, size), cv2.warpAffine(ghost, matrix, size)
    return lit, ghost


DOTS = {
    "0": "01110 10001 10011 10101 11001 10001 01110", "1": "00100 01100 00100 00100 00100 00100 01110",
    "2": "01110 10001 00001 00010 00100 01000 11111", "3": "11111 00010 00100 00010 00001 10001 01110",
    "4": "00010 00110 01010 10010 11111 00010 00010", "5": "11111 10000 11110 00001 00001 10001 01110",
    "6": "00110 01000 10000 11110 10001 10001 01110", "7": "11111 00001 00010 00100 01000 01000 01000",
    "8": "01110 10001 10001 01110 10001 10001 01110", "9": "01110 10001 10001 01111 00001 00010 01100",
    " ": "000 000 000 000 000 000 000", ".": "0 0 0 0 0 0 1", ",": "00 00 00 00 01 01 10", ":": "0 0 1 0 1 0 0", "-": "00000 00000 00000 11111 00000 00000 00000",
    "k": "1000 1000 1001 1010 1100 1010 1001", "m": "00000 00000 11010 10101 10101 10101 10101", "i": "010 000 110 010 010 010 111",
    "l": "110 010 010 010 010 010 111", "e": "0000 0000 0110 1001 1111 1000 0111", "s": "0000 0000 0111 1000 0110 0001 1110",
    "K": "10001 10010 10100 11000 10100 10010 10001", "M": "10001 11011 10101 10101 10001 10001 10001",
    "I": "111 010 010 010 010 010 111", "L": "1000 1000 1000 1000 1000 1000 1111", "E": "11111 10000 10000 11110 10000 10000 11111",
    "S": "01111 10000 10000 01110 00001 00001 11110",
    "O": "01110 10001 10001 10001 10001 10001 01110", "D": "11100 10010 10001 10001 10001 10010 11100",
    "T": "11111 00100 00100 00100 00100 00100 00100", "R": "11110 10001 10001 11110 10100 10010 10001", "P": "11110 10001 10001 11110 10000 10000 10000",
    "A": "01110 10001 10001 11111 10001 10001 10001", "B": "11110 10001 10001 11110 10001 10001 11110", "C": "01110 10001 10000 10000 10000 10001 01110",
    "F": "11111 10000 10000 11110 10000 10000 10000", "G": "01110 10001 10000 10111 10001 10001 01111", "H": "10001 10001 10001 11111 10001 10001 10001",
    "N": "10001 11001 10101 10011 10001 10001 10001", "/": "00001 00001 00010 00100 01000 10000 10000", "h": "1000 1000 1110 1001 1001 1001 1001",
}


def dot_mask(text: str, p: dict, height: float) -> tuple[np.ndarray, np.ndarray]:
    """A line in 5x7 dots -> (lit mask, ghost mask of the whole dot field)."""
    grids = []
    for ch in text:
        rows = DOTS.get(ch, DOTS["-"]).split()
        grids.append(np.array([[int(v) for v in row] for row in rows], np.uint8))
        grids.append(np.zeros((7, 1), np.uint8))
    grid = np.hstack(grids[:-1])
    cell = max(4, int(round(height * 2 / 7)))
    big = np.zeros((7 * cell, grid.shape[1] * cell), np.uint8)
    dot = np.zeros((cell, cell), np.uint8)
    r = cell * p["fill"] / 2
    if p["round"]:
        cv2.circle(dot, (cell // 2, cell // 2), max(1, int(round(r))), 255, -1, cv2.LINE_AA)
    else:
        a = int(round(cell / 2 - r))
        dot[a:cell - a, a:cell - a] = 255
    lit = np.kron(grid, np.ones((1, 1), np.uint8))
    big = np.tile(dot, grid.shape) * np.kron(lit, np.ones((cell, cell), np.uint8))
    ghost = np.tile(dot, grid.shape)
    h = max(7, int(round(height)))
    w = max(2, int(round(big.shape[1] * h / big.shape[0])))
    return cv2.resize(big, (w, h), interpolation=cv2.INTER_AREA), cv2.resize(ghost, (w, h), interpolation=cv2.INTER_AREA)


class Style:
    """How a display writes. kind: font, seven or dot."""

    def __init__(self, rng: np.random.Generator, split: str, kind: str | None = None):
        held = split == "held_out"
        self.split = split
        self.kind = kind or str(rng.choice(["font", "seven", "dot"], p=[0.62, 0.28, 0.10]))
        self.path = pick_font(rng, split)
        self.unit_path = self.path if rng.random() < 0.6 else pick_font(rng, split)
        self.tracking = float(rng.choice([0, 0, rng.uniform(-0.02, 0.03), rng.uniform(0.03, 0.2)]))
        self.unit_scale = float(rng.choice([1.0, rng.uniform(0.45, 0.75), rng.uniform(0.75, 1.0)], p=[0.45, 0.35, 0.2]))
        self.unit_gap = float(rng.uniform(0.12, 0.6))
        self.unit_top = bool(rng.random() < 0.06)
        self.ghost = float(rng.choice([0, rng.uniform(0.03, 0.12)], p=[0.55, 0.45]))
        self.dseg = held and rng.random() < 0.6
        if self.kind == "seven" and self.dseg:
            self.path = pick_font(rng, "seven")
            self.tracking = 0.0
        if self.kind != "font":
            self.unit_path = pick_font(rng, split)
        if held:
            ranges = dict(ratio=(0.44, 0.62), thick=(0.105, 0.18), slant=(0.0, 0.22))
        else:
            ranges = dict(ratio=(0.42, 0.68), thick=(0.085, 0.165), slant=(0.0, 0.19))
        self.seven = {
            "ratio": rng.uniform(*ranges["ratio"]), "thick": rng.uniform(*ranges["thick"]), "gap": rng.uniform(0.0, 0.035),
            "slant": 0.0 if rng.random() < 0.4 else rng.uniform(*ranges["slant"]), "space": rng.uniform(0.12, 0.32), "blank": rng.choice([0.4, 1.0]),
            "short6": rng.random() < 0.12, "short9": rng.random() < 0.12, "hook7": rng.random() < 0.2,
            "ends": str(rng.choice(["hex", "rect", "mitre"])),
        }
        self.dot = {"fill": rng.uniform(0.75, 0.95) if held else rng.uniform(0.65, 1.0), "round": rng.random() < 0.5}

    def plain(self, text: str, height: float) -> tuple[np.ndarray, np.ndarray | None, int]:
        """-> (mask, ghost or None, rows below the baseline)."""
        segmentable = all(ch in SEGMENTS or ch in " .,:" for ch in text)
        if self.kind == "seven" and segmentable:
            if self.dseg:
                shown = text.replace(" ", "!").replace(",", ".")
                lit, _ = font_mask(shown, self.path, height)
                full, _ = font_mask("".join("8" if c.isdigit() or c == "-" else c for c in shown), self.path, height)
                if full.shape != lit.shape:
                    full = cv2.resize(full, (lit.shape[1], lit.shape[0]))
                    full = None if shown[0] == "1" or shown[-1] == "1" else full
                return lit, full, 0
            lit, ghost = seven_mask(text, self.seven, height)
            return lit, ghost, 0
        if self.kind == "dot" and all(ch in DOTS for ch in text):
            lit, ghost = dot_mask(text, self.dot, height)
            return lit, ghost, 0
        path = self.unit_path if self.kind == "seven" else self.path
        mask, below = font_mask(text, path, height, self.tracking if self.kind == "font" else 0.0)
        return mask, None, below

    def line(self, digits: str, unit: str, height: float) -> tuple[np.ndarray, np.ndarray | None, tuple[int, int, int, int]]:
        """Digits with an optional unit -> (mask, ghost or None, ink box xyxy inside the mask)."""
        mask, ghost, below = self.plain(digits, height)
        if not unit:
            return mask, ghost, ink(mask)
        same = self.unit_scale == 1.0 and self.kind == "font"
        if same:
            mask, below = font_mask(f"{digits} {unit}", self.path, height, self.tracking)
            return mask, None, ink(mask)
        size = max(7.0, height * self.unit_scale)
        if self.kind == "dot" and all(ch in DOTS for ch in unit):
            tail, _ = dot_mask(unit, self.dot, height if self.unit_scale > 0.75 else size)
            tail_below = 0
        else:
            tail, tail_below = font_mask(unit, self.unit_path, size)
        gap = max(2, int(self.unit_gap * height))
        up = mask.shape[0] - below
        tail_up = tail.shape[0] - tail_below
        if self.unit_top:
            base, tail_base = up, tail_up
            rows = max(mask.shape[0], tail.shape[0])
        else:
            base = tail_base = max(up, tail_up)
            rows = base + max(below, tail_below)
        out = np.zeros((rows, mask.shape[1] + gap + tail.shape[1]), np.uint8)
        gout = np.zeros_like(out) if ghost is not None else None
        out[base - up:base - up + mask.shape[0], :mask.shape[1]] = mask
        if gout is not None:
            gout[base - up:base - up + ghost.shape[0], :ghost.shape[1]] = ghost
        out[tail_base - tail_up:tail_base - tail_up + tail.shape[0], mask.shape[1] + gap:] = tail
        return out, gout, ink(out)


def ink(mask: np.ndarray) -> tuple[int, int, int, int]:
    """Ink box xyxy of a mask."""
    rows = np.flatnonzero(mask.max(1) > 40)
    cols = np.flatnonzero(mask.max(0) > 40)
    if not len(rows):
        return 0, 0, mask.shape[1], mask.shape[0]
    return int(cols[0]), int(rows[0]), int(cols[-1]) + 1, int(rows[-1]) + 1


def drums(rng: np.random.Generator, digits: str, height: int, split: str, tenths: bool) -> np.ndarray:
    """Mechanical counter -> RGB uint8 [height, width, 3]. Only `digits` count; a tenths drum is extra.

    The last drum may have rolled by up to a third; the digit that fills most of the window is the truth.
    """
    path = pick_font(rng, split)
    dark = rng.random() < 0.8
    face = np.array(rng.integers(8, 45, 3) if dark else rng.integers(190, 250, 3), float)
    ink_colour = np.array(rng.integers(200, 255, 3) if dark else rng.integers(5, 50, 3), float)
    style = int(rng.integers(3))
    odd_face, odd_ink = [(np.array([170.0, 25, 20]), np.array([245.0, 240, 235])), (np.array([235.0, 232, 225]), np.array([190.0, 25, 20])), (ink_colour, face)][style]
    cell = int(height * rng.uniform(0.56, 0.82))
    gap = max(1, int(height * rng.uniform(0.015, 0.09)))
    gap_colour = np.array(rng.integers(0, 30, 3), float)
    text_height = height * rng.uniform(0.5, 0.66)
    roll = rng.uniform(0, 0.33) if rng.random() < 0.45 else rng.uniform(-0.04, 0.04)
    count = len(digits) + int(tenths)
    y = (np.arange(height) + 0.5) / height * 2 - 1
    shade = np.sqrt(np.clip(1 - (y * rng.uniform(0.5, 0.92)) ** 2, 0, 1))[:, None, None]
    parts = []
    for i in range(count):
        special = tenths and i == count - 1   # a drum of another colour always shows tenths
        f, k = (odd_face, odd_ink) if special else (face, ink_colour)
        if tenths and i == count - 1:
            digit, offset = int(rng.integers(10)), rng.uniform(-0.45, 0.45)
        else:
            digit = int(digits[i])
            offset = roll if i == len(digits) - 1 else rng.uniform(-0.03, 0.03)
        mask = np.zeros((height, cell), np.uint8)
        # The window shows a strip of the drum: the digit itself and its two neighbours one pitch away.
        for step in (-1, 0, 1):
            shown = (digit + step) % 10
            glyph, _ = font_mask(str(shown), path, text_height)
            if glyph.shape[1] > cell * 0.92:
                glyph = cv2.resize(glyph, (int(cell * 0.92), glyph.shape[0]), interpolation=cv2.INTER_AREA)
            cy = height / 2 + (step - offset) * height * 0.98
            y0, x0 = int(cy - glyph.shape[0] / 2), (cell - glyph.shape[1]) // 2
            a, b = max(0, y0), min(height, y0 + glyph.shape[0])
            if b > a:
                mask[a:b, x0:x0 + glyph.shape[1]] = np.maximum(mask[a:b, x0:x0 + glyph.shape[1]], glyph[a - y0:b - y0])
        alpha = mask[..., None] / 255.0
        parts.append((f * (1 - alpha) + k * alpha) * shade)
        if i < count - 1:
            parts.append(np.broadcast_to(gap_colour, (height, gap, 3)))
    return np.clip(np.hstack(parts), 0, 255).astype(np.uint8)


def odometer_text(rng: np.random.Generator) -> tuple[int, str, str]:
    """A plausible reading -> (value, digits as written, unit as written or '')."""
    length = int(rng.choice([1, 2, 3, 4, 5, 6, 7], p=[0.01, 0.02, 0.05, 0.12, 0.34, 0.44, 0.02]))
    value = int(rng.integers(10 ** (length - 1) if length > 1 else 0, 10 ** length))
    form = rng.choice(["plain", "comma", "space", "dot", "zeros"], p=[0.62, 0.14, 0.08, 0.08, 0.08])
    digits = str(value)
    if form == "zeros":
        digits = digits.zfill(int(rng.choice([6, 6, 7])))
    elif form != "plain" and value >= 1000:
        digits = f"{value:,}".replace(",", {"comma": ",", "space": " ", "dot": "."}[form])
    unit = str(rng.choice(["km", "mi", "miles", "", "KM", "MI", "MILES"], p=[0.48, 0.16, 0.10, 0.18, 0.04, 0.02, 0.02]))
    return value, digits, unit
