//! What is read of words, titles, numbers, questions and lists.

use crate::models::baseline::notes::Notes;
use crate::models::baseline::notes::{Kind, Question};
use crate::models::baseline::text::{self, Span};
use crate::models::baseline::transcript::{Action, PastStep};

fn texts(spans: Vec<Span<'_>>) -> Vec<&str> {
    spans.into_iter().map(|span| span.text).collect()
}

#[test]
fn words_keep_apostrophes_hyphens_and_decimals() {
    let words = text::words("Babette's forty-foot mirror, 1,200.5 m (1785–89).");
    assert_eq!(texts(words), ["Babette's", "forty-foot", "mirror", "1,200.5", "m", "1785", "89"]);
    assert_eq!(text::stem("directed"), text::stem("Director's"));
    assert_ne!(text::stem("born"), text::stem("bored"));
    assert_eq!(text::fold("The  PIANO’s"), "the piano's");
}

#[test]
fn titles_are_runs_of_capitals() {
    for (text, want) in [
        ("The director of Throne of Blood met Toshiro Mifune's wife.", vec!["Throne of Blood", "Toshiro Mifune"]),
        ("Which is older, The Piano or Babette's Feast?", vec!["The Piano", "Babette's Feast"]),
        ("He moved from Paris to Rome and Milan in May.", vec!["Paris", "Rome", "Milan"]),
        ("C. S. Lewis wrote it. In Oxford.", vec!["C. S. Lewis", "Oxford"]),
        ("Apollo 11 flew.", vec!["Apollo 11"]),
        ("nothing here", vec![]),
    ] {
        assert_eq!(texts(text::titles(text)), want, "{text}");
    }
}

#[test]
fn numbers_years_and_dates() {
    let numbers = text::numbers("It has 1,200 rooms, twenty-four halls and 3.5 million visitors.");
    assert_eq!(texts(numbers), ["1,200", "twenty-four", "3.5"]);
    let text = "born 1 May 1950, died June 9, 1999, active from 1969";
    let years: Vec<Span<'_>> = text::numbers(text).into_iter().filter(text::is_year).collect();
    let dates = years.iter().map(|year| text::date(text, year)).collect();
    assert_eq!(texts(dates), ["1 May 1950", "June 9, 1999", "1969"]);
}

#[test]
fn the_type_of_an_answer_follows_the_question_word_wherever_it_stands() {
    for (question, kind) in [
        ("The composer of X was born in which city?", Kind::Name),
        ("In what year did it open?", Kind::Year),
        ("The engineer whose ship came home built a bridge; in what year did it open?", Kind::Year),
        ("When was X born?", Kind::Date),
        ("How many comets did she find?", Kind::Number),
        ("Who commanded the flight that launched X?", Kind::Name),
        ("Who was Ann Bee?", Kind::Description),
        ("What is the River Ark?", Kind::Description),
        ("Who directed Nightfall?", Kind::Name),
        ("Is Ann Bee a poet?", Kind::YesNo),
        ("Who was born first, Ann Bee or Carl Dee?", Kind::Least),
        ("Of Ann Bee and Carl Dee, who lived longer?", Kind::Most),
        ("who", Kind::Name),
        ("", Kind::Name),
    ] {
        assert_eq!(Question::read(question, false).kind, kind, "{question}");
    }
}

#[test]
fn titles_leave_out_adjectives_and_put_quotations_first() {
    let titles = |question: &str| Question::read(question, false).titles;
    assert_eq!(titles("Which Danish author wrote Babette's Feast?"), ["Babette's Feast"]);
    assert_eq!(titles("Who sang \"in the Pines\" for Nirvana?"), ["in the Pines", "Nirvana"]);
    assert!(Question::read("Who was Jørn Utzon's wife?", false).mentions("Jørn Utzon"));
}

#[test]
fn notes_keep_offers_pages_and_lookups() {
    let past = |action: &str, observation: &str| {
        let (call, observation) = super::past(action, observation);
        PastStep { action: Action { tool: call.tool, input: call.input }, observation }
    };
    let question = Question::read("Who is the mayor of X?", false);
    let steps = [
        past("Search[Y]", r#"Could not find Y. Similar: ['X', "b's", 'c \'d\'', 'e, f']."#),
        past("Search[X]", "X is a town. It lies on a river.."),
        past("Lookup[mayor]", "(Result 1 / 2) The mayor is Z."),
        past("Lookup[mayor]", "No more results."),
        past("Dance[x]", "Invalid action: Dance[x]"),
    ];
    assert_eq!(Notes::read(&steps[..1], &question).similar, ["X", "b's", "c 'd'", "e, f"]);
    let notes = Notes::read(&steps, &question);
    let page = &notes.pages[0];
    let sentences: Vec<&str> = page.sentences.iter().map(|(text, _)| &**text).collect();
    assert_eq!(sentences, ["X is a town", "It lies on a river..", "The mayor is Z."]);
    assert!(page.looked_up && notes.tried("x") && notes.tried("Y") && notes.similar.is_empty());
}
