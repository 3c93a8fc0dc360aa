//! A dataset's counts, supporting facts, duplicates and leaked exemplars.

use super::report::labelled;
use super::results::Field;
use crate::base::Question;
use crate::base::text::{counted, joined, thousands, visible_line};
use crate::dataset::{Dataset, Format, Problem};
use crate::prompting::{self, PromptSource, QUESTION_LABELS};
use crate::runner::RunError;
use crate::runner::experiment::shipped;
use crate::scoring::overlap::overlap;
use crate::scoring::{normalize, normalize_characters};
use serde::{Serialize, Serializer};
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};
use std::sync::Arc;

/// Groups and matches that are listed; the rest is counted.
const MAX_LISTED: usize = 10;

/// The figures of a file; counts are of questions unless noted.
#[derive(Debug, Serialize)]
pub(crate) struct DatasetInfo {
    file: String,
    #[serde(serialize_with = "format_name")]
    format: Format,
    dataset: String,
    sha256: String,
    questions: usize,
    skipped: usize,
    /// Of these, records with the id of an earlier one.
    repeated_ids: usize,
    types: BTreeMap<String, usize>,
    levels: BTreeMap<String, usize>,
    answer_kinds: BTreeMap<String, usize>,
    /// Without a gold answer: of a published dataset, whose makers withhold it, or of one's own.
    hidden_answers: usize,
    /// Marked as not answerable from their own context.
    unanswerable: usize,
    several_answers: usize,
    /// With a gold answer, or an alias, that looks like several: it holds a `|`.
    several_in_one: usize,
    /// With a gold answer that is the text of a list, as Python writes it or with a `null`.
    lists_as_text: usize,
    /// With the gold answer `true` or `false`, in any case of its letters.
    truth_as_text: usize,
    with_context: usize,
    supporting_facts: Facts,
    with_evidence_sets: usize,
    duplicates: Duplicates,
    leakage: Vec<Leakage>,
}

/// Supporting facts against the paragraphs of their question. `total` is the sum of the four after it.
#[derive(Debug, Default, PartialEq, Serialize)]
struct Facts {
    questions: usize,
    total: usize,
    resolved: usize,
    title_missing: usize,
    sentence_missing: usize,
    no_context: usize,
}

#[derive(Debug, Default, PartialEq, Serialize)]
struct Duplicates {
    /// Questions that repeat an earlier one.
    questions: usize,
    /// Of these, questions in the same cluster, which some datasets have by design.
    twins: usize,
    /// Ids that share a question, in file order.
    groups: Vec<Vec<String>>,
}

pub(crate) fn dataset_info(file: String, dataset: &Dataset, prompts: &[String]) -> Result<DatasetInfo, RunError> {
    let questions = &dataset.questions;
    let keys: Vec<String> = questions.iter().map(|question| key(&question.question)).collect();
    let count = |of: fn(&Question) -> bool| questions.iter().filter(|question| of(question)).count();
    let leakage = prompts.iter().map(|spec| leakage_of(spec, questions, &keys)).collect::<Result<_, RunError>>()?;
    Ok(DatasetInfo {
        file,
        format: dataset.format,
        dataset: dataset.name.clone(),
        sha256: dataset.sha256.clone(),
        questions: questions.len(),
        skipped: dataset.skipped.len(),
        repeated_ids: dataset.skipped.iter().filter(|bad| matches!(bad.problem, Problem::Duplicate(..))).count(),
        types: counts(questions, &Field::Type),
        levels: counts(questions, &Field::Level),
        answer_kinds: counts(questions, &Field::AnswerKind),
        hidden_answers: count(|question| question.answers.is_empty()),
        unanswerable: count(|question| !question.answerable),
        several_answers: count(|question| question.answers.len() > 1),
        several_in_one: count(|question| question.answers.iter().any(|answer| answer.contains('|'))),
        lists_as_text: count(|question| question.answers.iter().any(|answer| is_list(answer))),
        truth_as_text: count(|question| {
            question
                .gold()
                .is_some_and(|gold| ["true", "false"].iter().any(|word| gold.trim().eq_ignore_ascii_case(word)))
        }),
        with_context: count(|question| !question.context.is_empty()),
        supporting_facts: facts(questions),
        with_evidence_sets: count(|question| !question.evidence_sets.is_empty()),
        duplicates: duplicates(questions, &keys),
        leakage,
    })
}

fn format_name<S: Serializer>(format: &Format, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(format.name())
}

fn counts(questions: &[Arc<Question>], field: &Field) -> BTreeMap<String, usize> {
    let mut counts = BTreeMap::new();
    for question in questions {
        *counts.entry(field.of(question).unwrap_or_else(|| "(none)".to_owned())).or_default() += 1;
    }
    counts
}

/// Whether an answer looks like a list that was not read as one.
fn is_list(answer: &str) -> bool {
    let answer = answer.trim();
    answer.starts_with('[') && answer.ends_with(']') && answer.contains(['\'', '"', ','])
}

fn facts(questions: &[Arc<Question>]) -> Facts {
    let mut found = Facts::default();
    for question in questions.iter().filter(|question| !question.supporting_facts.is_empty()) {
        found.questions += 1;
        found.total += question.supporting_facts.len();
        if question.context.is_empty() {
            found.no_context += question.supporting_facts.len();
            continue;
        }
        let mut sentences: HashMap<&str, usize> = HashMap::new();
        for paragraph in &question.context {
            let most = sentences.entry(&paragraph.title).or_default();
            *most = paragraph.sentences.len().max(*most);
        }
        for fact in &question.supporting_facts {
            let place = match sentences.get(fact.0.as_str()) {
                None => &mut found.title_missing,
                Some(&count) if usize::try_from(fact.1).is_ok_and(|n| n < count) => &mut found.resolved,
                Some(_) => &mut found.sentence_missing,
            };
            *place += 1;
        }
    }
    found
}

fn duplicates(questions: &[Arc<Question>], keys: &[String]) -> Duplicates {
    let mut first: HashMap<&str, usize> = HashMap::with_capacity(keys.len());
    let mut groups: BTreeMap<usize, Vec<String>> = BTreeMap::new();
    let mut found = Duplicates::default();
    for (at, (question, key)) in questions.iter().zip(keys).enumerate() {
        let one = *first.entry(key).or_insert(at);
        if one == at {
            continue;
        }
        found.questions += 1;
        let cluster = |at: usize| questions[at].cluster.as_deref();
        found.twins += usize::from(cluster(at).is_some() && cluster(at) == cluster(one));
        groups.entry(one).or_insert_with(|| vec![questions[one].id.clone()]).push(question.id.clone());
    }
    found.groups = groups.into_values().collect();
    found
}

const LABELS: usize = 18;

/// A label, its text, and lines below it.
type InfoLine = (&'static str, String, Vec<String>);

pub(crate) fn write_info(info: &DatasetInfo, width: usize, out: &mut dyn Write) -> io::Result<()> {
    let (questions, dataset) = (counted(info.questions, "question"), visible_line(&info.dataset, 60));
    writeln!(out, "{}: {questions} of {dataset} ({})", info.file, info.format.name())?;
    for (label, text, below) in info_lines(info) {
        out.write_all(labelled(label, &text, LABELS, width).as_bytes())?;
        below.iter().try_for_each(|line| writeln!(out, "    {line}"))?;
    }
    Ok(())
}

fn info_lines(info: &DatasetInfo) -> Vec<InfoLine> {
    let fact = |label, text| (label, text, Vec::new());
    let mut facts = vec![
        fact("sha256", info.sha256.clone()),
        fact("types", count_list(&info.types)),
        fact("levels", count_list(&info.levels)),
        fact("answers", count_list(&info.answer_kinds)),
        fact(
            if info.format.is_general() { "no gold answer" } else { "hidden answers" },
            info.hidden_answers.to_string(),
        ),
    ];
    let counts = [
        ("unanswerable", info.unanswerable),
        ("several answers", info.several_answers),
        ("with context", info.with_context),
        ("with evidence sets", info.with_evidence_sets),
        ("skipped records", info.skipped),
    ];
    facts.extend(counts.into_iter().filter(|(_, n)| *n > 0).map(|(label, n)| fact(label, n.to_string())));
    if info.supporting_facts.total > 0 {
        facts.push(fact("supporting facts", facts_line(&info.supporting_facts)));
    }
    if info.repeated_ids > 0 {
        let text = format!("{}; `run` refuses the file unless --skip-bad leaves them out", info.repeated_ids);
        facts.push(fact("repeated ids", text));
    }
    let doubts = doubts(info).into_iter().filter(|(_, count, _)| *count > 0);
    facts.extend(doubts.map(|(label, n, what)| fact(label, format!("{}: {what}", counted(n, "question")))));
    facts.push(duplicates_line(&info.duplicates));
    facts.extend(info.leakage.iter().map(leakage_line));
    facts
}

/// What may not mean what the file's author thinks: the questions concerned, and how such an answer is read.
fn doubts(info: &DatasetInfo) -> [(&'static str, usize, &'static str); 3] {
    [
        (
            "answers with |",
            info.several_in_one,
            if info.format.is_table() {
                "an answer or alias with it is one text; --answer-separator '|' makes several of it"
            } else {
                "an answer or alias with it is one text; several are a JSON list, such as [\"Lviv\", \"Lwów\"]"
            },
        ),
        (
            "lists as text",
            info.lists_as_text,
            "the answer is one text, brackets included; a list is JSON, such as [\"Lviv\", \"Lwów\"], of texts, without null",
        ),
        (
            "true or false",
            info.truth_as_text,
            "the answer is that word, which `yes` or `no` does not match; write yes and no if models answer so",
        ),
    ]
}

fn facts_line(facts: &Facts) -> String {
    let mut text = format!(
        "{} in {}; {} resolved",
        thousands(facts.total),
        counted(facts.questions, "question"),
        thousands(facts.resolved)
    );
    for (count, what) in [
        (facts.title_missing, "with a title that is not in the context"),
        (facts.sentence_missing, "past the paragraph's end"),
        (facts.no_context, "without a context"),
    ] {
        if count > 0 {
            text = format!("{text}, {count} {what}");
        }
    }
    text
}

fn duplicates_line(duplicates: &Duplicates) -> InfoLine {
    let mut text = duplicates.questions.to_string();
    if duplicates.twins > 0 {
        text = format!("{text}, {} of them in the cluster of their original", duplicates.twins);
    }
    let line = |group: &Vec<String>| joined(group.iter().take(MAX_LISTED).map(|id| visible_line(id, 60)), " = ");
    let lines = duplicates.groups.iter().take(MAX_LISTED).filter_map(line).chain(more(duplicates.groups.len()));
    ("duplicates", text, lines.collect())
}

fn leakage_line(Leakage { prompt, exemplars, equal, near }: &Leakage) -> InfoLine {
    let are = if equal.len() == 1 { "is" } else { "are" };
    let (all, exemplars) = (equal.len(), counted(*exemplars, "exemplar"));
    let text = format!("{prompt}: {all} of {exemplars} {are} in the dataset, {} almost", near.len());
    let line = |found: &Match| {
        let (id, question) = (visible_line(&found.id, 60), visible_line(&found.question, 100));
        format!("exemplar {} ~ {id} ({:.2}): {question}", found.exemplar, found.similarity)
    };
    let lines = equal.iter().chain(near).take(MAX_LISTED).map(line).chain(more(equal.len() + near.len()));
    ("leakage", text, lines.collect())
}

fn more(count: usize) -> Option<String> {
    (count > MAX_LISTED).then(|| format!("and {} more (--json lists all)", count - MAX_LISTED))
}

fn count_list(counts: &BTreeMap<String, usize>) -> String {
    let mut rows: Vec<(&String, &usize)> = counts.iter().collect();
    // The names are in order.
    rows.sort_by_key(|(_, count)| Reverse(**count));
    let mut parts: Vec<String> =
        rows.iter().take(MAX_LISTED).map(|(name, count)| format!("{} {count}", visible_line(name, 40))).collect();
    if rows.len() > MAX_LISTED {
        parts.push(format!("{} more", rows.len() - MAX_LISTED));
    }
    parts.join(", ")
}

/// From which share of common words on two questions are nearly the same.
const NEAR: f64 = 0.8;
/// Questions of fewer words are the same or they are not.
const NEAR_WORDS: usize = 4;

#[derive(Debug, Serialize)]
pub(crate) struct Leakage {
    pub(crate) prompt: String,
    pub(crate) exemplars: usize,
    /// Exemplars that are the same question after normalisation.
    pub(crate) equal: Vec<Match>,
    pub(crate) near: Vec<Match>,
}

/// An exemplar and the question that it resembles most.
#[derive(Debug, PartialEq, Serialize)]
pub(crate) struct Match {
    pub(crate) exemplar: usize,
    pub(crate) id: String,
    pub(crate) question: String,
    /// F1 of their words, 1 for the same.
    pub(crate) similarity: f64,
}

/// A question as it is compared: words without case, punctuation and articles, characters of unspaced scripts apart.
pub(crate) fn key(question: &str) -> String {
    normalize_characters(&normalize(question))
}

/// The exemplars of a prompt that stand among the questions, whose keys are given in the same order.
pub(crate) fn leakage_of(spec: &str, questions: &[Arc<Question>], keys: &[String]) -> Result<Leakage, RunError> {
    let exemplars = exemplars(&prompting::load(spec, None, &shipped::file)?);
    let words: Vec<usize> = keys.iter().map(|key| count(key)).collect();
    let mut found =
        Leakage { prompt: spec.to_owned(), exemplars: exemplars.len(), equal: Vec::new(), near: Vec::new() };
    for (number, exemplar) in exemplars.iter().enumerate() {
        let Some((best, similarity)) = closest(&key(exemplar), keys, &words) else { continue };
        let question = &questions[best];
        let (id, text) = (question.id.clone(), question.question.clone());
        let same = keys[best] == key(exemplar);
        let list = if same { &mut found.equal } else { &mut found.near };
        list.push(Match { exemplar: number + 1, id, question: text, similarity });
    }
    Ok(found)
}

/// The questions of a prompt's exemplars; in a finished text, the lines that begin with a question's label.
fn exemplars(source: &PromptSource) -> Vec<String> {
    match source {
        PromptSource::File(file) => file.exemplars.iter().map(|exemplar| exemplar.question.clone()).collect(),
        PromptSource::Text(text) => text
            .text
            .lines()
            .filter_map(|line| {
                let (label, question) = line.split_once(':')?;
                QUESTION_LABELS.contains(&label.trim()).then(|| question.trim().to_owned())
            })
            .filter(|question| !question.is_empty())
            .collect(),
    }
}

fn closest(exemplar: &str, keys: &[String], words: &[usize]) -> Option<(usize, f64)> {
    if exemplar.is_empty() {
        return None;
    }
    if let Some(same) = keys.iter().position(|key| key == exemplar) {
        return Some((same, 1.0));
    }
    let mine = count(exemplar);
    let mut best: Option<(usize, f64)> = None;
    for (at, key) in keys.iter().enumerate() {
        // Where the lengths differ too much, no overlap reaches the threshold: F1 is at most 2 · min / sum.
        let (short, sum) = (mine.min(words[at]), mine + words[at]);
        if short < NEAR_WORDS || 10 * 2 * short < 8 * sum {
            continue;
        }
        let similarity = overlap(exemplar, key).f1;
        if similarity >= NEAR && best.is_none_or(|(_, most)| similarity > most) {
            best = Some((at, similarity));
        }
    }
    best
}

fn count(key: &str) -> usize {
    key.split(' ').filter(|word| !word.is_empty()).count()
}

#[cfg(test)]
mod tests {
    use super::{closest, count, key};

    #[test]
    fn equality_forgives_case_punctuation_and_articles_and_nearness_a_word() {
        let keys: Vec<String> =
            ["Who wrote Solaris?", "In which year did the poet of the Duino Elegies die?", "谁写了《红楼梦》？"]
                .map(key)
                .to_vec();
        let words: Vec<usize> = keys.iter().map(|key| count(key)).collect();
        let like = |text: &str| closest(&key(text), &keys, &words);
        assert_eq!(like("who wrote the SOLARIS"), Some((0, 1.0)));
        assert_eq!(like("who wrote Stalker"), None);
        let f1 = 2.0 * (8.0 / 9.0) * (8.0 / 9.0) / (8.0 / 9.0 + 8.0 / 9.0);
        assert_eq!(like("In which year did the author of the Duino Elegies die?"), Some((1, f1)));
        assert_eq!(like("谁写了红楼梦"), Some((2, 1.0)));
        assert_eq!(like("…"), None);
    }
}
