//! Judgements of people and models beside the rules' and metrics': tables of agreement.

use super::console::{dash, percent};
use super::sheet::Columns;
use super::summary::LEVEL;
use super::wrapped;
use crate::analysis::annotations::{Annotation, Disagreement, Judgements, Person, PersonPair, Table, is_model};
use crate::analysis::compare::verdict::p_equals;
use crate::analysis::judges::{Choice, Verdict};
use crate::analysis::results::{Correction, Drawn, JudgeFigures, JudgedRun};
use crate::base::stats::ppi::{FEW_LABELS, FEWEST};
use crate::base::stats::{Agreement, Coefficient, Interval, LabelledPart, holm, wilson};
use crate::base::text::{counted, joined, thousands, visible_line};
use crate::scoring::float;
use std::fmt::Write as _;

const MAX_LISTED: usize = 20;
const MAX_PERSON_NAME: usize = 40;
const MAX_REASON: usize = 400;
/// Characters of a class above a column.
const MAX_HEADING: usize = 6;

/// Tables and lines below each other.
struct Page<'c> {
    text: String,
    /// Prints one episode.
    command: &'c dyn Fn(&Disagreement) -> String,
    width: usize,
}

/// The tables, ending in a line break; `command` prints one episode.
pub(crate) fn judgements(judgements: &Judgements, command: &dyn Fn(&Disagreement) -> String, width: usize) -> String {
    let mut page = Page { text: String::new(), command, width };
    judgements.people.iter().for_each(|person| page.person(person, judgements));
    judgements.pairs.iter().for_each(|two| page.pair(two));
    if !judgements.people.is_empty() {
        page.text.push_str("intervals: 95 %, over questions; formulas: `wikitrail docs annotation`\n");
    }
    page.text
}

/// What a model says of an episode, in one line.
pub(crate) fn reading(one: &Annotation) -> String {
    let class = one.class.map(|class| format!(" says {}", class.name())).unwrap_or_default();
    let reason = one.note.as_deref().map(|note| format!(": {}", visible_line(note, MAX_REASON))).unwrap_or_default();
    format!("{}{class}{reason}", visible_line(&one.by, MAX_PERSON_NAME))
}

impl Page<'_> {
    fn line(&mut self, indent: &str, line: &str) {
        self.text += &wrapped(line, self.width, indent);
    }

    fn person(&mut self, person: &Person, judgements: &Judgements) {
        let by = visible_line(&person.by, MAX_PERSON_NAME);
        let seen = match person.episodes - person.blind {
            0 => "without sight of the rules' verdict".to_owned(),
            seen => format!("{} of them in sight of the rules' verdict, or unknown", thousands(seen)),
        };
        self.text.push('\n');
        self.line("", &format!("judged by {by}: {}, {seen}", counted(person.episodes, "episode")));
        if is_model(&person.by) {
            self.model(&person.by, judgements);
        }
        self.confusion("failure classes", ["rules", &by], &person.classes);
        // Only a person is the measure of the rules.
        if person.classes.agreement.n > 0 && !is_model(&person.by) {
            self.shares(&by, &person.classes);
        }
        self.confusion("right or wrong", ["metric", &by], &person.correct);
        self.disagreements(["rules", &by], &person.classes);
        self.disagreements(["metric", &by], &person.correct);
    }

    /// A model's classes are worth what they agree with people's.
    fn model(&mut self, by: &str, judgements: &Judgements) {
        let mut people = judgements.of_model_and_people(by).peekable();
        if people.peek().is_none() {
            self.line("  ", "no person has classified these episodes: how often this model is right is not known");
        }
        for (person, found) in people {
            let person = visible_line(person, MAX_PERSON_NAME);
            self.line("  ", &format!("against {person}, a person: {}", agreement_line(found)));
        }
    }

    fn pair(&mut self, two: &PersonPair) {
        let [a, b] = &two.people.each_ref().map(|name| visible_line(name, MAX_PERSON_NAME));
        for (what, labels) in [("failure classes", &two.classes), ("right or wrong", &two.correct)] {
            if labels.agreement.n > 0 {
                self.text.push('\n');
                self.confusion(what, [a, b], labels);
                self.disagreements([a, b], labels);
            }
        }
    }

    /// Rows are the first's, columns the second's.
    fn confusion(&mut self, what: &str, [first, second]: [&str; 2], labels: &Table) {
        let Agreement { n, confusion, .. } = &labels.agreement;
        if *n == 0 {
            return;
        }
        let shown = |count: u64| if count == 0 { "·".to_owned() } else { thousands(count) };
        let classes: Vec<(usize, &str)> = labels.words.iter().copied().enumerate().collect();
        let names = Columns::of(format!("{first} / {second}"), |(_, word): &(usize, &str)| (*word).to_owned());
        let columns = classes.iter().fold(names, |columns, (column, word)| {
            let heading: String = word.chars().take(MAX_HEADING).collect();
            columns.numbers(heading, move |(row, _)| shown(confusion.get(*row, *column)))
        });
        let (agreement, table) = (agreement_line(&labels.agreement), columns.table(&classes, self.width));
        let _ = writeln!(self.text, "{what}, {first} against {second}:\n  {agreement}\n{table}");
    }

    /// Precision and recall of the rules for each class, with the person as the judge.
    fn shares(&mut self, by: &str, labels: &Table) {
        let counts = &labels.agreement.confusion;
        let share = |share: Option<f64>| share.map_or_else(dash, percent);
        let classes: Vec<(usize, &str)> = labels.words.iter().copied().enumerate().collect();
        let table = Columns::of("class", |(_, word): &(usize, &str)| (*word).to_owned())
            .numbers("rules", |(at, _)| thousands(counts.first(*at)))
            .numbers(by, |(at, _)| thousands(counts.second(*at)))
            .numbers("both", |(at, _)| thousands(counts.get(*at, *at)))
            .numbers("precision %", |(at, _)| share(counts.precision(*at)))
            .numbers("recall %", |(at, _)| share(counts.recall(*at)))
            .table(&classes, self.width);
        self.text += &(table + "\n");
    }

    fn disagreements(&mut self, [first, second]: [&str; 2], labels: &Table) {
        let all = &labels.disagreements;
        if all.is_empty() {
            return;
        }
        let _ = writeln!(self.text, "{} of {first} and {second}:", counted(all.len(), "disagreement"));
        for one in all.iter().take(MAX_LISTED) {
            let command = visible_line(&(self.command)(one), 500);
            let _ = writeln!(self.text, "  {:<13} {:<13} {command}", one.first, one.second);
        }
        if all.len() > MAX_LISTED {
            let _ = writeln!(self.text, "  and {} more; --json has all", thousands(all.len() - MAX_LISTED));
        }
    }
}

const MAX_JUDGE_NAME: usize = 60;

/// A p below which labels do not look drawn at random.
const SUSPICIOUS: f64 = 0.05;

/// The lines, ending in a line break; `means` are the judges' means with what labels make of them.
pub(crate) fn judged_figures(judged: &JudgedRun, means: &[(String, &Correction)], width: usize) -> String {
    let mut page = Page { text: String::new(), command: &|_| String::new(), width };
    judged.figures(LEVEL).iter().for_each(|judge| page.judge(judge));
    for two in judged.pairs(LEVEL) {
        let [a, b] = two.judges.each_ref().map(|name| visible_line(name, MAX_JUDGE_NAME));
        page.text.push('\n');
        page.line("", &format!("{a} against {b}: {}", agreement_line(&two.agreement)));
    }
    let corrected = if means.iter().any(|(_, mean)| mean.corrected.is_some()) {
        "corrected: PPI++, which needs labels drawn at random from the answers right by exact match, and from those wrong by \
         it; `wikitrail docs judge`"
    } else {
        "uncorrected: the judge's own errors are in these shares; labels by people correct them, `wikitrail docs judge`"
    };
    page.line("", corrected);
    for line in of_labels(means) {
        page.line("  ", &line);
    }
    page.text
}

/// Whether the labels of these means look drawn at random, or why they correct nothing, a sentence each.
pub(crate) fn of_labels(means: &[(String, &Correction)]) -> Vec<String> {
    let drawn = || means.iter().filter_map(|(name, mean)| Some((name, mean, mean.drawn.as_ref()?)));
    let parts = |drawn: &Drawn| [("wrong", drawn.wrong_by_em), ("right", drawn.right_by_em)];
    let tested = || drawn().filter(|(_, mean, _)| mean.corrected.is_some());
    let all: Vec<f64> = tested().flat_map(|(.., drawn)| parts(drawn)).filter_map(|(_, part)| part.p).collect();
    let after = if all.len() > 1 { format!(" after Holm over {} tests", all.len()) } else { String::new() };
    let mut adjusted = holm(&all).into_iter();
    let mut lines = Vec::new();
    let some_corrected = tested().next().is_some();
    for (name, mean, drawn) in drawn().filter(|(_, mean, _)| some_corrected || mean.labels > 0) {
        let mut say = |line: String| lines.push(if means.len() > 1 { format!("{name}: {line}") } else { line });
        if mean.corrected.is_none() {
            say(uncorrected(drawn));
            continue;
        }
        let mut unremarkable = Vec::new();
        for (em, part) in parts(drawn) {
            match part.p.and_then(|_| adjusted.next()) {
                Some(p) if p < SUSPICIOUS => say(suspicious(em, part, &format!("{}{after}", p_equals(p)))),
                Some(p) => unremarkable.push(format!("{} for answers {em} by exact match", p_equals(p))),
                None => {}
            }
        }
        if let Some(found) = joined(unremarkable, ", ") {
            say(format!(
                "no sign that labels were not drawn at random ({found}{after}); whether they were, only you know"
            ));
        }
        // They are equal where a stratum's labels are all the same, or all of it is labelled.
        if let Some([twice, half]) = drawn.at_odds.map(|at| at.map(percent)).filter(|[twice, half]| twice != half) {
            say(format!(
                "if right answers were labelled twice as often as wrong ones, the share is {twice} %; if half as often, {half} %"
            ));
        }
    }
    lines
}

fn uncorrected(drawn: &Drawn) -> String {
    let questions = drawn.labelled_questions;
    if (questions as u64) < FEWEST {
        return format!("not corrected: {} labelled, {FEWEST} are needed", counted(questions, "independent question"));
    }
    let (em, part) = match drawn.wrong_by_em.too_few {
        Some(_) => ("wrong", drawn.wrong_by_em),
        None => ("right", drawn.right_by_em),
    };
    let few = part.too_few.unwrap_or_default();
    let of = if few < part.labels { ", in one of the combinations," } else { "" };
    format!("not corrected: {}{of} of answers {em} by exact match, {FEW_LABELS} are needed", counted(few, "label"))
}

fn suspicious(em: &str, part: LabelledPart, p: &str) -> String {
    let LabelledPart { judged, correct, labels, correct_labels, .. } = part;
    let of_all = percent(float(correct) / float(judged));
    format!(
        "labels of answers {em} by exact match do not look drawn at random: the judge called {correct_labels} of {labels} \
         labelled and {of_all} % of all correct ({p}); the corrected share can be off"
    )
}

impl Page<'_> {
    fn judge(&mut self, judge: &JudgeFigures) {
        let rule = judge.known.rule;
        let total: usize = judge.verdicts.iter().sum();
        let counts = label_counts(&judge.verdicts.map(|count| count as u64));
        let name = visible_line(&judge.name, MAX_JUDGE_NAME);
        let usd = judge.cost_usd.map_or_else(|| "price unknown".to_owned(), |usd| format!("{usd:.4} USD"));
        self.text.push('\n');
        self.line("", &format!("{name}: {} ({counts}), {usd}", counted(total, "verdict")));
        let chosen = match rule.judged {
            Choice::All => "every answer".to_owned(),
            Choice::WrongByEm => {
                format!("answers that exact match calls wrong, and {} of the others (seed {})", rule.audit, rule.seed)
            }
        };
        self.line("  ", &format!("judged: {chosen}"));
        for (row, name) in ["wrong", "right"].iter().enumerate() {
            let counts = &judge.em[row];
            let of = if row == 1 { format!(" of {}", thousands(judge.right)) } else { String::new() };
            let judged = thousands(counts.iter().sum::<u64>());
            self.line("  ", &format!("{name} by exact match: {judged}{of} judged: {}", label_counts(counts)));
        }
        let [correct, incorrect, not_attempted, _] = judge.em[1];
        let (errors, readable) = (incorrect + not_attempted, correct + incorrect + not_attempted);
        if readable > 0 {
            let Interval { low, high } = wilson(errors, readable, LEVEL);
            let [share, low, high] = [float(errors) / float(readable), low, high].map(percent);
            let what = "of the answers right by exact match, wrong by the judge";
            self.line("  ", &format!("{what}: {share} % [{low}, {high}]"));
        }
        let sample = if readable < judge.right { ", in which right answers are a sample" } else { "" };
        let agreement = agreement_line(&judge.agreement);
        self.line("  ", &format!("exact match against the judge, of the judged answers{sample}: {agreement}"));
    }
}

/// `12 correct, 3 incorrect`.
fn label_counts(counts: &[u64; 4]) -> String {
    let parts = Verdict::ALL.iter().zip(counts).filter(|(_, count)| **count > 0);
    let parts = parts.map(|(verdict, count)| format!("{} {}", thousands(*count), verdict.name().replace('_', " ")));
    joined(parts, ", ").unwrap_or_else(dash)
}

/// `agree on 50 of 60 (83.3 %), κ 0.79 [0.66, 0.90], AC1 0.81 [0.69, 0.91]`.
fn agreement_line(of: &Agreement) -> String {
    let share = of.share().map_or_else(dash, percent);
    let (kappa, ac1) = (coefficient(of.kappa), coefficient(of.ac1));
    format!("agree on {} of {} ({share} %), κ {kappa}, AC1 {ac1}", thousands(of.agreeing), thousands(of.n))
}

fn coefficient(coefficient: Option<Coefficient>) -> String {
    let Some(Coefficient { value, interval, .. }) = coefficient else { return dash() };
    let interval = interval.map(|ends| format!(" [{:.2}, {:.2}]", ends.low, ends.high));
    format!("{value:.2}{}", interval.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::of_labels;
    use crate::analysis::results::{Correction, Drawn};
    use crate::base::stats::{Corrected, Interval, LabelledPart, fisher_exact};

    fn part(judged: u64, correct: u64, labels: u64, correct_labels: u64) -> LabelledPart {
        let others = judged - labels;
        let table = [
            [correct_labels, labels - correct_labels],
            [correct - correct_labels, others - (correct - correct_labels)],
        ];
        let p = (correct < judged && labels < judged).then(|| fisher_exact(table));
        let too_few = Some(labels).filter(|labels| *labels < 5 && *labels < judged);
        LabelledPart { judged, correct, labels, correct_labels, p, too_few }
    }

    fn mean(wrong: LabelledPart, right: LabelledPart, at_odds: [f64; 2]) -> Correction {
        let labels = wrong.labels + right.labels;
        let enough = labels >= 20 && right.too_few.is_none();
        let found = || Corrected { mean: 0.6, se: 0.1, labels, freedom: labels - 1, lambda: 1.0 };
        let corrected = enough.then(found);
        let labels = usize::try_from(labels).expect("few");
        Correction {
            labels,
            corrected,
            interval: corrected.map(|_| Interval { low: 0.4, high: 0.8 }),
            drawn: Some(Drawn {
                labelled_questions: labels,
                wrong_by_em: wrong,
                right_by_em: right,
                at_odds: corrected.map(|_| at_odds),
            }),
        }
    }

    #[test]
    fn every_mean_says_whether_its_labels_look_drawn_at_random() {
        let (fair, chosen) = (part(120, 54, 40, 19), part(120, 54, 40, 0));
        let right = part(80, 80, 20, 20);
        let one = mean(chosen, right, [0.531, 0.531]);
        assert_eq!(
            of_labels(&[("b".to_owned(), &one)]),
            [
                "labels of answers wrong by exact match do not look drawn at random: the judge called 0 of 40 labelled and \
              45.0 % of all correct (p < 0.0001); the corrected share can be off"
            ]
        );
        let rows = [
            mean(fair, part(80, 60, 20, 14), [0.55, 0.65]),
            one,
            mean(part(120, 54, 6, 3), right, [0.5, 0.7]),
            mean(fair, part(80, 80, 3, 3), [0.5, 0.7]),
            mean(part(120, 54, 6, 3), part(80, 80, 6, 6), [0.5, 0.7]),
            mean(part(120, 54, 0, 0), part(80, 80, 0, 0), [0.5, 0.7]),
        ];
        let named: Vec<_> = ["a", "b", "c", "d", "e", "f"].map(str::to_owned).into_iter().zip(&rows).collect();
        assert_eq!(
            of_labels(&named),
            [
                "a: no sign that labels were not drawn at random (p = 1.0000 for answers wrong by exact match, p = 1.0000 for answers \
                 right by exact match after Holm over 4 tests); whether they were, only you know",
                "a: if right answers were labelled twice as often as wrong ones, the share is 55.0 %; if half as often, 65.0 %",
                "b: labels of answers wrong by exact match do not look drawn at random: the judge called 0 of 40 labelled and \
                 45.0 % of all correct (p < 0.0001 after Holm over 4 tests); the corrected share can be off",
                "c: no sign that labels were not drawn at random (p = 1.0000 for answers wrong by exact match after Holm over 4 tests); \
                 whether they were, only you know",
                "c: if right answers were labelled twice as often as wrong ones, the share is 50.0 %; if half as often, 70.0 %",
                "d: not corrected: 3 labels of answers right by exact match, 5 are needed",
                "e: not corrected: 12 independent questions labelled, 20 are needed",
                "f: not corrected: 0 independent questions labelled, 20 are needed",
            ]
        );
    }
}
