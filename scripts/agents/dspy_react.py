"""DSPy's ReAct over the tools of WIKITRAIL_TOOL_URL."""

import json
import os
import sys
import urllib.request

# LiteLLM would ask for its table of prices.
os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
import dspy


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


# Without its cache, which would keep the answers of an earlier run.
dspy.configure(lm=dspy.LM("openai/" + os.environ["WIKITRAIL_MODEL"], api_base=os.environ["OPENAI_BASE_URL"], cache=False))
react = dspy.ReAct(dspy.Signature("question -> answer", "Answer the question with a few words."), tools=[search, lookup], max_iters=8)
print(react(question=json.loads(sys.stdin.readline())["question"]).answer)
