"""Train the network of `models/vehicle-parts` on labelled photographs.

    python -m training.train_parts --data FOLDER/parts.npz --out FOLDER --minutes 50

Resumes from `FOLDER/parts.resume.pt` if it is there. The last sixteenth of the pictures by file name measures progress unless
`--all` is given. `--extra` names further arrays, such as those of `training.empty_pictures`; `--taught` those of
`training.taught_pictures`. `--start` goes on from a checkpoint or an exported network.
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

from .backbone import MEAN, STD, Backbone
from .learning import Average, colour_jitter, load_exported, to_input
from .parts_data import BODY, CLASSES, IGNORED, SIDE, UNSURE, WHEELS, mirrored_classes
from .parts_network import PartsNetwork

MIRRORED = mirrored_classes()
CENTRE, SPREAD = torch.tensor(MEAN).view(1, 3, 1, 1), torch.tensor(STD).view(1, 3, 1, 1)
# Input sides, and the share of the time up to which each is trained: small pictures first, the released size last.
SIZES = ((192, 0.25), (256, 0.6), (320, 1.01))
BATCH = 8
# The encoder's learning rate beside the decoder's.
ENCODER_SHARE = 0.4
# All up to stride 4.
FROZEN_BLOCKS = 3
# Shares of pictures without a vehicle, and of those that another network labelled.
EMPTY, TAUGHT = 0.12, 0.2
# How often a vehicle is put before another background.
MOVED = 0.25


def normalised(pictures: torch.Tensor) -> torch.Tensor:
    """[N, 3, H, W] from 0 to 1, as the backbone takes them."""
    return (pictures - CENTRE) / SPREAD


def moved(picture: np.ndarray, labels: np.ndarray, background: np.ndarray) -> np.ndarray:
    """The vehicle of a picture before another background, whose light it keeps."""
    share = cv2.GaussianBlur((labels > 0).astype(np.float32), (0, 0), 1.2)[..., None]
    return np.round(picture * share + background * (1 - share)).astype(np.uint8)


def relit(random: np.random.Generator, picture: np.ndarray) -> np.ndarray:
    """Another paint, by changed places of the channels, or another light, which changes over the picture."""
    if random.random() < 0.2:
        picture = picture[..., random.permutation(3)]
    if random.random() < 0.2:
        hue = cv2.cvtColor(np.ascontiguousarray(picture), cv2.COLOR_RGB2HSV)
        hue[..., 0] = (hue[..., 0].astype(int) + random.integers(180)) % 180
        hue[..., 1] = np.clip(hue[..., 1] * random.uniform(0.3, 1.6), 0, 255)
        picture = cv2.cvtColor(hue, cv2.COLOR_HSV2RGB)
    if random.random() < 0.3:
        light = cv2.resize(random.uniform(0.5, 1.5, (3, 3)).astype(np.float32), picture.shape[1::-1], interpolation=cv2.INTER_CUBIC)
        picture = np.clip(picture * light[..., None], 0, 255).astype(np.uint8)
    if random.random() < 0.15:
        picture = np.clip(picture + random.normal(0, random.uniform(2, 12), picture.shape), 0, 255).astype(np.uint8)
    return picture


def augment(random: np.random.Generator, picture: np.ndarray, labels: np.ndarray, side: int) -> tuple[np.ndarray, np.ndarray]:
    """A window of a picture, perhaps mirrored, turned and stretched: RGB [side, side, 3], classes [side, side]."""
    if random.random() < 0.5:
        picture, labels = picture[:, ::-1], MIRRORED[labels[:, ::-1]]
    # How much of the picture the window shows, along a side.
    share = math.exp(random.normal(0, 0.22)) if random.random() < 0.75 else random.uniform(0.35, 1.4)
    aspect = math.exp(random.normal(0, 0.15))
    angle = math.radians(random.normal(0, 4))
    scale_x, scale_y = side / SIDE / (share * math.sqrt(aspect)), side / SIDE / (share / math.sqrt(aspect))
    spread = SIDE * (abs(1 - share) / 2 + 0.06)
    middle_x, middle_y = SIDE / 2 + random.uniform(-spread, spread), SIDE / 2 + random.uniform(-spread, spread)
    cos, sin = math.cos(angle), math.sin(angle)
    matrix = np.array([[scale_x * cos, -scale_x * sin, 0], [scale_y * sin, scale_y * cos, 0]], np.float64)
    matrix[:, 2] = side / 2 - matrix[:, :2] @ (middle_x, middle_y)
    fill = tuple(int(level) for level in random.integers(0, 256, 3))
    seen = cv2.warpAffine(np.ascontiguousarray(picture), matrix, (side, side), flags=cv2.INTER_LINEAR, borderValue=fill)
    named = cv2.warpAffine(np.ascontiguousarray(labels), matrix, (side, side), flags=cv2.INTER_NEAREST, borderValue=0)
    seen = relit(random, seen)
    worse = random.random()
    if worse < 0.1:
        seen = cv2.GaussianBlur(seen, (0, 0), random.uniform(0.5, 1.5))
    elif worse < 0.2:
        seen = cv2.imdecode(cv2.imencode(".jpg", seen, [cv2.IMWRITE_JPEG_QUALITY, int(random.integers(25, 80))])[1], cv2.IMREAD_COLOR)
    if random.random() < 0.08:
        seen = np.repeat(seen.mean(2, keepdims=True), 3, 2).astype(np.uint8)
    return seen, named


def loss_of(logits: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
    """Cross-entropy and Dice. Logits [N, C, h, w], classes [N, kh, kw]; an unsure pixel is background or body, an ignored one anything."""
    if logits.shape[-2:] != labels.shape[-2:]:
        logits = F.interpolate(logits, size=labels.shape[-2:], mode="bilinear", align_corners=False)
    log = F.log_softmax(logits, 1)
    unsure = labels == UNSURE
    ignored = labels == IGNORED
    known = torch.where(unsure | ignored, 0, labels).long()
    entropy = F.nll_loss(log, known, reduction="none")
    either = -torch.logaddexp(log[:, 0], log[:, BODY])
    entropy = torch.where(unsure, either, entropy) * ~ignored
    sure = ~(unsure | ignored)[:, None]
    probability = log.exp() * sure
    truth = F.one_hot(known, CLASSES).permute(0, 3, 1, 2).to(probability.dtype) * sure
    both = (probability * truth).sum((0, 2, 3))
    total = probability.sum((0, 2, 3)) + truth.sum((0, 2, 3))
    present = truth.sum((0, 2, 3)) > 0
    dice = 1 - (2 * both + 1) / (total + 1)
    return entropy.mean() + 0.5 * dice[1:][present[1:]].mean() if present[1:].any() else entropy.mean()


@torch.no_grad()
def score(net: torch.nn.Module, pictures: np.ndarray, labels: np.ndarray, side: int) -> float:
    """Mean IoU of the parts, wheels as one, on the arrays' pictures."""
    both, either = np.zeros(CLASSES), np.zeros(CLASSES)
    for picture, truth in zip(pictures, labels):
        x = normalised(to_input(cv2.resize(picture, (side, side), interpolation=cv2.INTER_AREA)[None])).to(next(net.parameters()).device)
        logits = F.interpolate(net(x), size=truth.shape, mode="bilinear", align_corners=False)
        found = logits[0].argmax(0).cpu().numpy()
        found, truth = np.where(np.isin(found, WHEELS), WHEELS[0], found), np.where(np.isin(truth, WHEELS), WHEELS[0], truth)
        valid = truth != UNSURE
        for index in range(CLASSES):
            both[index] += ((found == index) & (truth == index) & valid).sum()
            either[index] += (((found == index) | (truth == index)) & valid).sum()
    used = [index for index in range(1, WHEELS[0] + 1) if either[index]]
    return float(np.mean([both[index] / either[index] for index in used]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--extra", type=Path, nargs="*", default=[])
    parser.add_argument("--taught", type=Path, nargs="*", default=[])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--minutes", type=float, default=50, help="wall clock; the learning rate falls to zero over it")
    parser.add_argument("--steps", type=int, help="instead of minutes; the same seed then gives the same weights on the same machine")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=float, default=1.5e-3)
    parser.add_argument("--start", type=Path, help="checkpoint or exported network to begin with, in place of ImageNet's")
    parser.add_argument("--all", action="store_true", help="train on every picture and measure nothing")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    cv2.setNumThreads(1)
    torch.manual_seed(args.seed)
    random = np.random.default_rng(args.seed)
    args.out.mkdir(parents=True, exist_ok=True)

    with np.load(args.data) as stored:
        order = np.argsort(stored["files"])
        pictures, labels = stored["pictures"][order], stored["labels"][order]
    held = 0 if args.all else len(pictures) // 16
    measured = pictures[len(pictures) - held :], labels[len(labels) - held :]
    pictures, labels = [*pictures[: len(pictures) - held]], [*labels[: len(labels) - held]]
    empty = []
    for path in args.extra:
        with np.load(path) as stored:
            for picture, classes in zip(stored["pictures"], stored["labels"]):
                if classes.any():
                    pictures.append(picture)
                    labels.append(classes)
                else:
                    empty.append((picture, classes))

    taught = []
    for path in args.taught:
        with np.load(path) as stored:
            taught += zip(stored["pictures"], stored["labels"])

    net = PartsNetwork(Backbone.pretrained(FROZEN_BLOCKS), CLASSES)
    if args.start and args.start.suffix == ".onnx":
        load_exported(net, args.start)
    elif args.start:
        net.load_state_dict(torch.load(args.start, weights_only=True))
    net = net.to(args.device, memory_format=torch.channels_last).train()
    average = Average(net, 0.996)
    encoder = [each for each in net.backbone.parameters() if each.requires_grad]
    decoder = [each for name, each in net.named_parameters() if not name.startswith("backbone.")]
    groups = [{"params": encoder, "share": ENCODER_SHARE}, {"params": decoder, "share": 1.0}]
    optimiser = torch.optim.AdamW(groups, lr=args.rate, weight_decay=0.02)
    elapsed, step, seen = 0.0, 0, 0
    resume = args.out / "parts.resume.pt"
    if resume.exists():
        state = torch.load(resume, weights_only=True)
        net.load_state_dict(state["net"])
        average.net.load_state_dict(state["average"])
        optimiser.load_state_dict(state["optimiser"])
        elapsed, step, seen, average.n = state["elapsed"], state["step"], state["seen"], state["n"]
        random = np.random.default_rng([args.seed, step])
    begin, total, queue = time.time() - elapsed, 0.0, []

    def save() -> None:
        average.save(args.out / "parts.pt")
        temporary = resume.with_suffix(".part")
        torch.save({"net": net.state_dict(), "average": average.net.state_dict(), "optimiser": optimiser.state_dict(),
                    "elapsed": time.time() - begin, "step": step, "seen": seen, "n": average.n}, temporary)
        temporary.rename(resume)

    while True:
        share = step / args.steps if args.steps else (time.time() - begin) / (args.minutes * 60)
        if share >= 1:
            break
        side = next(size for size, until in SIZES if share < until)
        # One cycle: up over the first tenth, then down as a cosine to a hundredth.
        factor = share / 0.1 * 0.9 + 0.1 if share < 0.1 else 0.01 + 0.99 * (1 + math.cos(math.pi * (share - 0.1) / 0.9)) / 2
        for group in optimiser.param_groups:
            group["lr"] = args.rate * factor * group["share"] * min(1, (step + 1) / 20)
        batch = []
        while len(batch) < BATCH:
            others = empty if random.random() < EMPTY else taught if random.random() < TAUGHT else []
            if others:
                batch.append(augment(random, *others[random.integers(len(others))], side))
                continue
            if not queue:
                queue = list(random.permutation(len(pictures)))
            index = queue.pop()
            picture = pictures[index]
            if empty and random.random() < MOVED:
                picture = moved(picture, labels[index], empty[random.integers(len(empty))][0])
            batch.append(augment(random, picture, labels[index], side))
        x = to_input(np.stack([picture for picture, _ in batch]))
        x = normalised(colour_jitter(x, 0.25)).to(args.device, memory_format=torch.channels_last)
        # The middles of the network's cells; finer at the end.
        cell = 2 if side == SIZES[-1][0] else 4
        truth = torch.from_numpy(np.stack([classes[cell // 2 :: cell, cell // 2 :: cell] for _, classes in batch])).to(args.device)
        loss = loss_of(net(x), truth)
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_([*encoder, *decoder], 2.0)
        optimiser.step()
        average.update(net)
        step, seen, total = step + 1, seen + BATCH, total + float(loss.detach())
        if step % 200 == 0:
            save()
            note = f"step {step}: {seen} pictures, {side} px, loss {total / 200:.3f}, time {share:.0%}"
            if held and step % 600 == 0:
                note += f", mIoU {score(average.net, *measured, side):.3f}"
            print(note, flush=True)
            total = 0.0
    save()
    if held:
        print(f"{seen} pictures, mIoU {score(average.net, *measured, SIZES[-1][0]):.3f} on {held} held back", flush=True)


if __name__ == "__main__":
    main()
