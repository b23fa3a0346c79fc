#!/usr/bin/env python3
"""What `inbox scan` captures of LoCoMo's conversations, against the data set's own observations.

    locomo.py BENCH [BINARY [CAPTURED]]

BENCH holds locomo-dev.json, locomo-dev-observations.json and locomo_to_vault.py (the data set is CC BY-NC 4.0: for
measuring only, and no part of this repository). CAPTURED is a file to write
what was captured to (`src/capture/tests.rs` counts duplicates in it). Prints, by conversation and for all: precision, recall and F1 by turn (a
turn counts as worth capturing where an observation names it), and recall@10 of the questions' evidence where all turns,
only the captured turns, or only the captured words are indexed.
"""
import collections, json, os, subprocess, sys, tempfile
from datetime import datetime, timedelta

BENCH, BINARY = sys.argv[1], os.path.abspath(sys.argv[2] if len(sys.argv) > 2 else "target/release/vault-agent")
CAPTURED = open(sys.argv[3], "w") if len(sys.argv) > 3 else None
sys.path.insert(0, BENCH)
import locomo_to_vault as locomo

conversations = json.load(open(f"{BENCH}/locomo-dev.json"))["conversations"]
observed = json.load(open(f"{BENCH}/locomo-dev-observations.json"))["conversations"]


def vault(folder, text_of):
    """Writes the turns for which `text_of` gives a text; where each stands."""
    os.makedirs(folder)
    open(f"{folder}/vault-agent.toml", "w").close()
    where = {}
    for c in conversations:
        for s in c["sessions"]:
            t0 = datetime.strptime(s["date"], locomo.ISO)
            path = f"logs/discord-channel/{c['conv_id']}/{t0.strftime('%Y%m%dT%H%M%SZ')}_0001.md"
            turns = []
            for i, t in enumerate(s["turns"]):
                text = text_of(c["conv_id"], t)
                if text:
                    at = (t0 + timedelta(seconds=30 * i)).strftime(locomo.ISO)
                    turns.append((t["dia_id"], at, "user", t["speaker"], text))
            if turns:
                head = {"channel": c["conv_id"], "session": s["session"], "started": s["date"]}
                for turn, (first, last) in locomo.write_session(f"{folder}/{path}", head, turns).items():
                    where[c["conv_id"], turn] = (path, first, last)
    return where


def run(folder, *args, stdin=None):
    env = dict(os.environ, VAULT_AGENT_STATE_DIR=folder + "-state", VAULT_AGENT_CACHE_DIR=folder + "-cache")
    done = subprocess.run([BINARY, "--vault", folder, "--json", *args], input=stdin, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout


def scores(hit, found, gold):
    precision, recall = hit / found, hit / gold
    return f"P {precision:.3f} R {recall:.3f} F1 {2 * precision * recall / (precision + recall):.3f}"


def capture(folder):
    vault(folder, lambda _, turn: locomo.turn_text(turn))
    with open(f"{folder}/vault-agent.toml", "w") as settings:
        settings.write("[inbox]\nper_day = 1000\nopen = 10000\n")
    captured, sums = {}, [0, 0, 0]
    for c in conversations:
        name = c["conv_id"]
        found = json.loads(run(folder, "inbox", "scan", "--dry-run", f"logs/discord-channel/{name}"))
        if CAPTURED:
            print(json.dumps(found), file=CAPTURED, flush=True)
        by_turn = collections.defaultdict(list)
        for one in found:
            by_turn[one["ref"].split("#^")[1].replace("-", ":")].append(one["text"])
        gold = {turn for s in observed[name].values() for fact in s for turn in fact["turns"]}
        counts = [len(gold & set(by_turn)), len(by_turn), len(gold)]
        sums = [a + b for a, b in zip(sums, counts)]
        captured.update({(name, turn): texts for turn, texts in by_turn.items()})
        print(name, scores(*counts), f"{len(found)} candidates of {len(by_turn)} turns")
    print("all    ", scores(*sums))
    return captured


def recall(folder, name, text_of):
    where = vault(folder, text_of)
    asked = {q["qid"]: (c["conv_id"], q) for c in conversations for q in c["qa"] if q["evidence"]}
    lines = [
        json.dumps({"id": qid, "query": q["question"], "limit": 10, "scope": f"logs/discord-channel/{conv}/"})
        for qid, (conv, q) in asked.items()
    ]
    total = 0
    for line in run(folder, "search", "--stdin", stdin="\n".join(lines) + "\n").splitlines():
        answer = json.loads(line)
        conv, q = asked[answer["id"]]

        def is_found(turn):
            path, first, last = where.get((conv, turn), ("", 0, -1))
            return any(h["path"] == path and first <= h["line"] <= last for h in answer["hits"])

        total += sum(map(is_found, q["evidence"])) / len(q["evidence"])
    print(f"recall@10, {name}: {total / len(asked):.3f}")


with tempfile.TemporaryDirectory() as work:
    captured = capture(f"{work}/scan")
    recall(f"{work}/all", "all turns", lambda _, turn: locomo.turn_text(turn))
    recall(f"{work}/turns", "captured turns", lambda c, turn: (c, turn["dia_id"]) in captured and locomo.turn_text(turn))
    recall(f"{work}/words", "captured words", lambda c, turn: " ".join(captured.get((c, turn["dia_id"]), [])))
