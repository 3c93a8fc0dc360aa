"""The book of scripts/book.sh.

    book.py stage FOLDER     copies the pages to FOLDER/src as they lie in the repository, and checks links and anchors between them
    book.py check FOLDER     checks the links and anchors of the built book, FOLDER/book
"""

import re
import shutil
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LINK = re.compile(r"\]\(([^()\s]+)\)")


def pages():
    return [Path(name) for name in ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "datasets/README.md", "prompts/README.md")] + sorted(
        Path("docs").rglob("*.md"))


def prose(text):
    """A page without its code, where brackets are no links."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    return re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", text)


def anchors(text):
    """The names of a page's headings in links, as GitHub makes them."""
    found = set()
    for title in re.findall(r"^#{1,6} +(.*)$", re.sub(r"^```.*?^```", "", text, flags=re.S | re.M), flags=re.M):
        title = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title)
        slug = "".join(c for c in title.strip().lower() if c.isalnum() or c in " -_").replace(" ", "-")
        name, count = slug, 0
        while name in found:
            count += 1
            name = f"{slug}-{count}"
        found.add(name)
    return found


def broken(page, text):
    """Links of a page that lead nowhere; says also which files the others name."""
    faults, files = [], set()
    for link in LINK.findall(prose(text)):
        parts = urlsplit(link)
        if parts.scheme:
            continue
        target = (page.parent / unquote(parts.path)).resolve().relative_to(Path.cwd()) if parts.path else page
        if not target.exists():
            faults.append(f"{page}: `{link}`: there is no {target}")
        elif parts.fragment and target.suffix == ".md" and parts.fragment not in anchors(target.read_text()):
            faults.append(f"{page}: `{link}`: {target} has no section `{parts.fragment}`")
        else:
            files.add(target)
    return faults, files


def stage(folder):
    source = folder / "src"
    shutil.rmtree(folder, ignore_errors=True)
    faults, copied = [], set(pages())
    for page in pages():
        wrong, files = broken(page, page.read_text())
        faults += wrong
        copied |= {file for file in files if file.is_file()}
    summary, index = Path("docs/SUMMARY.md"), Path("docs/README.md")
    for name in (summary, index):
        _, linked = broken(name, name.read_text())
        for page in sorted(Path("docs").glob("*.md")):
            if page not in linked | {summary, index}:
                faults.append(f"{name}: {page} is not in it")
    copied |= {path for path in Path("docs/pictures").iterdir()}
    for file in copied - {summary}:
        (source / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, source / file)
    # Decisions are chapters below their index.
    decisions = "".join(f"  - [{path.read_text().splitlines()[0].lstrip('# ')}](docs/{path.relative_to('docs')})\n"
                        for path in sorted(Path("docs/decisions").glob("0*.md")))
    text = LINK.sub(lambda link: "](" + (link[1][3:] if link[1].startswith("../") else "docs/" + link[1]) + ")", summary.read_text())
    line = "(docs/decisions/README.md)\n"
    (source / "SUMMARY.md").write_text(text.replace(line, line + decisions))
    shutil.copyfile("docs/book.toml", folder / "book.toml")
    return faults, f"{len(pages())} pages, {len(copied)} files; every link between them leads somewhere"


class Links(HTMLParser):
    def __init__(self):
        super().__init__()
        self.links, self.names = set(), set()

    def handle_starttag(self, tag, attrs):
        attrs = dict(attrs)
        self.names |= {attrs[name] for name in ("id", "name") if attrs.get(name)}
        self.links |= {attrs[name] for name in ("href", "src") if attrs.get(name)}


def check(folder):
    root = (folder / "book").resolve()
    read, faults, count = {}, [], 0
    for path in root.rglob("*.html"):
        read[path] = Links()
        read[path].feed(path.read_text())
    for path, page in read.items():
        # It is served at addresses of any depth, and its links begin at the book's root.
        if path.name in ("404.html", "toc.html"):
            continue
        for link in sorted(page.links):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            count += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            # A link to a folder works on GitHub only.
            if not target.is_file():
                faults.append(f"{path.relative_to(root)}: `{link}` leads nowhere")
            elif parts.fragment and target in read and parts.fragment not in read[target].names:
                faults.append(f"{path.relative_to(root)}: `{link}`: no such section")
    if not list(root.glob("searchindex*")):
        faults.append("the book has no search")
    return faults, f"{len(read)} pages of HTML, {count:,} links; every one leads somewhere"


def main():
    if len(sys.argv) != 3 or sys.argv[1] not in ("stage", "check"):
        sys.exit(__doc__)
    faults, told = {"stage": stage, "check": check}[sys.argv[1]](Path(sys.argv[2]))
    for fault in faults:
        print(f"error: {fault}", file=sys.stderr)
    if faults:
        sys.exit(1)
    print(told)


if __name__ == "__main__":
    main()
