"""Drawn cars with the labels of the sets of photographs, to try the commands of a training in a minute.

    python -m training.drawn_cars --out FOLDER [--count 32] [--damaged 40]

Writes `FOLDER/parts` and `FOLDER/check`, labelled as the DSMLR Car Parts v2 are, `FOLDER/views.json` for `training.train_heads`, and
`FOLDER/damage/drawn`, laid out as the sets with damage are. Nothing that is trained on them sees photographs: `models/` comes
from photographs alone.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import cv2
import numpy as np

SIDE = 400
# Of the left side, with the front on the left, and of front and rear, in shares of the car's box. The unlabelled body comes first.
LEFT = {
    "body": [(0, 0.62), (0.06, 0.48), (0.28, 0.4), (0.4, 0.1), (0.75, 0.1), (0.88, 0.4), (1, 0.45), (1, 0.85), (0, 0.85)],
    "front_bumper": [(0, 0.64), (0.1, 0.66), (0.1, 0.85), (0, 0.85)],
    "back_bumper": [(0.92, 0.66), (1, 0.64), (1, 0.85), (0.92, 0.85)],
    "front_left_light": [(0, 0.52), (0.12, 0.54), (0.1, 0.64), (0, 0.62)],
    "back_left_light": [(0.92, 0.48), (1, 0.46), (1, 0.62), (0.92, 0.62)],
    "hood": [(0.06, 0.48), (0.28, 0.4), (0.28, 0.5), (0.08, 0.54)],
    "front_glass": [(0.3, 0.4), (0.4, 0.13), (0.43, 0.13), (0.34, 0.42)],
    "front_left_door": [(0.35, 0.44), (0.43, 0.14), (0.56, 0.14), (0.56, 0.82), (0.35, 0.82)],
    "back_left_door": [(0.57, 0.14), (0.73, 0.14), (0.8, 0.44), (0.76, 0.7), (0.57, 0.82)],
    "left_mirror": [(0.33, 0.38), (0.39, 0.38), (0.39, 0.46), (0.33, 0.46)],
}
LEFT_WHEELS = [(0.22, 0.84, 0.09), (0.82, 0.84, 0.09)]
FACE = [(0.05, 0.5), (0.2, 0.42), (0.27, 0.06), (0.73, 0.06), (0.8, 0.42), (0.95, 0.5), (1, 0.9), (0, 0.9)]
FRONT = {
    "body": FACE,
    "front_glass": [(0.24, 0.38), (0.3, 0.1), (0.7, 0.1), (0.76, 0.38)],
    "hood": [(0.14, 0.48), (0.22, 0.4), (0.78, 0.4), (0.86, 0.48), (0.8, 0.58), (0.2, 0.58)],
    "front_bumper": [(0.02, 0.7), (0.98, 0.7), (1, 0.9), (0, 0.9)],
    "front_right_light": [(0.04, 0.52), (0.18, 0.58), (0.16, 0.68), (0.03, 0.66)],
    "front_left_light": [(0.96, 0.52), (0.82, 0.58), (0.84, 0.68), (0.97, 0.66)],
    "right_mirror": [(0.06, 0.34), (0.17, 0.34), (0.17, 0.43), (0.06, 0.43)],
    "left_mirror": [(0.83, 0.34), (0.94, 0.34), (0.94, 0.43), (0.83, 0.43)],
}
REAR = {
    "body": FACE,
    "back_glass": [(0.25, 0.36), (0.31, 0.1), (0.69, 0.1), (0.75, 0.36)],
    "trunk": [(0.2, 0.4), (0.8, 0.4), (0.78, 0.68), (0.22, 0.68)],
    "back_bumper": [(0.02, 0.72), (0.98, 0.72), (1, 0.9), (0, 0.9)],
    "back_left_light": [(0.04, 0.48), (0.18, 0.44), (0.2, 0.62), (0.04, 0.66)],
    "back_right_light": [(0.96, 0.48), (0.82, 0.44), (0.8, 0.62), (0.96, 0.66)],
}
FACE_WHEELS = [(0.12, 0.93, 0.07), (0.88, 0.93, 0.07)]
VIEWS = {"left": (LEFT, LEFT_WHEELS), "right": (LEFT, LEFT_WHEELS), "front": (FRONT, FACE_WHEELS), "rear": (REAR, FACE_WHEELS)}
LIGHT = {"glass": (60, 70, 80), "back_left_light": (200, 20, 20), "back_right_light": (200, 20, 20), "light": (235, 235, 215)}
DAMAGES = ("scratch", "dent")


def circle(x: float, y: float, radius: float, aspect: float) -> list[tuple[float, float]]:
    return [(x + radius * np.cos(a), y + radius * aspect * np.sin(a)) for a in np.linspace(0, 2 * np.pi, 16, endpoint=False)]


def drawn(random: np.random.Generator, view: str) -> tuple[np.ndarray, list[tuple[str, np.ndarray]]]:
    """RGB [SIDE, SIDE, 3] and outlines, points [N, 2] in pixels."""
    shapes, wheels = VIEWS[view]
    width = SIDE * random.uniform(0.75, 0.95)
    height = width * (0.42 if shapes is LEFT else 0.75)
    left, top = random.uniform(0, SIDE - width), random.uniform(0, SIDE - height * 1.1)
    picture = np.full((SIDE, SIDE, 3), random.integers(90, 200, 3), np.uint8)
    picture[int(top + height * 0.8) :] = random.integers(60, 160)
    paint = random.integers(30, 230, 3)
    outlines = []
    named = [*shapes.items(), *(("wheel", circle(x, y, radius, width / height)) for x, y, radius in wheels)]
    for name, shape in named:
        points = np.array(shape)
        if view == "right":
            points[:, 0] = 1 - points[:, 0]
            name = name.replace("left", "right")
        points = np.round(points * (width, height) + (left, top)).astype(np.int32)
        colour = next((each for part, each in LIGHT.items() if part in name), (25, 25, 25) if name == "wheel" else paint)
        cv2.fillPoly(picture, [points], [int(each) for each in colour])
        cv2.polylines(picture, [points], True, (20, 20, 20), 1)
        if name != "body":
            outlines.append((name, points))
    noise = random.normal(0, 4, picture.shape)
    return np.clip(cv2.GaussianBlur(picture, (0, 0), 0.8) + noise, 0, 255).astype(np.uint8), outlines


def damage(random: np.random.Generator, picture: np.ndarray, outlines: list[tuple[str, np.ndarray]]) -> tuple[str, np.ndarray]:
    """Draws a scratch or a dent onto the largest panel and answers its outline."""
    panel = max((points for name, points in outlines if name != "wheel"), key=lambda each: cv2.contourArea(each))
    x, y = panel.mean(0) + random.normal(0, 8, 2)
    name = DAMAGES[random.integers(2)]
    size = random.uniform(14, 26)
    outline = np.array(circle(x, y, size, 0.25 if name == "scratch" else 0.8)).round().astype(np.int32)
    shade = np.zeros_like(picture)
    cv2.fillPoly(shade, [outline], (255, 255, 255))
    if name == "scratch":
        for offset in (-2, 0, 2):
            cv2.line(picture, (int(x - size), int(y + offset)), (int(x + size), int(y - offset)), (240, 240, 240), 1)
    else:
        picture[shade > 0] = (picture[shade > 0] * 0.55).astype(np.uint8)
    return name, outline


def write(folder: Path, pictures: list[tuple[str, np.ndarray, list[tuple[str, np.ndarray]]]]) -> None:
    """`annotations.json` (COCO) and `images/`."""
    (folder / "images").mkdir(parents=True, exist_ok=True)
    names = sorted({name for _, _, outlines in pictures for name, _ in outlines})
    images, annotations = [], []
    for index, (file, picture, outlines) in enumerate(pictures):
        cv2.imwrite(str(folder / "images" / file), picture[..., ::-1])
        images.append({"id": index, "file_name": file, "width": SIDE, "height": SIDE})
        for name, points in outlines:
            annotations.append({"image_id": index, "category_id": names.index(name), "segmentation": [points.ravel().tolist()]})
    categories = [{"id": index, "name": name} for index, name in enumerate(names)]
    (folder / "annotations.json").write_text(json.dumps({"images": images, "categories": categories, "annotations": annotations}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=32)
    parser.add_argument("--damaged", type=int, default=40, help="pictures of the set with damage, every third of them undamaged")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    random = np.random.default_rng(args.seed)
    names = [*VIEWS]
    views = {f"{index:03d}.jpg": names[index % len(names)] for index in range(args.count)}
    write(args.out / "parts", [(file, *drawn(random, view)) for file, view in views.items()])
    (args.out / "views.json").write_text(json.dumps({file: {"view": view, "color": "gray"} for file, view in views.items()}))
    write(args.out / "check", [(f"{index:03d}.jpg", *drawn(random, names[index % len(names)])) for index in range(8)])
    damaged = []
    for index in range(args.damaged):
        picture, outlines = drawn(random, names[index % len(names)])
        damaged.append((f"{index:03d}.jpg", picture, [damage(random, picture, outlines)] if index % 3 else []))
    write(args.out / "damage" / "drawn", damaged)


if __name__ == "__main__":
    main()
