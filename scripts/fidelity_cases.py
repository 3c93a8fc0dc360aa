"""Random cases for scripts/fidelity.py: replies of models, answers, claims with evidence, and tables of figures. The same seed
gives the same cases. All texts are made up here."""

WORDS = (
    "the The a An an and of river Nile Paris london New York film director born 1994 1,234 12.5 x-ray U.S. O'Neill don't Straße "
    "Café naïve Œuvre 東京 東京都 москва élan İstanbul ΣΊΣΥΦΟΣ ﬁnal ① ² _x_ – “quoted” ’s … ! ?? & $5 50% yes no Yes NO noanswer"
).split(" ")
NAMES = ["Search", "search", "Lookup", "FinishAction", "NoAction", "add (two)", "query_tool", "维基", "a.b", "x-y", ""]
SPACES = ["", " ", "  ", "\n", "\n\n", "\t", " \n", "\u00a0", "\r\n", "\n\n\n"]
ODDITIES = [
    "```", "```json\n", "\n```", "<think>", "</think>", "**", "{", "}", "[", "]", "(", ")", '"', "'", ":", "：", "\\", "\\n", "\u2028",
    "\u3000", "\x0b", "\x1c", "\ufeff", "🎬", "//x", "#", "Observation", "Action", "Thought", "Answer", "action:", "THOUGHT:", "Thought：",
]


def words(rng, most=5):
    return " ".join(rng.choice(WORDS) for _ in range(rng.randint(0, most)))


NUMBERS = ["0", "7", "-3", "12.5", "1e-07", "100000000000000000000", "1e5", "-0.0", "1E+2"]


def odd_number(rng):
    """A number as a lenient reader may take it: with a plus sign or several signs, without digits before or behind the point."""
    sign = rng.choice(["", "+", "-", "+", "-", "--", "+-", "-+", "++"])
    whole, fraction = rng.choice(["0", "1", "5", "12", "007", "00", ""]), rng.choice(["", "", ".", ".5", ".25", ".0"])
    number = rng.choice([whole + fraction, whole + fraction, "0x10", "0x1F", "0x", "Infinity", "NaN"])
    return sign + number + rng.choice(["", "", "", "e5", "E+2", "e-3", "e", "."])


def plain_json(rng, depth=0):
    """A value, in JSON or in something that a lenient reader takes for it."""
    kind = rng.randrange(12 if depth < 2 else 8)
    if kind < 4:
        text = words(rng, 3).replace('"', "")
        return '"' + text + rng.choice(["", "", "", "\\n", "\\u00e9", '\\"', "\\\\", "{", "}", "//", "'", "\n"]) + '"'
    if kind < 6:
        return rng.choice(NUMBERS) if rng.random() < 0.5 else odd_number(rng)
    if kind == 6:
        return rng.choice(["true", "false", "null"])
    if kind == 7:
        return rng.choice(["True", "None", "NaN", "Infinity", "-Infinity", "0x1F", "'single'", "bare", "", "undefined"])
    if kind == 8:
        return "[" + ", ".join(plain_json(rng, depth + 1) for _ in range(rng.randrange(3))) + rng.choice(["]", "]", ",]"])
    return json_object(rng, depth + 1)


def json_object(rng, depth=0):
    fields = []
    for _ in range(rng.choice([0, 1, 1, 1, 2, 3])):
        key = rng.choice(["query", "q", "keyword", "n", "文", "a b", ""])
        key = rng.choice(['"%s"', '"%s"', '"%s"', '"%s"', "'%s'", "%s"]) % key
        fields.append(key + rng.choice([": ", ":", " : ", ":\n"]) + plain_json(rng, depth))
    body = rng.choice([", ", ",", ",\n  ", " "] if rng.random() < 0.1 else [", "]).join(fields)
    tail = rng.choice(["}", "}", "}", "}", "}", "}", ",}", "", " // note\n}", " /* note */}", "}}"])
    return "{" + rng.choice(["", "", "\n"]) + body + tail


def value(rng):
    kind = rng.randrange(6)
    if kind == 0:
        return rng.choice(NAMES)
    return json_object(rng) if kind < 3 else words(rng)


def sound_reply(rng, labels):
    """A reply as the protocol asks for it."""
    thought, action, argument, final = labels[:4]
    step = f"{thought} {words(rng)}\n"
    if rng.random() < 0.3:
        return step + f"{final} {words(rng)}"
    return step + f"{action} {rng.choice(NAMES)}\n{argument} {json_object(rng)}"


def jumble(rng, labels):
    """Labels and values in any order."""
    parts = []
    for _ in range(rng.randint(0, 7)):
        parts += [rng.choice(SPACES), rng.choice(labels), rng.choice(SPACES), value(rng)]
    return "".join(parts)


def damaged(rng, text, labels):
    """The text with a piece cut out, doubled or put in."""
    at, to = sorted(rng.randint(0, len(text)) for _ in range(2))
    to = min(to, at + 12)
    kind = rng.randrange(4)
    if kind == 0:
        return text[:at] + text[to:]
    if kind == 1:
        return text[:to] + text[at:]
    return text[:at] + rng.choice(rng.choice([SPACES, ODDITIES, labels])) + text[at:]


def reply(rng, labels):
    """A reply of a model; `labels` begins with those of thought, action, argument and answer."""
    text = sound_reply(rng, labels) if rng.random() < 0.6 else jumble(rng, labels)
    while rng.random() < 0.1:
        text += rng.choice(SPACES) + sound_reply(rng, labels)
    while rng.random() < 0.5:
        text = damaged(rng, text, labels)
    return text


def answer_near(rng, gold):
    """An answer that has something of the gold one."""
    kind = rng.randrange(8)
    if kind == 0:
        return words(rng)
    if kind == 1:
        return gold
    if kind == 2:
        return rng.choice([gold.upper(), gold.lower(), gold.title(), f"The {gold}.", f" {gold}\n", f"“{gold}”"])
    parts = gold.split(" ") + words(rng, 2).split(" ")
    rng.shuffle(parts)
    return rng.choice([" ", " ", "-", "\u00a0", ", ", "\x1c"]).join(parts[: rng.randint(0, len(parts))])


def answers(rng, count, numbers=(0, 1, 1, 1, 2, 3)):
    """Pairs of an answer and its gold answers, as many as one of the numbers."""
    for _ in range(count):
        golds = [words(rng) for _ in range(rng.choice(numbers))]
        yield answer_near(rng, rng.choice(golds or [""])), golds


def claim(rng, number):
    """A claim with evidence, and a prediction, in the forms of FEVER's shared task."""
    pages = ["P", "Q_-LRB-film-RRB-", "R"]
    label = rng.choice(["SUPPORTS", "REFUTES", "NOT ENOUGH INFO"])
    none = label == "NOT ENOUGH INFO"
    line = lambda: [1, 2, None, None] if none else [1, 2, rng.choice(pages), rng.randrange(4)]
    groups = [[line() for _ in range(rng.choice([1, 1, 2, 3]))] for _ in range(rng.choice([0, 1, 1, 2, 3]))]
    predicted = rng.choice([label, label.lower(), "SUPPORTS", "REFUTES", "NOT ENOUGH INFO", "x"])
    lines = [[rng.choice(pages), rng.randrange(4)] for _ in range(rng.randrange(9))]
    gold = {"id": number, "label": label, "claim": "c", "evidence": groups}
    return gold, {"id": number, "predicted_label": predicted, "predicted_evidence": lines}


def table(rng):
    """Columns of two or three variants: right or wrong, and a graded figure; and the questions' clusters, or none."""
    n = rng.choice([1, 2, 3, 4, 5, 6, 8, 12, 20, 40, 80, 150])
    grades = rng.choice([[0.0, 0.25, 0.5, 0.75, 1.0], [0.0, 1.0], [0.5], None])
    graded = lambda: round(rng.random(), 3) if grades is None else rng.choice(grades)
    variants = []
    for _ in range(rng.choice([2, 2, 3])):
        skill = rng.choice([0.0, 0.2, 0.5, 0.8, 1.0])
        variants.append({"em": [float(rng.random() < skill) for _ in range(n)], "f1": [graded() for _ in range(n)]})
    clusters = [f"c{rng.randrange(max(2, n // 2))}" for _ in range(n)]
    # Clusters of one question each are none.
    return variants, clusters if rng.random() < 0.4 and len(set(clusters)) < n else None
