"""Google's Gen AI SDK, which calls Python functions itself, over the tools of WIKITRAIL_TOOL_URL; the answer is streamed."""

import json
import os
import sys
import urllib.request

from google import genai
from google.genai import types


def call(name, **arguments):
    request = urllib.request.Request(f"{os.environ['WIKITRAIL_TOOL_URL']}/{name}", json.dumps(arguments).encode(),
                                     {"Content-Type": "application/json"})
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)["observation"]


def search(query: str) -> str:
    """Open the Wikipedia page that the query names, and get its first sentences; without such a page, similar titles."""
    return call("search", query=query)


def lookup(keyword: str) -> str:
    """Get the next sentence of the open page that contains the keyword."""
    return call("lookup", keyword=keyword)


config = types.GenerateContentConfig(system_instruction="Answer with a few words, after you have searched Wikipedia for them.",
                                     tools=[search, lookup])
client = genai.Client()
chat = client.chats.create(model=os.environ["WIKITRAIL_MODEL"], config=config)
chat.send_message(json.loads(sys.stdin.readline())["question"])
print("".join(chunk.text or "" for chunk in chat.send_message_stream("Give the answer alone.")))
