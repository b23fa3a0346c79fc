"""Asks the scripted model server over the responses wire, as the stand-ins' programs would."""
import json, urllib.error, urllib.request


def ask(url, key, model, history):
    """The items of the answer; or the HTTP status, None without one, and the words of a failure."""
    body = json.dumps({"model": model, "input": history, "stream": False}).encode()
    headers = {"content-type": "application/json", "authorization": "Bearer " + key}
    try:
        with urllib.request.urlopen(urllib.request.Request(url + "/responses", body, headers)) as answer:
            return json.load(answer)["output"], None, None
    except urllib.error.HTTPError as error:
        return None, error.code, error.read().decode()
    except OSError as error:
        return None, None, str(error)


def steps(url, key, model, history, wrong):
    """Steps for a turn, made while it runs: each is told what became of the one before it."""
    while True:
        items, status, words = ask(url, key, model, history)
        if items is None:
            yield {"fail": (status, words)}
            return
        calls = [item for item in items if item["type"] == "function_call"]
        for item in items:
            if item["type"] == "message":
                yield {"say": item["content"][0]["text"]}
        for call in calls:
            said = yield {"tool": call["name"], "arguments": json.loads(call["arguments"])}
            history += [call, {"type": "function_call_output", "call_id": call["call_id"], "output": said}]
            if "die-after-tool" in wrong:
                yield {"kill": 9}
        if not calls:
            return
