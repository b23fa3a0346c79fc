#!/usr/bin/env python3
"""Prints the messages that labels.tsv names, and those of which a share is measured: a JSON object a line.

usage: messages.py BENCH > FILE, with locomo-dev.json and longmemeval-dev.jsonl.gz in BENCH.
"""
import gzip
import hashlib
import json
import sys


def locomo(bench):
    for talk in json.load(open(f"{bench}/locomo-dev.json"))["conversations"]:
        held = talk["conv_id"] in ("conv-42", "conv-43")
        for session in talk["sessions"]:
            for turn in session["turns"]:
                yield f"{talk['conv_id']}/{turn['dia_id']}", held, session["date"], turn["text"]


def longmemeval(bench):
    seen = set()
    for line in gzip.open(f"{bench}/longmemeval-dev.jsonl.gz", "rt"):
        one = json.loads(line)
        for name, session, date in zip(one["haystack_session_ids"], one["haystack_sessions"], one["haystack_dates"]):
            if name in seen:
                continue
            seen.add(name)
            held = int(hashlib.sha256(name.encode()).hexdigest()[:12], 16) % 2 == 1
            for at, turn in enumerate(session):
                if turn["role"] == "user" and len(turn["content"].encode()) <= 8000:
                    yield f"{name}/{at}", held, date, turn["content"]


for source in (locomo, longmemeval):
    for name, held, date, text in source(sys.argv[1]):
        print(json.dumps({"id": name, "held": held, "day": date[:10].replace("/", "-"), "text": text}))
