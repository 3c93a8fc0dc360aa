//! The sections about wrong answers: who has right what another has wrong, and why.

use super::charts;
use super::html::{Heading, Html};
use super::rows::{QuestionRow, alike};
use super::sections::Part;
use crate::score::FailureClass;
use crate::types::text::thousands;

pub(super) fn flips_section(html: &mut Html, part: &Part<'_>) {
    // Of variants that answered alike, the first speaks for all.
    let same = alike(&part.group.sources);
    if same.len() < 2 {
        return;
    }
    let name = |members: &Vec<usize>| part.group.names[members[0]].as_str();
    let more = |members: &Vec<usize>| match members.len() {
        1 => name(members).to_owned(),
        n => format!("{} (+{})", name(members), n - 1),
    };
    let count = |right: &[usize], wrong: &[usize]| {
        let is = |row: &&QuestionRow<'_>| {
            row.right(part.first + right[0]) == Some(true) && row.right(part.first + wrong[0]) == Some(false)
        };
        part.own_rows().filter(is).count()
    };
    let counts: Vec<Vec<usize>> =
        same.iter().map(|right| same.iter().map(|wrong| count(right, wrong)).collect()).collect();
    let most = counts.iter().flatten().copied().max().unwrap_or_default();
    html.section(&part.id("flips"), &part.heading("Flipped answers"), |html| {
        let names: Vec<String> = same.iter().map(more).collect();
        let mut headings = vec![Heading::Words("right ↓ wrong →")];
        headings.extend(names.iter().map(|name| Heading::Number(name)));
        html.table("Questions that the row has right and the column wrong; a number lists them", &headings, |html| {
            for (right, counts) in same.iter().zip(&counts) {
                html.row(&more(right), |html| {
                    for (wrong, count) in same.iter().zip(counts) {
                        let data = [("data-show", "flip"), ("data-a", name(right)), ("data-b", name(wrong))];
                        let noun = if *count == 1 { "question" } else { "questions" };
                        let about = format!(" {noun} that {} has right and {} wrong", name(right), name(wrong));
                        heat_cell(html, *count, most, &data, &about);
                    }
                });
            }
        });
    });
}

/// A number that lists its questions, on a ground that is darker the larger it is.
fn heat_cell(html: &mut Html, count: usize, most: usize, data: &[(&str, &str)], about: &str) {
    if count == 0 {
        html.number("·");
        return;
    }
    let heat = (4 * count).div_ceil(most.max(1)).min(4);
    html.element("td", &[("class", &format!("n h{heat}"))], |html| {
        let attributes = [&[("type", "button"), ("class", "cell")], data].concat();
        html.element("button", &attributes, |html| {
            html.text(&thousands(count));
            html.leaf("span", &[("class", "unseen")], about);
        });
    });
}

pub(super) fn failures_section(html: &mut Html, part: &Part<'_>) {
    html.section(&part.id("why"), &part.heading("Why wrong, and at what cost"), |html| {
        let names = &part.group.names;
        let of = |at: usize, class: FailureClass| {
            let wrong = |row: &&QuestionRow<'_>| row.right(at) == Some(false) && row.class(at) == Some(class);
            part.own_rows().filter(wrong).count()
        };
        let counts: Vec<Vec<usize>> = (0..names.len())
            .map(|at| FailureClass::ALL.iter().map(|class| of(part.first + at, *class)).collect())
            .collect();
        let most = counts.iter().flatten().copied().max().unwrap_or_default();
        let mut headings = vec![Heading::Words("variant")];
        headings.extend(FailureClass::ALL.iter().map(|class| Heading::Number(class.name())));
        headings.push(Heading::Number("wrong"));
        headings.push(Heading::Number("ended at the step limit"));
        html.table("Wrong questions by failure class; a number lists them", &headings, |html| {
            for ((name, counts), at) in names.iter().zip(&counts).zip(part.first..) {
                html.row(name, |html| {
                    for (class, count) in FailureClass::ALL.iter().zip(counts) {
                        let data =
                            [("data-show", "wrong"), ("data-variant", name.as_str()), ("data-class", class.name())];
                        heat_cell(html, *count, most, &data, &format!(" wrong answers of {name}: {}", class.name()));
                    }
                    html.number(&thousands(counts.iter().sum::<usize>()));
                    html.number(&thousands(part.own_rows().filter(|row| row.ended_wrong_at_limit(at)).count()));
                });
            }
        });
        html.element("div", &[("class", "side-by-side")], |html| {
            if let Some(em) = part.em() {
                html.element("figure", &[], |html| {
                    html.leaf("figcaption", &[], "Accuracy against cost");
                    charts::cost(html, em, &part.group.sources);
                });
            }
        });
        html.element("details", &[("class", "steps")], |html| {
            html.leaf("summary", &[], "Steps of each variant's episodes (filled: right)");
            html.element("div", &[("class", "small-multiples")], |html| {
                for (name, source) in names.iter().zip(&part.group.sources) {
                    html.element("figure", &[], |html| {
                        html.leaf("figcaption", &[], name);
                        charts::steps(html, name, source);
                    });
                }
            });
        });
    });
}
