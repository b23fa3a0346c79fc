#!/usr/bin/env python3
"""Train the static table: one vector a token, summed and normalised, to give the sentence model's similarities.

    train.py TEXTS.txt TEACHER.npy VOCAB.npy OUT.npy [--dim 256] [--epochs 6] [--threads 1]

Start: each token through the sentence model alone (VOCAB.npy, from vocab.py), the first DIM principal components,
times a smooth inverse frequency weight (Arora et al. 2017). Then Adam on two losses: the cosine of the summed
vector to the teacher's projected vector, and the squared difference of the two similarity matrices in a batch.
Tokens are dropped at random in half of the batches, so that no table entry leans on its usual company.
"""
import argparse
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("texts")
    ap.add_argument("teacher")
    ap.add_argument("vocab")
    ap.add_argument("out")
    ap.add_argument("--dim", type=int, default=256)
    ap.add_argument("--epochs", type=int, default=6)
    ap.add_argument("--threads", type=int, default=1)
    ap.add_argument("--lr", type=float, default=2e-3)
    ap.add_argument("--batch", type=int, default=512)
    ap.add_argument("--start", help="a table to go on from, instead of the tokens' own vectors (same dimension and teacher)")
    a = ap.parse_args()
    torch.set_num_threads(a.threads)
    torch.manual_seed(0)
    rng = np.random.default_rng(0)
    from tokenise import ids
    texts = open(a.texts, encoding="utf-8").read().splitlines()
    tok = [x[:64] for x in ids(texts)]
    teacher = np.load(a.teacher).astype(np.float32)
    vocab = np.load(a.vocab)

    count = np.bincount(np.concatenate(tok), minlength=len(vocab)).astype(float)
    p = (count + 1) / (count.sum() + len(vocab))
    mean = teacher.mean(0)
    basis = np.linalg.svd(teacher[:30000] - mean, full_matrices=False)[2][: a.dim]
    target = torch.tensor((teacher - mean) @ basis.T)
    tfull = torch.tensor(teacher)
    start = (vocab / np.linalg.norm(vocab, axis=1, keepdims=True) - mean) @ basis.T
    start *= (1e-3 / (1e-3 + p))[:, None]
    start[:999] *= 0.1  # [PAD], [unused..], [CLS], [SEP]: never in a text, save [UNK]
    bag = torch.nn.EmbeddingBag(len(vocab), a.dim, mode="sum", sparse=True)
    bag.weight.data = torch.tensor(np.load(a.start) if a.start else start, dtype=torch.float32)
    if a.start:
        # The components must be those of the table: the projection that maps the teacher onto it best.
        with torch.no_grad():
            known = torch.stack([F.normalize(bag.weight[torch.from_numpy(x)].sum(0), dim=0) for x in tok[:20000]]).numpy()
        basis = np.linalg.lstsq(teacher[:20000] - mean, known, rcond=None)[0].T
        target = torch.tensor((teacher - mean) @ basis.T)
    optim = torch.optim.SparseAdam(bag.parameters(), lr=a.lr)
    held = len(texts) - 2000
    steps = a.epochs * (held // a.batch)
    step, t = 0, time.time()

    def batch(rows, drop):
        parts = [tok[i] for i in rows]
        if drop:
            parts = [x[rng.random(len(x)) > 0.2] if len(x) > 3 else x for x in parts]
        flat = torch.from_numpy(np.concatenate(parts))
        off = torch.from_numpy(np.r_[0, np.cumsum([len(x) for x in parts])[:-1]])
        return F.normalize(bag(flat, off), dim=1)

    def report(name):
        with torch.no_grad():
            rows = np.arange(held, len(texts))
            s = batch(rows, False)
            iu = np.triu_indices(len(rows), 1)
            a_, b_ = (s @ s.T).numpy()[iu], (tfull[held:] @ tfull[held:].T).numpy()[iu]
            c = F.cosine_similarity(s, target[held:]).mean().item()
            print(f"{name}: held-out cosine {c:.4f}, similarity correlation {np.corrcoef(a_, b_)[0, 1]:.4f}, {time.time() - t:.0f} s",
                  file=sys.stderr, flush=True)

    report("start")
    for epoch in range(a.epochs):
        order = rng.permutation(held)
        for k in range(0, held - a.batch + 1, a.batch):
            for g in optim.param_groups:
                g["lr"] = a.lr * (1 - step / steps) + 1e-5
            rows = order[k:k + a.batch]
            s = batch(rows, step % 2 == 0)
            loss = (1 - F.cosine_similarity(s, target[rows])).mean()
            loss = loss + 20 * ((s @ s.T - tfull[rows] @ tfull[rows].T) ** 2).mean()
            optim.zero_grad()
            loss.backward()
            optim.step()
            step += 1
        report(f"epoch {epoch + 1}")
    np.save(a.out, bag.weight.detach().numpy())


if __name__ == "__main__":
    main()
