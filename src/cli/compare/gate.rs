//! Evaluates the conditions of `--fail-if`.

use super::expression::{Argument, Expr, Fault, Kind, Operator, parse};
use crate::cli::failure::Failure;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Judged {
    /// Absent if it depends on a value that was not measured.
    pub(super) holds: Option<bool>,
    /// Every term as written, with its value.
    pub(super) values: Vec<(String, f64)>,
    /// Every term that has none.
    pub(super) absent: Vec<String>,
}

pub(super) fn evaluate(text: &str, terms: &dyn Terms) -> anyhow::Result<Judged> {
    let (mut values, mut absent) = (Vec::new(), Vec::new());
    let mut evaluation = Evaluation { terms, values: &mut values, absent: &mut absent };
    let judged = parse(text).and_then(|expr| evaluation.truth(&expr));
    judged.map(|holds| Judged { holds, values, absent }).map_err(|fault| pointed(text, &fault))
}

/// The error, with a mark below its place in the condition.
fn pointed(text: &str, fault: &Fault) -> anyhow::Error {
    let shown: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let column = text.get(..fault.at).unwrap_or(text).chars().count();
    Failure::usage(
        format!("--fail-if: {}\n  {shown}\n  {}^", fault.reason, " ".repeat(column)),
        "`wikitrail docs compare` lists terms and operators; for example --fail-if \"em(new) < em(base)\"",
    )
}

pub(super) trait Terms {
    /// The value of a term; absent if nothing was measured.
    fn term(&self, name: &str, arguments: &[Argument], at: usize) -> Result<Option<f64>, Fault>;
}

struct Evaluation<'a> {
    terms: &'a dyn Terms,
    values: &'a mut Vec<(String, f64)>,
    absent: &'a mut Vec<String>,
}

impl Evaluation<'_> {
    /// Evaluates both sides always, so that misspelt names are found.
    fn truth(&mut self, expr: &Expr) -> Result<Option<bool>, Fault> {
        let Kind::Operation { operator, left, right } = &expr.kind else {
            return Err(Fault::new(expr.at, "this is a number; expected a condition"));
        };
        if operator.is_junction() {
            let (left, right) = (self.truth(left)?, self.truth(right)?);
            // One side may decide alone: a false one of `and`, a true one of `or`.
            let decisive = *operator == Operator::Or;
            return Ok(match (left, right) {
                (Some(side), _) | (_, Some(side)) if side == decisive => Some(decisive),
                (Some(_), Some(_)) => Some(!decisive),
                _ => None,
            });
        }
        let (Some(left), Some(right)) = (self.number(left)?, self.number(right)?) else { return Ok(None) };
        #[expect(clippy::float_cmp, reason = "`==` means what it says; the documentation warns of it")]
        let holds = match operator {
            Operator::Less => left < right,
            Operator::LessOrEqual => left <= right,
            Operator::Greater => left > right,
            Operator::GreaterOrEqual => left >= right,
            Operator::Equal => left == right,
            Operator::NotEqual => left != right,
            _ => return Err(Fault::new(expr.at, "this is a number; expected a condition")),
        };
        Ok(Some(holds))
    }

    /// Absent if it depends on a value that was not measured.
    fn number(&mut self, expr: &Expr) -> Result<Option<f64>, Fault> {
        match &expr.kind {
            Kind::Number(number) => Ok(Some(*number)),
            Kind::Negative(inner) => Ok(self.number(inner)?.map(|number| -number)),
            Kind::Call { name, arguments } => self.term(name, arguments, expr.at),
            Kind::Operation { operator, left, right } => {
                let (Some(left), Some(right)) = (self.number(left)?, self.number(right)?) else { return Ok(None) };
                let value = match operator {
                    Operator::Plus => left + right,
                    Operator::Minus => left - right,
                    Operator::Times => left * right,
                    Operator::Over => left / right,
                    _ => return Err(Fault::new(expr.at, "this is true or false; expected a number")),
                };
                if value.is_finite() { Ok(Some(value)) } else { Err(Fault::new(expr.at, "division by zero")) }
            }
        }
    }

    fn term(&mut self, name: &str, arguments: &[Argument], at: usize) -> Result<Option<f64>, Fault> {
        let texts: Vec<&str> = arguments.iter().map(|argument| argument.text.as_str()).collect();
        let shown = format!("{name}({})", texts.join(", "));
        let value = self.terms.term(name, arguments, at)?;
        match value {
            Some(value) if !self.values.iter().any(|(other, _)| *other == shown) => self.values.push((shown, value)),
            None if !self.absent.contains(&shown) => self.absent.push(shown),
            _ => {}
        }
        Ok(value)
    }
}

#[cfg(test)]
mod tests;
