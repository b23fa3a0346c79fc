#!/usr/bin/env python3
"""Print src/embed/tokens/unicode.rs: the Unicode classes that the BERT tokenizer asks for, as sorted ranges."""
import sys
import unicodedata


def ranges(test):
    out = []
    for c in range(0x80, 0x110000):
        if not test(c):
            continue
        if out and out[-1][1] == c - 1:
            out[-1][1] = c
        else:
            out.append([c, c])
    return out


def table(name, doc, rows):
    print(f"/// {doc}\n#[rustfmt::skip]\npub const {name}: [(u32, u32); {len(rows)}] = [")
    line = "   "
    for lo, hi in rows:
        item = f" ({lo:#x}, {hi:#x}),"
        if len(line) + len(item) > 108:
            print(line)
            line = "   "
        line += item
    print(line + "\n];\n")


cat = lambda c: unicodedata.category(chr(c))
print(f"""//! Unicode classes beyond ASCII that the BERT tokenizer asks for (Unicode {unicodedata.unidata_version}), as sorted
//! ranges. Made by `tools/distill/unicode.py`.

/// Whether `c` (beyond ASCII) lies in one of the `ranges`.
pub fn within(ranges: &[(u32, u32)], c: char) -> bool {{
    let c = u32::from(c);
    let at = ranges.partition_point(|range| range.1 < c);
    ranges.get(at).is_some_and(|range| range.0 <= c)
}}
""")
table("PUNCTUATION", "General categories `P*`.", ranges(lambda c: cat(c)[0] == "P"))
table("NONSPACING", "General category `Mn`: what stripping accents removes.", ranges(lambda c: cat(c) == "Mn"))
table("CONTROL", "General categories `Cc`, `Cf` and `Co`: removed.", ranges(lambda c: cat(c) in ("Cc", "Cf", "Co")))
