"""The ready-made ReAct agent of LangGraph over the tools of WIKITRAIL_MCP_URL."""

import asyncio
import json
import os
import sys

from langchain.agents import create_agent
from langchain_mcp_adapters.client import MultiServerMCPClient
from langchain_mcp_adapters.tools import load_mcp_tools
from langchain_openai import ChatOpenAI

PROMPT = "Answer with a few words, after you have searched Wikipedia for them."


async def main():
    question = json.loads(sys.stdin.readline())["question"]
    client = MultiServerMCPClient({"wikitrail": {"transport": "streamable_http", "url": os.environ["WIKITRAIL_MCP_URL"]}})
    async with client.session("wikitrail") as session:
        tools = [tool for tool in await load_mcp_tools(session) if tool.name != "submit"]
        agent = create_agent(ChatOpenAI(model=os.environ["WIKITRAIL_MODEL"]), tools, system_prompt=PROMPT)
        state = await agent.ainvoke({"messages": [("user", question)]}, {"recursion_limit": 20})
    print(state["messages"][-1].text)


# LangSmith would trace the run where it is configured.
os.environ["LANGSMITH_TRACING"] = "false"
asyncio.run(main())
