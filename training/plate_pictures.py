"""Training pictures of plates: windows of photographs with their plates, or with drawn plates in their place, seen from elsewhere.

    <street>/train/*.jpg, <street>/train.json   street scenes; per file [[x0, y0, x1, y1], …], boxes of plates
    <cars>/images/*.jpg, <cars>/annotations.json   cars whose plates are blurred, with COCO polygons of their bumpers
"""

from __future__ import annotations

import json
import math
from pathlib import Path

import cv2
import numpy as np

from .drawn_plates import drawn_plate, drawn_sign
from .photograph import camera, jpeg, paste

# One process draws: OpenCV's own threads would only wait for each other.
cv2.setNumThreads(1)

SIDE = 224
GREY = 114
# Widths of plates in a window, in pixels: what plates are in photographs scaled to the side that `export_plates.py` states.
NARROWEST, WIDEST = 22, 190
# Share of windows with nothing but other print.
PRINT = 0.08
BUMPERS = ("front_bumper", "back_bumper", "tailgate", "trunk")
# Cut from windows whose plates are smaller than this in width: nobody could tell what they are.
LEAST_VISIBLE = 0.6


class Photograph:
    def __init__(self, path: Path, boxes: list, places: list) -> None:
        self.name = path.name
        self.pixels = cv2.cvtColor(cv2.imread(str(path)), cv2.COLOR_BGR2RGB)
        # Quadrilaterals [4, 2] in reading order: of plates that are there, and of where one may be put.
        self.plates = [rectangle(*box) for box in boxes]
        self.places = places
        # Boxes of what an earlier network took for a plate.
        self.mistaken: list[np.ndarray] = []


def rectangle(x0: float, y0: float, x1: float, y1: float) -> np.ndarray:
    return np.float32([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])


def read_street(folder: Path, split: str) -> list[Photograph]:
    truth = json.loads((folder / f"{split}.json").read_text())
    return [Photograph(folder / split / name, boxes, []) for name, boxes in sorted(truth.items())]


def read_cars(folder: Path) -> list[Photograph]:
    truth = json.loads((folder / "annotations.json").read_text())
    wanted = {each["id"] for each in truth["categories"] if each["name"] in BUMPERS}
    by_image: dict[int, list] = {}
    for each in truth["annotations"]:
        if each["category_id"] in wanted:
            points = np.float32(max(each["segmentation"], key=len)).reshape(-1, 2)
            by_image.setdefault(each["image_id"], []).append(points)
    found = []
    for image in truth["images"]:
        photograph = Photograph(folder / "images" / image["file_name"], [], [])
        blurred = blurred_plate(photograph.pixels, by_image.get(image["id"], []))
        photograph.places = [blurred] if blurred is not None else [place_on(points) for points in by_image.get(image["id"], [])]
        found.append(photograph)
    return found


def blurred_plate(pixels: np.ndarray, parts: list[np.ndarray]) -> np.ndarray | None:
    """The rectangle without detail near the bumper where somebody blurred a plate."""
    if not parts:
        return None
    height, width = pixels.shape[:2]
    near = np.zeros((height, width), np.uint8)
    for points in parts:
        cv2.fillConvexPoly(near, cv2.convexHull(points).astype(np.int32), 255)
    near = cv2.dilate(near, np.ones((9, 9), np.uint8))
    grey = cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY).astype(np.float32)
    slope = cv2.magnitude(cv2.Sobel(grey, cv2.CV_32F, 1, 0), cv2.Sobel(grey, cv2.CV_32F, 0, 1))
    flat = ((slope < 14) & (near > 0)).astype(np.uint8)
    flat = cv2.morphologyEx(flat, cv2.MORPH_OPEN, np.ones((3, 3), np.uint8))
    count, labels, stats, _ = cv2.connectedComponentsWithStats(flat)
    best, best_fill = None, 0.85
    for index in range(1, count):
        x, y, w, h, area = stats[index]
        if not (w > 0.05 * width and w < 0.4 * width and 1.4 < w / max(h, 1) < 6 and 2 < x and x + w < width - 2):
            continue
        points = np.argwhere(labels == index)[:, ::-1].astype(np.float32)
        (_, (a, b), _) = cv2.minAreaRect(points)
        fill = area / max(1.0, a * b)
        if fill > best_fill:
            best, best_fill = rectangle(x - 1, y - 1, x + w + 1, y + h + 1), fill
    return best


def place_on(points: np.ndarray) -> np.ndarray:
    """Where a plate would be on a bumper: in its middle, as wide as a third of it."""
    (x, y), (width, height) = points.mean(0), np.ptp(points, axis=0)
    half = 0.15 * width
    return rectangle(x - half, y - half / 3, x + half, y + half / 3)


def turned(random: np.random.Generator, quad: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Corners of a plate of a size (width, height) that stands where `quad` is, somewhat turned, at least as large."""
    centre = quad.mean(0)
    width = np.ptp(quad[:, 0]) * random.uniform(0.95, 1.25)
    height = width * size[1] / size[0] * random.uniform(0.9, 1.1)
    x, y = np.float32([-1, 1, 1, -1]) * width / 2, np.float32([-1, -1, 1, 1]) * height / 2
    angle, shear, taper = math.radians(random.normal(0, 3)), random.normal(0, 0.06), random.normal(0, 0.05)
    squeeze = random.uniform(0.6, 1) if random.random() < 0.4 else 1
    x, y = x * squeeze, y * (1 + taper * x / width) + shear * x
    cosine, sine = math.cos(angle), math.sin(angle)
    return (np.stack([x * cosine - y * sine, x * sine + y * cosine], 1) + centre).astype(np.float32)


def put(random: np.random.Generator, pixels: np.ndarray, drawing: tuple[np.ndarray, np.ndarray], quad: np.ndarray) -> None:
    """A drawing into a picture, as light and as sharp as what it covers."""
    plate, mask = drawing
    height, width = pixels.shape[:2]
    margin = 4
    x0, y0 = np.maximum(np.floor(quad.min(0)).astype(int) - margin, 0)
    x1, y1 = np.minimum(np.ceil(quad.max(0)).astype(int) + margin, (width, height))
    if x1 - x0 < 3 or y1 - y0 < 3:
        return
    window = pixels[y0:y1, x0:x1]
    around = pixels[max(0, y0 - 20):y1 + 20, max(0, x0 - 20):x1 + 20].reshape(-1, 3).astype(np.float32) / 255
    light = np.clip(np.quantile(around, 0.9, axis=0) * random.uniform(0.7, 1.4), 0.08, 1)
    cast = light * 0.5 + light.mean() * 0.5
    rows, columns = plate.shape[:2]
    shade = np.linspace(random.uniform(0.75, 1.05), random.uniform(0.75, 1.05), columns, dtype=np.float32)[None, :, None]
    source = np.float32([[0, 0], [columns, 0], [columns, rows], [0, rows]])
    matrix = cv2.getPerspectiveTransform(source, quad - np.float32([x0, y0]))
    made = paste(window.astype(np.float32), plate * cast.astype(np.float32) * shade * 255, mask, matrix)
    if random.random() < 0.5:
        made = cv2.GaussianBlur(made, (0, 0), random.uniform(0.3, 1.2))
    window[:] = np.clip(made, 0, 255).astype(np.uint8)


def add_mistakes(photographs: list[Photograph], listed: dict[str, list]) -> None:
    """What `mine_plates.py` found, by the names of the pictures."""
    for each in photographs:
        each.mistaken = [rectangle(*box) for box in listed.get(each.name, [])]


class Windows:
    """Window number n is the same for the same seed."""

    def __init__(self, street: list[Photograph], cars: list[Photograph], seed: int) -> None:
        self.street, self.cars, self.seed = street, cars, seed
        random = np.random.default_rng([seed, 0])
        self.drawn = [drawn_plate(random) for _ in range(500)]
        self.signs = [drawn_sign(random) for _ in range(120)]

    def window(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        """RGB [SIDE, SIDE, 3] uint8 and the corners of its plates [plates, 4, 2], from the top left in reading order."""
        random = np.random.default_rng([self.seed, 1, index])
        if random.random() < PRINT:
            return shot(random, self.print_alone(random)), np.zeros((0, 4, 2), np.float32)
        if random.random() < 0.1:   # four small ones
            pixels, quads = np.empty((SIDE, SIDE, 3), np.uint8), []
            half = SIDE // 2
            for top in (0, half):
                for left in (0, half):
                    part, found = self.seen(random, half)
                    pixels[top:top + half, left:left + half] = part
                    quads += [quad + np.float32([left, top]) for quad in found]
        else:
            pixels, quads = self.seen(random, SIDE)
        if random.random() < 0.4:
            pixels = pixels[:, ::-1]
            quads = [np.stack([SIDE - quad[:, 0], quad[:, 1]], 1)[[1, 0, 3, 2]] for quad in quads]
        return shot(random, pixels), np.float32(quads).reshape(-1, 4, 2)

    def seen(self, random: np.random.Generator, side: int) -> tuple[np.ndarray, list[np.ndarray]]:
        from_street = random.random() < 0.6
        photographs = self.street if from_street else self.cars
        photograph = photographs[random.integers(len(photographs))]
        pixels, quads = photograph.pixels.copy(), list(photograph.plates)
        for at, quad in enumerate(quads):
            if random.random() < 0.3:
                quads[at] = self.put_plate(random, pixels, quad)
        for quad in photograph.places:
            if random.random() < 0.85:
                quads.append(self.put_plate(random, pixels, quad))
        for _ in range(int(random.integers(0, 3)) if random.random() < 0.35 else 0):
            self.put_sign(random, pixels, quads)
        return look(random, pixels, quads, side, photograph.mistaken)

    def print_alone(self, random: np.random.Generator) -> np.ndarray:
        """A window full of print that is on no plate: papers, labels, boards."""
        if random.random() < 0.4:
            pixels = np.full((SIDE, SIDE, 3), random.uniform(20, 250, 3), np.uint8)
        else:
            car = self.cars[random.integers(len(self.cars))]
            pixels, _ = look(random, car.pixels, [], SIDE)
            pixels = np.ascontiguousarray(pixels)
        for _ in range(int(random.integers(1, 6))):
            drawing = self.signs[random.integers(len(self.signs))]
            half = math.exp(random.uniform(math.log(10), math.log(110))) * np.float32([1, drawing[0].shape[0] / drawing[0].shape[1]])
            centre = random.uniform(0, SIDE, 2).astype(np.float32)
            put(random, pixels, drawing, turned(random, rectangle(*(centre - half), *(centre + half)), drawing[0].shape[1::-1]))
        return pixels

    def put_plate(self, random: np.random.Generator, pixels: np.ndarray, quad: np.ndarray) -> np.ndarray:
        drawing = self.drawn[random.integers(len(self.drawn))]
        height, width = drawing[0].shape[:2]
        corners = turned(random, quad, (width, height))
        put(random, pixels, drawing, corners)
        return corners

    def put_sign(self, random: np.random.Generator, pixels: np.ndarray, quads: list[np.ndarray]) -> None:
        height, width = pixels.shape[:2]
        drawing = self.signs[random.integers(len(self.signs))]
        reach = math.exp(random.uniform(math.log(12), math.log(90))) * width / 640
        centre = np.float32([random.uniform(0, width), random.uniform(0, height)])
        around = rectangle(*(centre - reach), *(centre + reach))
        if any((around[2] > quad.min(0)).all() and (around[0] < quad.max(0)).all() for quad in quads):
            return
        half = np.float32([reach, reach * drawing[0].shape[0] / drawing[0].shape[1]]) / 1.3
        put(random, pixels, drawing, turned(random, rectangle(*(centre - half), *(centre + half)), drawing[0].shape[1::-1]))


def look(
    random: np.random.Generator, pixels: np.ndarray, quads: list[np.ndarray], side: int, mistaken: list[np.ndarray] = [],
) -> tuple[np.ndarray, list[np.ndarray]]:
    """A window of a photograph, turned and scaled so that a plate takes its share of it; plates cut by an edge are erased."""
    height, width = pixels.shape[:2]
    narrowest, widest = NARROWEST, WIDEST * side / SIDE
    roll = random.random()
    subjects = quads if roll < 0.5 else mistaken if roll < 0.8 else []
    if subjects:
        quad = subjects[random.integers(len(subjects))]
        wanted = math.exp(random.uniform(math.log(narrowest), math.log(widest)))
        scale = wanted / max(1.0, np.ptp(quad[:, 0]))
        # No more than the photograph holds, and not so far away that it is a stamp on grey.
        scale = float(np.clip(scale, 0.5 * side / min(width, height), 3.5))
        centre = quad.mean(0)
        room = max(0.05, 0.5 - np.ptp(quad[:, 0]) * scale / side / 2)
        target = side * (0.5 + random.uniform(-room, room, 2))
    else:
        scale = math.exp(random.uniform(math.log(0.5 * side / min(width, height)), math.log(1.2)))
        centre = np.float32([random.uniform(0, width), random.uniform(0, height)])
        target = np.float32([side / 2, side / 2])
    angle = math.radians(random.normal(0, 4) if random.random() < 0.8 else random.uniform(-20, 20))
    stretch = math.exp(random.normal(0, 0.12))
    cosine, sine = math.cos(angle) * scale, math.sin(angle) * scale
    matrix = np.array([[cosine * stretch, -sine, 0], [sine * stretch, cosine, 0], [random.normal(0, 1e-4), random.normal(0, 1e-4), 1.0]])
    matrix = matrix @ np.array([[1, 0, -centre[0]], [0, 1, -centre[1]], [0, 0, 1.0]])
    matrix = np.array([[1, 0, target[0]], [0, 1, target[1]], [0, 0, 1.0]]) @ matrix
    from_pixels = matrix
    if scale < 0.7:   # so that nothing aliases
        factor = scale * 1.1
        pixels = cv2.resize(pixels, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
        from_pixels = matrix @ np.diag([width / pixels.shape[1], height / pixels.shape[0], 1.0])
    out = cv2.warpPerspective(pixels, from_pixels, (side, side), flags=cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=(GREY,) * 3)
    kept = []
    for quad in quads:
        moved = cv2.perspectiveTransform(quad[None].astype(np.float32), matrix)[0]
        low, high = moved.min(0), moved.max(0)
        inside = np.clip(high, 0, side) - np.clip(low, 0, side)
        share = float(inside.prod() / max(1e-6, (high - low).prod()))
        if share <= 0.01:
            continue
        if share < LEAST_VISIBLE or high[0] - low[0] < 0.8 * narrowest:
            x0, y0 = np.maximum(np.floor(low).astype(int), 0)
            x1, y1 = np.minimum(np.ceil(high).astype(int), side)
            out[y0:y1, x0:x1] = GREY
            continue
        kept.append(np.clip(moved, 0, side))
    return out, kept


def shot(random: np.random.Generator, pixels: np.ndarray) -> np.ndarray:
    """The same window as another camera sees it: colours, night, blur, noise, JPEG."""
    picture = np.ascontiguousarray(pixels).astype(np.float32) / 255
    roll = random.random()
    if roll < 0.1:
        picture = np.repeat(picture @ np.float32([0.3, 0.59, 0.11])[:, None], 3, 2)
    elif roll < 0.16:
        picture = picture[..., random.permutation(3)]
    night = random.random() < 0.08
    if night:
        picture = picture ** np.float32(random.uniform(1.2, 2)) * np.float32(random.uniform(0.3, 0.8))
    if random.random() < 0.4:
        picture, quality = camera(random, picture, SIDE / 8, night, False)
    else:
        picture, quality = (picture * 255 + 0.5).astype(np.uint8), 100
    return jpeg(picture, quality) if quality < 80 else picture
