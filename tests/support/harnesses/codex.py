"""A stand-in for `codex app-server`, as version 0.169 spoke: the least of its protocol, over real pipes.

    codex.py SCRIPT app-server -c KEY=VALUE …

SCRIPT is a JSON file: a list of turns, each a list of steps, taken in order over all runs; or `model`: then the model
server is asked, and after a `+` in the model's name stands what goes wrong. What came in is kept in
`heard.jsonl` in CODEX_HOME, and each thread's inputs in `threads/ID.json`, so a thread can be resumed or lost.
"""
import json, os, signal, subprocess, sys, time, tomllib

import model

home = os.environ["CODEX_HOME"]
script_path = sys.argv[1]
settings = {}
for at, word in enumerate(sys.argv):
    if word == "-c":
        key, value = sys.argv[at + 1].split("=", 1)
        settings[key] = tomllib.loads("v=" + value)["v"]
os.makedirs(home + "/threads", exist_ok=True)
pieces = 0


def note(entry):
    with open(home + "/heard.jsonl", "a") as file:
        file.write(json.dumps(entry) + "\n")


def write(data):
    step = pieces or len(data)
    for at in range(0, len(data), step):
        sys.stdout.buffer.write(data[at : at + step])
        sys.stdout.buffer.flush()


def send(message):
    write(json.dumps(message).encode() + b"\n")


def hear():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    message = json.loads(line)
    note(message)
    return message


asked = 0


def ask(method, params):
    global asked
    asked += 1
    send({"method": method, "id": asked, "params": params})
    while True:
        message = hear()
        if message.get("id") == asked and "method" not in message:
            return message


class Server:
    """Our MCP server, as the settings name it: its environment holds what they name, and no more."""

    def __init__(self, of):
        env = {name: os.environ[name] for name in of["env_vars"] + ["PATH", "HOME"] if name in os.environ}
        self.child = subprocess.Popen([of["command"]] + of["args"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
        self.number = 0
        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "codex", "version": "0"}}
        self.call("initialize", about)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.child.stdin.write(json.dumps(message).encode() + b"\n")
        self.child.stdin.flush()

    def call(self, method, params):
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        while True:
            message = json.loads(self.child.stdout.readline())
            if message.get("id") == self.number:
                return message


servers = {}
total = 0


def run(thread, turn, steps):
    global total, pieces
    ids = {"threadId": thread, "turnId": turn}
    tell = lambda method, params: send({"method": method, "params": {**ids, **params}})
    said = None

    def end(status, error=None):
        items = [said] if said else []
        send({"method": "turn/completed", "params": {"threadId": thread, "turn": {"id": turn, "items": items, "status": status, "error": error}}})

    number, became = -1, None
    while True:
        # A list has its steps; whoever makes them while the turn runs is told what became of the last.
        try:
            step = steps.send(became) if hasattr(steps, "send") else next(steps)
        except StopIteration:
            break
        number, became = number + 1, None
        item = {"id": "%s-%d" % (turn, number)}
        if "pieces" in step:
            pieces = step["pieces"]
        if "noise" in step:
            write(step["noise"].encode())
        if "huge" in step:
            write(b'{"method":"huge","params":"' + b"x" * step["huge"] + b'"}\n')
        if "stderr" in step:
            sys.stderr.write(step["stderr"])
            sys.stderr.flush()
        if "say" in step:
            item |= {"type": "agentMessage", "text": step["say"], "phase": step.get("phase")}
            for at in range(0, len(step["say"]), 7):
                tell("item/agentMessage/delta", {"itemId": item["id"], "delta": step["say"][at : at + 7]})
            tell("item/completed", {"item": item})
            said = item
        if "tool" in step:
            arguments, named = step["arguments"], step.get("server", "vault-agent")
            item |= {"type": "mcpToolCall", "server": named, "tool": step["tool"], "status": "inProgress", "arguments": arguments, "result": None, "error": None}
            tell("item/started", {"item": item})
            if named not in servers:
                servers[named] = Server(settings["mcp_servers." + named])
            server = servers[named]
            about = {"codex_approval_kind": "mcp_tool_call", "tool_name": step["tool"], "tool_params": arguments}
            may = ask("mcpServer/elicitation/request", {**ids, "serverName": named, "mode": "form", "_meta": about, "message": "May it?"})
            if may.get("result", {}).get("action") == "accept":
                answer = server.call("tools/call", {"name": step["tool"], "arguments": arguments})
            else:
                answer = {"error": {"message": "user rejected MCP tool call"}}
            result = answer.get("result")
            bad = result is None or result.get("isError", False)
            became = json.dumps(result)
            item |= {"status": "failed" if bad else "completed", "result": result, "error": answer.get("error")}
            tell("item/completed", {"item": item})
        if "command" in step:
            item |= {"type": "commandExecution", "command": step["command"], "cwd": os.getcwd(), "status": "inProgress", "aggregatedOutput": None, "exitCode": None}
            tell("item/started", {"item": item})
            answer = ask("item/commandExecution/requestApproval", {**ids, "itemId": item["id"], "command": step["command"], "cwd": os.getcwd()})
            if answer.get("result", {}).get("decision") == "accept":
                done = subprocess.run(["sh", "-c", step["command"]], capture_output=True, text=True)
                item |= {"status": "completed", "aggregatedOutput": done.stdout + done.stderr, "exitCode": done.returncode}
            else:
                item |= {"status": "declined"}
            tell("item/completed", {"item": item})
        if "ask" in step:
            ask(step["ask"], {**ids, **step.get("params", {})})
        if "retry" in step:
            tell("error", {"error": step["retry"], "willRetry": True})
        if "usage" in step:
            total += step["usage"]
            count = lambda n: {"totalTokens": n, "inputTokens": n, "cachedInputTokens": n // 2, "cacheWriteInputTokens": 0, "outputTokens": n // 10}
            tell("thread/tokenUsage/updated", {"tokenUsage": {"total": count(total), "last": count(step["usage"])}})
        if "kill" in step:
            os.kill(os.getpid(), signal.SIGKILL)
        if "exit" in step:
            sys.exit(step["exit"])
        if "hang" in step:
            subprocess.Popen(["sleep", "600"], start_new_session=True)
            note({"hangs": os.getpid()})
            while True:
                hear()
        if "fail" in step:
            error = step["fail"]
            if isinstance(error, tuple):
                error = {"message": error[1], "codexErrorInfo": {"httpConnectionFailed": {"httpStatusCode": error[0]}}}
            return end("failed", error)
    end("completed")


note({"argv": sys.argv[2:], "env": sorted(os.environ), "pid": os.getpid()})
while True:
    message = hear()
    method, params = message.get("method"), message.get("params")
    if "id" not in message:
        continue
    answer = lambda result: send({"id": message["id"], "result": result})
    if method == "initialize":
        answer({"userAgent": "stand-in"})
        send({"method": "configWarning", "params": {"summary": "no bubblewrap"}})
    elif method in ("thread/start", "thread/resume"):
        thread = params.get("threadId") or "thread-%d" % time.monotonic_ns()
        path = "%s/threads/%s.json" % (home, thread)
        if method == "thread/resume" and not os.path.exists(path):
            send({"error": {"code": -32600, "message": "no rollout found for thread id " + thread}, "id": message["id"]})
            continue
        inputs = json.load(open(path)) if method == "thread/resume" else []
        json.dump(inputs, open(path, "w"))
        total = 1000 * len(inputs)
        answer({"thread": {"id": thread}, "model": params["model"]})
    elif method == "turn/start":
        path = "%s/threads/%s.json" % (home, params["threadId"])
        inputs = json.load(open(path)) + [params["input"]]
        json.dump(inputs, open(path, "w"))
        if script_path == "model":
            provider = settings["model_providers.vault-agent"]
            history = [{"type": "message", "role": "user", "content": one} for one in inputs]
            wrong = settings["model"].split("+")[1:]
            key = os.environ[provider["env_key"]]
            steps = model.steps(provider["base_url"], key, settings["model"], history, wrong)
        else:
            turns = json.load(open(script_path))
            steps = iter(turns.pop(0) if turns else [{"say": "(the script is over)"}])
            json.dump(turns, open(script_path, "w"))
        turn = "turn-%d" % time.monotonic_ns()
        answer({"turn": {"id": turn, "status": "inProgress"}})
        run(params["threadId"], turn, steps)
    else:
        send({"error": {"code": -32601, "message": "no " + method}, "id": message["id"]})
