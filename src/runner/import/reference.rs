//! The run whose questions imported episodes answer.

use crate::base::{DatasetRecord, Question, Trajectory};
use crate::dataset::unguarded;
use crate::runner::error::RunError;
use crate::runner::store::RunFolder;
use crate::runner::stored;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// A question of fewer words is not looked for inside a longer text.
const MIN_WORDS: usize = 3;

#[derive(Default)]
pub(super) struct ReferenceQuestions {
    pub(super) dataset: DatasetRecord,
    questions: Vec<Question>,
    by_id: HashMap<String, usize>,
    by_text: HashMap<String, Vec<usize>>,
    words: Vec<Vec<String>>,
    by_words: HashMap<Vec<String>, Vec<usize>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Match {
    Text,
    /// By its id; the sample does not have its text.
    IdAlone,
}

impl ReferenceQuestions {
    pub(super) fn read(path: &Path) -> Result<Self, RunError> {
        let folder = RunFolder::open(path)?;
        let manifest = folder.manifest()?;
        // Runs from before questions were kept have them in their records, if the dataset is elsewhere.
        let known = stored::questions(&folder, &manifest).unwrap_or_default();
        let mut asked = Self { dataset: manifest.dataset, ..Self::default() };
        let mut seen: HashSet<String> = HashSet::new();
        for question in known {
            if seen.insert(question.id.clone()) {
                asked.add(question);
            }
        }
        for trajectory in folder.records()?.iter() {
            let Trajectory { id, index, question, answers, .. } = trajectory?;
            if seen.insert(id.clone()) {
                let dataset = asked.dataset.name.clone();
                asked.add(Question { dataset, index, ..Question::new(id, question, answers) });
            }
        }
        Ok(asked)
    }

    fn add(&mut self, question: Question) {
        let at = self.questions.len();
        let words = words(&question.question);
        self.by_id.insert(question.id.clone(), at);
        self.by_text.entry(question.question.trim().to_owned()).or_default().push(at);
        if words.len() >= MIN_WORDS {
            self.by_words.entry(words[..MIN_WORDS].to_vec()).or_default().push(at);
        }
        self.words.push(words);
        self.questions.push(question);
    }

    pub(super) fn all(&self) -> &[Question] {
        &self.questions
    }

    /// The question that a sample asked: by its id where its text agrees, by its text, then by its id alone.
    pub(super) fn find(&self, id: &str, text: &str) -> Result<(&Question, Match), String> {
        let same_id = self.by_id.get(id).or_else(|| self.by_id.get(unguarded(id))).copied();
        let mut texts = self.by_text.get(text.trim()).cloned().unwrap_or_default();
        if texts.is_empty() {
            texts = self.inside(text);
        }
        let found = match (same_id, &texts[..]) {
            (Some(at), texts) if texts.contains(&at) => (at, Match::Text),
            (_, [at]) => (*at, Match::Text),
            (Some(at), []) => (at, Match::IdAlone),
            (_, []) => return Err("the run of --like has no such question".to_owned()),
            (_, several) => return Err(format!("its text has {} questions of the run of --like", several.len())),
        };
        Ok((&self.questions[found.0], found.1))
    }

    /// The questions whose words follow each other in a text; one inside another does not count.
    fn inside(&self, text: &str) -> Vec<usize> {
        let text = words(text);
        let mut found: Vec<usize> = Vec::new();
        for at in 0..text.len().saturating_sub(MIN_WORDS - 1) {
            let same = self.by_words.get(&text[at..at + MIN_WORDS]).into_iter().flatten();
            found.extend(same.filter(|question| text[at..].starts_with(&self.words[**question])));
        }
        found.sort_unstable();
        found.dedup();
        let is_part = |at: &usize| {
            found.iter().any(|other| {
                let (long, short) = (&self.words[*other], &self.words[*at]);
                long.len() > short.len() && long.windows(short.len()).any(|part| part == &short[..])
            })
        };
        found.iter().copied().filter(|at| !is_part(at)).collect()
    }
}

/// Letters and digits in small letters, without what is between them.
fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::{Match, Question, ReferenceQuestions};

    fn asked(questions: &[(&str, &str)]) -> ReferenceQuestions {
        let mut asked = ReferenceQuestions::default();
        for (id, text) in questions {
            asked.add(Question::new(*id, *text, vec![]));
        }
        asked
    }

    #[test]
    fn a_question_is_found_by_id_then_by_text() {
        let asked = asked(&[
            ("1", "Who wrote it?"),
            ("2", "Who wrote it?"),
            ("3", "When was Rome built?"),
            ("4", "Is it so?"),
            ("5", "When was Rome built and why?"),
            ("-6", "Six?"),
            ("-7", "Seven?"),
            ("'-7", "Seven again?"),
        ]);
        let find = |id: &str, text: &str| {
            let found = asked.find(id, text);
            found.map(|(question, how)| (question.id.clone(), how))
        };
        let is = |id: &str, how| Ok((id.to_owned(), how));
        assert_eq!(find("2", " Who wrote it?\n"), is("2", Match::Text));
        assert!(find("x", "Who wrote it?").expect_err("two").contains("2 questions"));
        assert_eq!(find("9", "Question: when was ROME built?\nAnswer:"), is("3", Match::Text));
        assert_eq!(find("9", "Q: When was Rome built and why?\nA:"), is("5", Match::Text));
        // Ids that count from 1 may be another dataset's.
        assert_eq!(find("4", "When was Rome built?"), is("3", Match::Text));
        assert_eq!(find("4", "In other words"), is("4", Match::IdAlone));
        // As a table for spreadsheets has it; the id as it is written comes first.
        assert_eq!((find("'-6", "-"), find("'-7", "-")), (is("-6", Match::IdAlone), is("'-7", Match::IdAlone)));
        assert!(find("9", "In other words").is_err() && find("9", "").is_err());
        assert!(find("9", "When was Rome built? Is it so?").expect_err("two").contains("2 questions"));
        assert_eq!(find("4", "When was Rome built? Is it so?"), is("4", Match::Text));
    }
}
