"""The mean of several checkpoints of one network, for weights that went on from one another.

    python -m training.average --checkpoints FIRST/parts.pt SECOND/parts.pt --out FOLDER/parts.pt
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoints", type=Path, nargs="+", required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    states = [torch.load(path, map_location="cpu", weights_only=True) for path in args.checkpoints]
    args.out.parent.mkdir(parents=True, exist_ok=True)
    torch.save({name: torch.stack([each[name].float() for each in states]).mean(0) for name in states[0]}, args.out)


if __name__ == "__main__":
    main()
