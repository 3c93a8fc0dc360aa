"""The tool runner of Anthropic's SDK over the tools of WIKITRAIL_TOOL_URL."""

import json
import os
import sys
import urllib.request

from anthropic import Anthropic, beta_tool


def call(name, **arguments):
    request = urllib.request.Request(f"{os.environ['WIKITRAIL_TOOL_URL']}/{name}", json.dumps(arguments).encode(),
                                     {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)["observation"]


@beta_tool
def search(query: str) -> str:
    """Open the Wikipedia page that the query names, and get its first sentences; without such a page, similar titles."""
    return call("search", query=query)


@beta_tool
def lookup(keyword: str) -> str:
    """Get the next sentence of the open page that contains the keyword."""
    return call("lookup", keyword=keyword)


question = {"role": "user", "content": json.loads(sys.stdin.readline())["question"]}
runner = Anthropic().beta.messages.tool_runner(
    model=os.environ["WIKITRAIL_MODEL"], max_tokens=1024, messages=[question], tools=[search, lookup], max_iterations=8,
    system="Answer with a few words, after you have searched Wikipedia for them.")
print("".join(block.text for block in runner.until_done().content if block.type == "text"))
