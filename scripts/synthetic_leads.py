#!/usr/bin/env python3
"""Writes made-up articles as JSON lines, for measurements of corpora of any size: the same seed gives the same bytes.

Texts are chains of words in which each follows the two before it somewhere in our sample encyclopedia. A part of the words
is replaced by invented names, a few of them very frequent and most of them rare, as in real texts.

    scripts/synthetic_leads.py 100000 --seed 1 > leads.jsonl
"""
import argparse
import json
import pathlib
import random
import sys

SAMPLE = pathlib.Path(__file__).parent.parent / "datasets/sample-wiki/articles.jsonl"
SYLLABLES = [c + v + e for c in "b d f g h k l m n p r s t v z br dr kl st tr".split() for v in "aeiou" for e in ("", "n", "r", "l", "s")]
# How many names there are, and which part of the words they are.
NAMES = 1_500_000
SHARE = 0.12


class Words:
    """Chains of order two."""

    def __init__(self, texts):
        self.after = {}
        self.starts = []
        for text in texts:
            words = text.split()
            if len(words) > 3:
                self.starts.append((words[0], words[1]))
            for first, second, third in zip(words, words[1:], words[2:]):
                self.after.setdefault((first, second), []).append(third)

    def chain(self, rng, length, name):
        first, second = rng.choice(self.starts)
        words = [first, second]
        while len(words) < length:
            following = self.after.get((first, second))
            first, second = (second, rng.choice(following)) if following else rng.choice(self.starts)
            words.append(name(rng) if rng.random() < SHARE else second)
        return " ".join(words).rstrip(".,") + "."


def name_of(number):
    """The name of a number: the same in every run."""
    parts = []
    number += len(SYLLABLES)
    while number:
        number, at = divmod(number, len(SYLLABLES))
        parts.append(SYLLABLES[at])
    return "".join(parts).capitalize()


def zipf(rng):
    """Numbers of names, small ones most of the time."""
    return min(NAMES - 1, int(NAMES ** rng.random()) - 1)


def articles(count, seed, redirects):
    rng = random.Random(seed)
    texts = []
    for line in SAMPLE.read_text(encoding="utf-8").splitlines():
        texts += json.loads(line).get("blocks", [])
    words = Words(texts)
    taken = set()
    while len(taken) < count:
        title = " ".join(name_of(zipf(rng)) for _ in range(rng.choice((1, 2, 2, 2, 3))))
        if rng.random() < 0.08:
            title += f" ({rng.choice(('film', 'album', 'river', 'band', 'novel', 'footballer'))})"
        if title in taken:
            title += f" {rng.randrange(1, 100_000)}"
        if title in taken:
            continue
        taken.add(title)
        body = words.chain(rng, max(12, int(rng.lognormvariate(4.2, 0.5))), lambda rng: name_of(zipf(rng)))
        record = {"title": title, "id": len(taken), "blocks": [f"{title} is {body[:1].lower()}{body[1:]}"]}
        other = f"{title} of {name_of(zipf(rng))}"
        if rng.random() < redirects and other not in taken:
            taken.add(other)
            record["redirects"] = [other]
            count += 1
        yield record


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("count", type=int, help="how many articles")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--redirects", type=float, default=0.0, help="which part of them has another name")
    args = parser.parse_args()
    for record in articles(args.count, args.seed, args.redirects):
        sys.stdout.write(json.dumps(record, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
