"""Train the network of the model `plate-finder`.

    python -m training.train_plates --data FOLDER --out FOLDER --minutes 45 --device cpu --threads 2

FOLDER holds plates/boxes and parts/train as `plate_pictures.py` describes them. A second start with the same `--out` goes on
where the first was stopped; if there is a `mistakes.json` of `mine_plates.py` by then, it looks at those places too.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np
import torch
from torch.utils.data import DataLoader, IterableDataset

from .backbone import MEAN, STD, Backbone
from .learning import Average, Clock, arguments, box_loss, focal, heat_targets
from .plate_finder import INWARD_X, INWARD_Y, STRIDE, PlateFinder, corner_loss
from .plate_pictures import SIDE, Windows, add_mistakes, read_cars, read_street

BATCH = 6
SAVE_EVERY = 20
NAME = "plate-finder"
# All that costs most: up to the features at stride 8.
FROZEN_BLOCKS = 5
# Of the rate of the new layers: without batch norm larger steps soon destroy what the backbone knows.
BACKBONE_RATE = 0.1
# What the heat of a plate spreads up and down beyond its box, in heights.
TALLER = 0.4


class Batches(IterableDataset):
    def __init__(self, windows: Windows, first: int):
        self.windows, self.first = windows, first

    def __iter__(self) -> Iterator[tuple]:
        number = self.first
        while True:
            yield self.batch(range(number * BATCH, (number + 1) * BATCH))
            number += 1

    def batch(self, indexes: range) -> tuple:
        pixels, heats, positives, corners, rows = [], [], [], [], []
        cells = SIDE // STRIDE
        for row, index in enumerate(indexes):
            picture, quads = self.windows.window(index)
            low, high = quads.min(1), quads.max(1)
            boxes = np.concatenate([np.zeros((len(quads), 1)), low, high], 1)
            _, positive = heat_targets(boxes, 1, cells, cells, STRIDE)
            # Plates are low: a cell above or below the middle of one is no mistake, as loose as labels of photographs are.
            tall = boxes + (high - low)[:, 1:] * np.array([[0, 0, -TALLER, 0, TALLER]])
            heat, _ = heat_targets(tall, 1, cells, cells, STRIDE)
            pixels.append(picture)
            heats.append(heat)
            positives.append(positive)
            corners.append(corner_shares(quads, low, high, positive))
            rows.append(np.full(len(positive), row))
        join = lambda parts: torch.from_numpy(np.concatenate(parts).astype(np.float32))
        return torch.from_numpy(np.stack(pixels)), torch.from_numpy(np.stack(heats)), join(positives), join(corners), join(rows).long()


def corner_shares(quads: np.ndarray, low: np.ndarray, high: np.ndarray, positives: np.ndarray) -> np.ndarray:
    """Targets [P, 8] of `corner_loss`: each positive cell belongs to the plate whose box it states."""
    if len(positives) == 0:
        return np.zeros((0, 8), np.float32)
    _, y, x, left, top = positives[:, :5].T
    starts = np.stack([(x + 0.5) * STRIDE - left, (y + 0.5) * STRIDE - top], 1)
    owner = np.abs(starts[:, None] - low[None]).sum(2).argmin(1)
    size = np.maximum(high - low, 1)[:, None]
    inward = np.stack([INWARD_X, INWARD_Y], 1).astype(np.float32)
    outer = np.where(inward[None] > 0, low[:, None], high[:, None])
    return ((quads - outer) * inward[None] / size).reshape(-1, 8)[owner].astype(np.float32)


def main() -> None:
    args = arguments(__doc__, devices=True)
    net = PlateFinder(Backbone.pretrained(FROZEN_BLOCKS))
    if args.start:
        net.load_state_dict(torch.load(args.start, weights_only=True))
    net = net.to(args.device, memory_format=torch.channels_last)
    average = Average(net, 0.998)
    backbone = [each for each in net.backbone.parameters() if each.requires_grad]
    added = [each for name, each in net.named_parameters() if not name.startswith("backbone.")]
    trained = backbone + added
    optimiser = torch.optim.AdamW([{"params": backbone, "share": BACKBONE_RATE}, {"params": added}], lr=args.rate, weight_decay=1e-3)
    clock = Clock(optimiser, args.minutes, args.rate)
    state, stored_seconds = args.out / f"{NAME}.state", 0.0
    if state.exists():
        stored = torch.load(state, map_location=args.device, weights_only=True)
        net.load_state_dict(stored["net"])
        average.net.load_state_dict(stored["average"])
        average.n = stored["steps"]
        optimiser.load_state_dict(stored["optimiser"])
        stored_seconds = stored["seconds"]
        clock.step_count = stored["steps"]
        print(f"goes on from step {clock.step_count}", flush=True)
    windows = Windows(read_street(args.data / "plates/boxes", "train"), read_cars(args.data / "parts/train"), args.seed)
    mistakes = args.out / "mistakes.json"
    if mistakes.exists():
        add_mistakes([*windows.street, *windows.cars], json.loads(mistakes.read_text()))
    print(f"{len(windows.street)} street scenes, {len(windows.cars)} cars with {sum(len(car.places) for car in windows.cars)} places", flush=True)
    # Reading them took its time, which is not training.
    clock.resume(stored_seconds, clock.step_count)
    mean, std = (torch.tensor(each, device=args.device).view(1, 3, 1, 1) for each in (MEAN, STD))
    batches = iter(DataLoader(Batches(windows, clock.step_count), batch_size=None, num_workers=1, prefetch_factor=4))
    sums, net = np.zeros(3), net.train()
    while not clock.over():
        pixels, heat, positives, corners, rows = (each.to(args.device) for each in next(batches))
        clock.tick()
        # Pixels come last in channels, and stay so in memory.
        predicted = net((pixels.permute(0, 3, 1, 2) / 255 - mean) / std)
        parts = [
            focal(predicted[0], heat),
            2 * box_loss(predicted[1], rows, positives, STRIDE),
            corner_loss(predicted[2], rows, positives, corners),
        ]
        optimiser.zero_grad(set_to_none=True)
        sum(parts).backward()
        torch.nn.utils.clip_grad_norm_(trained, 5.0)
        optimiser.step()
        average.update(net)
        sums += [float(each.detach()) for each in parts]
        if clock.step_count % SAVE_EVERY == 0:
            print(f"step {clock.step_count}: heat, box, corners {np.round(sums / SAVE_EVERY, 3)}, time {clock.share():.0%}", flush=True)
            sums[:] = 0
            average.save(args.out / f"{NAME}.pt")
            kept = {"net": net.state_dict(), "average": average.net.state_dict(), "optimiser": optimiser.state_dict(),
                    "seconds": clock.elapsed_seconds(), "steps": clock.step_count}
            torch.save(kept, state.with_suffix(".part"))
            state.with_suffix(".part").rename(state)
    average.save(args.out / f"{NAME}.pt")


if __name__ == "__main__":
    main()
