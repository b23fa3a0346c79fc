"""An MCP server over standard input and output that behaves as its first argument says. The second argument is a file
that it writes its process id to, and those of its children."""
import json
import os
import subprocess
import sys

mode, pids = sys.argv[1], sys.argv[2]


def note(pid):
    with open(pids, "a") as file:
        file.write(f"{pid}\n")


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def answer(request, result):
    say({"jsonrpc": "2.0", "id": request["id"], "result": result})


def wait():
    while True:
        if not sys.stdin.readline():
            # A server that doesn't care that nobody speaks to it any more.
            subprocess.run(["sleep", "600"])


note(os.getpid())
if mode == "hang":
    wait()
if mode == "exit":
    sys.stderr.write("no good: the key is " + os.environ.get("SECRET_OF_SERVER", "none") + "\n")
    sys.exit(3)
if mode == "garbage":
    sys.stdout.write("hello\n{\"half\": \n{starting: now}\n\x00\xff\n[1,2]\n{\"jsonrpc\":\"2.0\",\"id\":999,\"result\":{}}\n" + "x" * 1_000_000 + "\n")
    sys.stdout.flush()
if mode == "children":
    for extra in ({}, {"start_new_session": True}):
        note(subprocess.Popen(["sleep", "600"], **extra).pid)


def tool(name):
    return {"name": name, "description": f"Does {name}.", "inputSchema": {"type": "object", "properties": {"q": {"type": "string"}}}}


def call(request):
    name = request["params"]["name"]
    given = request["params"].get("arguments")
    if mode == "children":
        note(f"called {json.dumps(given)}")
    if mode == "die":
        sys.stderr.write("out of cheese\n")
        sys.stderr.flush()
        os._exit(7)
    if mode == "stuck":
        note(0)
        wait()
    if mode == "big":
        return {"content": [{"type": "text", "text": "b" * 10_000_000}]}
    if mode == "huge":
        return {"content": [{"type": "text", "text": "b" * 34_000_000}]}
    if mode == "number":
        return {"content": [{"type": "text", "text": "seen"}], "structuredContent": {"n": float("inf")}}
    if mode == "deep":
        deep = {}
        for _ in range(200):
            deep = {"in": deep}
        return {"content": [{"type": "text", "text": "seen"}], "structuredContent": deep}
    if mode == "picture":
        return {"content": [{"type": "image", "mimeType": "image/png", "data": "A" * 40_000}, {"type": "text", "text": "seen"}]}
    if mode == "new_kind":
        return {"content": [{"type": "hologram", "data": "x"}, {"type": "text", "text": "seen"}, {"type": "image"}]}
    if mode == "error":
        return {"isError": True, "content": [{"type": "text", "text": "the page is gone"}]}
    if mode == "env":
        return {"content": [{"type": "text", "text": json.dumps(dict(os.environ)) + " in " + os.getcwd()}]}
    if mode == "once":
        # Asks for what it may not have, before it answers.
        say({"jsonrpc": "2.0", "id": "s1", "method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}})
        refused = json.loads(sys.stdin.readline())
        return {"content": [{"type": "text", "text": "refused" if "error" in refused else "sampled"}]}
    return {"content": [{"type": "text", "text": f"{name} {json.dumps(given)}"}]}


for line in sys.stdin:
    request = json.loads(line)
    method = request.get("method")
    if method == "initialize":
        version = request["params"]["protocolVersion"]
        answer(request, {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": {"name": mode, "version": "1"}})
    elif method == "tools/list":
        many = [tool("look"), tool("walk")] + [tool(f"other_{n}") for n in range(298 if mode == "many" else 2)]
        result = {"tools": many}
        if mode == "pages":
            result["nextCursor"] = "again"
        answer(request, result)
    elif method == "tools/call":
        if mode == "refuse":
            say({"jsonrpc": "2.0", "id": request["id"], "error": {"code": -32602, "message": "q is missing"}})
        else:
            answer(request, call(request))
    elif method == "ping":
        answer(request, {})
wait()
