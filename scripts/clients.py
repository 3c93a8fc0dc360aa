"""One client of scripts/clients.sh: finds and reads what the sample corpus has, through the client's own functions.

    clients.py CLIENT URL PROGRAM
"""

import asyncio
import json
import sys
from pathlib import Path

ARTICLES = {
    article["title"]: article
    for article in map(json.loads, Path("datasets/sample-wiki/articles.jsonl").read_text(encoding="utf-8").splitlines())
}
PLAIN = ARTICLES["Ada Lovelace"]
# One that is reached by a redirect.
MOVED = next(article for article in ARTICLES.values() if article["redirects"] and "entries" not in article)
LIST = next(article for article in ARTICLES.values() if "entries" in article)
# Words that stand in one article and are no title.
WORDS = "barefoot blisters archery"
WORDS_FOUND = "Abebe Bikila"

checked = 0


def check(what, got, wanted):
    global checked
    if got != wanted:
        sys.exit(f"\nerror: {what}: {got!r} in place of {wanted!r}")
    checked += 1


def text(article):
    return "\n".join(article["blocks"])


def entries(article):
    return [entry if isinstance(entry, str) else entry[0] for entry in article["entries"]]


def wikipedia(_url, _program):
    import wikipedia

    check("search", wikipedia.search(PLAIN["title"])[0], PLAIN["title"])
    check("search by words", WORDS_FOUND in wikipedia.search(WORDS), True)
    check("search for nothing", wikipedia.search("zzzz qqqq"), [])
    page = wikipedia.page(PLAIN["title"])
    check("content", page.content, text(PLAIN))
    check("address", page.url, "http://en.wikipedia.org/wiki/Ada_Lovelace")
    check("summary", wikipedia.summary(PLAIN["title"]), PLAIN["blocks"][0])
    check("one sentence", wikipedia.summary(PLAIN["title"], sentences=1) in PLAIN["blocks"][0], True)
    moved = wikipedia.page(MOVED["redirects"][0], auto_suggest=False)
    check("redirect", (moved.title, moved.content), (MOVED["title"], text(MOVED)))
    check("by number", wikipedia.page(pageid=page.pageid).content, text(PLAIN))
    try:
        wikipedia.page(LIST["title"], auto_suggest=False)
        check("disambiguation", "a page", "an error")
    except wikipedia.DisambiguationError as error:
        check("disambiguation", error.options, entries(LIST))
    try:
        wikipedia.page("zzzz qqqq", auto_suggest=False)
        check("no page", "a page", "an error")
    except wikipedia.PageError:
        check("no page", None, None)


def wikipedia_api(url, _program):
    import wikipediaapi

    # Its addresses begin with https, so it is told where to ask.
    wikipediaapi.Wikipedia._build_url = staticmethod(lambda _language: f"{url}/w/api.php")
    wiki = wikipediaapi.Wikipedia(user_agent="wikitrail (https://example.org)", language="en")
    page = wiki.page(PLAIN["title"])
    check("exists", page.exists(), True)
    check("text", page.text, text(PLAIN))
    check("summary", page.summary, text(PLAIN))
    check("address", page.fullurl, f"{url}/wiki/Ada_Lovelace")
    check("redirect", wiki.page(MOVED["redirects"][0]).text, text(MOVED))
    check("links", sorted(wiki.page(LIST["title"]).links), sorted(entries(LIST)))
    check("no page", wiki.page("Zzzz qqqq").exists(), False)


def langchain(_url, _program):
    from langchain_community.docstore import Wikipedia
    from langchain_community.tools import WikipediaQueryRun
    from langchain_community.utilities import WikipediaAPIWrapper

    wrapper = WikipediaAPIWrapper(doc_content_chars_max=100_000)
    found = wrapper.load(PLAIN["title"])
    check("documents", (found[0].metadata["title"], found[0].page_content), (PLAIN["title"], text(PLAIN)))
    told = WikipediaQueryRun(api_wrapper=wrapper).invoke(MOVED["redirects"][0])
    check("tool", told.startswith(f"Page: {MOVED['title']}\nSummary: {MOVED['blocks'][0]}"), True)
    check("docstore", Wikipedia().search(PLAIN["title"]).page_content, text(PLAIN))


def llama_index(_url, _program):
    from llama_index.tools.wikipedia import WikipediaToolSpec

    spec = WikipediaToolSpec()
    check("load", spec.load_data(PLAIN["title"]), text(PLAIN))
    check("search", spec.search_data(WORDS), text(ARTICLES[WORDS_FOUND]))
    check("no page", spec.load_data("Zzzz qqqq"), "Unable to load page. Try searching instead.")


def search_r1(url, _program):
    import requests

    # As Search-R1's generation loop asks and reads.
    payload = {"queries": [WORDS, PLAIN["title"]], "topk": 3, "return_scores": True}
    results = requests.post(f"{url}/retrieve", json=payload).json()["result"]
    check("queries", len(results), 2)
    for result, title in zip(results, [WORDS_FOUND, PLAIN["title"]]):
        content = result[0]["document"]["contents"]
        check("title", content.split("\n")[0], f'"{title}"')
        check("text", "\n".join(content.split("\n")[1:]), text(ARTICLES[title]))
        check("scores", [item["score"] for item in result], sorted((item["score"] for item in result), reverse=True))


def mwclient(url, _program):
    import mwclient as client

    site = client.Site(url.removeprefix("http://"), scheme="http", path="/w/")
    page = site.pages[PLAIN["title"]]
    check("exists", (page.exists, site.pages["Zzzz qqqq"].exists), (True, False))
    check("text", page.text(), "\n\n".join(PLAIN["blocks"]))
    check("search", WORDS_FOUND in [hit["title"] for hit in site.search(WORDS, max_items=3)], True)


def pywikibot(url, _program):
    import os
    import tempfile

    folder = tempfile.mkdtemp()
    Path(folder, "user-config.py").write_text("family = 'local'\nmylang = 'en'\nput_throttle = 0\n", encoding="utf-8")
    os.chmod(Path(folder, "user-config.py"), 0o600)
    os.environ["PYWIKIBOT_DIR"] = folder
    import pywikibot as bot
    from pywikibot import family

    class Local(family.Family):
        name = "local"
        langs = {"en": url.removeprefix("http://")}

        def protocol(self, code):  # pywikibot looks for this name
            return "http"

        def scriptpath(self, code):
            return "/w"

    site = bot.Site("en", Local())
    page = bot.Page(site, PLAIN["title"])
    check("exists", (page.exists(), bot.Page(site, "Zzzz qqqq").exists()), (True, False))
    check("text", page.text, "\n\n".join(PLAIN["blocks"]))
    check("extract", page.extract(intro=True), PLAIN["blocks"][0])
    check("search", WORDS_FOUND in [found.title() for found in site.search(WORDS, total=3)], True)


def dspy(url, _program):
    import dspy as client

    for address in (f"{url}/api/search", f"{url}/retrieve"):
        found = client.ColBERTv2(url=address)(WORDS, k=3)
        check("text", found[0].long_text, f"{WORDS_FOUND} | {text(ARTICLES[WORDS_FOUND])}")
    check("posted", client.ColBERTv2(url=f"{url}/api/search", post_requests=True)(WORDS, k=3)[0].pid, found[0].pid)


def mcp(url, program):
    from mcp import Client, StdioServerParameters

    async def used(server):
        async with Client(server) as client:
            tools = (await client.list_tools()).tools
            check("tools", [tool.name for tool in tools], ["search", "lookup", "read", "similar", "passages", "document"])
            found = await client.call_tool("search", {"query": PLAIN["title"].lower()})
            check("page", found.structured_content["title"], PLAIN["title"])
            check("observation", found.content[0].text, found.structured_content["observation"])
            session = found.structured_content["session"]
            first = await client.call_tool("lookup", {"keyword": "lovelace", "session": session})
            check("result", first.structured_content["result"], 1)
            session = first.structured_content["session"]
            second = await client.call_tool("lookup", {"keyword": "lovelace", "session": session})
            check("next result", second.structured_content["result"], 2)
            whole = await client.call_tool("read", {"title": MOVED["redirects"][0]})
            check("read", whole.content[0].text, "\n\n".join(MOVED["blocks"]))
            similar = await client.call_tool("similar", {"query": WORDS})
            check("similar", WORDS_FOUND in similar.structured_content["titles"], True)
            wrong = await client.call_tool("lookup", {"keyword": "x", "session": "w1.x.0"})
            check("a wrong session", wrong.is_error, True)
            wrong = await client.call_tool("search", {"query": 5})
            check("wrong arguments", (wrong.is_error, "send {" in wrong.content[0].text), (True, True))

    asyncio.run(used(f"{url}/mcp"))
    asyncio.run(used(StdioServerParameters(command=program, args=["mcp", "corpus:datasets/sample-wiki"])))


if __name__ == "__main__":
    client, *where = sys.argv[1:]
    globals()[client](*where)
    print(f"{checked} checks")
