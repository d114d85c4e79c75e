"""Train the text-line reader with CTC.

    python -m training.train_text --data DIR --out DIR --minutes 30
"""

from __future__ import annotations

import numpy as np
import torch
import torch.nn.functional as F

from .labels import TEXT_LABELS
from .learning import Average, Clock, arguments, shards
from .networks import TextLine
from .reader import PAD, decode_line

INDEX = {ch: i for i, ch in enumerate(TEXT_LABELS)}


def collect(data: dict) -> tuple[list[np.ndarray], list[str]]:
    lines, texts = [], []
    for shard in data.values():
        edges = np.concatenate([[0], np.cumsum(shard["line_width"])])
        for i, text in enumerate(shard["line_text"]):
            text = str(text)
            # A line must leave a step for every character and for a blank between equal neighbours.
            need = len(text) + sum(a == b for a, b in zip(text, text[1:]))
            if shard["line_width"][i] // 4 >= need and text:
                lines.append(shard["line"][:, edges[i]:edges[i + 1]])
                texts.append(text)
    return lines, texts


def batch_of(rng, lines, texts, chosen, augment: bool):
    width = max(64, max(lines[i].shape[1] for i in chosen))
    width = -(-width // 4) * 4 + (4 * int(rng.integers(0, 6)) if augment else 0)
    x = np.full((len(chosen), 1, 32, width), PAD, np.float32)
    for row, i in enumerate(chosen):
        line = lines[i].astype(np.float32)
        if augment:
            if rng.random() < 0.25:
                line = 255 - line
            line = np.clip(line * rng.uniform(0.6, 1.3) + rng.uniform(-25, 25), 0, 255)
            if rng.random() < 0.2:
                line = np.clip(line + rng.normal(0, rng.uniform(1, 14), line.shape), 0, 255)
        x[row, 0, :, :line.shape[1]] = line
    target = [INDEX[ch] for i in chosen for ch in texts[i]]
    return torch.from_numpy(x / 255), torch.tensor(target), torch.tensor([len(texts[i]) for i in chosen])


def accuracy(net, lines, texts, limit=1500):
    """Share of lines read exactly; the padded steps count as in the reader."""
    order = sorted(range(len(lines)), key=lambda i: lines[i].shape[1])[:]
    order = order[::max(1, len(order) // limit)]
    rng, right, wrong = np.random.default_rng(0), 0, []
    net.eval()
    with torch.no_grad():
        for a in range(0, len(order), 50):
            chosen = order[a:a + 50]
            x, _, _ = batch_of(rng, lines, texts, chosen, False)
            for logp, i in zip(net(x).numpy(), chosen):
                got = decode_line(logp)[0].strip()
                right += got == texts[i]
                if got != texts[i]:
                    wrong.append((texts[i], got))
    return right / len(order), wrong


def main() -> None:
    args = arguments(__doc__)
    rng = np.random.default_rng(args.seed)
    net = TextLine(len(TEXT_LABELS))
    if args.start:
        net.load_state_dict(torch.load(args.start, weights_only=True))
    net = net.to(memory_format=torch.channels_last)
    average = Average(net)
    optimiser = torch.optim.AdamW(net.parameters(), lr=args.rate, weight_decay=1e-2)
    clock = Clock(optimiser, args.minutes, args.rate)
    keys = ["line", "line_width", "line_text"]
    data, epoch = {}, 0
    while not clock.over():
        data = shards(args.data, "train", keys, data)
        lines, texts = collect(data)
        widths = np.array([v.shape[1] for v in lines])
        order = np.argsort(widths + rng.uniform(0, 24, len(lines)))
        batches = [order[i:i + 64] for i in range(0, len(order), 64)]
        rng.shuffle(batches)
        net.train()
        total, seen = 0.0, 0
        for chosen in batches:
            if clock.over():
                break
            x, target, lengths = batch_of(rng, lines, texts, list(chosen), True)
            clock.tick()
            with torch.autocast("cpu", torch.bfloat16):
                logp = net(x.to(memory_format=torch.channels_last))
            steps = torch.full((len(chosen),), logp.shape[1], dtype=torch.long)
            loss = F.ctc_loss(logp.float().permute(1, 0, 2), target, steps, lengths, zero_infinity=True)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(net.parameters(), 2.0)
            optimiser.step()
            average.update(net)
            total, seen = total + float(loss.detach()), seen + 1
            if seen % 300 == 0:
                print(f"  {seen}/{len(batches)} loss {total / seen:.4f} time {clock.share():.0%}", flush=True)
        epoch += 1
        average.save(args.out / "text-line.pt")
        held = collect(shards(args.data, "held_out", keys))
        report = ""
        if held[0]:
            value, wrong = accuracy(average.net, *held)
            report = f"held-out exact {value:.3f} {wrong[::max(1, len(wrong) // 6)][:6]}"
        print(f"epoch {epoch}: {len(lines)} lines, loss {total / max(1, seen):.4f} {report} time {clock.share():.0%}", flush=True)


if __name__ == "__main__":
    main()
