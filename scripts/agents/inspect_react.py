"""Inspect's react() agent, in a task of one question, over the tools of WIKITRAIL_TOOL_URL."""

import asyncio
import json
import os
import sys
import urllib.request

from inspect_ai import Task, eval
from inspect_ai.agent import AgentPrompt, react
from inspect_ai.dataset import Sample
from inspect_ai.tool import tool


def call(name, **arguments):
    request = urllib.request.Request(f"{os.environ['WIKITRAIL_TOOL_URL']}/{name}", json.dumps(arguments).encode(),
                                     {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)["observation"]


@tool
def search():
    async def execute(query: str) -> str:
        """Open the Wikipedia page that the query names, and get its first sentences; without such a page, similar titles.

        Args:
            query: the title of a page, or words
        """
        return await asyncio.to_thread(call, "search", query=query)

    return execute


@tool
def lookup():
    async def execute(keyword: str) -> str:
        """Get the next sentence of the open page that contains the keyword.

        Args:
            keyword: letters to look for
        """
        return await asyncio.to_thread(call, "lookup", keyword=keyword)

    return execute


agent = react(prompt=AgentPrompt("Submit an answer of a few words."), tools=[search(), lookup()])
task = Task(dataset=[Sample(json.loads(sys.stdin.readline())["question"])], solver=agent, message_limit=20)
# Its screen would be in the answer's way on standard output; its log goes to the folder that the program is started in.
log, = eval(task, model="openai/" + os.environ["WIKITRAIL_MODEL"], display="none", max_retries=5)
if log.status != "success":
    sys.exit(log.error.message)
print(log.samples[0].output.completion)
