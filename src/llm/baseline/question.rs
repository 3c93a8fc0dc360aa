//! What a question asks for.

use super::text::{self, Span};

/// The kind of answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A year, four digits.
    Year,
    /// A date, or a year where there is no more.
    Date,
    /// A number.
    Number,
    /// A person.
    Person,
    /// A place.
    Place,
    /// An adjective of a people.
    Nationality,
    /// Anything else.
    Thing,
}

/// A word of the question that may be found again in a sentence.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Clue {
    pub(super) stem: String,
    pub(super) word: String,
    /// How near the question word it stands: 1 beside it, less farther off.
    pub(super) near: f64,
    /// Whether it is part of a name.
    pub(super) named: bool,
}

/// A question, understood.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Question {
    pub(super) text: String,
    /// Its words in lower case without possessives, a space around each.
    folded: String,
    pub(super) kind: Kind,
    /// Stems of the words right behind the question word: `which mountain`, `what trade`.
    pub(super) head: Vec<String>,
    /// Named things, the most telling first.
    pub(super) names: Vec<Span>,
    pub(super) clues: Vec<Clue>,
}

const WH: &[&str] = &["who", "whom", "whose", "what", "which", "when", "where", "how", "why"];
const PREPOSITIONS: &[&str] =
    &["in", "to", "at", "of", "on", "by", "for", "from", "with", "after", "against", "under", "during", "and", "so"];
const PERSONS: &[&str] = &[
    "person",
    "man",
    "woman",
    "actor",
    "actress",
    "architect",
    "astronomer",
    "author",
    "chemist",
    "composer",
    "director",
    "emperor",
    "engineer",
    "explorer",
    "king",
    "mathematician",
    "musician",
    "novelist",
    "painter",
    "philosopher",
    "photographer",
    "physicist",
    "physician",
    "poet",
    "president",
    "queen",
    "scientist",
    "sculptor",
    "singer",
    "writer",
    "artist",
    "botanist",
    "biologist",
    "inventor",
    "sister",
    "brother",
    "wife",
    "husband",
    "father",
    "mother",
    "son",
    "daughter",
    "ruler",
    "general",
    "designer",
    "officer",
    "playwright",
    "conductor",
];
const PLACES: &[&str] = &[
    "city",
    "town",
    "village",
    "country",
    "place",
    "river",
    "lake",
    "mountain",
    "island",
    "state",
    "province",
    "region",
    "county",
    "sea",
    "ocean",
    "suburb",
    "district",
    "capital",
    "continent",
    "bay",
    "strait",
    "valley",
    "municipality",
    "canton",
    "peninsula",
    "desert",
    "birthplace",
    "nation",
    "port",
    "harbour",
    "parish",
    "borough",
];

impl Question {
    pub(super) fn read(question: &str) -> Self {
        let words = text::words(question);
        let lower: Vec<String> = words.iter().map(|word| word.text.to_lowercase()).collect();
        let wh = question_word(&lower);
        let asked = wh.map_or("", |i| lower[i].as_str());
        let head: Vec<&str> = match wh {
            Some(i) if matches!(asked, "what" | "which" | "whose" | "how") => {
                lower[i + 1..].iter().map(String::as_str).take_while(|word| !ends_head(word)).take(4).collect()
            }
            _ => Vec::new(),
        };
        let kind = kind(asked, &head, &lower);
        let names = names(question);
        let in_name = |at: usize| names.iter().any(|name: &Span| name.at.contains(&at));
        let centre = wh.unwrap_or(0);
        let clues = words.iter().enumerate().filter(|(_, word)| !text::is_stop(word.text)).map(|(i, word)| Clue {
            stem: text::stem(word.text),
            word: word.text.trim_end_matches("'s").to_owned(),
            near: nearness(centre.abs_diff(i)),
            named: in_name(word.at.start),
        });
        Self {
            text: question.to_owned(),
            folded: format!(" {} ", text::fold(question)).replace("'s ", " "),
            kind,
            head: head.iter().filter(|word| !text::is_stop(word)).map(|word| text::stem(word)).collect(),
            clues: clues.collect(),
            names,
        }
    }

    /// Whether the question names this thing, or a part of its name.
    pub(super) fn mentions(&self, name: &str) -> bool {
        self.folded.contains(&format!(" {} ", text::fold(name)))
    }
}

fn nearness(distance: usize) -> f64 {
    match distance {
        0..=3 => 1.0,
        4..=6 => 0.7,
        7..=10 => 0.45,
        _ => 0.3,
    }
}

/// The word that asks. At the beginning, or behind a comma or a preposition; relative clauses ask nothing.
fn question_word(lower: &[String]) -> Option<usize> {
    let is_wh = |i: &usize| WH.contains(&lower[*i].as_str());
    // `in what year`, `to which of the`: only small words may stand before the one that begins a question.
    let begins = |i: &usize| is_wh(i) && lower[..*i].iter().all(|word| PREPOSITIONS.contains(&word.as_str()));
    if let Some(early) = (0..lower.len().min(3)).find(begins) {
        return Some(early);
    }
    let asks = |i: &usize| matches!(lower[*i].as_str(), "what" | "which" | "where" | "how" | "when");
    (0..lower.len()).rev().find(asks).or_else(|| (0..lower.len()).rev().find(is_wh))
}

fn ends_head(word: &str) -> bool {
    matches!(
        word,
        "is" | "was"
            | "were"
            | "are"
            | "did"
            | "does"
            | "do"
            | "has"
            | "had"
            | "have"
            | "of"
            | "in"
            | "that"
            | "who"
            | "whose"
            | "by"
            | "to"
            | "for"
            | "with"
            | "from"
            | "at"
            | "on"
            | "will"
            | "can"
            | "the"
            | "a"
            | "an"
            | "took"
            | "died"
    )
}

fn kind(asked: &str, head: &[&str], lower: &[String]) -> Kind {
    let has = |list: &[&str]| {
        head.iter().any(|word| list.contains(word) || word.strip_suffix('s').is_some_and(|w| list.contains(&w)))
    };
    match asked {
        "who" | "whom" | "whose" => Kind::Person,
        "when" => Kind::Date,
        "where" => Kind::Place,
        "how" => Kind::Number,
        _ if has(&["year"]) => Kind::Year,
        _ if has(&["date", "day"]) => Kind::Date,
        _ if has(&["nationality"]) || lower.iter().any(|word| word == "nationality") => Kind::Nationality,
        _ if has(PLACES) => Kind::Place,
        _ if has(PERSONS) => Kind::Person,
        _ if has(&["number", "height", "length", "age", "population", "depth"]) => Kind::Number,
        _ => Kind::Thing,
    }
}

/// Named things and quoted ones, the most telling first: quotations, then names of several words, in their order.
fn names(question: &str) -> Vec<Span> {
    let mut names: Vec<Span> = quoted(question);
    let quoted = names.len();
    for span in text::spans(question) {
        let covered = names[..quoted].iter().any(|q| q.at.start <= span.at.start && span.at.end <= q.at.end);
        let trimmed = without_demonym(&span);
        if let Some(span) = trimmed
            && !covered
            && !text::is_month(&span.text)
        {
            names.push(span);
        }
    }
    names
}

fn quoted(question: &str) -> Vec<Span> {
    let mut spans = Vec::new();
    for (open, close) in [('"', '"'), ('“', '”')] {
        let mut from = 0;
        while let Some(start) = question[from..].find(open).map(|i| from + i + open.len_utf8()) {
            let Some(length) = question[start..].find(close) else { break };
            let own = question[start..start + length].trim_matches([',', '.', ' ']);
            if !own.is_empty() {
                spans.push(Span { text: own.to_owned(), at: start..start + length });
            }
            from = start + length + close.len_utf8();
        }
    }
    spans
}

/// `Danish` alone names nothing that can be opened; before a name it is dropped.
fn without_demonym(span: &Span) -> Option<Span> {
    let mut at = span.at.clone();
    let mut rest = span.text.as_str();
    loop {
        let first = rest.split(' ').next().unwrap_or_default();
        let drop = text::is_demonym(first)
            || first.chars().next().is_some_and(char::is_uppercase) && WH.contains(&first.to_lowercase().as_str());
        if !drop {
            break;
        }
        let cut = (first.len() + 1).min(rest.len());
        rest = &rest[cut..];
        at.start += cut;
    }
    (!rest.is_empty()).then(|| Span { text: rest.to_owned(), at })
}

#[cfg(test)]
mod tests {
    use super::{Kind, Question};

    #[test]
    fn kinds_follow_the_question_word_wherever_it_stands() {
        for (question, kind) in [
            ("The composer of X was born in which city?", Kind::Place),
            ("In what year did it open?", Kind::Year),
            ("The engineer whose ship came home built a bridge; in what year did it open?", Kind::Year),
            ("When was X born?", Kind::Date),
            ("How many comets did she find?", Kind::Number),
            ("Who commanded the flight that launched X?", Kind::Person),
            ("Which actor took the leading role?", Kind::Person),
            ("What trade made the fortune of X?", Kind::Thing),
            ("What is the nationality of X?", Kind::Nationality),
        ] {
            assert_eq!(Question::read(question).kind, kind, "{question}");
        }
    }

    #[test]
    fn names_leave_out_peoples_and_question_words() {
        let names = |q: &str| Question::read(q).names.into_iter().map(|n| n.text).collect::<Vec<_>>();
        assert_eq!(names("Which Danish author wrote Babette's Feast?"), ["Babette's Feast"]);
        assert_eq!(names("Who sang \"in the Pines\" for Nirvana?"), ["in the Pines", "Nirvana"]);
        assert!(Question::read("Who was Jørn Utzon's wife?").mentions("Jørn Utzon"));
        assert!(!Question::read("Who was Jørn Utzon's wife?").mentions("Jørn".repeat(2).as_str()));
    }
}
