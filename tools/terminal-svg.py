#!/usr/bin/env python3
"""Draws a terminal session as an SVG, for the README.

    tools/terminal-svg.py --binary target/release/vault-agent --out docs/terminal.svg

Runs the real program on a new vault: the sample reminder fires, its line is gone, a line written with
an editor gets its id. Nothing in the picture is written by hand: each output line is what the program
said, with its colours. VAULT_AGENT_NOW freezes the clock, so the same program draws the same picture,
random ids apart.
"""
import argparse
import html
import os
import re
import subprocess
import tempfile

COLOURS = {"1": ("font-weight", "bold"), "2": ("opacity", "0.65"), "31": ("fill", "#f07178"), "32": ("fill", "#c3e88d"),
           "33": ("fill", "#ffcb6b"), "34": ("fill", "#82aaff"), "35": ("fill", "#c792ea"), "36": ("fill", "#89ddff")}
LINE, CHAR = 20, 8.43


def session(binary):
    """[(kind, text)] of a session, kind being "in" for what a person types and "out" for what is said."""
    rows = []
    with tempfile.TemporaryDirectory() as temp:
        vault = os.path.join(temp, "MyVault")
        env = {"HOME": temp, "PATH": os.environ["PATH"], "TZ": "Europe/London", "CLICOLOR_FORCE": "1",
               "VAULT_AGENT_STATE_DIR": os.path.join(temp, "state"), "VAULT_AGENT_CACHE_DIR": os.path.join(temp, "cache")}

        def say(shown, *argv, now, keep=lambda line: True):
            rows.append(("in", shown))
            done = subprocess.run([binary, *argv], env=env | {"VAULT_AGENT_NOW": now}, cwd=temp, text=True,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
            rows.extend(("out", line) for line in done.stdout.splitlines() if keep(line))

        say("vault-agent init MyVault", "init", "MyVault", now="2026-12-01T09:28:00Z",
            keep=lambda line: "Reminders" in line or "MEMORY" in line)
        note = os.path.join(vault, "Reminders.md")
        rows.append(("in", "grep '^- \\[ \\]' MyVault/Reminders.md"))
        rows.extend(("out", line) for line in open(note, encoding="utf-8").read().splitlines() if line.startswith("- [ ]"))
        rows.append(("in", "echo '- [ ] date=2026-12-01 time=18:00 recur=weekly msg=\"Call \\\"Mum\\\"\"' >> MyVault/Reminders.md"))
        with open(note, "a", encoding="utf-8") as out:
            out.write('- [ ] date=2026-12-01 time=18:00 recur=weekly msg="Call \\"Mum\\""\n')
        say("vault-agent tick          # once a minute; `vault-agent run` does it for you", "tick", "--vault", vault,
            now="2026-12-01T09:30:00Z")
        rows.append(("in", "grep '^- \\[ \\]' MyVault/Reminders.md"))
        rows.extend(("out", line) for line in open(note, encoding="utf-8").read().splitlines() if line.startswith("- [ ]"))
        say("vault-agent remind preview --count 2", "remind", "preview", "--count", "2", "--vault", vault,
            now="2026-12-01T09:31:00Z")
    return rows


def spans(text):
    """The text as SVG spans, with the colours of its escape sequences."""
    out, style = [], {}
    for part in re.split(r"(\x1b\[[0-9;]*m)", text):
        if part.startswith("\x1b["):
            for code in part[2:-1].split(";"):
                if code in ("", "0"):
                    style = {}
                elif code in COLOURS:
                    style |= dict([COLOURS[code]])
        elif part:
            attributes = "".join(f' {name}="{value}"' for name, value in style.items())
            out.append(f"<tspan{attributes}>{html.escape(part)}</tspan>")
    return "".join(out)


def draw(rows):
    """The session as an SVG."""
    plain = [("$ " if kind == "in" else "") + re.sub(r"\x1b\[[0-9;]*m", "", text) for kind, text in rows]
    width = max(map(len, plain)) * CHAR + 40
    height = len(rows) * LINE + 64
    body = []
    for i, (kind, text) in enumerate(rows):
        y = 58 + i * LINE
        prompt = '<tspan fill="#c3e88d">$ </tspan>' if kind == "in" else ""
        fill = "#ffffff" if kind == "in" else "#cfd8dc"
        body.append(f'<text x="20" y="{y}" fill="{fill}" xml:space="preserve">{prompt}{spans(text)}</text>')
    dots = "".join(f'<circle cx="{20 + 20 * i}" cy="20" r="6" fill="{c}"/>' for i, c in enumerate(("#f07178", "#ffcb6b", "#c3e88d")))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height}" font-family="ui-monospace,'
            f'SFMono-Regular,Menlo,Consolas,monospace" font-size="14"><rect width="100%" height="100%" rx="10" '
            f'fill="#1e272e"/>{dots}\n' + "\n".join(body) + "\n</svg>\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--out", required=True)
    args = parser.parse_args()
    with open(args.out, "w", encoding="utf-8") as out:
        out.write(draw(session(os.path.abspath(args.binary))))


if __name__ == "__main__":
    main()
