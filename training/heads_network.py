"""The heads of `models/vehicle-parts`: view and shade of the paint, from what the network of the parts sees.

    features = Features()(x, stages, parts)     # by name, each [N, size]
    logits = Head(...)(features)                # [N, classes]

`x` are the pictures as the backbone takes them, `stages` its features, averaged over the picture and its mirror image, and
`parts` the logits of the parts. Nothing here is trained but the heads, each a linear layer.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from .backbone import CHANNELS, MEAN, STD
from .parts_data import BODY, INDEX, LABELS

VIEWS = ["front", "front_right", "right", "rear_right", "rear", "rear_left", "left", "front_left"]
MIRRORED_VIEWS = ["front", "front_left", "left", "rear_left", "rear", "rear_right", "right", "front_right"]
# Colours without a hue; any other is named by its hue.
SHADES = ["white", "silver", "gray", "black", None]

DOORS = [INDEX[f"{door}_door.{side}"] for door in ("front", "rear") for side in ("left", "right")]
BUMPERS = [INDEX["front_bumper"], INDEX["rear_bumper"]]
PANELS = [INDEX["hood"], INDEX["trunk_lid"]]
# What shows each face of a vehicle.
FACES = [
    ["front_bumper", "hood", "headlight.left", "headlight.right"],
    ["rear_bumper", "trunk_lid", "taillight.left", "taillight.right"],
    ["front_door.left", "rear_door.left"],
    ["front_door.right", "rear_door.right"],
]
# Paint of a door, from below: above it is the window.
PAINTED_SHARE = 0.45
# Added to a part's share of the vehicle before its logarithm.
LEAST_SHARE = 0.003
# Linear RGB -> XYZ relative to D65.
XYZ = [[0.43395, 0.37622, 0.18983], [0.21267, 0.71516, 0.07217], [0.01776, 0.10947, 0.87277]]
LIGHTNESS_BINS = torch.arange(8.0, 100.0, 10.0)
LIGHTNESS_SPREAD = 6.0
COLOURED_CHROMA = 14.0
# Of the features, by name.
SIZES = {
    "shares": BODY - 1 + len(FACES),
    "deep": sum(CHANNELS[-2:]),
    "paint": 5 * (5 + len(LIGHTNESS_BINS)) + 5,
}


def mirrored_shares() -> list[int]:
    """Where each of the features `shares` is found when the picture is mirrored."""
    names = [*LABELS[1:BODY], "face0", "face1", "face.left", "face.right"]
    swap = {".left": ".right", ".right": ".left"}
    return [names.index(next((name.replace(old, new) for old, new in swap.items() if old in name), name)) for name in names]


class Features(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mean", torch.tensor(MEAN).view(1, 3, 1, 1), persistent=False)
        self.register_buffer("std", torch.tensor(STD).view(1, 3, 1, 1), persistent=False)
        self.register_buffer("xyz", torch.tensor(XYZ).view(3, 3, 1, 1), persistent=False)
        self.register_buffer("bins", LIGHTNESS_BINS.view(1, -1, 1, 1), persistent=False)

    def forward(self, x: torch.Tensor, stages: list[torch.Tensor], parts: torch.Tensor) -> dict[str, torch.Tensor]:
        probability = parts.softmax(1)
        vehicle = 1 - probability[:, :1]
        return {
            "shares": self.shares(probability, vehicle),
            "deep": torch.cat([pooled(stage, vehicle) for stage in stages[-2:]], 1),
            "paint": self.paint(x, probability, vehicle),
        }

    def shares(self, probability: torch.Tensor, vehicle: torch.Tensor) -> torch.Tensor:
        """Logarithms of each part's and each face's share of the vehicle."""
        share = probability.mean((2, 3)) / (vehicle.mean((2, 3)) + 1e-3)
        faces = [share[:, [INDEX[name] for name in names]].sum(1, keepdim=True) for names in FACES]
        return torch.log(torch.cat([share[:, 1:BODY], *faces], 1) + LEAST_SHARE)

    def paint(self, x: torch.Tensor, probability: torch.Tensor, vehicle: torch.Tensor) -> torch.Tensor:
        """How light and how coloured the panels, doors, bumpers and the rest of the body are, and what surrounds them."""
        lab = self.lab(x, probability.shape[-2:])
        doors = probability[:, DOORS].sum(1, keepdim=True)
        below = doors.flip(2).cumsum(2).flip(2)
        doors = doors * (below <= PAINTED_SHARE * doors.sum(2, keepdim=True)).to(doors.dtype)
        where = [probability[:, PANELS].sum(1, keepdim=True), doors, probability[:, BUMPERS].sum(1, keepdim=True),
                 probability[:, BODY : BODY + 1], 1 - vehicle]
        chroma = torch.sqrt(lab[:, 1:2] ** 2 + lab[:, 2:3] ** 2 + 1e-6)
        binned = torch.exp(-(((lab[:, :1] - self.bins) / LIGHTNESS_SPREAD) ** 2) / 2)
        seen = torch.cat([lab / 50, chroma / 25, torch.sigmoid((chroma - COLOURED_CHROMA) / 2), binned], 1)
        means = [(seen * each).mean((2, 3)) / (each.mean((2, 3)) + 1e-3) for each in where]
        return torch.cat([*means, *(torch.sqrt(each.mean((2, 3))) for each in where)], 1)

    def lab(self, x: torch.Tensor, size: torch.Size) -> torch.Tensor:
        """CIELAB of the picture's cells, [N, 3, h, w]."""
        rgb = F.avg_pool2d((x * self.std + self.mean).clamp(0, 1), int(x.shape[-1]) // int(size[-1]))
        root = F.conv2d((rgb + 1e-4) ** 2.2, self.xyz).clamp(min=1e-5) ** (1 / 3)
        return torch.cat([116 * root[:, 1:2] - 16, 500 * (root[:, :1] - root[:, 1:2]), 200 * (root[:, 1:2] - root[:, 2:])], 1)


def pooled(stage: torch.Tensor, vehicle: torch.Tensor) -> torch.Tensor:
    """Mean of features over the vehicle."""
    weight = F.avg_pool2d(vehicle, int(vehicle.shape[-1]) // int(stage.shape[-1]))
    return (stage * weight).mean((2, 3)) / (weight.mean((2, 3)) + 1e-3)


class Head(nn.Module):
    """A linear layer over some of the features."""

    def __init__(self, names: tuple[str, ...], size: int, classes: int):
        super().__init__()
        self.names = names
        self.linear = nn.Linear(size, classes)

    def forward(self, features: dict[str, torch.Tensor]) -> torch.Tensor:
        return self.linear(torch.cat([features[name] for name in self.names], 1))
