#!/usr/bin/env python3
"""Memory, latency and cache of `vault-agent` over one vault, as whole processes and beside its daemon.

    daemon.py --agent PROGRAM --vault DIR --work DIR [--questions FILE.jsonl] [--saves 100] [--no-index]

The vault is used where it is: a note `bench-saves.md` is written and removed. Cache and state go to --work, which is emptied
first (not with --no-index). Prints one line a figure: reindex from nothing, the cache against the text, a question without a
daemon, then beside one: whole processes of search, recall and a prompt's hook, its own memory (RssAnon) after 200
questions, a search right after each save, memory half a minute later and at its highest, and its processor time in twenty
seconds of rest.
"""
import argparse, json, os, random, re, shutil, signal, statistics, subprocess, sys, threading, time

WORDS = ["dark theme with a sidebar", "graph view plugin", "daily notes template", "how to sync a vault on mobile",
         "kanban board tasks", "时间复杂度", "ノート リンク", "community plugins security", "markdown footnotes", "zq500x"]


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("agent", "vault", "work"):
        ap.add_argument("--" + name, required=True)
    ap.add_argument("--questions", help="JSON lines with a `question`")
    ap.add_argument("--saves", type=int, default=100)
    ap.add_argument("--runs", type=int, default=40)
    ap.add_argument("--no-index", action="store_true")
    a = ap.parse_args()
    if not a.no_index:
        shutil.rmtree(a.work, ignore_errors=True)
    for part in ("home", "state", "cache"):
        os.makedirs(os.path.join(a.work, part), exist_ok=True)
    os.makedirs(os.path.join(a.vault, ".obsidian"), exist_ok=True)
    # Settings that are there from the start: with other ones the daemon makes the index anew.
    settings = os.path.join(a.vault, "vault-agent.toml")
    if not os.path.exists(settings):
        open(settings, "w").write('timezone = "UTC"\n')
    env = {"PATH": os.environ["PATH"], "HOME": a.work + "/home", "VAULT_AGENT_STATE_DIR": a.work + "/state",
           "VAULT_AGENT_CACHE_DIR": a.work + "/cache"}
    agent = [a.agent, "--vault", a.vault]
    questions = WORDS
    if a.questions:
        questions = [json.loads(line)["question"] for line in open(a.questions)] + WORDS
    rng = random.Random(7)
    asked = [rng.choice(questions) for _ in range(200)]

    def run(args, given=None):
        begun = time.perf_counter()
        done = subprocess.run(agent + args, env=env, input=given, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        took = time.perf_counter() - begun
        if done.returncode not in (0, 1):
            sys.exit(f"{args}: {done.stderr.decode()[-400:]}")
        return took * 1000, done.stdout.decode()

    def show(what, times):
        times = sorted(times)
        at = lambda share: times[min(len(times) - 1, int(len(times) * share))]
        print(f"{what}: median {at(.5):.1f} ms, 95th {at(.95):.1f}, highest {times[-1]:.1f}, least {times[0]:.1f} (n={len(times)})", flush=True)

    hook = lambda text: run(["hook", "user-prompt-submit"], json.dumps(
        {"session_id": "bench", "cwd": a.vault, "hook_event_name": "UserPromptSubmit", "prompt": text}).encode())[0]
    if not a.no_index:
        before = os.times()
        took, out = run(["reindex"])
        after = os.times()
        cpu = after.children_user + after.children_system - before.children_user - before.children_system
        print(f"reindex from nothing: {took / 1000:.1f} s, {cpu:.1f} s of processor; {out.strip()[-90:]}")
    text = sum(os.path.getsize(os.path.join(d, f)) for d, dirs, fs in os.walk(a.vault) for f in fs if f.endswith(".md"))

    def cache():
        size = sum(os.path.getsize(os.path.join(d, f)) for d, _, fs in os.walk(a.work + "/cache") for f in fs)
        print(f"cache: {size / 1e6:.1f} MB, {size / text:.2f} of the text", flush=True)
    cache()
    show("vault-agent --version", [run(["--version"])[0] for _ in range(a.runs)])
    show("search without a daemon", [run(["--json", "search", q])[0] for q in asked[:a.runs]])

    daemon = subprocess.Popen(agent + ["run"], env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    highest = [0]

    def own():
        for line in open(f"/proc/{daemon.pid}/status"):
            if line.startswith("RssAnon"):
                return int(line.split()[1]) / 1000
        return 0

    def watch():
        while daemon.poll() is None:
            try:
                highest[0] = max(highest[0], own())
            except OSError:
                return
            time.sleep(0.01)
    threading.Thread(target=watch, daemon=True).start()

    def cpu():
        fields = open(f"/proc/{daemon.pid}/stat").read().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) * 1000 // os.sysconf("SC_CLK_TCK")
    note = os.path.join(a.vault, "bench-saves.md")
    try:
        for _ in range(1200):
            if "following" in (open(a.work + "/cache/live").read() if os.path.exists(a.work + "/cache/live") else "") \
                    and os.path.exists(a.work + "/state/ask.sock"):
                break
            time.sleep(0.1)
        time.sleep(25)
        print(f"daemon's own memory after its start: {own():.0f} MB, highest {highest[0]:.0f}", flush=True)
        begun, children = cpu(), os.times()
        show("search beside the daemon", [run(["--json", "search", q])[0] for q in asked])
        now = os.times()
        children = now.children_user + now.children_system - children.children_user - children.children_system
        print(f"... of processor for each: the process {children * 5:.1f} ms, the daemon {(cpu() - begun) / 200:.1f} ms")
        print(f"... its memory then: {own():.0f} MB", flush=True)
        show("recall beside the daemon", [run(["recall", q])[0] for q in asked[:a.runs]])
        show("hook beside the daemon", [hook(q) for q in asked[:a.runs]])
        time.sleep(10)
        print(f"... its memory ten seconds later: {own():.0f} MB, highest so far {highest[0]:.0f}", flush=True)
        begun = cpu()
        time.sleep(20)
        print(f"idle: {cpu() - begun} ms of processor in 20 s", flush=True)
        times = []
        for n in range(a.saves):
            with open(note, "a") as f:
                f.write(f"\nfreshly appended zfresh{n}word here\n")
            took, out = run(["--json", "search", f"zfresh{n}word"])
            if f"zfresh{n}word" not in json.loads(out)["hits"][0]["snippet"]:
                sys.exit("a save was not found")
            times.append(took)
            time.sleep(0.05)
        show("search right after a save", times)
        time.sleep(30)
        print(f"... its memory half a minute later: {own():.0f} MB, highest of all {highest[0]:.0f}", flush=True)
        begun = cpu()
        time.sleep(20)
        print(f"idle: {cpu() - begun} ms of processor in 20 s", flush=True)
        cache()
    finally:
        daemon.send_signal(signal.SIGTERM)
        daemon.wait(30)
        if os.path.exists(note):
            os.remove(note)


if __name__ == "__main__":
    main()
