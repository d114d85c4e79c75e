"""What the training scripts share: shards, averaged weights, a schedule by the clock."""

from __future__ import annotations

import argparse
import copy
import math
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import torch


def arguments(description: str, networks: Iterable[str] = (), devices: bool = False) -> argparse.Namespace:
    """Of scripts that train one of several networks, `networks` are their names; with `devices` a GPU may be chosen."""
    parser = argparse.ArgumentParser(description=description)
    if networks:
        parser.add_argument("--network", choices=[*networks], required=True)
    parser.add_argument("--data", type=Path, required=True, help="folder with the shards")
    parser.add_argument("--out", type=Path, required=True, help="folder for the checkpoint")
    parser.add_argument("--minutes", type=float, default=20, help="wall clock; the learning rate falls to zero over it")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rate", type=float, default=2e-3)
    parser.add_argument("--start", type=Path, help="checkpoint to go on from")
    if devices:
        parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    torch.manual_seed(args.seed)
    args.out.mkdir(parents=True, exist_ok=True)
    return args


def shards(folder: Path, split: str, keys: list[str], known: dict | None = None, prefix: str = "*") -> dict[str, dict[str, np.ndarray]]:
    """Arrays `keys` of every shard of a split; `known` carries the ones already read, so new shards can join between epochs."""
    out = dict(known or {})
    for path in sorted(folder.glob(f"{prefix}-{split}-*.npz")):
        if path.name not in out:
            with np.load(path) as z:
                out[path.name] = {k: z[k] for k in keys}
    return out


class Clock:
    """
    Learning rate by elapsed share of the allotted time: short warm-up, then cosine to 2 %. A group of parameters may state the
    `share` of it that it gets.
    """

    def __init__(self, optimiser: torch.optim.Optimizer, minutes: float, rate: float, warm_steps: int = 100):
        self.optimiser, self.seconds, self.rate, self.warm = optimiser, minutes * 60, rate, warm_steps
        self.begin, self.step_count = time.time(), 0

    def elapsed_seconds(self) -> float:
        return time.time() - self.begin

    def resume(self, elapsed_seconds: float, steps: int) -> None:
        self.begin, self.step_count = time.time() - elapsed_seconds, steps

    def share(self) -> float:
        return min(1.0, self.elapsed_seconds() / self.seconds)

    def over(self) -> bool:
        return self.share() >= 1.0

    def tick(self) -> None:
        self.step_count += 1
        k = 0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * self.share()))
        k *= min(1.0, self.step_count / self.warm)
        for group in self.optimiser.param_groups:
            group["lr"] = self.rate * k * group.get("share", 1.0)


class Average:
    """Exponential moving average of weights and buffers; that is what gets exported."""

    def __init__(self, net: torch.nn.Module, decay: float = 0.998):
        self.net, self.decay, self.n = copy.deepcopy(net).eval(), decay, 0

    @torch.no_grad()
    def update(self, net: torch.nn.Module) -> None:
        self.n += 1
        d = min(self.decay, (1 + self.n) / (10 + self.n))
        for a, b in zip(self.net.state_dict().values(), net.state_dict().values()):
            if a.dtype.is_floating_point:
                a.mul_(d).add_(b.detach(), alpha=1 - d)
            else:
                a.copy_(b)

    def save(self, path: Path) -> None:
        temporary = path.with_suffix(".part")
        torch.save(self.net.state_dict(), temporary)
        temporary.rename(path)


@torch.no_grad()
def load_exported(net: torch.nn.Module, path: Path) -> None:
    """Puts the weights of an exported network where the two are alike: half floats, but nothing else is lost."""
    import onnx
    from onnx import numpy_helper

    tensors = {each.name.removeprefix("net.").removesuffix(".half"): numpy_helper.to_array(each) for each in onnx.load(str(path)).graph.initializer}
    alike = [(name, each) for name, each in net.named_parameters() if name in tensors and tensors[name].shape == tuple(each.shape)]
    for name, parameter in alike:
        parameter.copy_(torch.from_numpy(tensors[name].astype(np.float32)))
    print(f"{path}: {len(alike)} of {len(list(net.parameters()))} tensors", flush=True)


def to_input(pixels: np.ndarray) -> torch.Tensor:
    """uint8 [N,H,W,3] -> float32 [N,3,H,W] 0..1, channels last in memory."""
    return torch.from_numpy(np.ascontiguousarray(pixels)).permute(0, 3, 1, 2).to(memory_format=torch.channels_last, dtype=torch.float32) / 255


def colour_jitter(x: torch.Tensor, strength: float = 0.2) -> torch.Tensor:
    """Gain, offset, tint and gamma per picture."""
    n = x.shape[0]
    gain = 1 + (torch.rand(n, 1, 1, 1) * 2 - 1) * strength * 1.5
    tint = 1 + (torch.rand(n, 3, 1, 1) * 2 - 1) * strength * 0.4
    offset = (torch.rand(n, 1, 1, 1) * 2 - 1) * strength * 0.35
    x = (x * gain * tint + offset).clamp(0, 1)
    gamma = torch.exp((torch.rand(n, 1, 1, 1) * 2 - 1) * strength * 1.5)
    return (x + 1e-4) ** gamma


def giou_loss(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """1 - generalised IoU of xyxy boxes [M,4]."""
    lt, rb = torch.maximum(a[:, :2], b[:, :2]), torch.minimum(a[:, 2:], b[:, 2:])
    inter = (rb - lt).clamp(min=0).prod(1)
    union = (a[:, 2:] - a[:, :2]).clamp(min=0).prod(1) + (b[:, 2:] - b[:, :2]).clamp(min=0).prod(1) - inter
    hull = (torch.maximum(a[:, 2:], b[:, 2:]) - torch.minimum(a[:, :2], b[:, :2])).clamp(min=0).prod(1)
    return 1 - inter / union.clamp(min=1e-6) + (hull - union) / hull.clamp(min=1e-6)


def heat_targets(boxes: np.ndarray, classes: int, h: int, w: int, stride: int):
    """Boxes [B,5] (class, xyxy in input pixels) -> heat [C,h,w], positives (class, y, x, l, t, r, b, weight) [P,8].

    The heat is a Gaussian whose spread follows the box in each direction, so
    that a wide odometer line may be found a little left or right of its
    middle. Cells beside the centre also learn the box, with less weight.
    """
    heat = np.zeros((classes, h, w), np.float32)
    positives = []
    for c, x0, y0, x1, y1 in boxes:
        c = int(c)
        cx, cy = (x0 + x1) / 2 / stride, (y0 + y1) / 2 / stride
        ix, iy = int(np.clip(cx, 0, w - 1)), int(np.clip(cy, 0, h - 1))
        sx = max(0.7, (x1 - x0) / stride / 9)
        sy = max(0.7, (y1 - y0) / stride / 9)
        rx, ry = int(3 * sx) + 1, int(3 * sy) + 1
        xs, ys = np.arange(max(0, ix - rx), min(w, ix + rx + 1)), np.arange(max(0, iy - ry), min(h, iy + ry + 1))
        g = np.exp(-((xs[None] - ix) ** 2 / (2 * sx * sx) + (ys[:, None] - iy) ** 2 / (2 * sy * sy)))
        view = heat[c, ys[0]:ys[-1] + 1, xs[0]:xs[-1] + 1]
        np.maximum(view, g, out=view)
        for yy in (iy - 1, iy, iy + 1):
            for xx in (ix - 1, ix, ix + 1):
                if 0 <= yy < h and 0 <= xx < w:
                    px, py = (xx + 0.5) * stride, (yy + 0.5) * stride
                    l, t, r, b = px - x0, py - y0, x1 - px, y1 - py
                    if min(l, t, r, b) > 0.5 or (yy == iy and xx == ix):
                        positives.append((c, yy, xx, l, t, r, b, 1.0 if (yy == iy and xx == ix) else 0.35))
    return heat, np.array(positives, np.float32).reshape(-1, 8)


def focal(logits: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    """Penalty-reduced focal loss of CenterNet, divided by the number of peaks."""
    p = torch.sigmoid(logits).clamp(1e-5, 1 - 1e-5)
    peak = (target > 0.999).float()
    loss = -(peak * (1 - p) ** 2 * torch.log(p) + (1 - peak) * (1 - target) ** 4 * p ** 2 * torch.log(1 - p))
    return loss.sum() / peak.sum().clamp(min=1.0)


def box_loss(raw: torch.Tensor, index: torch.Tensor, positives: torch.Tensor, stride: int) -> torch.Tensor:
    """raw [N,4,h,w], index [P] picture numbers, positives [P,8] -> GIoU + log-L1 at the positive cells."""
    if len(positives) == 0:
        return raw.sum() * 0
    y, x = positives[:, 1].long(), positives[:, 2].long()
    log_pred = raw[index, :, y, x].float().clamp(-4, 6)
    pred = torch.exp(log_pred) * stride
    true = positives[:, 3:7].clamp(min=0.3)
    px, py = (x + 0.5) * stride, (y + 0.5) * stride
    to_box = lambda d: torch.stack([px - d[:, 0], py - d[:, 1], px + d[:, 2], py + d[:, 3]], 1)
    weight = positives[:, 7]
    loss = giou_loss(to_box(pred), to_box(true)) + 0.5 * (log_pred - torch.log(true / stride)).abs().mean(1)
    return (loss * weight).sum() / weight.sum()
