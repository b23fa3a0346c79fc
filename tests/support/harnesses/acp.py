"""A stand-in for an agent of the Agent Client Protocol, as `claude-agent-acp` 0.49 and `codex-acp` 0.16 spoke.

    acp.py SCRIPT [no-resume] [login]
    acp.py model URL [die-after-tool] [costs]

SCRIPT is a JSON file: a list of turns, each a list of steps, taken in order over all runs; with `model` the model
server at URL is asked. What came in is kept in
`heard.jsonl` in the working directory, and each session in `ID.json`. `login` wants `authenticate` first.
"""
import json, os, signal, subprocess, sys, time

import model

script_path, ways = sys.argv[1], sys.argv[2:]
pieces = 0


def note(entry):
    with open("heard.jsonl", "a") as file:
        file.write(json.dumps(entry) + "\n")


def write(data):
    step = pieces or len(data)
    for at in range(0, len(data), step):
        sys.stdout.buffer.write(data[at : at + step])
        sys.stdout.buffer.flush()


def send(message):
    write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")


def hear():
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    message = json.loads(line)
    assert message["jsonrpc"] == "2.0"
    note(message)
    return message


asked = 0


def ask(method, params):
    global asked
    asked += 1
    send({"method": method, "id": "agent-%d" % asked, "params": params})
    while True:
        message = hear()
        if message.get("id") == "agent-%d" % asked and "method" not in message:
            return message.get("result", {})


class Server:
    def __init__(self, of):
        env = {"PATH": os.environ["PATH"], **{one["name"]: one["value"] for one in of["env"]}}
        self.child = subprocess.Popen([of["command"]] + of["args"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=env)
        self.number = 0
        about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "acp", "version": "0"}}
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


servers, started, logged_in = [], {}, "login" not in ways
OPTIONS = [{"kind": "allow_always", "name": "Always", "optionId": "always"}, {"kind": "allow_once", "name": "Allow", "optionId": "once"}, {"kind": "reject_once", "name": "Reject", "optionId": "no"}]


def run(session, steps):
    global pieces
    update = lambda what, **more: send({"method": "session/update", "params": {"sessionId": session, "update": {"sessionUpdate": what, **more}}})

    def tool(number, name, title, kind, arguments, do):
        call = "call-%d" % number
        update("tool_call", toolCallId=call, title=title, kind=kind, status="pending", rawInput={}, content=[])
        update("tool_call_update", toolCallId=call, rawInput=arguments)
        about = {"toolCallId": call, "title": title, "kind": kind, "rawInput": arguments}
        outcome = ask("session/request_permission", {"sessionId": session, "toolCall": about, "options": OPTIONS}).get("outcome", {})
        text, bad = do() if outcome.get("optionId") == "once" else ("The user said no.", True)
        became.append(text)
        content = [{"type": "content", "content": {"type": "text", "text": text}}]
        update("tool_call_update", toolCallId=call, status="failed" if bad else "completed", content=content)

    if "costs" in ways:
        update("usage_update", cost={"currency": "USD", "amount": 0.25})
    number, became = -1, [None]
    while True:
        # A list has its steps; whoever makes them while the turn runs is told what became of the last.
        try:
            step = steps.send(became[-1]) if hasattr(steps, "send") else next(steps)
        except StopIteration:
            break
        number, became = number + 1, [None]
        if "pieces" in step:
            pieces = step["pieces"]
        if "noise" in step:
            write(step["noise"].encode())
        if "huge" in step:
            write(b'{"method":"huge","params":"' + b"x" * step["huge"] + b'"}\n')
        if "stderr" in step:
            sys.stderr.write(step["stderr"])
            sys.stderr.flush()
        if "note" in step:
            update("agent_message_chunk", content={"type": "text", "text": step["note"]})
        if "say" in step:
            named = {"messageId": step["message"]} if "message" in step else {}
            for at in range(0, len(step["say"]), 7):
                update("agent_message_chunk", content={"type": "text", "text": step["say"][at : at + 7]}, **named)
        if "tool" in step:
            of = next(one for one in servers if one["name"] == step.get("server", "vault-agent"))
            if of["name"] not in started:
                started[of["name"]] = Server(of)
            server = started[of["name"]]
            def call():
                result = server.call("tools/call", {"name": step["tool"], "arguments": step["arguments"]})["result"]
                return result["content"][0]["text"], result.get("isError", False)
            name = "mcp__%s__" % of["name"] + step["tool"]
            tool(number, name, name, "other", step["arguments"], call)
        if "command" in step:
            def command():
                done = subprocess.run(["sh", "-c", step["command"]], capture_output=True, text=True)
                return done.stdout + done.stderr, done.returncode != 0
            title, more = step.get("title", step["command"]), step.get("input", {})
            tool(number, "Bash", title, "execute", {"command": step["command"], **more}, command)
        if "ask" in step:
            ask(step["ask"], {"sessionId": session})
        if "kill" in step:
            os.kill(os.getpid(), signal.SIGKILL)
        if "exit" in step:
            sys.exit(step["exit"])
        if "hang" in step:
            subprocess.Popen(["sleep", "600"], start_new_session=True)
            while True:
                hear()
        if "fail" in step:
            error = step["fail"]
            if isinstance(error, tuple):
                error = {"code": -32603, "message": "Internal error", "data": {"message": "API Error: %s %s" % error}}
            return {"error": error}
        if "stop" in step:
            return {"result": {"stopReason": step["stop"]}}
    return {"result": {"stopReason": "end_turn", "usage": {"inputTokens": 10, "cachedReadTokens": 20, "cachedWriteTokens": 0, "outputTokens": 9, "totalTokens": 39}}}


MODES = {"currentModeId": "auto", "availableModes": [{"id": one, "name": one} for one in ("auto", "default", "plan")]}
note({"argv": sys.argv[1:], "env": sorted(os.environ)})
while True:
    message = hear()
    method, params = message.get("method"), message.get("params")
    if "id" not in message:
        continue
    reply = lambda answer: send({"id": message["id"], **answer})
    if method == "initialize":
        able = {} if "no-resume" in ways else {"resume": {}}
        login = [{"id": "key", "type": "env_var", "vars": [{"name": "AGENT_KEY"}]}]
        reply({"result": {"protocolVersion": 1, "agentCapabilities": {"sessionCapabilities": able}, "authMethods": login}})
    elif method == "authenticate":
        logged_in = params["methodId"] == "key" and "AGENT_KEY" in os.environ
        reply({"result": {}} if logged_in else {"error": {"code": -32000, "message": "Authentication required"}})
    elif method in ("session/new", "session/resume"):
        session = params.get("sessionId") or "session-%d" % time.monotonic_ns()
        if not logged_in:
            reply({"error": {"code": -32000, "message": "Authentication required"}})
        elif method == "session/resume" and not os.path.exists(session + ".json"):
            reply({"error": {"code": -32002, "message": "Resource not found: " + session}})
        else:
            open(session + ".json", "a").close()
            servers = params["mcpServers"]
            reply({"result": {"sessionId": session, "modes": MODES}})
    elif method == "session/set_mode":
        reply({"result": {}})
    elif method == "session/prompt":
        if script_path == "model":
            history = [{"type": "message", "role": "user", "content": params["prompt"]}]
            steps = model.steps(ways[0] + "/v1", os.environ.get("AGENT_KEY", ""), "model", history, ways[1:])
        else:
            turns = json.load(open(script_path))
            steps = iter(turns.pop(0) if turns else [{"say": "(the script is over)"}])
            json.dump(turns, open(script_path, "w"))
        reply(run(params["sessionId"], steps))
    else:
        reply({"error": {"code": -32601, "message": "no " + method}})
