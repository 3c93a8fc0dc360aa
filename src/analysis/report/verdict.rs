//! Which variant is best, in a sentence: for the page, and for the end of a run.

use crate::analysis::compare::{FigureComparison, Pair, Word, pairs_of};
use crate::analysis::results::Group;
use crate::base::text::counted;
use crate::scoring::figure::Better;
use std::cmp::Ordering;

/// Names in a sentence at most.
const NAMES: usize = 5;

/// Pairs of which each has its sentence at the end of a run.
const MAX_SENTENCES: usize = 2;

/// What the variants of a group show in the figure that is compared first: the verdict of each pair, if these are few, and else
/// which variant is best.
pub(crate) fn headline(group: &Group) -> Vec<String> {
    match group.comparison.as_ref().ok().and_then(|comparison| comparison.figures.first()) {
        None => Vec::new(),
        Some(figure) if figure.pairs.is_empty() => Vec::new(),
        Some(figure) if figure.pairs.len() <= MAX_SENTENCES => {
            figure.pairs.iter().map(|pair| pair.verdict.sentence.clone()).collect()
        }
        Some(figure) => vec![best_variant(figure, &group.names)],
    }
}

/// Which variant is best in the compared figure, or between which no difference is shown.
pub(super) fn best_variant(em: &FigureComparison, names: &[String]) -> String {
    if let [pair] = &em.pairs[..] {
        return of_two(pair);
    }
    let n = names.len();
    if em.pairs.len() < pairs_of(n) {
        return of_planned(em);
    }
    if em.figure.better == Better::Neither {
        let all = counted(em.pairs.len(), "pair");
        return format!("{} of {all} are distinguishable", em.pairs.iter().filter(|pair| is_decided(pair)).count());
    }
    let won: Vec<&Pair> = em.pairs.iter().filter(|pair| pair.verdict.winner.is_some()).collect();
    let top = unbeaten(em, names);
    let of_best = || won.iter().filter(|pair| pair.verdict.winner.as_deref() == top.first().copied());
    let (wins, all) = (of_best().count(), n - 1);
    let is_top = |name: &String| top.contains(&name.as_str());
    let is_open = |pair: &&Pair| pair.verdict.word == Word::Undecided && is_top(&pair.a) && is_top(&pair.b);
    let open: Vec<&Pair> = em.pairs.iter().filter(is_open).collect();
    match top[..] {
        [] => "No best variant: the results are not transitive".to_owned(),
        [best] if wins == all && of_best().any(|pair| pair.verdict.word != Word::Beats) => {
            format!("{best} is ahead of the other {all} variants")
        }
        [best] if wins == all => format!("{best} is the best of {n} variants"),
        [best] => format!("{best} leads; no variant beats it, and it beats {wins} of {all}"),
        _ if won.is_empty() && em.pairs.iter().any(|pair| pair.difference.is_none()) => {
            "No best variant: none of the pairs that share questions is distinguishable".to_owned()
        }
        _ if !open.is_empty() => match open[..] {
            [one] => of_two(one),
            _ => format!("Undecided: {} of the {} pairs between {}", open.len(), pairs_of(top.len()), some(&top)),
        },
        _ if top.len() == n => format!("No best variant: no two of the {n} are distinguishable"),
        _ if beat_all_others(em, &top, names) => {
            let others: Vec<&str> = names.iter().map(String::as_str).filter(|name| !top.contains(name)).collect();
            format!("No best variant: {} are not distinguishable, and ahead of {}", some(&top), some(&others))
        }
        _ => format!("No best variant: {} are not distinguishable", some(&top)),
    }
}

/// Whether the two are distinguishable, whatever the unmeasured questions would give.
pub(super) fn is_decided(pair: &Pair) -> bool {
    pair.verdict.distinguishable && pair.verdict.word != Word::Undecided
}

/// Whether each of the variants at the top beats each of those below.
fn beat_all_others(em: &FigureComparison, top: &[&str], names: &[String]) -> bool {
    let wins = em.pairs.iter().filter(|pair| {
        let winner = pair.verdict.winner.as_deref();
        winner.is_some_and(|winner| top.contains(&winner) && !top.contains(&loser(pair, winner)))
    });
    wins.count() == top.len() * (names.len() - top.len())
}

/// The variants that no other one beats, those with the best mean first.
pub(super) fn unbeaten<'n>(em: &FigureComparison, names: &'n [String]) -> Vec<&'n str> {
    let is_beaten = |name: &str| {
        em.pairs.iter().any(|pair| {
            pair.verdict.winner.as_ref().is_some_and(|winner| winner != name)
                && [&pair.a, &pair.b].iter().any(|own| *own == name)
        })
    };
    let has_value =
        |name: &str| em.pairs.iter().any(|pair| pair.difference.is_some() && (pair.a == name || pair.b == name));
    let mut top: Vec<&str> =
        names.iter().map(String::as_str).filter(|name| has_value(name) && !is_beaten(name)).collect();
    let mean = |name: &str| em.mean(name).and_then(|mean| mean.mean);
    top.sort_by(|a, b| best_first(em.figure.better, mean(a), mean(b)));
    top
}

/// The order of two means of a figure: the better one first, the greater one where neither is better, and none at the end.
pub(super) fn best_first(better: Better, a: Option<f64>, b: Option<f64>) -> Ordering {
    match (a, b) {
        (Some(a), Some(b)) if better == Better::Lower => a.total_cmp(&b),
        (Some(a), Some(b)) => b.total_cmp(&a),
        (a, b) => a.is_none().cmp(&b.is_none()),
    }
}

fn of_two(pair: &Pair) -> String {
    let Pair { a, b, difference, verdict, .. } = pair;
    if let Some(found) = pair.stopping.as_ref().filter(|found| !found.decided) {
        let (questions, e) = (counted(found.looked, "question"), found.e_value);
        return format!("Undecided: the stop rule has not decided between {a} and {b} after {questions} (e = {e:.3})");
    }
    match (&verdict.winner, difference) {
        (Some(winner), _) => format!("{winner} {} {}", verdict.word.name(), loser(pair, winner)),
        (None, None) => verdict.sentence.clone(),
        (None, Some(difference)) if verdict.word == Word::Undecided => {
            let (first, second) = if *difference > 0.0 { (b, a) } else { (a, b) };
            let why = if pair.unconfirmed_by_labels {
                "labels do not confirm it"
            } else {
                "unmeasured questions could undo it"
            };
            format!("Undecided: {first} leads {second}, and {why}")
        }
        (None, Some(_)) if pair.bounds.is_some_and(|bounds| bounds.n > pair.n) => {
            let n = counted(pair.n, "question");
            format!("Undecided: {a} and {b} are not distinguishable on the {n} that both measured")
        }
        (None, Some(difference)) if pair.verdict.distinguishable => {
            let (first, second) = if *difference > 0.0 { (b, a) } else { (a, b) };
            format!("{first} lies above {second}")
        }
        (None, Some(_)) => format!("No best variant: {a} and {b} are not distinguishable"),
    }
}

/// Where an experiment plans its pairs, no variant need be compared with all others.
fn of_planned(em: &FigureComparison) -> String {
    let all = em.pairs.len();
    let decided: Vec<&Pair> = em.pairs.iter().filter(|pair| is_decided(pair)).collect();
    let open = em.pairs.iter().filter(|pair| pair.verdict.word == Word::Undecided).count();
    let undecided = if open > 0 { format!("; {open} undecided") } else { String::new() };
    match decided[..] {
        [] if open > 0 => format!("No planned pair is decided: {open} of {all} could still be"),
        [] => format!("None of the {all} planned pairs is distinguishable"),
        [one] if open > 0 && all == 2 => format!("{}; the other planned pair is undecided", of_two(one)),
        [one] if open > 0 => format!("{}; of the other {} planned pairs {open} undecided", of_two(one), all - 1),
        [one] => format!(
            "{}; the other {} not distinguishable",
            of_two(one),
            if all == 2 { "planned pair is" } else { "planned pairs are" }
        ),
        [first, ..] => {
            format!("{} of {all} planned pairs are distinguishable: {}, …{undecided}", decided.len(), of_two(first))
        }
    }
}

fn loser<'p>(pair: &'p Pair, winner: &str) -> &'p str {
    if pair.a == winner { &pair.b } else { &pair.a }
}

/// The first few of these names.
pub(super) fn some(names: &[&str]) -> String {
    match names.len() {
        n if n > NAMES => format!("{} and {} more", names[..NAMES].join(", "), n - NAMES),
        _ => joined_with_and(names.iter().copied()),
    }
}

/// `a, b and c`
pub(super) fn joined_with_and<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let names: Vec<&str> = names.collect();
    match names.split_last() {
        Some((last, [])) => (*last).to_owned(),
        Some((last, others)) => format!("{} and {last}", others.join(", ")),
        None => String::new(),
    }
}
