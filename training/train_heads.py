"""Fit the heads of `models/vehicle-parts` on pictures that were labelled by looking.

    python -m training.train_heads --checkpoint FOLDER/parts.pt --pictures PHOTOGRAPHS/train/images --labels training/labels/parts-train.json --out FOLDER

Several `--pictures` and `--labels` go together in pairs. Prints how often each head is right on pictures that it was not fitted
to, by cross-validation in blocks of neighbouring file names (neighbours often show one vehicle), and writes `heads.pt`, whose
logits are divided by temperatures that are fitted to those pictures too.
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import onnxruntime
import torch
from torch import nn
from torch.nn import functional as F

from .backbone import Backbone
from .export import export, load
from .heads_network import MIRRORED_VIEWS, SHADES, SIZES, VIEWS, Features, Head, mirrored_shares
from .learning import to_input
from .parts_data import CLASSES, SIDE, read_picture
from .parts_network import SIDE as INPUT
from .parts_network import PartsNetwork
from .train_parts import normalised

BLOCKS, BLOCK = 10, 8
# Head -> its features and its classes.
HEADS = {"view": (("shares",), VIEWS), "paint": (("paint", "deep"), SHADES)}
# The weight of its squared coefficients; for the paint chosen by cross-validation.
DECAY = {"view": 3e-3, "paint": 3e-2}


class Look(nn.Module):
    """Pictures as the backbone takes them -> their features, in the order of `SIZES`."""

    def __init__(self, net: PartsNetwork):
        super().__init__()
        self.net, self.features = net, Features()

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        features = self.features(x, *self.net.both(x))
        return tuple(features[name] for name in SIZES)


def looker(checkpoint: Path, folder: Path) -> Callable[[np.ndarray], dict[str, torch.Tensor]]:
    """RGB [H, W, 3] -> features. Through ONNX Runtime, several times faster here than PyTorch."""
    path = folder / "features.onnx"
    export(Look(load(PartsNetwork(Backbone(), CLASSES), checkpoint)), torch.rand(1, 3, INPUT, INPUT), path, ["image"], [*SIZES], {})
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def look(picture: np.ndarray) -> dict[str, torch.Tensor]:
        x = normalised(to_input(cv2.resize(picture, (INPUT, INPUT), interpolation=cv2.INTER_AREA)[None])).contiguous().numpy()
        return {name: torch.from_numpy(values[0]) for name, values in zip(SIZES, session.run(None, {"image": x}))}

    return look


def class_of(head: str, label: dict[str, str]) -> int:
    """-1 where the label does not tell."""
    if head == "view":
        return VIEWS.index(label["view"]) if "view" in label else -1
    color = label.get("color", "multicolor")
    if color == "multicolor":
        return -1
    return SHADES.index(color if color in SHADES else None)


def fit(x: torch.Tensor, y: torch.Tensor, classes: int, decay: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Multinomial logistic regression on standardised features: weights [classes, size] and biases for the raw ones."""
    mean, std = x.mean(0), x.std(0) + 1e-3
    z = (x - mean) / std
    weight, bias = torch.zeros(classes, x.shape[1], requires_grad=True), torch.zeros(classes, requires_grad=True)
    optimiser = torch.optim.LBFGS([weight, bias], max_iter=200, line_search_fn="strong_wolfe")

    def closure() -> torch.Tensor:
        optimiser.zero_grad()
        loss = F.cross_entropy(z @ weight.T + bias, y) + decay * (weight**2).sum()
        loss.backward()
        return loss

    optimiser.step(closure)
    raw = weight.detach() / std
    return raw, bias.detach() - raw @ mean


def temperature(logits: torch.Tensor, y: torch.Tensor) -> float:
    """What the logits are divided by so that their probabilities come true."""
    candidates = torch.exp(torch.linspace(-1.5, 1.5, 61))
    return float(min(candidates, key=lambda each: float(F.cross_entropy(logits / each, y))))


Row = tuple[int, dict[str, str], dict[str, torch.Tensor]]


def fit_heads(rows: list[Row]) -> dict[str, torch.Tensor]:
    """Rows: the block of a picture, its labels, its features. Prints what cross-validation finds."""
    swapped_shares, swapped_views = mirrored_shares(), [VIEWS.index(each) for each in MIRRORED_VIEWS]
    state: dict[str, torch.Tensor] = {}
    for head, (names, classes) in HEADS.items():
        known = [(block, class_of(head, label), features) for block, label, features in rows if class_of(head, label) >= 0]

        def samples(chosen: list[tuple[int, int, dict[str, torch.Tensor]]], mirror: bool) -> tuple[torch.Tensor, torch.Tensor]:
            pairs = [(features, target) for _, target, features in chosen]
            if mirror and head == "view":
                pairs += [({"shares": features["shares"][swapped_shares]}, swapped_views[target]) for features, target in pairs]
            vectors = [torch.cat([features[name] for name in names]) for features, _ in pairs]
            return torch.stack(vectors), torch.tensor([target for _, target in pairs])

        def fitted(chosen: list[tuple[int, int, dict[str, torch.Tensor]]]) -> tuple[torch.Tensor, torch.Tensor]:
            return fit(*samples(chosen, True), len(classes), DECAY[head])

        logits, truth = [], []
        for part in sorted({each[0] % BLOCKS for each in known}):
            weight, bias = fitted([each for each in known if each[0] % BLOCKS != part])
            x, y = samples([each for each in known if each[0] % BLOCKS == part], False)
            logits.append(x @ weight.T + bias)
            truth.append(y)
        held, y = torch.cat(logits), torch.cat(truth)
        cooled = temperature(held, y)
        sure, best = (held / cooled).softmax(1).max(1)
        right = best == y
        print(f"{head}: {int(right.sum())} of {len(y)} held out right; temperature {cooled:.2f}, mean confidence {float(sure.mean()):.3f}")
        for least in (0.5, 0.6, 0.7, 0.8):
            print(f"  from {least}: {int(right[sure >= least].sum())} of {int((sure >= least).sum())}")
        for index, name in enumerate(classes):
            told = [f"{other} {int((best[y == index] == place).sum())}" for place, other in enumerate(classes) if (best[y == index] == place).any()]
            print(f"  {name}: {', '.join(told)}")
        weight, bias = fitted(known)
        state[f"{head}.linear.weight"], state[f"{head}.linear.bias"] = weight / cooled, bias / cooled
    return state


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--pictures", type=Path, nargs="+", required=True)
    parser.add_argument("--labels", type=Path, nargs="+", required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    torch.set_num_threads(1)
    cv2.setNumThreads(1)
    args.out.mkdir(parents=True, exist_ok=True)
    look = looker(args.checkpoint, args.out)
    rows: list[Row] = []
    for place, (folder, path) in enumerate(zip(args.pictures, args.labels, strict=True)):
        labels = json.loads(path.read_text())
        for name in sorted(labels, key=lambda each: [int(part) for part in re.findall(r"\d+", each)]):
            picture = cv2.resize(read_picture(folder / name), (SIDE, SIDE), interpolation=cv2.INTER_AREA)
            rows.append((place * 1000 + len(rows) // BLOCK, labels[name], look(picture)))
    torch.save(fit_heads(rows), args.out / "heads.pt")


def heads_of() -> torch.nn.ModuleDict:
    return torch.nn.ModuleDict(
        {head: Head(names, sum(SIZES[name] for name in names), len(classes)) for head, (names, classes) in HEADS.items()}
    )


if __name__ == "__main__":
    main()
