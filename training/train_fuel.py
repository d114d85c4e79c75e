"""Train the fuel gauge reader.

    python -m training.train_fuel --data DIR --out DIR --minutes 8

The confidence learns whether the level is right within 0.08; crops that show
no fuel gauge count as wrong.
"""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from .learning import Average, Clock, arguments, colour_jitter, shards, to_input
from .networks import Fuel

KEYS = ["fuel", "fuel_level"]


def main() -> None:
    args = arguments(__doc__)
    rng = np.random.default_rng(args.seed)
    net = Fuel()
    if args.start:
        net.load_state_dict(torch.load(args.start, weights_only=True))
    net = net.to(memory_format=torch.channels_last)
    average = Average(net)
    optimiser = torch.optim.AdamW(net.parameters(), lr=args.rate, weight_decay=2e-2)
    clock = Clock(optimiser, args.minutes, args.rate)
    data, epoch = {}, 0
    while not clock.over():
        data = shards(args.data, "train", KEYS, data)
        pixels = np.concatenate([d["fuel"] for d in data.values()])
        levels = np.concatenate([d["fuel_level"] for d in data.values()])
        order = rng.permutation(len(levels))
        net.train()
        total, seen = 0.0, 0
        for a in range(0, len(order) - 63, 64):
            if clock.over():
                break
            part = order[a:a + 64]
            truth = torch.from_numpy(levels[part])
            shift = tuple(int(v) for v in rng.integers(-2, 3, 2))
            x = colour_jitter(to_input(np.roll(pixels[part], shift, (1, 2))), 0.25)
            clock.tick()
            with torch.autocast("cpu", torch.bfloat16):
                level, confidence = net(x)
            is_gauge = (truth >= 0).float()
            gap = (torch.sigmoid(level.float()) - truth).abs()
            good = is_gauge * (gap.detach() < 0.08).float()
            loss = (F.smooth_l1_loss(torch.sigmoid(level.float()), truth, beta=0.05, reduction="none") * is_gauge).sum() / is_gauge.sum().clamp(min=1)
            loss = loss * 5 + F.binary_cross_entropy_with_logits(confidence.float(), good)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
            average.update(net)
            total, seen = total + float(loss.detach()), seen + 1
        epoch += 1
        average.save(args.out / "fuel.pt")
        held = shards(args.data, "held_out", KEYS)
        report = ""
        if held:
            x = np.concatenate([d["fuel"] for d in held.values()])
            y = np.concatenate([d["fuel_level"] for d in held.values()])
            with torch.no_grad():
                out = [average.net(to_input(x[i:i + 200])) for i in range(0, len(x), 200)]
            level = torch.sigmoid(torch.cat([o[0] for o in out])).numpy()
            sure = torch.sigmoid(torch.cat([o[1] for o in out])).numpy()
            gauge = y >= 0
            gap = np.abs(level - y)[gauge]
            report = (f"held-out mean error {gap.mean():.3f}, within 0.1 {np.mean(gap < 0.1):.3f} (n {gauge.sum()}), "
                      f"sure {np.mean(sure[gauge] > 0.4):.3f} of gauges, {np.mean(sure[~gauge] > 0.4):.3f} of others, within 0.1 when sure {np.mean(gap[sure[gauge] > 0.4] < 0.1):.3f}")
        print(f"epoch {epoch}: {len(levels)} crops, loss {total / max(1, seen):.4f} {report} time {clock.share():.0%}", flush=True)


if __name__ == "__main__":
    main()
