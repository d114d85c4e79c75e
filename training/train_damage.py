"""Train the network of `models/damage-finder` on labelled photographs.

    python -m training.train_damage --data FOLDER/damage.npz --out FOLDER --minutes 50 --parts models/vehicle-parts/RELEASE/vehicle-parts.onnx

Resumes from `FOLDER/damage.resume.pt` if it is there. Windows keep the scale at which the network looks at whole pictures, so
that they begin small and cheap and end at the released context. Undamaged pictures are sampled by how much damage the network
sees in them. `FOLDER/damage.pt` holds averaged weights.
"""

from __future__ import annotations

import argparse
import math
import time
from pathlib import Path

import cv2
import numpy as np
import torch
from torch.nn import functional as F

from .backbone import Backbone
from .damage_data import DENT, NONE, SCRATCH
from .damage_network import DamageNetwork
from .learning import Average, colour_jitter, load_exported, to_input
from .train_parts import normalised

# Sides of the windows, and the share of the time up to which each is trained.
SIZES = ((192, 0.4), (256, 0.75), (320, 1.01))
BATCH = 8
ENCODER_SHARE = 0.4
FROZEN_BLOCKS = 3
# Longest side of a whole picture at the scale of a window, in pixels: from and to, sampled evenly by its logarithm.
SCALES = (330, 1100)
# Shares of a batch: pictures with damage, damages pasted onto undamaged cars, undamaged cars, pictures without a vehicle.
SHARES = (0.62, 0.14, 0.20, 0.04)
# Weights beside the loss by pixel.
WINDOW_LOSS, TYPE_LOSS = 0.25, 0.3


class Source:
    """A picture at two scales with its classes, so that windows need not skip pixels."""

    def __init__(self, picture: np.ndarray, labels: np.ndarray):
        half = tuple(max(1, side // 2) for side in picture.shape[1::-1])
        self.levels = [(picture, labels), (cv2.resize(picture, half, interpolation=cv2.INTER_AREA),
                                           cv2.resize(labels, half, interpolation=cv2.INTER_NEAREST))]
        ys, xs = np.nonzero(labels)
        self.size = picture.shape[1::-1]
        self.damaged = np.stack([xs, ys], 1)[:: max(1, len(xs) // 4000)] if len(xs) else None
        # How much damage the network saw in windows without any.
        self.alarm = 0.5


def window(random: np.random.Generator, source: Source, side: int, scales: tuple[float, float] = SCALES) -> tuple[np.ndarray, np.ndarray]:
    """RGB [side, side, 3] and classes, perhaps mirrored, turned and stretched. Beyond the picture nothing is labelled."""
    width, height = source.size
    scale = math.exp(random.uniform(*np.log(scales))) / max(width, height)
    picture, labels = source.levels[1 if scale < 0.6 else 0]
    aspect = math.exp(random.normal(0, 0.12))
    angle = math.radians(random.normal(0, 6))
    if source.damaged is not None and random.random() < 0.7:
        middle = source.damaged[random.integers(len(source.damaged))] + random.normal(0, 0.25 * side / scale, 2)
    else:
        middle = np.array([random.uniform(0, width), random.uniform(0, height)])
    # Keeps most of the window on the picture.
    reach = np.minimum(np.array([width, height]) / 2, 0.4 * side / scale)
    middle = np.clip(middle, reach, np.array([width, height]) - reach)
    mirror = -1 if random.random() < 0.5 else 1
    cos, sin = math.cos(angle), math.sin(angle)
    per_pixel = scale * width / picture.shape[1]
    x, y = per_pixel * math.sqrt(aspect), per_pixel / math.sqrt(aspect)
    matrix = np.array([[mirror * x * cos, -mirror * x * sin, 0], [y * sin, y * cos, 0]], np.float64)
    matrix[:, 2] = side / 2 - matrix[:, :2] @ (middle * picture.shape[1] / width)
    fill = (0, 0, 0) if random.random() < 0.5 else tuple(int(level) for level in random.integers(0, 256, 3))
    seen = cv2.warpAffine(picture, matrix, (side, side), flags=cv2.INTER_LINEAR, borderValue=fill)
    named = cv2.warpAffine(labels, matrix, (side, side), flags=cv2.INTER_NEAREST, borderValue=NONE)
    return seen, named


def worse(random: np.random.Generator, picture: np.ndarray) -> np.ndarray:
    """Blurred, compressed, noisy or grey, at times."""
    chance = random.random()
    if chance < 0.1:
        picture = cv2.GaussianBlur(picture, (0, 0), random.uniform(0.5, 1.2))
    elif chance < 0.28:
        picture = cv2.imdecode(cv2.imencode(".jpg", picture, [cv2.IMWRITE_JPEG_QUALITY, int(random.integers(30, 90))])[1], cv2.IMREAD_COLOR)
    elif chance < 0.36:
        picture = np.clip(picture + random.normal(0, random.uniform(2, 8), picture.shape), 0, 255).astype(np.uint8)
    if random.random() < 0.06:
        picture = np.repeat(picture.mean(2, keepdims=True), 3, 2).astype(np.uint8)
    return picture


def mean_around(picture: np.ndarray, mask: np.ndarray) -> np.ndarray | None:
    """Mean colour of what surrounds a mask."""
    ring = (cv2.dilate(mask, np.ones((9, 9), np.uint8)) > 0) & (cv2.dilate(mask, np.ones((3, 3), np.uint8)) == 0)
    return picture[ring].mean(0) if ring.sum() > 20 else None


def paste(random: np.random.Generator, car: Source, panels: np.ndarray, source: Source) -> tuple[np.ndarray, np.ndarray]:
    """The car with a piece of another picture on a panel: a damage, or as often an undamaged patch of the same shape.

    Both are blended alike, so that a seam is no sign of damage.
    """
    picture, labels = (each.copy() for each in car.levels[0])
    donor, classes = source.levels[0]
    count, parts, boxes, _ = cv2.connectedComponentsWithStats((classes > 0).astype(np.uint8))
    if count < 2 or not panels.any():
        return picture, labels
    chosen = int(random.integers(1, count))
    x, y, w, h = boxes[chosen][:4]
    margin = max(4, (w + h) // 12)
    if max(w, h) > 0.6 * max(donor.shape[:2]):
        return picture, labels
    is_damage = random.random() < 0.5
    mask = np.pad((parts[y : y + h, x : x + w] == chosen).astype(np.uint8), margin)
    dx, dy = 0, 0
    if not is_damage:
        for _ in range(12):
            dx, dy = int(random.integers(-x, donor.shape[1] - w - x + 1)), int(random.integers(-y, donor.shape[0] - h - y + 1))
            if not classes[y + dy : y + dy + h, x + dx : x + dx + w].any():
                break
        else:
            return picture, labels
    left, top = x + dx - margin, y + dy - margin
    padded = cv2.copyMakeBorder(donor, margin, margin, margin, margin, cv2.BORDER_REFLECT)
    patch = padded[top + margin : top + margin + h + 2 * margin, left + margin : left + margin + w + 2 * margin]
    long = random.uniform(0.05, 0.3) * max(picture.shape[:2])
    factor = min(1.0, long / max(w, h))
    size = tuple(max(6, round(each * factor)) for each in patch.shape[1::-1])
    patch, mask = cv2.resize(patch, size, interpolation=cv2.INTER_AREA), cv2.resize(mask, size, interpolation=cv2.INTER_NEAREST)
    if random.random() < 0.5:
        patch, mask = patch[:, ::-1], np.ascontiguousarray(mask[:, ::-1])
    ys, xs = np.nonzero(panels)
    at = int(random.integers(len(xs)))
    x0, y0 = xs[at] - size[0] // 2, ys[at] - size[1] // 2
    if x0 < 0 or y0 < 0 or x0 + size[0] > picture.shape[1] or y0 + size[1] > picture.shape[0]:
        return picture, labels
    under = picture[y0 : y0 + size[1], x0 : x0 + size[0]].astype(np.float32)
    inner, outer = mean_around(patch, mask), mean_around(under, mask)
    if inner is None or outer is None:
        return picture, labels
    # The paint around the damage takes the colour of the panel.
    recoloured = patch.astype(np.float32) + (outer - inner)
    alpha = cv2.GaussianBlur(cv2.dilate(mask, np.ones((3, 3), np.uint8)).astype(np.float32), (0, 0), max(1.0, 0.02 * max(size)))[..., None]
    picture[y0 : y0 + size[1], x0 : x0 + size[0]] = np.clip(under * (1 - alpha) + recoloured * alpha, 0, 255).astype(np.uint8)
    if is_damage:
        kinds = classes[parts == chosen]
        labels[y0 : y0 + size[1], x0 : x0 + size[0]][mask > 0] = np.bincount(kinds).argmax()
    return picture, labels


def loss_of(logits: torch.Tensor, labels: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Damage or none by pixel and by window, and the type of damage. Returns the loss, and each window's share of alarm [N]."""
    if logits.shape[-2:] != labels.shape[-2:]:
        logits = F.interpolate(logits, size=labels.shape[-2:], mode="bilinear", align_corners=False)
    logit, truth = logits[:, 0], (labels != NONE).to(logits.dtype)
    entropy = F.binary_cross_entropy_with_logits(logit, truth)
    probability = torch.sigmoid(logit)
    both, total = (probability * truth).sum(), probability.sum() + truth.sum()
    dice = 1 - (2 * both + 1) / (total + 1)
    # The strongest hundredth of a window's pixels says whether it shows damage.
    strongest = logit.flatten(1).topk(max(1, logit[0].numel() // 100), 1).values.mean(1)
    is_damaged = (truth.flatten(1).mean(1) > 0.004).to(logits.dtype)
    by_window = F.binary_cross_entropy_with_logits(strongest, is_damaged)
    kinds = torch.where(labels == SCRATCH, 0, torch.where(labels == DENT, 1, -1))
    kind = F.cross_entropy(logits[:, 1:], kinds, ignore_index=-1, reduction="sum") / (kinds >= 0).sum().clamp(min=1)
    return entropy + 0.6 * dice + WINDOW_LOSS * by_window + TYPE_LOSS * kind, torch.sigmoid(strongest.detach())


@torch.no_grad()
def score(net: torch.nn.Module, pictures: list[np.ndarray], labels: list[np.ndarray], side: int = 512) -> float:
    """IoU of damage over all pixels, at a probability of 0.5, of whole pictures fitted into a square."""
    both = either = 0
    for picture, truth in zip(pictures, labels):
        scale = side / max(picture.shape[:2])
        size = tuple(max(1, round(each * scale)) for each in picture.shape[1::-1])
        padded = np.zeros((side, side, 3), np.uint8)
        padded[: size[1], : size[0]] = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
        logits = net(normalised(to_input(padded[None])).to(next(net.parameters()).device))[:, :1]
        found = F.interpolate(logits, size=(side, side), mode="bilinear", align_corners=False)[0, 0, : size[1], : size[0]].cpu().numpy() > 0
        known = cv2.resize(truth, size, interpolation=cv2.INTER_NEAREST) > 0
        # Every picture weighs the same, whatever its size.
        both += (found & known).sum() / found.size
        either += (found | known).sum() / found.size
    return float(both / max(either, 1e-9))


def sample(sources: list[Source], random: np.random.Generator) -> Source:
    """Half evenly, half by how much damage was seen where there is none."""
    if random.random() < 0.5:
        return sources[random.integers(len(sources))]
    weights = np.array([each.alarm for each in sources]) + 0.02
    return sources[random.choice(len(sources), p=weights / weights.sum())]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=50, help="wall clock; the learning rate falls to zero over it")
    parser.add_argument("--steps", type=int, help="instead of minutes; the same seed then gives the same weights on the same machine")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=float, default=1.5e-3)
    parser.add_argument("--start", type=Path, help="checkpoint or exported network to begin with, in place of ImageNet's")
    parser.add_argument("--parts", type=Path, help="ONNX file of `models/vehicle-parts` whose weights to begin with")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    cv2.setNumThreads(1)
    torch.manual_seed(args.seed)
    random = np.random.default_rng(args.seed)
    args.out.mkdir(parents=True, exist_ok=True)

    damaged, undamaged, cars, empty, tuned = [], [], [], [], []
    with np.load(args.data) as stored:
        for key in stored.files:
            split, kind, index = key.split(".")
            if kind == "picture" and split == "tune":
                tuned.append((stored[key], stored[f"tune.labels.{index}"]))
            elif kind == "picture":
                source = Source(stored[key], stored[f"train.labels.{index}"])
                (undamaged if source.damaged is None else damaged).append(source)
            elif kind == "car" and split == "train":
                picture = stored[key]
                cars.append((Source(picture, np.zeros(picture.shape[:2], np.uint8)), stored[f"train.panels.{index}"]))
            elif kind == "empty":
                picture = stored[key]
                empty.append(Source(picture, np.zeros(picture.shape[:2], np.uint8)))
    whole = [source for source, _ in cars]
    print(f"{len(damaged)} damaged, {len(undamaged)} and {len(cars)} undamaged, {len(empty)} without a vehicle", flush=True)

    net = DamageNetwork(Backbone.pretrained(FROZEN_BLOCKS))
    if args.parts:
        load_exported(net, args.parts)
    if args.start and args.start.suffix == ".onnx":
        load_exported(net, args.start)
    elif args.start:
        net.load_state_dict(torch.load(args.start, weights_only=True))
    net = net.to(args.device, memory_format=torch.channels_last).train()
    average = Average(net, 0.995)
    encoder = [each for each in net.backbone.parameters() if each.requires_grad]
    decoder = [each for name, each in net.named_parameters() if not name.startswith("backbone.")]
    groups = [{"params": encoder, "share": ENCODER_SHARE}, {"params": decoder, "share": 1.0}]
    optimiser = torch.optim.AdamW(groups, lr=args.rate, weight_decay=0.03)
    elapsed, step = 0.0, 0
    resume = args.out / "damage.resume.pt"
    if resume.exists():
        state = torch.load(resume, weights_only=True)
        net.load_state_dict(state["net"])
        average.net.load_state_dict(state["average"])
        optimiser.load_state_dict(state["optimiser"])
        elapsed, step, average.n = state["elapsed"], state["step"], state["n"]
        random = np.random.default_rng([args.seed, step])
    begin, total = time.time() - elapsed, 0.0

    def save() -> None:
        average.save(args.out / "damage.pt")
        temporary = resume.with_suffix(".part")
        torch.save({"net": net.state_dict(), "average": average.net.state_dict(), "optimiser": optimiser.state_dict(),
                    "elapsed": time.time() - begin, "step": step, "n": average.n}, temporary)
        temporary.rename(resume)

    while True:
        share = step / args.steps if args.steps else (time.time() - begin) / (args.minutes * 60)
        if share >= 1:
            break
        side = next(size for size, until in SIZES if share < until)
        factor = share / 0.1 * 0.9 + 0.1 if share < 0.1 else 0.01 + 0.99 * (1 + math.cos(math.pi * (share - 0.1) / 0.9)) / 2
        for group in optimiser.param_groups:
            group["lr"] = args.rate * factor * group["share"] * min(1, (step + 1) / 20)
        batch, chosen = [], []
        for _ in range(BATCH):
            kind = int(random.choice(len(SHARES), p=SHARES))
            source = None
            if kind == 0:
                source = damaged[random.integers(len(damaged))]
                seen, named = window(random, source, side)
            elif kind == 1:
                car, panels = cars[random.integers(len(cars))]
                picture, labels = paste(random, car, panels, damaged[random.integers(len(damaged))])
                seen, named = window(random, Source(picture, labels), side, (330, 800))
            else:
                source = sample(empty if kind == 3 and empty else undamaged if random.random() < 0.4 else whole, random)
                seen, named = window(random, source, side)
            chosen.append(None if named.any() else source)
            batch.append((worse(random, seen), named))
        x = to_input(np.stack([picture for picture, _ in batch]))
        x = normalised(colour_jitter(x, 0.25)).to(args.device, memory_format=torch.channels_last)
        truth = torch.from_numpy(np.stack([classes[1::2, 1::2] for _, classes in batch])).to(args.device)
        loss, alarms = loss_of(net(x), truth)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_([*encoder, *decoder], 2.0)
        optimiser.step()
        average.update(net)
        for source, alarm in zip(chosen, alarms.tolist()):
            if source is not None:
                source.alarm = 0.7 * source.alarm + 0.3 * alarm
        step, total = step + 1, total + float(loss.detach())
        if step % 100 == 0:
            save()
            note = f"step {step}: {side} px, loss {total / 100:.3f}, time {share:.0%}"
            if step % 300 == 0:
                note += f", IoU {score(average.net, *zip(*tuned)):.3f}"
            print(note, flush=True)
            total = 0.0
    save()
    print(f"{step * BATCH} windows, IoU {score(average.net, *zip(*tuned)):.3f} on the pictures that tune", flush=True)


if __name__ == "__main__":
    main()
