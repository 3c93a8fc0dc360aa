"""An agent of the standard library: chat completions with tools, until the model submits an answer or stops calling tools."""

import json
import os
import sys
import urllib.error
import urllib.request

TOOLS = os.environ["WIKITRAIL_TOOL_URL"]
PROMPT = "Answer with a few words. Search Wikipedia first, and submit the answer once you know it."


def ask(url, body=None):
    headers = {"Content-Type": "application/json", "Authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data, headers)) as reply:
        return json.load(reply)


tools = ask(TOOLS)
messages = [{"role": "system", "content": PROMPT}, {"role": "user", "content": json.loads(sys.stdin.readline())["question"]}]
for _ in range(10):
    body = {"model": os.environ["WIKITRAIL_MODEL"], "messages": messages, "tools": tools}
    message = ask(os.environ["OPENAI_BASE_URL"] + "/chat/completions", body)["choices"][0]["message"]
    messages.append(message)
    if not message.get("tool_calls"):
        print(message["content"])
        break
    for call in message["tool_calls"]:
        try:
            observation = ask(f"{TOOLS}/{call['function']['name']}", json.loads(call["function"]["arguments"]))["observation"]
        except (urllib.error.HTTPError, ValueError) as error:
            observation = f"The call failed: {error}"
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": observation})
    if message["tool_calls"][-1]["function"]["name"] == "submit":
        break
