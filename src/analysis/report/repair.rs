//! Repair rates as a table, and what is to be known of them.

use super::console::{dash, percent, wrapped};
use super::sheet::{Heading, headings, table};
use crate::analysis::compare::Unit;
use crate::analysis::compare::verdict::{p_value, signed};
use crate::analysis::repair::{ALL, Controls, Placebos, Repair, RepairRow};
use crate::base::text::{counted, joined};
use std::fmt;

const WIDTH: usize = 80;

/// A difference of shares in points.
fn points(difference: f64) -> String {
    signed(Unit::Share, difference)
}

impl RepairRow {
    fn cells(&self, placebo: bool) -> Vec<String> {
        let share = |share: Option<f64>| share.map_or_else(dash, percent);
        let interval = self.interval.map_or_else(String::new, |of| {
            let ends = || format!(" [{}, {}]", points(of.low), points(of.high));
            if of.is_bounded() { ends() } else { " unbounded".to_owned() }
        });
        let difference = self.difference.map_or_else(dash, |difference| points(difference) + &interval);
        let arms = [Some(self.control), placebo.then_some(self.placebo), Some(self.edited)];
        let begin = [self.class.clone(), self.n.to_string()];
        let end = [difference, self.p_holm.map_or_else(dash, p_value)];
        begin.into_iter().chain(arms.into_iter().flatten().map(share)).chain(end).collect()
    }
}

impl Repair {
    pub(crate) fn table(&self) -> (Vec<Heading>, Vec<Vec<String>>) {
        let with_placebo = self.placebos.is_some();
        let figures: &[&str] = if with_placebo {
            &["n", "control", "placebo", "edited", "edited − placebo\n[95 %]", "p"]
        } else {
            &["n", "control", "edited", "edited − control\n[95 %]", "p"]
        };
        (headings("class", figures), self.rows.iter().map(|row| row.cells(with_placebo)).collect())
    }

    /// What the p of the table are, and whether there is anything to compare with.
    pub(crate) fn notes(&self) -> Vec<String> {
        let classes = self.rows.iter().filter(|row| row.class != ALL && row.p.is_some()).count();
        let holm = if classes > 1 { format!("; of the {classes} classes after Holm") } else { String::new() };
        let Some(placebos) = self.placebos else {
            let Controls { equal_the_record, measured, replay } = self.controls;
            let mut notes = vec![format!("p is that of `compare`{holm}")];
            if replay {
                notes.push(format!(
                    "{equal_the_record} of {measured} controls replay the record: against them any other prompt looks like a repair"
                ));
            }
            return notes;
        };
        let Placebos { measured, left_the_record, questions, questions_left } = placebos;
        let share = placebos.share().map_or_else(dash, percent);
        let mut notes = vec![format!(
            "{left_the_record} of {measured} placebos ({share} %) left the recorded path, in {questions_left} of {}",
            counted(questions, "question")
        )];
        if self.rows.iter().any(|row| row.p.is_some()) {
            notes.push(format!("p permutes the edited branch and its placebos within questions{holm}"));
        }
        let withheld = joined(self.rows.iter().filter(|row| row.p.is_none()).map(|row| &row.class), ", ");
        notes.extend(withheld.map(|classes| format!(
            "p is withheld ({classes}): the placebo was too weak to compare with, as it left the recorded path in fewer than half of the questions"
        )));
        notes
    }
}

impl fmt::Display for Repair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (headings, rows) = self.table();
        writeln!(f, "{}", table(&headings, &rows, WIDTH).trim_end_matches('\n'))?;
        self.notes().iter().try_for_each(|note| f.write_str(&wrapped(note, WIDTH, "")))
    }
}
