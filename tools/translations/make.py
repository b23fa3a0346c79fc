"""Makes the table of translations from texts that stand side by side in two languages.

    python make.py FOLDER ../../src/search/data/translations.txt

A word is taken for another's translation where IBM Model 1 (Brown et al. 1993), trained in both directions, gives it the
geometric mean of both probabilities of `LEAST` at the least. Scripts without spaces are cut into pairs of characters, as
the index has them.
"""
import collections
import math
import re
import sys

import numpy as np
import snowballstemmer

import sources

# The least probability; one text alone has to give more.
LEAST, LEAST_ALONE = 0.1, 0.5
# So many translations a word and language are kept.
MOST = 3
# A word of more than this share of all texts has no translation of its own.
COMMON = 0.02
ROUNDS = 6
# As in `src/search/analyze/stems.rs`.
STOP = set(
    """a an and are as at be but by for if in into is it no not of on or such that the their then there these they this to was
    will with what when where which who whom whose why how did do does done has have had having were been being would could
    should may might can i me my you your we our us he him his she her its them from about any some than so s t d m ll re ve don
    didn its cannot only must more most over out up down here too very because while during after before per each via etc"""
    .split()
)
stem = snowballstemmer.stemmer("english").stemWord
UNSPACED = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]+")


def english(text):
    return [word for word in re.findall(r"[a-z][a-z'-]+", text.lower())]


def foreign(text, language):
    if language in ("zh", "ja"):
        runs = UNSPACED.findall(text)
        return [run[at:at + 2] for run in runs for at in range(max(len(run) - 1, 1))]
    return re.findall(r"[^\W\d_][^\W\d_'-]+", text.lower())


def model_1(texts):
    """The probability of each word behind given each word before, with the number of texts that have both."""
    before, behind = {}, {}
    a, b, place = [], [], []
    count = 0
    for xs, ys in texts:
        xs = [before.setdefault(word, len(before)) for word in sorted(set(xs))]
        for y in sorted(set(ys)):
            y = behind.setdefault(y, len(behind))
            a += xs
            b += [y] * len(xs)
            place += [count] * len(xs)
            count += 1
    a, b, place = np.array(a), np.array(b), np.array(place)
    keys, cell = np.unique(a.astype(np.int64) * len(behind) + b, return_inverse=True)
    own = keys // len(behind)
    p = np.ones(len(keys))
    for _ in range(ROUNDS):
        weight = p[cell]
        share = weight / np.bincount(place, weight, minlength=count)[place]
        expected = np.bincount(cell, share, minlength=len(keys))
        p = expected / np.bincount(own, expected, minlength=len(before))[own]
    together = np.bincount(cell, minlength=len(keys))
    before, behind = list(before), list(behind)
    return {
        (before[key // len(behind)], behind[key % len(behind)]): (probability, int(n))
        for key, probability, n in zip(keys, p, together) if probability > LEAST / 5
    }


def lexicon(folder, language):
    texts = [(english(own), foreign(other, language)) for own, other in sources.pairs(folder, language)]
    texts = [(xs, ys) for xs, ys in texts if xs and ys and len(xs) <= 25 and len(ys) <= 40]
    for own, other in sources.keywords(folder, language):
        xs, ys = [w for one in own for w in english(one)], [w for one in other for w in foreign(one, language)]
        if xs and ys and len(xs) <= 20 and len(ys) <= 30:
            texts.append((xs, ys))
    there = model_1(texts)
    back = model_1([(ys, xs) for xs, ys in texts])
    of_english = collections.Counter(word for xs, _ in texts for word in set(xs))
    of_foreign = collections.Counter(word for _, ys in texts for word in set(ys))
    for (x, y), (p, n) in there.items():
        score = math.sqrt(p * back.get((y, x), (0.0, 0))[0])
        is_rare = max(of_english[x], of_foreign[y]) <= COMMON * len(texts)
        is_cognate = x[:5] == y[:5]
        if is_rare and not is_cognate and x not in STOP and score >= (LEAST if n > 1 else LEAST_ALONE):
            yield score, x, y


def main(folder, out):
    sources.fetch(folder)
    # By stem, then by language.
    table = collections.defaultdict(lambda: collections.defaultdict(dict))
    for language in sources.LANGUAGES:
        for score, x, y in lexicon(folder, language):
            if not x.isalpha() or "-" in y or "'" in y:
                continue
            x, y = stem(x), y if UNSPACED.match(y) else stem(y)
            if x != y and len(x) > 1:
                for key, name, word in [(x, language, y), (y, "en", x)]:
                    known = table[key][name]
                    known[word] = max(known.get(word, 0.0), score)
    with open(out, "w", encoding="utf-8") as file:
        for key in sorted(table):
            best = {}
            for words in table[key].values():
                for word, score in sorted(words.items(), key=lambda one: (-one[1], one[0]))[:MOST]:
                    best[word] = max(best.get(word, 0.0), score)
            file.write(key + "\t" + " ".join(sorted(best, key=lambda word: (-best[word], word))) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
