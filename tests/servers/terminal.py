"""Runs a program at a terminal of its own. As soon as it asks about a call, it gets the first argument: `SIGINT`, or keys. Prints
what stood on the terminal, then its exit code; one that hasn't ended after a minute is killed."""
import os
import pty
import select
import signal
import sys
import time

answer, command = sys.argv[1], sys.argv[2:]
pid, terminal = pty.fork()
if pid == 0:
    os.execvp(command[0], command)
shown, end, answered = b"", time.monotonic() + 60, False
while time.monotonic() < end:
    if not select.select([terminal], [], [], 0.1)[0]:
        continue
    try:
        piece = os.read(terminal, 65536)
    except OSError:
        piece = b""
    if not piece:
        break
    shown += piece
    if b"[n]o? " in shown and not answered:
        answered = True
        if answer == "SIGINT":
            os.kill(pid, signal.SIGINT)
        else:
            os.write(terminal, answer.encode())
else:
    os.kill(pid, signal.SIGKILL)
sys.stdout.write(shown.decode().replace("\r", ""))
print("exit", os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
