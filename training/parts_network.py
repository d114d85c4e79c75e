"""The network of `models/vehicle-parts`: backbone, pyramid, and a class for each cell of 4 x 4 pixels."""

from __future__ import annotations

import torch
from torch import nn

from .backbone import Backbone, Pyramid, Separable
from .parts_data import mirrored_classes

CHANNELS = 96
# Side of the pictures that the released network takes, in pixels.
SIDE = 256


class PartsNetwork(nn.Module):
    """Pictures [N, 3, H, W] as the backbone takes them -> logits [N, classes, H / 4, W / 4]."""

    def __init__(self, backbone: Backbone, classes: int):
        super().__init__()
        self.backbone = backbone
        self.pyramid = Pyramid(CHANNELS)
        self.mix = Separable(CHANNELS, CHANNELS)
        self.register_buffer("sides", torch.from_numpy(mirrored_classes()[:classes].astype("int64")), persistent=False)
        self.classify = nn.Conv2d(CHANNELS, classes, 1)
        # Begins with no class likelier than another.
        nn.init.normal_(self.classify.weight, std=0.01)
        nn.init.zeros_(self.classify.bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.classify(self.mix(self.pyramid(self.backbone(x))))

    def both(self, x: torch.Tensor) -> tuple[list[torch.Tensor], torch.Tensor]:
        """Features and logits of pictures, averaged with those of their mirror images, whose left and right change places."""
        stages = self.backbone(torch.cat([x, x.flip(3)]))
        straight, mirrored = self.classify(self.mix(self.pyramid(stages))).chunk(2)
        halves = [stage.chunk(2) for stage in stages]
        return [(one + other.flip(3)) / 2 for one, other in halves], (straight + mirrored.flip(3).index_select(1, self.sides)) / 2
