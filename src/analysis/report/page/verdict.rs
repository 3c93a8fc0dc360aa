//! The first screen of a group: which variant is best, by how much, whether that can be trusted, and why; what differs between two
//! variants: their settings, and their prompts line by line; the whole texts.

use super::charts;
use super::data::{QuestionRow, alike, safe};
use super::html::{Html, NUMBER, encoded, minus, short_word, without_folders};
use super::sections::{PageGroup, corrected, distinct};
use crate::analysis::compare::verdict::{p_equals, shown_end, signed, value};
use crate::analysis::compare::{FigureComparison, MethodInterval, Pair, Unit};
use crate::analysis::grouped;
use crate::analysis::report::comparison::difference_to;
use crate::analysis::report::sheet::headings;
use crate::analysis::report::verdict::{best_variant, joined_with_and, some, unbeaten};
use crate::analysis::results::{Group, Results, Source};
use crate::base::Trajectory;
use crate::base::line_diff::{AROUND, line_diff};
use crate::base::stats::Reach;
use crate::base::text::{counted, cut, joined, thousands};
use crate::runner::store::RunFolder;
use crate::scoring::{Divergence, FailureClass, figure, float};
use serde_json::Value;
use similar::ChangeTag;
use std::collections::BTreeMap;

/// Names in a sentence at most.
const NAMES: usize = 5;
/// Verdicts that are listed; the others are read from the differences.
const SENTENCES: usize = 5;
/// Unmeasured episodes of which the reason is read.
const REASONS: usize = 20;

/// Two variants as the first screen compares them: the one with more comes first.
struct Lead<'a> {
    pair: &'a Pair,
    /// Their places in the group.
    first: usize,
    second: usize,
    /// `first − second`.
    difference: Option<f64>,
    interval: Option<MethodInterval>,
    /// Failure classes of the flipped answers: what the first has right, and what the second has.
    won: Vec<Option<FailureClass>>,
    lost: Vec<Option<FailureClass>>,
}

/// The headline of a group in one sentence: the best variant, or those between which no difference is shown.
pub(super) fn headline(part: &PageGroup<'_>) -> String {
    let Group { names, sources, stopped, .. } = part.group;
    if !part.is_measured() {
        return format!("Nothing was measured: {}", reason(sources).as_deref().unwrap_or("no reason"));
    }
    let said = match part.em() {
        Some(em) if !em.pairs.is_empty() => best_variant(em, names),
        Some(em) => single_score(em),
        None => joined_with_and(names.iter().map(String::as_str)),
    };
    let planned: usize = sources.iter().filter_map(|source| Some(source.manifest()?.planned(source.variant()?))).sum();
    let recorded: usize = sources.iter().map(|source| source.episodes.len()).sum();
    let interim = recorded < planned && stopped.is_empty();
    if interim { format!("Interim, {} of {} episodes: {said}", thousands(recorded), thousands(planned)) } else { said }
}

fn single_score(em: &FigureComparison) -> String {
    let Some(mean) = em.means.first() else { return String::new() };
    let shown = |share| value(Unit::Share, share);
    let at = mean.mean.map_or_else(|| "not measured".to_owned(), shown);
    let ends = mean.interval.map(|of| format!(", 95 % interval {} to {}", shown(of.low), shown(of.high)));
    format!("{}: {} {at} %{}", mean.variant, em.figure.label(), ends.unwrap_or_default())
}

/// The pair that the first screen shows: the best variant and the next one that it was compared with.
fn lead<'a>(part: &'a PageGroup<'_>, em: &'a FigureComparison) -> Option<Lead<'a>> {
    let names = &part.group.names;
    let top = unbeaten(em, names);
    let mut order: Vec<&str> = part.order().into_iter().map(|at| names[at].as_str()).collect();
    if let [best] = top[..] {
        order.retain(|name| *name != best);
        order.insert(0, best);
    }
    let (pairs, _) = distinct(em, part);
    let of = |a: &str, b: &str| {
        pairs.iter().copied().find(|pair| (pair.a == a && pair.b == b) || (pair.a == b && pair.b == a))
    };
    let places = || (0..order.len()).flat_map(|a| (a + 1..order.len()).map(move |b| (a, b)));
    let pair = places().find_map(|(a, b)| of(order[a], order[b])).or(em.pairs.first())?;
    let b_first = pair.difference.is_none_or(|difference| difference >= 0.0);
    let [a, b] = [&pair.a, &pair.b].map(|name| names.iter().position(|own| own == name));
    let (first, second) = if b_first { (b?, a?) } else { (a?, b?) };
    let (difference, interval) = difference_to(&names[second], pair);
    let (won, lost) = (flips(part, first, second), flips(part, second, first));
    Some(Lead { pair, first, second, difference, interval, won, lost })
}

/// What a reader has to know before the verdict: what was not measured and why, and what was cut.
pub(super) fn warnings(html: &mut Html, part: &PageGroup<'_>) {
    let all = counted(part.own_rows().count(), "question");
    let unmeasured = |at: usize| {
        let n = part.own_rows().filter(|row| row.is_unmeasured(part.first + at)).count();
        (n > 0).then(|| format!("{} of {all}", thousands(n)))
    };
    let why = reason(&part.group.sources).map(|reason| format!(": {reason}"));
    let is_repeated = part.group.sources.iter().any(|source| source.episodes.iter().any(|one| one.item.repeat > 0));
    let about = if is_repeated { "Repeats not measured: " } else { "Not measured: " };
    notice(html, part, about, unmeasured, ("unmeasured", &why.unwrap_or_default()));
    let of_cut = |at: usize| cut_calls(&part.group.sources[at]);
    notice(html, part, "Cut by the limit of tokens or the context: ", of_cut, ("cut", ""));
}

/// The variants of which `what` has something to tell; each lists its questions.
fn notice(
    html: &mut Html,
    part: &PageGroup<'_>,
    about: &str,
    what: impl Fn(usize) -> Option<String>,
    (show, why): (&str, &str),
) {
    let names = part.group.names.iter().enumerate();
    let items: Vec<(String, &String)> = names.filter_map(|(at, name)| Some((what(at)?, name))).collect();
    if items.is_empty() {
        return;
    }
    html.element("p", &[("class", "notice")], |html| {
        html.text(about);
        for (place, (what, name)) in items.iter().take(NAMES).enumerate() {
            html.text(if place > 0 { ", " } else { "" });
            html.filter(&format!("{what} of {name}"), &[("data-show", show), ("data-variant", name)], "");
        }
        if items.len() > NAMES {
            html.text(&format!(" and {}", counted(items.len() - NAMES, "more variant")));
        }
        html.text(why);
        html.text(".");
    });
}

/// How many of a variant's calls a limit cut, if any: `3 of 120 calls`.
fn cut_calls(source: &Source) -> Option<String> {
    let [cut, calls] = [&figure::CUT_CALLS, &figure::CALLS].map(|figure| source.values(figure).sum::<f64>());
    (cut > 0.0).then(|| format!("{cut:.0} of {calls:.0} calls"))
}

/// The commonest reason of the first episodes that were not measured.
fn reason(sources: &[Source]) -> Option<String> {
    let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
    let unmeasured = sources
        .iter()
        .flat_map(|source| source.episodes.iter().filter(|one| !one.item.measured).map(move |one| (source, one)));
    for (source, episode) in unmeasured.take(REASONS) {
        let read = source.origin.as_ref().and_then(|origin| origin.graded.episode(episode.at).ok());
        if let Some(detail) = read.and_then(|scored| scored.trajectory.detail) {
            let detail = detail.trim().strip_prefix("model: ").unwrap_or(detail.trim()).to_owned();
            *reasons.entry(detail).or_default() += 1;
        }
    }
    let most = reasons.into_iter().max_by_key(|(_, n)| *n)?.0;
    Some(cut(&without_folders(most.trim_end_matches('.')), 200).into_owned())
}

/// The cards below the headline.
pub(super) fn verdict_section(html: &mut Html, part: &PageGroup<'_>) {
    let Some(em) = part.em().filter(|em| !em.pairs.is_empty()) else { return };
    let Some(lead) = lead(part, em) else { return };
    html.element("div", &[("class", "hero")], |html| {
        html.element("div", &[("class", "card verdict")], |html| {
            difference(html, part, em, &lead);
            html.leaf("h2", &[], "Can I trust it?");
            trust(html, part, em, &lead);
        });
        html.element("div", &[("class", "card")], |html| {
            why(html, part, &lead);
            clearest_flip(html, part, &lead);
            what_differs(html, part, [lead.second, lead.first]);
        });
    });
    sentences(html, part, em);
}

/// The difference, large, with its interval and p, above both means.
fn difference(html: &mut Html, part: &PageGroup<'_>, em: &FigureComparison, lead: &Lead<'_>) {
    let (pair, names) = (lead.pair, &part.group.names);
    let label = em.figure.label();
    let size = lead
        .difference
        .map_or_else(|| "not compared".to_owned(), |at| format!("{} points {label}", signed(Unit::Share, at)));
    html.leaf("p", &[("class", "big")], &minus(&size));
    let end = |at: f64| value(Unit::Share, shown_end(Unit::Share, at));
    let level = charts::own_level(pair).unwrap_or_else(|| "95".to_owned());
    let interval = lead.interval.filter(MethodInterval::is_bounded);
    let kind = if pair.stopping.is_some() { "confidence sequence" } else { "interval" };
    let interval = interval.map(|of| format!("{level} % {kind} {}", of.ends(" to ", end)));
    let stopped = if pair.stopped_by.is_some() { " (stop rule)" } else { "" };
    let holm = corrected(em).map_or_else(String::new, |over| format!(" ({over})"));
    let p = match &pair.stopping {
        Some(found) => Some(format!("e = {:.3}", found.e_value)),
        None => pair.p_holm.map(|p| p_equals(p) + stopped + &holm),
    };
    let parts = [Some(format!("{} − {}", names[lead.first], names[lead.second])), interval, p];
    html.facts(&minus(&joined(parts.into_iter().flatten(), " · ").unwrap_or_default()));
    let both = [lead.first, lead.second];
    let own = if pair.n == em.n || pair.stopping.is_some() { Vec::new() } else { part.group.means_of_pair(both) };
    let means = if own.is_empty() { &em.means } else { &own };
    let means: Vec<_> = both.iter().filter_map(|at| means.iter().find(|own| own.variant == names[*at])).collect();
    if pair.n > 0 {
        charts::pair_of_means(html, &means, label);
    }
}

fn trust(html: &mut Html, part: &PageGroup<'_>, em: &FigureComparison, lead: &Lead<'_>) {
    let names = &part.group.names;
    let Lead { pair, won, lost, .. } = lead;
    let [first, second] = [lead.first, lead.second].map(|at| names[at].as_str());
    html.element("ul", &[("class", "trust")], |html| {
        html.element("li", &[("class", "ok")], |html| {
            html.filter(&thousands(won.len()), &[("data-show", "flip"), ("data-a", first), ("data-b", second)], "");
            html.text(&format!(" {} won by {first}, ", noun(won.len())));
            html.filter(&thousands(lost.len()), &[("data-show", "flip"), ("data-a", second), ("data-b", first)], "");
            html.text(&format!(" lost, on {} that both measured", counted(pair.n, "shared question")));
        });
        let is_within_reach = pair.reach.mde.zip(pair.difference).is_some_and(|(least, found)| found.abs() >= least);
        item(html, &detectable(em, pair), pair.verdict.distinguishable || is_within_reach);
        if let Some(bounds) = pair.bounds {
            let ends = if pair.b == first { [bounds.low, bounds.high] } else { [-bounds.high, -bounds.low] };
            let [low, high] = ends.map(|end| minus(&signed(Unit::Share, end)));
            let questions = counted(bounds.unmeasured, "question");
            // Some repeats of a question may have been measured.
            let lacking = if pair.n + bounds.unmeasured > bounds.n {
                format!("{questions} with unmeasured repeats")
            } else {
                format!("{questions} without a measurement in one of the two")
            };
            let text = format!("{lacking}: the difference could be between {low} and {high}");
            item(html, &text, false);
        }
        for at in [lead.first, lead.second] {
            let Some(cut) = cut_calls(&part.group.sources[at]) else { continue };
            html.element("li", &[("class", "no")], |html| {
                html.filter(&cut, &[("data-show", "cut"), ("data-variant", &names[at])], "");
                html.text(&format!(" of {} were cut by the limit of tokens or the context", names[at]));
            });
        }
        wording(html, won, lost, (first, second));
        let alone = pair.p_holm.is_some_and(|p| p >= 0.05) && lead.interval.is_some_and(|of| !of.contains(0.0));
        if alone {
            item(html, "the interval is that of this pair alone; p is corrected for the number of pairs", false);
        }
    });
}

fn noun(n: usize) -> &'static str {
    if n == 1 { "question" } else { "questions" }
}

fn item(html: &mut Html, text: &str, fine: bool) {
    html.leaf("li", &[("class", if fine { "ok" } else { "no" })], text);
}

/// The smallest difference that so many questions show.
fn detectable(em: &FigureComparison, pair: &Pair) -> String {
    let label = em.figure.label();
    match pair.reach.mde {
        Some(least) => format!(
            "smallest detectable difference with {}: {} points {label}",
            counted(pair.n, "question"),
            value(Unit::Share, least)
        ),
        None => match &pair.stopping {
            Some(found) if found.decided => "the run's stop rule decided: an estimate at a stop exaggerates".to_owned(),
            Some(_) => "the run's stop rule has not decided".to_owned(),
            None => too_few(&pair.reach, if pair.reach.units == pair.n { "question" } else { "cluster" }),
        },
    }
}

/// Why there is no smallest detectable difference. Questions that just suffice show one only if nearly all go one way.
fn too_few(&Reach { differing, least_differing: least, .. }: &Reach, unit: &str) -> String {
    let differ = format!("{} differ", counted(differing, unit));
    if u64::try_from(differing).is_ok_and(|differing| differing < least) {
        format!("{differ}: too few to show any difference, at least {least} must")
    } else {
        format!("{differ}: enough to show a difference only if nearly all go one way")
    }
}

/// Flips that are a matter of the answer's wording.
fn wording(
    html: &mut Html,
    won: &[Option<FailureClass>],
    lost: &[Option<FailureClass>],
    (first, second): (&str, &str),
) {
    let label = Some(FailureClass::Label);
    let [of_won, of_lost] = [won, lost].map(|list| list.iter().filter(|class| **class == label).count());
    if of_won + of_lost == 0 {
        return;
    }
    html.element("li", &[("class", "no")], |html| {
        html.text(&format!(
            "{} of {} flips differ in the answer's wording only (label): ",
            of_won + of_lost,
            won.len() + lost.len()
        ));
        let mut written = false;
        for (n, right, wrong) in [(of_won, first, second), (of_lost, second, first)] {
            if n > 0 {
                html.text(if written { ", " } else { "" });
                let data = [("data-show", "flip"), ("data-a", right), ("data-b", wrong), ("data-class", "label")];
                html.filter(&format!("{n} of {wrong}"), &data, "");
                written = true;
            }
        }
    });
}

/// The failure classes of the questions that `right` has right and `wrong` wrong.
fn flips(part: &PageGroup<'_>, right: usize, wrong: usize) -> Vec<Option<FailureClass>> {
    part.flips(right, wrong).map(|row| row.class(part.first + wrong)).collect()
}

/// A link to the flip that is read most quickly: not a matter of wording, and of the fewest steps; one that was won, if any.
fn clearest_flip(html: &mut Html, part: &PageGroup<'_>, lead: &Lead<'_>) {
    let found = [(lead.first, lead.second), (lead.second, lead.first)].into_iter().find_map(|(right, wrong)| {
        let [at_right, at_wrong] = [right, wrong].map(|at| part.first + at);
        let length = |row: &&QuestionRow<'_>| {
            let steps: f64 = [at_right, at_wrong].iter().filter_map(|at| row.mean(*at, 2)).sum();
            (row.class(at_wrong) == Some(FailureClass::Label), steps.to_bits())
        };
        Some((part.flips(right, wrong).min_by_key(length)?, right, wrong))
    });
    let Some((row, right, wrong)) = found else { return };
    let read = |at: usize| {
        let origin = part.group.sources[at].origin.as_ref()?;
        let read = origin.graded.episode(row.first(part.first + at)?.at).ok()?.trajectory;
        Some(read).filter(Trajectory::has_steps)
    };
    let step = read(right).zip(read(wrong)).and_then(|(one, two)| Divergence::of(&one, &two)).map(|found| found.step);
    let part_at = step.map_or_else(String::new, |step| format!(" → they differ from step {step} on"));
    let [a, b] = [right, wrong].map(|at| encoded(&part.group.names[at]));
    let address = format!("#/q/{}?show=flip&a={a}&b={b}", encoded(row.id));
    html.element("p", &[("class", "facts")], |html| {
        html.leaf("a", &[("href", &address)], &format!("Read the clearest flip: “{}”{part_at}", cut(row.question, 60)));
    });
}

/// Why the two differ: the failure classes of the flips, both ways.
fn why(html: &mut Html, part: &PageGroup<'_>, lead: &Lead<'_>) {
    let names = &part.group.names;
    let [first, second] = [lead.first, lead.second].map(|at| names[at].as_str());
    if lead.won.is_empty() && lead.lost.is_empty() {
        return;
    }
    let count = |list: &[Option<FailureClass>], class| list.iter().filter(|own| **own == Some(class)).count();
    let counts = |class| (class, count(&lead.won, class), count(&lead.lost, class));
    let mut classes = FailureClass::ALL.map(counts).to_vec();
    classes.retain(|(_, won, lost)| won + lost > 0);
    classes.sort_by_key(|(_, won, lost)| std::cmp::Reverse((*won, *lost)));
    let most = classes.iter().map(|(_, won, lost)| won.max(lost)).max().copied().unwrap_or(1).max(1);
    html.leaf("h2", &[], "Why");
    let headings = headings("failed by", &[&format!("{second} wrong"), &format!("{first} wrong")]);
    html.table("Failure classes of the flipped answers; a number lists them", &headings, |html| {
        for (class, won, lost) in classes {
            html.row(&format!("{}: {}", class.name(), class.about()), |html| {
                for (n, right, wrong) in [(won, first, second), (lost, second, first)] {
                    let data =
                        [("data-show", "flip"), ("data-a", right), ("data-b", wrong), ("data-class", class.name())];
                    html.element("td", NUMBER, |html| {
                        charts::count_bar(html, float(n) / float(most));
                        if n == 0 {
                            html.text("–");
                        } else {
                            html.filter(&thousands(n), &data, &format!(" {}", class.name()));
                        }
                    });
                }
            });
        }
    });
}

/// What the comparison says of each pair that is not like another one; winners come first.
fn sentences(html: &mut Html, part: &PageGroup<'_>, em: &FigureComparison) {
    let names = &part.group.names;
    let (mut pairs, _) = distinct(em, part);
    pairs.sort_by_key(|pair| pair.verdict.word);
    html.element("div", &[("class", "verdict")], |html| {
        for pair in pairs.iter().take(SENTENCES) {
            html.leaf("p", &[], &minus(&format!("{}.", without_folders(&pair.verdict.sentence))));
        }
        if pairs.len() > SENTENCES {
            let more = counted(pairs.len() - SENTENCES, "more pair");
            html.facts(&format!("{more} below."));
        }
        for members in alike(&part.group.sources).iter().filter(|members| members.len() > 1) {
            let questions = counted(part.own_rows().count(), "question");
            let listed: Vec<&str> = members.iter().map(|at| names[*at].as_str()).collect();
            html.leaf("p", &[], &format!("{} have identical results on all {questions}.", some(&listed)));
        }
    });
}

/// Lines of a difference at most, and characters of each.
const LINES: usize = 40;
const LINE_CHARS: usize = 400;
const EQUAL_CHARS: usize = 90;

/// The texts of a variant's prompt; none where the folder lacks them.
fn text(source: &Source) -> Option<String> {
    let variant = &source.origin.as_ref()?.variant;
    let folder = RunFolder::at(&source.run.path);
    let digests = std::iter::once(&variant.prompt_sha256).chain(&variant.direct_prompt_sha256);
    joined(digests.filter_map(|digest| folder.prompt(digest).ok()).map(|text| readable(&text)), "\n")
}

/// A prompt of several parts is stored as JSON: each of its texts below its name in brackets.
fn readable(stored: &str) -> String {
    match serde_json::from_str(stored) {
        Ok(value @ (Value::Object(_) | Value::Array(_))) => {
            let mut lines = String::new();
            parts(&value, "", &mut lines);
            lines
        }
        _ => stored.to_owned(),
    }
}

fn parts(value: &Value, name: &str, lines: &mut String) {
    let below = |key: &str| if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, own)| parts(own, &below(key), lines)),
        Value::Array(items) => {
            items.iter().enumerate().for_each(|(at, own)| parts(own, &below(&(at + 1).to_string()), lines));
        }
        Value::Null => {}
        Value::String(text) => lines.extend(["[", name, "]\n", text.trim_end_matches('\n'), "\n"]),
        other => lines.extend(["[", name, "]\n", &other.to_string(), "\n"]),
    }
}

/// The settings in which the two differ, and their prompts, from the first to the second.
fn what_differs(html: &mut Html, part: &PageGroup<'_>, [from, to]: [usize; 2]) {
    let sources = &part.group.sources;
    let [one, two] = [from, to].map(|at| text(&sources[at]));
    let diff = one.as_ref().zip(two.as_ref()).filter(|(one, two)| one != two);
    let differing: Vec<_> = part
        .group
        .settings
        .iter()
        .filter(|setting| !setting.name.ends_with("sha256") || diff.is_none())
        .filter_map(|setting| Some((&setting.name, setting.values.get(from)?, setting.values.get(to)?)))
        .filter(|(_, one, two)| one != two)
        .collect();
    if differing.is_empty() && diff.is_none() {
        return;
    }
    html.element("h2", &[], |html| html.text("What differs"));
    html.element("ul", &[("class", "settings")], |html| {
        for (name, one, two) in &differing {
            html.element("li", &[], |html| {
                html.text(&format!("{name}: "));
                html.leaf("code", &[], &cut(&short_word(one), 100));
                html.text(" → ");
                html.leaf("code", &[], &cut(&short_word(two), 100));
            });
        }
    });
    if let Some((one, two)) = diff {
        changed_lines(html, one, two);
        html.element("p", &[("class", "facts")], |html| {
            html.text("Whole prompts: ");
            for (at, source) in [from, to].into_iter().enumerate() {
                html.text(if at > 0 { ", " } else { "" });
                let address = format!("#{}", id(&sources[source]).unwrap_or_default());
                html.leaf("a", &[("href", &address)], &part.group.names[source]);
            }
        });
    }
    html.facts("All other settings of the two are the same.");
}

/// The lines that differ, with a few around them.
fn changed_lines(html: &mut Html, one: &str, two: &str) {
    let diff = line_diff(one, two);
    let hunks = diff.grouped_ops(AROUND);
    let lines = || hunks.iter().flatten().flat_map(|op| diff.iter_changes(op));
    let count = |tag| lines().filter(|change| change.tag() == tag).count();
    let (added, removed) = (count(ChangeTag::Insert), count(ChangeTag::Delete));
    let all = lines().count();
    html.facts(&format!("Prompt: {} added, {removed} removed", counted(added, "line")));
    html.element("pre", &[("class", "diff"), ("tabindex", "0")], |html| {
        // What changed has to be in sight, however long its surroundings are.
        let mut left = LINES;
        for change in lines().filter(|change| all <= LINES || change.tag() != ChangeTag::Equal) {
            if left == 0 {
                break;
            }
            left -= 1;
            let most = if change.tag() == ChangeTag::Equal { EQUAL_CHARS } else { LINE_CHARS };
            let line = cut(change.value().trim_end_matches(['\n', '\r']), most);
            match change.tag() {
                ChangeTag::Insert => html.leaf("ins", &[], &format!("+ {line}")),
                ChangeTag::Delete => html.leaf("del", &[], &format!("− {line}")),
                ChangeTag::Equal => html.text(&format!("  {line}")),
            }
            html.text("\n");
        }
    });
    if added + removed > LINES {
        html.facts(&format!("The first {LINES} lines that differ."));
    }
}

/// The id of the element with a variant's prompt.
fn id(source: &Source) -> Option<String> {
    let digest = &source.origin.as_ref()?.variant.prompt_sha256;
    Some(format!("prompt-{}", digest.chars().filter(char::is_ascii_hexdigit).take(12).collect::<String>()))
}

/// The whole text of each prompt, with the variants that have it.
pub(super) fn whole_texts(html: &mut Html, results: &Results) {
    let by_id = results.variants().filter_map(|(source, name)| Some((id(source)?, (source, name.as_str()))));
    for (id, variants) in grouped(by_id) {
        let (sources, names): (Vec<&Source>, Vec<&str>) = variants.into_iter().unzip();
        let Some(text) = text(sources[0]) else { continue };
        html.element("details", &[("id", &id)], |html| {
            let more = if names.len() > 3 { format!(" and {} more", names.len() - 3) } else { String::new() };
            html.leaf("summary", &[], &format!("Prompt of {}{more}", names[..names.len().min(3)].join(", ")));
            html.leaf("pre", &[("tabindex", "0")], &safe(&text));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::{Reach, too_few};

    #[test]
    fn questions_that_just_suffice_are_not_called_too_few() {
        let reach = |differing| Reach { differing, least_differing: 9, ..Reach::default() };
        let too_few = |differing, unit| too_few(&reach(differing), unit);
        assert_eq!(too_few(8, "question"), "8 questions differ: too few to show any difference, at least 9 must");
        assert_eq!(
            too_few(9, "cluster"),
            "9 clusters differ: enough to show a difference only if nearly all go one way"
        );
    }
}
