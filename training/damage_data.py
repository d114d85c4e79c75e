"""Photographs with COCO outlines of damages -> arrays for training, and the names of the pictures that judge.

    python -m training.damage_data --damage FOLDER --cars FOLDER/train [--more FOLDER ...] --out FOLDER/damage.npz

`--damage` holds one folder per set, each with `annotations.json` and `images/`; `--cars` holds undamaged cars labelled as the
DSMLR Car Parts v2 are. The sets share pictures, some under other names and sizes: pictures that look the same form one group,
and a group is never divided. By the hash of its first picture a group belongs to `train`, `tune` or `check`. `tune` chooses
thresholds and rules; `check` only judges. Both are named in `training/labels/damage-split.json`. Pictures of `--more`, each with
the outlines of the VGG Image Annotator in `via_region_data.json`, only train; what resembles a picture of the sets is left out.
"""

from __future__ import annotations

import argparse
import hashlib
import json
from pathlib import Path

import cv2
import numpy as np

from .empty_pictures import drawing
from .parts_data import SOURCE, read_picture, read_set

# Classes of the arrays. `OTHER` is damage of no stated type.
NONE, SCRATCH, DENT, OTHER = 0, 1, 2, 3
NAMES = {"scratch": SCRATCH, "dent": DENT, "damage": OTHER}
# Longest side of the pictures in the arrays, in pixels.
LONGEST = 1024
# Side of the grey thumbnails that are compared, and their correlation from which two pictures are the same one.
THUMBNAIL, ALIKE = 24, 0.97
# The same from which a picture of `--more` may be one of the sets, and how many matching features tell that it shows the same spot.
RESEMBLES, MATCHES = 0.85, 12
LABELS = Path(__file__).parent / "labels" / "damage-split.json"
# Every eighth undamaged car by file name tunes; the rest trains.
TUNING_CARS = 8
# Panels on which a damage may be pasted.
PANELS = ("front_bumper", "rear_bumper", "hood", "trunk_lid", "front_door", "rear_door")


def split_of(digest: str) -> str:
    """The split of a group, by its SHA-256."""
    number = int(digest[:8], 16)
    if number % 5 == 0:
        return "check"
    return "tune" if number // 5 % 7 == 0 else "train"


def thumbnail(picture: np.ndarray) -> np.ndarray:
    """Unit vector [THUMBNAIL²] that two scalings of one picture share."""
    grey = cv2.resize(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY), (THUMBNAIL, THUMBNAIL), interpolation=cv2.INTER_AREA)
    vector = grey.astype(np.float32).ravel() - grey.mean()
    return vector / max(float(np.linalg.norm(vector)), 1e-6)


def read_damages(root: Path) -> list[dict]:
    """One entry per distinct file: `names`, `picture` RGB, `damages` [(class, points)], `group`."""
    entries: dict[str, dict] = {}
    for folder in sorted(each for each in root.iterdir() if each.is_dir()):
        images, by_image, names = read_set(folder)
        for image in images:
            path = folder / "images" / image["file_name"]
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            entry = entries.setdefault(digest, {"digest": digest, "names": [], "damages": {}, "path": path})
            entry["names"].append(f"{folder.name}/{image['file_name']}")
            for annotation in by_image.get(image["id"], []):
                kind = NAMES.get(names[annotation["category_id"]])
                if kind is None:
                    continue
                for flat in annotation["segmentation"]:
                    points = np.array(flat, np.float32).reshape(-1, 2)
                    if len(points) >= 3:
                        # One outline in several sets counts once, with its type if a set states one.
                        key = tuple(np.round(points).ravel().tolist())
                        known = entry["damages"].get(key, (OTHER, points))[0]
                        entry["damages"][key] = (kind if known == OTHER else known, points)
    found = [entries[digest] for digest in sorted(entries)]
    vectors = []
    for entry in found:
        entry["picture"] = read_picture(entry["path"])
        entry["damages"] = list(entry["damages"].values())
        vectors.append(thumbnail(entry["picture"]))
    alike = np.stack(vectors) @ np.stack(vectors).T >= ALIKE
    for index, entry in enumerate(found):
        first = int(np.flatnonzero(alike[index])[0])
        entry["group"] = found[first].get("group", found[first]["digest"]) if first < index else entry["digest"]
        entry["split"] = split_of(entry["group"])
    return found


def read_more(folder: Path) -> list[dict]:
    """The same of pictures with outlines by the VGG Image Annotator, which do not tell the type of damage."""
    found = []
    for entry in json.loads((folder / "via_region_data.json").read_text()).values():
        path = folder / entry["filename"]
        regions = entry["regions"].values() if isinstance(entry["regions"], dict) else entry["regions"]
        shapes = [region["shape_attributes"] for region in regions]
        outlines = [np.stack([each["all_points_x"], each["all_points_y"]], 1).astype(np.float32) for each in shapes if each["name"] == "polygon"]
        if path.exists() and outlines:
            found.append({"name": f"{folder.name}/{path.name}", "picture": read_picture(path), "damages": [(OTHER, each) for each in outlines]})
    return found


def features(picture: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Points and descriptors, of a picture of middling size."""
    scale = 640 / max(picture.shape[:2])
    grey = cv2.resize(cv2.cvtColor(picture, cv2.COLOR_RGB2GRAY), None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    points, descriptors = cv2.ORB.create(700).detectAndCompute(grey, None)
    return np.array([each.pt for each in points], np.float32).reshape(-1, 2), descriptors if descriptors is not None else np.zeros((0, 32), np.uint8)


def matches(a: tuple[np.ndarray, np.ndarray], b: tuple[np.ndarray, np.ndarray]) -> int:
    """How many features of two pictures one similarity maps onto each other."""
    if min(len(a[0]), len(b[0])) < MATCHES:
        return 0
    pairs = [each for each in cv2.BFMatcher(cv2.NORM_HAMMING).knnMatch(a[1], b[1], k=2) if len(each) == 2]
    good = [first for first, second in pairs if first.distance < 0.75 * second.distance]
    if len(good) < MATCHES:
        return 0
    cv2.setRNGSeed(1)
    _, inliers = cv2.estimateAffinePartial2D(a[0][[each.queryIdx for each in good]], b[0][[each.trainIdx for each in good]], ransacReprojThreshold=4)
    return int(inliers.sum()) if inliers is not None else 0


def unlike(more: list[dict], known: list[dict]) -> list[dict]:
    """Those of `more` that resemble no picture of the sets, none of those that judge in part or mirrored, and none before them."""
    seen = [thumbnail(entry["picture"]) for entry in known]
    judging = [features(entry["picture"]) for entry in known if entry["split"] != "train"]
    kept = []
    for entry in more:
        picture = entry["picture"]
        both = picture, np.ascontiguousarray(picture[:, ::-1])
        likeness = max(float(np.max(np.stack(seen) @ thumbnail(each))) for each in both)
        shared = max(matches(features(each), other) for each in both for other in judging) if likeness < RESEMBLES else 0
        if likeness < RESEMBLES and shared < MATCHES:
            kept.append(entry)
            seen.append(thumbnail(picture))
        else:
            print(f"{entry['name']} left out: likeness {likeness:.2f}, {shared} features in common", flush=True)
    return kept


def paint(damages: list[tuple[int, np.ndarray]], size: tuple[int, int], scale: tuple[float, float] = (1, 1)) -> np.ndarray:
    """Classes [height, width]; smaller outlines and stated types cover the others."""
    labels = np.zeros(size[::-1], np.uint8)
    for kind, points in sorted(damages, key=lambda each: (each[0] != OTHER, -cv2.contourArea(each[1]))):
        cv2.fillPoly(labels, [np.round(points * scale - 0.5).astype(np.int32)], kind)
    return labels


def shrunk(picture: np.ndarray) -> np.ndarray:
    longest = max(picture.shape[:2])
    if longest <= LONGEST:
        return picture
    height, width = (max(1, round(side * LONGEST / longest)) for side in picture.shape[:2])
    return cv2.resize(picture, (width, height), interpolation=cv2.INTER_AREA)


def beside(picture: np.ndarray, points: np.ndarray) -> np.ndarray | None:
    """The widest strip beside the car's parts, if it is wide enough to show something."""
    height, width = picture.shape[:2]
    (x0, y0), (x1, y1) = points.min(0), points.max(0)
    # Roofs and fenders are not labelled.
    x0, y0, x1, y1 = int(x0 - 0.06 * width), int(y0 - 0.08 * height), int(x1 + 0.06 * width), int(y1 + 0.06 * height)
    strips = [picture[: max(0, y0)], picture[max(0, y1) :], picture[:, : max(0, x0)], picture[:, max(0, x1) :]]
    widest = max(strips, key=lambda strip: min(strip.shape[:2]))
    return np.ascontiguousarray(widest) if min(widest.shape[:2]) >= 0.15 * min(height, width) else None


def read_cars(folder: Path) -> list[tuple[str, np.ndarray, np.ndarray, np.ndarray | None]]:
    """File name, RGB, 1 where a panel of the car is, and a window beside the car or None."""
    images, by_image, names = read_set(folder)
    cars = []
    for image in sorted(images, key=lambda each: each["file_name"]):
        picture = read_picture(folder / "images" / image["file_name"])
        panels = np.zeros(picture.shape[:2], np.uint8)
        points = [np.array(flat).reshape(-1, 2) for each in by_image.get(image["id"], []) for flat in each["segmentation"]]
        for annotation in by_image.get(image["id"], []):
            if SOURCE.get(names[annotation["category_id"]], "").startswith(PANELS):
                for flat in annotation["segmentation"]:
                    cv2.fillPoly(panels, [np.round(np.array(flat, np.float32).reshape(-1, 2)).astype(np.int32)], 1)
        cars.append((image["file_name"], picture, panels, beside(picture, np.concatenate(points)) if points else None))
    return cars


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--damage", type=Path, required=True)
    parser.add_argument("--cars", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--more", type=Path, nargs="*", default=[], help="folders of pictures that only train")
    parser.add_argument("--split", type=Path, default=LABELS, help="where the names of the pictures that tune and judge are written")
    parser.add_argument("--drawings", type=int, default=60, help="pictures without a vehicle")
    args = parser.parse_args()
    cv2.setNumThreads(1)
    arrays: dict[str, np.ndarray] = {}
    listed: dict[str, list[str]] = {"tune": [], "check": []}
    counts: dict[str, list[int]] = {}
    entries = read_damages(args.damage)
    more = unlike([entry for folder in args.more for entry in read_more(folder)], entries)
    for entry in [*entries, *({**entry, "split": "train", "names": []} for entry in more)]:
        split = entry["split"]
        counts.setdefault(split, [0, 0])[1 if entry["damages"] else 0] += 1
        if split in listed:
            listed[split] += entry["names"]
        if split == "check":
            continue
        picture = shrunk(entry["picture"])
        height, width = entry["picture"].shape[:2]
        scale = (picture.shape[1] / width, picture.shape[0] / height)
        index = sum(key.startswith(f"{split}.picture.") for key in arrays)
        arrays[f"{split}.picture.{index}"] = picture
        arrays[f"{split}.labels.{index}"] = paint(entry["damages"], picture.shape[1::-1], scale)
    empty = 0
    for index, (name, picture, panels, strip) in enumerate(read_cars(args.cars)):
        split = "tune" if index % TUNING_CARS == 0 else "train"
        arrays[f"{split}.car.{index}"] = picture
        arrays[f"{split}.panels.{index}"] = panels
        if split == "tune":
            listed["tune"].append(f"parts/{name}")
        elif strip is not None:
            arrays[f"train.empty.{empty}"] = strip
            empty += 1
    random = np.random.default_rng(1)
    for drawn in range(args.drawings):
        arrays[f"train.empty.{empty + drawn}"] = drawing(random, "train")
    args.out.parent.mkdir(parents=True, exist_ok=True)
    np.savez(args.out, **arrays)
    args.split.write_text(json.dumps({split: sorted(names) for split, names in listed.items()}, indent=2) + "\n")
    for split, (undamaged, damaged) in sorted(counts.items()):
        print(f"{split}: {damaged} pictures with damage, {undamaged} without")
    print(f"{empty} windows beside cars, {args.drawings} drawings")


if __name__ == "__main__":
    main()
