"""Search engines that `scripts/bench.sh corpus` puts beside the program, each in a process of its own.

    bench_engines.py build ENGINE ARTICLES INDEX   an index of JSON lines, with the texts, in the new folder INDEX
    bench_engines.py ask ENGINE QUESTIONS INDEX    seconds and titles found for each question, as JSON lines

Each is set up as its documentation does for English text: all words of a title and of a text count, and any word of a question
may match. FTS5 has neither a list of common words nor a stemmer for it; bm25s leaves common words out; tantivy stems.
"""

import json
import pathlib
import re
import sqlite3
import sys
import time

SHOWN = 20


def records(articles):
    with open(articles, encoding="utf-8") as file:
        for line in file:
            yield json.loads(line)


def words(question):
    return re.findall(r"\w+", question.lower())


class Fts5:
    def build(self, articles, index):
        base = sqlite3.connect(index / "fts5.db")
        base.execute("create virtual table articles using fts5(title, text, tokenize = 'unicode61 remove_diacritics 2')")
        base.executemany("insert into articles values (:title, :text)", records(articles))
        base.execute("insert into articles(articles) values ('optimize')")
        base.commit()

    def open(self, index):
        self.base = sqlite3.connect(index / "fts5.db")

    def titles(self, question):
        query = " OR ".join(f'"{word}"' for word in words(question))
        command = "select title from articles where articles match ? order by rank limit ?"
        return [title for title, in self.base.execute(command, (query, SHOWN))]


class Bm25s:
    def build(self, articles, index):
        import bm25s

        corpus = list(records(articles))
        texts = [f"{record['title']} {record['text']}" for record in corpus]
        retriever = bm25s.BM25()
        retriever.index(bm25s.tokenize(texts, stopwords="en", show_progress=False), show_progress=False)
        retriever.save(index, corpus=corpus)

    def open(self, index):
        import bm25s

        self.library, self.retriever = bm25s, bm25s.BM25.load(index, load_corpus=True, mmap=True)

    def titles(self, question):
        tokens = self.library.tokenize([question], stopwords="en", show_progress=False)
        found, scores = self.retriever.retrieve(tokens, k=SHOWN, show_progress=False)
        return [record["title"] for record, score in zip(found[0], scores[0]) if score > 0]


class Tantivy:
    def build(self, articles, index):
        import tantivy

        schema = tantivy.SchemaBuilder()
        for name in ("title", "text"):
            schema.add_text_field(name, stored=True, tokenizer_name="en_stem")
        writer = tantivy.Index(schema.build(), path=str(index)).writer()
        for record in records(articles):
            writer.add_document(tantivy.Document(**record))
        writer.commit()
        writer.wait_merging_threads()

    def open(self, index):
        import tantivy

        self.index = tantivy.Index.open(str(index))
        self.searcher = self.index.searcher()

    def titles(self, question):
        query = self.index.parse_query(" ".join(words(question)), ["title", "text"])
        return [self.searcher.doc(at)["title"][0] for _, at in self.searcher.search(query, SHOWN).hits]


ENGINES = {"fts5": Fts5, "bm25s": Bm25s, "tantivy": Tantivy}


def main():
    what, engine, source, index = sys.argv[1], ENGINES[sys.argv[2]](), sys.argv[3], pathlib.Path(sys.argv[4])
    if what == "build":
        index.mkdir()
        engine.build(source, index)
        return
    engine.open(index)
    for record in records(source):
        before = time.perf_counter()
        titles = engine.titles(record["question"])
        print(json.dumps([time.perf_counter() - before, titles]))


if __name__ == "__main__":
    main()
