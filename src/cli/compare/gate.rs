//! Evaluates the conditions of `--fail-if`.

use super::expression::{Argument, Expr, Fault, Kind, Operator, parse};
use crate::cli::failure::Failure;

pub(super) trait Terms {
    /// The value of a term; absent if nothing was measured.
    fn term(&self, name: &str, arguments: &[Argument], at: usize) -> Result<Option<f64>, Fault>;
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Judged {
    pub(super) holds: bool,
    /// Every term as written, with its value.
    pub(super) values: Vec<(String, f64)>,
}

pub(super) fn judge(text: &str, terms: &dyn Terms) -> anyhow::Result<Judged> {
    let mut values = Vec::new();
    let judged = parse(text).and_then(|expr| Evaluation { terms, values: &mut values }.truth(&expr));
    judged.map(|holds| Judged { holds, values }).map_err(|fault| pointed(text, &fault))
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

struct Evaluation<'a> {
    terms: &'a dyn Terms,
    values: &'a mut Vec<(String, f64)>,
}

impl Evaluation<'_> {
    /// Evaluates both sides always, so that misspelt names are found.
    fn truth(&mut self, expr: &Expr) -> Result<bool, Fault> {
        let Kind::Operation { operator, left, right } = &expr.kind else {
            return Err(Fault::new(expr.at, "this is a number; expected a condition"));
        };
        if operator.is_junction() {
            let (left, right) = (self.truth(left)?, self.truth(right)?);
            return Ok(if *operator == Operator::And { left && right } else { left || right });
        }
        let (left, right) = (self.number(left)?, self.number(right)?);
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
        Ok(holds)
    }

    fn number(&mut self, expr: &Expr) -> Result<f64, Fault> {
        match &expr.kind {
            Kind::Number(number) => Ok(*number),
            Kind::Negative(inner) => Ok(-self.number(inner)?),
            Kind::Call { name, arguments } => self.term(name, arguments, expr.at),
            Kind::Operation { operator, left, right } => {
                let (left, right) = (self.number(left)?, self.number(right)?);
                let value = match operator {
                    Operator::Plus => left + right,
                    Operator::Minus => left - right,
                    Operator::Times => left * right,
                    Operator::Over => left / right,
                    _ => return Err(Fault::new(expr.at, "this is true or false; expected a number")),
                };
                if value.is_finite() { Ok(value) } else { Err(Fault::new(expr.at, "division by zero")) }
            }
        }
    }

    fn term(&mut self, name: &str, arguments: &[Argument], at: usize) -> Result<f64, Fault> {
        let texts: Vec<&str> = arguments.iter().map(|argument| argument.text.as_str()).collect();
        let shown = format!("{name}({})", texts.join(", "));
        let value = self.terms.term(name, arguments, at)?;
        let value =
            value.ok_or_else(|| Fault::new(at, format_args!("`{shown}` has no value: nothing was measured")))?;
        if !self.values.iter().any(|(other, _)| *other == shown) {
            self.values.push((shown, value));
        }
        Ok(value)
    }
}

#[cfg(test)]
mod tests;
