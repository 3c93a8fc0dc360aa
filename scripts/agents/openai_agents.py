"""An agent of the OpenAI Agents SDK, which asks the Responses API, over the tools of WIKITRAIL_TOOL_URL."""

import json
import os
import sys
import urllib.request

from agents import Agent, Runner, function_tool, set_tracing_disabled


def call(name, **arguments):
    request = urllib.request.Request(f"{os.environ['WIKITRAIL_TOOL_URL']}/{name}", json.dumps(arguments).encode(),
                                     {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)["observation"]


@function_tool
def search(query: str) -> str:
    """Open the Wikipedia page that the query names, and get its first sentences; without such a page, similar titles."""
    return call("search", query=query)


@function_tool
def lookup(keyword: str) -> str:
    """Get the next sentence of the open page that contains the keyword."""
    return call("lookup", keyword=keyword)


# Traces would go to OpenAI.
set_tracing_disabled(True)
agent = Agent(name="reader", instructions="Answer with a few words, after you have searched Wikipedia for them.",
              model=os.environ["WIKITRAIL_MODEL"], tools=[search, lookup])
print(Runner.run_sync(agent, json.loads(sys.stdin.readline())["question"], max_turns=8).final_output)
