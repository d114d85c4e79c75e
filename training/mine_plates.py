"""What a network of the model `plate-finder` wrongly takes for a plate in its training pictures, for its training to look at.

    python -m training.mine_plates --data FOLDER --checkpoint OUT/plate-finder.pt --out OUT/mistakes.json

FOLDER as `plate_pictures.py` describes it. Writes boxes in pixels by the names of the pictures. What a network is sure of is left
out: the labels of the street scenes miss some plates.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import torch

from .evaluate_plates import overlap, prepared
from .export import load
from .export_plates import LONGEST
from .plate_finder import Export, PlateFinder
from .plate_pictures import read_cars, read_street

LEAST, MOST = 0.08, 0.6
# A window with part of a plate is no mistake.
APART = 0.02


def boxes_in(net: torch.nn.Module, pixels: np.ndarray) -> list[np.ndarray]:
    tensor, scale, offset = prepared(pixels, LONGEST)
    with torch.no_grad():
        rows = net(torch.from_numpy(tensor).contiguous(memory_format=torch.channels_last))[0].numpy().T
    rows = rows[(rows[:, 4] >= LEAST) & (rows[:, 4] <= MOST)]
    corners = np.concatenate([rows[:, :2] - rows[:, 2:4] / 2, rows[:, :2] + rows[:, 2:4] / 2], 1)
    return list((corners - np.array(offset * 2)) / scale)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    torch.set_num_threads(1)
    net = Export(load(PlateFinder(), args.checkpoint)).eval().to(memory_format=torch.channels_last)
    found = {}
    for photograph in [*read_street(args.data / "plates/boxes", "train"), *read_cars(args.data / "parts/train")]:
        plates = [np.concatenate([quad.min(0), quad.max(0)]) for quad in [*photograph.plates, *photograph.places]]
        boxes = [box for box in boxes_in(net, photograph.pixels) if all(overlap(box, plate) < APART for plate in plates)]
        if boxes:
            found[photograph.name] = [[round(float(side), 1) for side in box] for box in boxes]
    args.out.write_text(json.dumps(found))
    print(f"{sum(len(each) for each in found.values())} places in {len(found)} pictures")


if __name__ == "__main__":
    main()
