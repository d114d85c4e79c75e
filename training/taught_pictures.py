"""Pictures without labels of parts -> arrays that a released network of `models/vehicle-parts` labelled, to train the next one.

    python -m training.taught_pictures --plates PHOTOGRAPHS/plates/boxes --damage PHOTOGRAPHS/damage --cars training/labels/whole-cars.json \
      --teacher models/vehicle-parts/RELEASE/vehicle-parts.onnx --out FOLDER/taught.npz [--look FOLDER]

`--plates` holds `train.json`, plates' boxes by file name, and `train/`: a window around a plate shows the vehicle that bears it.
`--cars` names pictures of whole vehicles in `--damage`. The teacher, which averages over mirror images, sees each
window at two sizes and in neutral light; where no class is likely enough, the pixel teaches nothing.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import cv2
import numpy as np
import onnxruntime

from .backbone import MEAN, STD
from .damage_data import thumbnail
from .parts_data import CLASSES, IGNORED, INDEX, SIDE, overlay, read_picture
from .parts_network import SIDE as INPUT

# Side of a window in widths of the plate, and how far its middle lies above that of the plate.
REACH, RISE = (4.4, 5.2), 0.45
# Windows that are more alike than this show one vehicle from one place.
ALIKE = 0.93
# The narrowest plate, in pixels: farther vehicles have no mirrors.
NARROWEST = 36
# The least probability that teaches, and the least share of a window that a vehicle covers.
SURE, COVERED = 0.65, 0.12
FRONT = [INDEX[label] for label in ("front_bumper", "windshield", "hood", "headlight.left", "headlight.right")]
REAR = [INDEX[label] for label in ("rear_bumper", "rear_windshield", "trunk_lid", "taillight.left", "taillight.right")]


def square(picture: np.ndarray, x: float, y: float, side: float) -> np.ndarray:
    """RGB [SIDE, SIDE, 3] around a point; the edge of the picture goes on beyond it."""
    scale = SIDE / side
    matrix = np.array([[scale, 0, SIDE / 2 - scale * x], [0, scale, SIDE / 2 - scale * y]])
    return cv2.warpAffine(picture, matrix, (SIDE, SIDE), flags=cv2.INTER_AREA, borderMode=cv2.BORDER_REPLICATE)


def plate_windows(folder: Path, random: np.random.Generator) -> list[np.ndarray]:
    boxes = json.loads((folder / "train.json").read_text())
    windows, seen = [], []
    for name in sorted(boxes):
        picture = read_picture(folder / "train" / name)
        for x0, y0, x1, y1 in boxes[name]:
            width = x1 - x0
            if width < NARROWEST:
                continue
            window = square(picture, (x0 + x1) / 2, (y0 + y1) / 2 - RISE * width, width * random.uniform(*REACH))
            vector = thumbnail(window)
            if seen and float(np.max(np.stack(seen) @ vector)) > ALIKE:
                continue
            seen.append(vector)
            windows.append(window)
    return windows


def neutral(window: np.ndarray) -> np.ndarray:
    """The window in grey-world balance and of middling brightness: dusk and tints are the student's to learn, not the teacher's."""
    means = window.reshape(-1, 3).mean(0) + 1
    balanced = np.clip(window * (means.mean() / means), 0, 255) / 255
    return np.round(255 * balanced ** np.clip(np.log(0.42) / np.log(balanced.mean() + 1e-3), 0.4, 1.5)).astype(np.uint8)


def teach(session: onnxruntime.InferenceSession, window: np.ndarray) -> np.ndarray:
    """Classes [SIDE, SIDE]; unsure pixels are `IGNORED`."""
    total = np.zeros((SIDE, SIDE, CLASSES), np.float32)
    window = neutral(window)
    for share in (1.0, 0.85):
        # All of the window, and its middle.
        size = round(SIDE * share)
        at = (SIDE - size) // 2
        seen = window[at : at + size, at : at + size]
        x = cv2.resize(seen, (INPUT, INPUT), interpolation=cv2.INTER_AREA).astype(np.float32) / 255
        x = ((x - MEAN) / STD).astype(np.float32).transpose(2, 0, 1)[None]
        logits = session.run(["parts"], {"image": np.ascontiguousarray(x)})[0][0].transpose(1, 2, 0)
        power = np.exp(logits - logits.max(2, keepdims=True))
        probability = cv2.resize(power / power.sum(2, keepdims=True), (size, size), interpolation=cv2.INTER_LINEAR)
        total[at : at + size, at : at + size] += probability
    total /= total.sum(2, keepdims=True)
    labels = total.argmax(2).astype(np.uint8)
    labels[total.max(2) < SURE] = IGNORED
    # Front and rear are not seen at once.
    front, rear = np.isin(labels, FRONT), np.isin(labels, REAR)
    labels[front if front.sum() < rear.sum() else rear] = IGNORED
    # Background beside the parts may be a part that was missed.
    x, y, width, height = cv2.boundingRect((labels > 0).astype(np.uint8))
    inside = labels[y : y + height, x : x + width]
    inside[inside == 0] = IGNORED
    return labels


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--plates", type=Path, required=True)
    parser.add_argument("--damage", type=Path, required=True)
    parser.add_argument("--cars", type=Path, required=True)
    parser.add_argument("--teacher", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--look", type=Path, help="folder for sheets of pictures with what the teacher saw in colour")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    cv2.setNumThreads(1)
    windows = plate_windows(args.plates, np.random.default_rng(args.seed))
    around = len(windows)
    for name in sorted(json.loads(args.cars.read_text())):
        windows.append(cv2.resize(read_picture(args.damage / name), (SIDE, SIDE), interpolation=cv2.INTER_AREA))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(args.teacher), options, providers=["CPUExecutionProvider"])
    labels = [teach(session, window) for window in windows]
    kept = [index for index, each in enumerate(labels) if ((each > 0) & (each < IGNORED)).mean() >= COVERED]
    # Where the teacher is at a loss it knows less than half of what it takes for the vehicle.
    kept = [index for index in kept if ((labels[index] > 0) & (labels[index] < IGNORED)).sum() >= (labels[index] == IGNORED).sum()]
    np.savez(args.out, pictures=np.stack([windows[index] for index in kept]), labels=np.stack([labels[index] for index in kept]))
    print(f"{around} windows around plates and {len(windows) - around} whole cars, {len(kept)} kept")
    if args.look:
        args.look.mkdir(parents=True, exist_ok=True)
        for start in range(0, len(kept), 24):
            tiles = [cv2.resize(overlay(windows[index], labels[index]), (256, 256)) for index in kept[start : start + 24]]
            tiles += [np.zeros((256, 256, 3), np.uint8)] * (24 - len(tiles))
            sheet = np.vstack([np.hstack(tiles[row : row + 6]) for row in range(0, 24, 6)])
            cv2.imwrite(str(args.look / f"{start:03d}.png"), sheet[..., ::-1])


if __name__ == "__main__":
    main()
