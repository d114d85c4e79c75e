"""The network of `models/damage-finder`: backbone, pyramid, and for each cell of 4 x 4 pixels whether it is damaged, and how."""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F

from .backbone import Backbone, Pyramid, Separable

CHANNELS = 96
# After the first channel, which tells damage from none.
TYPES = ("scratch", "dent")


class DamageNetwork(nn.Module):
    """Pictures [N, 3, H, W] as the backbone takes them -> logits [N, 1 + types, H / 4, W / 4].

    The first logit is that of any damage; the others are those of its type, given that there is one.
    """

    def __init__(self, backbone: Backbone):
        super().__init__()
        self.backbone = backbone
        self.pyramid = Pyramid(CHANNELS)
        self.mix = Separable(CHANNELS, CHANNELS)
        # Sees further: a dent shows by what lies around it.
        self.around = Separable(CHANNELS, CHANNELS)
        self.classify = nn.Conv2d(CHANNELS, 1 + len(TYPES), 1)
        nn.init.normal_(self.classify.weight, std=0.01)
        nn.init.zeros_(self.classify.bias)
        # Begins with little damage anywhere.
        nn.init.constant_(self.classify.bias[:1], -2.0)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.mix(self.pyramid(self.backbone(x)))
        wide = F.interpolate(self.around(F.avg_pool2d(x, 4)), scale_factor=4.0, mode="nearest")
        return self.classify(x + wide)
