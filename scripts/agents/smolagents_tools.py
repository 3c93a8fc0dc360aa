"""The ToolCallingAgent of smolagents over the tools of WIKITRAIL_TOOL_URL."""

import json
import os
import sys
import urllib.request

from smolagents import LogLevel, OpenAIServerModel, ToolCallingAgent, tool


def call(name, **arguments):
    request = urllib.request.Request(f"{os.environ['WIKITRAIL_TOOL_URL']}/{name}", json.dumps(arguments).encode(),
                                     {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)["observation"]


@tool
def search(query: str) -> str:
    """Open the Wikipedia page that the query names, and get its first sentences; without such a page, similar titles.

    Args:
        query: the title of a page, or words
    """
    return call("search", query=query)


@tool
def lookup(keyword: str) -> str:
    """Get the next sentence of the open page that contains the keyword.

    Args:
        keyword: letters to look for
    """
    return call("lookup", keyword=keyword)


model = OpenAIServerModel(os.environ["WIKITRAIL_MODEL"], api_base=os.environ["OPENAI_BASE_URL"], api_key=os.environ["OPENAI_API_KEY"])
# Its log would be in the answer's way on standard output.
agent = ToolCallingAgent([search, lookup], model, max_steps=8, verbosity_level=LogLevel.OFF)
print(agent.run(json.loads(sys.stdin.readline())["question"] + "\nAnswer with a few words."))
