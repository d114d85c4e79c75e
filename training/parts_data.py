"""Photographs with COCO outlines of parts -> arrays for training.

    python -m training.parts_data --pictures FOLDER --out FOLDER/parts.npz [--look FOLDER]

`--pictures` holds `annotations.json` and `images/`, as the DSMLR Car Parts v2 has them. Two things are added to its labels:

- Wheels are told apart into front and rear, left and right, by where they lie beside the doors and the bumpers.
- Roof, fenders, quarter panels and rocker panels are not labelled. They become one class, `body`: what GrabCut (Rother et
  al., 2004) takes for the vehicle within the hull of the labelled parts. Pixels where it may be wrong are marked as unsure.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import cv2
import numpy as np

# In the order of the network's classes. The names are those of `src/inference/toolkit/detection/part-labels.ts`.
LABELS = [
    None, "rear_bumper", "rear_windshield", "rear_door.left", "taillight.left", "rear_door.right", "taillight.right",
    "front_bumper", "windshield", "front_door.left", "headlight.left", "front_door.right", "headlight.right", "hood",
    "mirror.left", "mirror.right", "trunk_lid", "front_wheel.left", "front_wheel.right", "rear_wheel.left", "rear_wheel.right",
    None,
]
CLASSES = len(LABELS)
BODY = CLASSES - 1
# Background or body: the label does not tell.
UNSURE = 254
# Any class: the pixel teaches nothing.
IGNORED = 255
INDEX = {label: index for index, label in enumerate(LABELS) if label}
WHEELS = [INDEX[f"{axle}_wheel.{side}"] for axle in ("front", "rear") for side in ("left", "right")]
# The labels of the data set, to ours. A tailgate and the lid of a trunk are one part of the interface.
SOURCE = {
    "back_bumper": "rear_bumper", "back_glass": "rear_windshield", "back_left_door": "rear_door.left",
    "back_left_light": "taillight.left", "back_right_door": "rear_door.right", "back_right_light": "taillight.right",
    "front_bumper": "front_bumper", "front_glass": "windshield", "front_left_door": "front_door.left",
    "front_left_light": "headlight.left", "front_right_door": "front_door.right", "front_right_light": "headlight.right",
    "hood": "hood", "left_mirror": "mirror.left", "right_mirror": "mirror.right", "tailgate": "trunk_lid", "trunk": "trunk_lid",
}
# Side of the pictures in the arrays, in pixels.
SIDE = 384


def mirrored_classes() -> np.ndarray:
    """The class of each class on a mirrored picture."""
    swapped = np.arange(256, dtype=np.uint8)
    for label, index in INDEX.items():
        other = label.replace(".left", ".?").replace(".right", ".left").replace(".?", ".right")
        swapped[index] = INDEX[other]
    return swapped


def outlines_of(annotations: list[dict], names: dict[int, str]) -> tuple[list[tuple[str, np.ndarray]], list[np.ndarray]]:
    """The named outlines, largest first, and those of wheels. Points [N, 2] in pixels."""
    named, wheels = [], []
    for annotation in annotations:
        name = names[annotation["category_id"]]
        for flat in annotation["segmentation"]:
            points = np.array(flat, np.float32).reshape(-1, 2)
            if len(points) < 3:
                continue
            if name == "wheel":
                wheels.append(points)
            elif name in SOURCE:
                named.append((SOURCE[name], points))
    named.sort(key=lambda each: -cv2.contourArea(each[1]))
    return named, wheels


def name_wheels(named: list[tuple[str, np.ndarray]], wheels: list[np.ndarray]) -> list[tuple[str, np.ndarray]]:
    """Front or rear, left or right, by the doors and the bumpers.

    Seen from outside, the front of a car lies on the left of its left side. Wheels in front of the middle of the doors are
    front wheels. The one nearest to the doors is on their side, further ones are on the other. Without doors, the wheels
    belong to the bumper above them.
    """
    def middle(prefixes: tuple[str, ...], weighted: bool = True) -> tuple[float, float]:
        """Mean x of the parts and their area."""
        chosen = [points for label, points in named if label.startswith(prefixes)]
        areas = [cv2.contourArea(points) for points in chosen]
        total = sum(areas)
        return (sum(points[:, 0].mean() * area for points, area in zip(chosen, areas)) / total if total else 0.0, total)

    sides = {side: middle((f"front_door.{side}", f"rear_door.{side}")) for side in ("left", "right")}
    side = max(sides, key=lambda each: sides[each][1])
    doors, area = sides[side]
    faces = {"front": middle(("front_bumper", "hood", "headlight")), "rear": middle(("rear_bumper", "trunk_lid", "taillight"))}
    face = max(faces, key=lambda each: faces[each][1])
    if faces[face][1] == 0 and area == 0:
        return []
    other = {"left": "right", "right": "left"}
    result = []
    if area < 0.12 * faces[face][1]:
        for points in wheels:
            is_left_of_middle = points[:, 0].mean() < faces[face][0]
            # Seen from the front, the car's left is on the right.
            of = "left" if is_left_of_middle == (face == "rear") else "right"
            result.append((f"{face}_wheel.{of}", points))
        return result
    for axle in ("front", "rear"):
        towards_left = (side == "left") == (axle == "front")
        chosen = [points for points in wheels if (points[:, 0].mean() < doors) == towards_left]
        chosen.sort(key=lambda points: abs(points[:, 0].mean() - doors))
        for index, points in enumerate(chosen):
            result.append((f"{axle}_wheel.{side if index == 0 else other[side]}", points))
    return result


def paint(outlines: list[tuple[str, np.ndarray]], size: tuple[int, int], scale: tuple[float, float]) -> np.ndarray:
    """Classes [height, width]; later outlines cover earlier ones."""
    labels = np.zeros(size[::-1], np.uint8)
    for label, points in outlines:
        cv2.fillPoly(labels, [np.round(points * scale - 0.5).astype(np.int32)], INDEX[label])
    return labels


def lower_bound(labels: np.ndarray) -> np.ndarray:
    """Per column, the lowest row [width] where the body may be: what hangs below doors and bumpers is shadow or road."""
    is_wheel = np.isin(labels, WHEELS)
    solid = (labels > 0) & ~is_wheel & ~np.isin(labels, [INDEX["mirror.left"], INDEX["mirror.right"]])
    columns = np.flatnonzero(solid.any(0))
    rows = np.flatnonzero((labels > 0).any(1))
    height = rows[-1] - rows[0]
    lowest = np.array([np.flatnonzero(solid[:, x])[-1] for x in columns])
    # A column that only shows glass or a lamp says nothing of the sill.
    low = lowest > rows[0] + 0.5 * height
    if low.sum() < 2:
        return np.full(labels.shape[1], rows[-1] + 1)
    bound = np.interp(np.arange(labels.shape[1]), columns[low], lowest[low])
    return bound + 0.05 * height


def add_body(picture: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Labels with `body` and unsure pixels."""
    parts = labels > 0
    if not parts.any():
        return labels
    points = cv2.findNonZero(parts.astype(np.uint8))
    hull = np.zeros_like(labels)
    cv2.fillConvexPoly(hull, cv2.convexHull(points), 1)
    diagonal = int(np.hypot(*cv2.boundingRect(points)[2:]))
    near = cv2.dilate(hull, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * (diagonal // 60) + 1,) * 2))
    above = np.arange(labels.shape[0])[:, None] <= lower_bound(labels)[None]
    allowed = (near > 0) & (above | parts)
    mask = np.full(labels.shape, cv2.GC_BGD, np.uint8)
    mask[allowed] = cv2.GC_PR_BGD
    mask[allowed & (hull > 0)] = cv2.GC_PR_FGD
    mask[parts] = cv2.GC_FGD
    cv2.setRNGSeed(1)
    cv2.grabCut(np.ascontiguousarray(picture[..., ::-1]), mask, None, np.zeros((1, 65)), np.zeros((1, 65)), 3, cv2.GC_INIT_WITH_MASK)
    found = np.isin(mask, [cv2.GC_FGD, cv2.GC_PR_FGD]).astype(np.uint8)
    ellipse = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (5, 5))
    found = cv2.morphologyEx(cv2.morphologyEx(found, cv2.MORPH_CLOSE, ellipse), cv2.MORPH_OPEN, ellipse)
    found[parts] = 1
    # Holes are windows, emblems and reflections.
    contours, _ = cv2.findContours(found, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    whole = np.zeros_like(found)
    for contour in contours:
        filled = cv2.drawContours(np.zeros_like(found), [contour], -1, 1, -1)
        if (filled.astype(bool) & parts).any():
            whole |= filled
    result = labels.copy()
    # Gaps between parts that GrabCut leaves out may be dark trim; far from parts they are what shows through.
    gap = (hull > 0) & above & ~parts & (whole == 0)
    beside = cv2.dilate(parts.astype(np.uint8), cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (2 * (diagonal // 50) + 1,) * 2)) > 0
    result[(whole > 0) & ~parts] = BODY
    edge = cv2.morphologyEx(whole, cv2.MORPH_GRADIENT, np.ones((3, 3), np.uint8)) > 0
    result[((gap & beside) | edge) & ~parts] = UNSURE
    return result


COLOURS = np.random.default_rng(3).integers(60, 256, (256, 3)).astype(np.uint8)
COLOURS[0] = 0
COLOURS[BODY] = (0, 0, 255)
COLOURS[UNSURE] = (128, 128, 128)
COLOURS[IGNORED] = (255, 255, 255)


def overlay(picture: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """RGB [H, W, 3] with its classes in colour."""
    coloured = picture // 2 + COLOURS[labels] // 2
    return np.where((labels > 0)[..., None], coloured, picture)


def read_set(folder: Path) -> tuple[list[dict], dict[int, list[dict]], dict[int, str]]:
    data = json.loads((folder / "annotations.json").read_text())
    names = {category["id"]: category["name"] for category in data["categories"]}
    by_image: dict[int, list[dict]] = {}
    for annotation in data["annotations"]:
        by_image.setdefault(annotation["image_id"], []).append(annotation)
    return data["images"], by_image, names


def read_picture(path: Path) -> np.ndarray:
    """RGB [H, W, 3]."""
    picture = cv2.imread(str(path), cv2.IMREAD_COLOR)
    if picture is None:
        raise SystemExit(f"{path} is no picture")
    return np.ascontiguousarray(picture[..., ::-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pictures", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--look", type=Path, help="folder for sheets of pictures with their labels in colour")
    args = parser.parse_args()
    cv2.setNumThreads(1)
    images, by_image, names = read_set(args.pictures)
    pictures, labels, files, without = [], [], [], 0
    for image in images:
        picture = read_picture(args.pictures / "images" / image["file_name"])
        height, width = picture.shape[:2]
        named, wheels = outlines_of(by_image.get(image["id"], []), names)
        outlines = name_wheels(named, wheels) + named
        without += len(wheels) + len(named) - len(outlines)
        small = cv2.resize(picture, (SIDE, SIDE), interpolation=cv2.INTER_AREA)
        painted = paint(outlines, (SIDE, SIDE), (SIDE / width, SIDE / height))
        pictures.append(small)
        labels.append(add_body(small, painted))
        files.append(image["file_name"])
    args.out.parent.mkdir(parents=True, exist_ok=True)
    np.savez(args.out, pictures=np.stack(pictures), labels=np.stack(labels), files=np.array(files))
    print(f"{len(files)} pictures; {without} wheels of no known place")
    if args.look:
        args.look.mkdir(parents=True, exist_ok=True)
        for start in range(0, len(files), 24):
            tiles = [cv2.resize(overlay(p, l), (256, 256)) for p, l in zip(pictures[start : start + 24], labels[start : start + 24])]
            tiles += [np.zeros((256, 256, 3), np.uint8)] * (24 - len(tiles))
            sheet = np.vstack([np.hstack(tiles[row : row + 6]) for row in range(0, 24, 6)])
            cv2.imwrite(str(args.look / f"{start:03d}.jpg"), sheet[..., ::-1])


if __name__ == "__main__":
    main()
