//! Conditions over the figures of a comparison, such as those of `--fail-if`: `em(new) < em(base) and p(em, base, new) < 0.05`.
//!
//! ```text
//! condition  = both ("or" both)*
//! both       = comparison ("and" comparison)*
//! comparison = sum (("<" | "<=" | ">" | ">=" | "==" | "!=") sum)?
//! sum        = product (("+" | "-") product)*
//! product    = factor (("*" | "/") factor)*
//! factor     = "-" factor | number | call | "(" condition ")"
//! call       = name "(" argument ("," argument)* ")"
//! argument   = "'" text "'" | "\"" text "\"" | text without quotes, brackets and commas
//! ```

use super::comparison::VariantSummary;
use super::settings::canonical;
use super::{Comparison, FigureComparison, Pair};
use crate::base::text::visible_line;
use crate::scoring::float;
use serde::{Serialize, Serializer};
use std::fmt;

/// Deeper nesting is refused, because the parser is recursive.
const MAX_DEPTH: usize = 50;

/// What a part of a condition comes to; absent if it depends on a value that was not measured.
#[derive(Debug, Clone, Copy)]
enum Value {
    Number(Option<f64>),
    Truth(Option<bool>),
}

#[derive(Debug, Clone, Copy)]
struct Operand {
    /// Offset of its first character (of an operation: of the operator), in bytes.
    at: usize,
    value: Value,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Argument {
    /// Offset of its first character, in bytes.
    at: usize,
    pub(crate) text: String,
}

#[derive(Debug, Clone, Copy)]
enum Operator {
    /// The truth that decides whatever the other side is.
    Junction(bool),
    Comparison(fn(f64, f64) -> bool),
    Arithmetic(fn(f64, f64) -> f64),
}

/// A syntax or name error at an offset in bytes.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct ConditionError {
    at: usize,
    pub(crate) reason: String,
}

impl ConditionError {
    pub(crate) fn new(at: usize, reason: impl fmt::Display) -> Self {
        Self { at, reason: reason.to_string() }
    }

    /// The reason, with a mark below its place in the condition.
    pub(crate) fn pointed(&self, text: &str) -> String {
        let shown: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let column = text.get(..self.at).unwrap_or(text).chars().count();
        format!("{}\n  {shown}\n  {}^", self.reason, " ".repeat(column))
    }
}

/// Whether two numbers are equal but for rounding: means of the same answers, summed in another order, may differ.
fn is_equal(a: f64, b: f64) -> bool {
    // Infinity equals itself, and nothing else.
    a.total_cmp(&b).is_eq() || (a - b).abs() < 1e-12 * a.abs().max(b.abs()).max(1.0)
}

/// Operators with how tightly they bind: higher binds first. Longer ones come first, so that `<=` is not read as `<`.
const OPERATORS: [(&str, u8, Operator); 12] = [
    ("or", 1, Operator::Junction(true)),
    ("and", 2, Operator::Junction(false)),
    ("<=", 3, Operator::Comparison(|a, b| a < b || is_equal(a, b))),
    (">=", 3, Operator::Comparison(|a, b| a > b || is_equal(a, b))),
    ("==", 3, Operator::Comparison(is_equal)),
    ("!=", 3, Operator::Comparison(|a, b| !is_equal(a, b))),
    ("<", 3, Operator::Comparison(|a, b| a < b && !is_equal(a, b))),
    (">", 3, Operator::Comparison(|a, b| a > b && !is_equal(a, b))),
    ("+", 4, Operator::Arithmetic(|a, b| a + b)),
    ("-", 4, Operator::Arithmetic(|a, b| a - b)),
    ("*", 5, Operator::Arithmetic(|a, b| a * b)),
    ("/", 5, Operator::Arithmetic(|a, b| a / b)),
];

impl Operand {
    fn number(self) -> Result<Option<f64>, ConditionError> {
        match self.value {
            Value::Number(number) => Ok(number),
            Value::Truth(_) => Err(ConditionError::new(self.at, "this is true or false; expected a number")),
        }
    }

    fn truth(self) -> Result<Option<bool>, ConditionError> {
        match self.value {
            Value::Truth(truth) => Ok(truth),
            Value::Number(_) => Err(ConditionError::new(self.at, "this is a number; expected a condition")),
        }
    }
}

#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct ConditionResult {
    pub(crate) condition: String,
    /// Absent if it depends on a value that was not measured.
    pub(crate) holds: Option<bool>,
    /// Every term as written, with its value.
    #[serde(serialize_with = "by_term")]
    pub(crate) values: Vec<(String, f64)>,
    /// Every term that has none.
    #[serde(skip)]
    pub(crate) absent: Vec<String>,
}

fn by_term<S: Serializer>(values: &[(String, f64)], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(values.iter().map(|(term, value)| (term, value)))
}

/// The value of a term by its name, its arguments and the offset of its name; absent if nothing was measured.
pub(crate) type Terms<'a> = dyn Fn(&str, &[Argument], usize) -> Result<Option<f64>, ConditionError> + 'a;

/// Whether a condition holds, or where it is wrong: an error of syntax, else the first of a name.
pub(crate) fn evaluate(text: &str, terms: &Terms<'_>) -> Result<ConditionResult, ConditionError> {
    let judged = ConditionResult { condition: text.to_owned(), holds: None, values: Vec::new(), absent: Vec::new() };
    let mut parser = Parser { text, terms, at: 0, depth: 0, judged, fault: None };
    let whole = parser.operations(0)?;
    parser.skip_space();
    if parser.at < text.len() {
        return Err(ConditionError::new(parser.at, "expected an operator or the end"));
    }
    let Value::Truth(holds) = whole.value else {
        let reason = "this is a number; expected a condition such as em(a) < em(b)";
        return Err(ConditionError::new(whole.at, reason));
    };
    parser.fault.map_or(Ok(ConditionResult { holds, ..parser.judged }), Err)
}

/// Evaluates while it parses. Both sides of `and` and `or` are evaluated always, so that misspelt names are found.
struct Parser<'a> {
    text: &'a str,
    terms: &'a Terms<'a>,
    at: usize,
    depth: usize,
    judged: ConditionResult,
    /// The first error of evaluation.
    fault: Option<ConditionError>,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// Operations whose operators bind at least as tightly as `precedence`, from left to right.
    fn operations(&mut self, precedence: u8) -> Result<Operand, ConditionError> {
        let mut left = self.factor()?;
        let mut compared = false;
        while let Some((at, tightness, operator)) = self.operator(precedence) {
            let is_comparison = matches!(operator, Operator::Comparison(_));
            if compared && is_comparison {
                return Err(ConditionError::new(at, "comparisons cannot be chained; join two of them with `and`"));
            }
            compared = is_comparison;
            let right = self.operations(tightness + 1)?;
            left = Operand { at, value: self.apply(at, operator, left, right)? };
        }
        Ok(left)
    }

    fn apply(&mut self, at: usize, operator: Operator, a: Operand, b: Operand) -> Result<Value, ConditionError> {
        let numbers = || Ok::<_, ConditionError>(a.number()?.zip(b.number()?));
        Ok(match operator {
            Operator::Junction(decisive) => Value::Truth(match (a.truth()?, b.truth()?) {
                (Some(side), _) | (_, Some(side)) if side == decisive => Some(decisive),
                (Some(_), Some(_)) => Some(!decisive),
                _ => None,
            }),
            Operator::Arithmetic(of) => {
                let value = numbers()?.map(|(a, b)| of(a, b));
                if value.is_some_and(|value| !value.is_finite()) {
                    self.fault.get_or_insert_with(|| ConditionError::new(at, "division by zero"));
                }
                Value::Number(value)
            }
            Operator::Comparison(of) => Value::Truth(numbers()?.map(|(a, b)| of(a, b))),
        })
    }

    fn factor(&mut self) -> Result<Operand, ConditionError> {
        self.skip_space();
        let at = self.at;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(ConditionError::new(at, "nested too deeply"));
        }
        let number = match self.rest().chars().next() {
            None => return Err(ConditionError::new(at, "a number, a figure such as em(NAME) or `(` is missing here")),
            Some('-') => {
                self.at += 1;
                self.factor()?.number()?.map(|number| -number)
            }
            Some('(') => {
                self.at += 1;
                let inner = self.operations(0)?;
                self.expect(')')?;
                self.depth -= 1;
                return Ok(inner);
            }
            Some(c) if c.is_ascii_digit() || c == '.' => Some(self.number()?),
            Some(c) if c.is_alphabetic() || c == '_' => self.call()?,
            Some(c) => return Err(ConditionError::new(at, format_args!("`{}` is unexpected here", c.escape_debug()))),
        };
        self.depth -= 1;
        Ok(Operand { at, value: Value::Number(number) })
    }

    fn number(&mut self) -> Result<f64, ConditionError> {
        let mut last = ' ';
        let sign = |last: char, c: char| matches!(last, 'e' | 'E') && matches!(c, '+' | '-');
        let length = self.rest().find(|c: char| {
            let goes_on = c.is_ascii_alphanumeric() || c == '.' || sign(last, c);
            last = c;
            !goes_on
        });
        let at = self.at;
        let text = &self.text[at..length.map_or(self.text.len(), |length| at + length)];
        let number: Option<f64> = text.parse().ok().filter(|number: &f64| number.is_finite());
        self.at += text.len();
        number.ok_or_else(|| ConditionError::new(at, format_args!("`{text}` is not a number")))
    }

    fn call(&mut self) -> Result<Option<f64>, ConditionError> {
        let at = self.at;
        // `pass@3` and `pass^3` are names too.
        let goes_on = |c: char| c.is_alphanumeric() || matches!(c, '_' | '@' | '^');
        let length = self.rest().find(|c: char| !goes_on(c)).unwrap_or(self.rest().len());
        let name = self.rest()[..length].to_owned();
        self.at += length;
        if !self.take('(') {
            return Err(ConditionError::new(at, format_args!("`{name}` has no argument; write {name}(NAME)")));
        }
        let mut arguments = vec![self.argument()?];
        while self.take(',') {
            arguments.push(self.argument()?);
        }
        self.expect(')')?;
        Ok(self.term(&name, &arguments, at))
    }

    fn term(&mut self, name: &str, arguments: &[Argument], at: usize) -> Option<f64> {
        let texts: Vec<&str> = arguments.iter().map(|argument| argument.text.as_str()).collect();
        let shown = format!("{name}({})", texts.join(", "));
        let value = (self.terms)(name, arguments, at).unwrap_or_else(|fault| {
            self.fault.get_or_insert(fault);
            None
        });
        let ConditionResult { values, absent, .. } = &mut self.judged;
        match value {
            Some(value) if !values.iter().any(|(other, _)| *other == shown) => values.push((shown, value)),
            None if !absent.contains(&shown) => absent.push(shown),
            _ => {}
        }
        value
    }

    fn argument(&mut self) -> Result<Argument, ConditionError> {
        self.skip_space();
        let at = self.at;
        let quote = self.rest().chars().next().filter(|c| matches!(c, '"' | '\''));
        let text = if let Some(quote) = quote {
            let inner = &self.text[at + 1..];
            let length = inner.find(quote).ok_or_else(|| ConditionError::new(at, "this quote is not closed"))?;
            self.at += length + 2;
            inner[..length].to_owned()
        } else {
            let length = self.rest().find([',', ')', '(', '"', '\'']).unwrap_or(self.rest().len());
            self.at += length;
            self.text[at..at + length].trim_end().to_owned()
        };
        if text.is_empty() { Err(ConditionError::new(at, "a name is missing here")) } else { Ok(Argument { at, text }) }
    }

    fn take(&mut self, wanted: char) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(wanted);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, wanted: char) -> Result<(), ConditionError> {
        if self.take(wanted) {
            return Ok(());
        }
        Err(ConditionError::new(self.at, format_args!("`{wanted}` is missing here")))
    }

    /// Takes the next operator if it binds at least as tightly as `precedence`.
    fn operator(&mut self, precedence: u8) -> Option<(usize, u8, Operator)> {
        self.skip_space();
        let rest = self.rest();
        let is_whole = |text: &str| {
            let word = text.starts_with(char::is_alphabetic);
            !word || !rest[text.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
        };
        let (text, tightness, operator) =
            *OPERATORS.iter().find(|(text, ..)| rest.starts_with(text) && is_whole(text))?;
        if tightness < precedence {
            return None;
        }
        let at = self.at;
        self.at += text.len();
        Some((at, tightness, operator))
    }
}

impl Comparison {
    /// What a condition calls `name(arguments)`.
    pub(crate) fn term(&self, name: &str, arguments: &[Argument], at: usize) -> Result<Option<f64>, ConditionError> {
        match (name, arguments) {
            ("missing", [column]) => Ok(Some(float(column_named(self, column)?.not_measured))),
            ("missing", [figure, column]) => {
                column_named(self, column)?;
                let mean = figure_named(self, &figure.text, figure.at)?.mean(&column.text);
                Ok(mean.map(|mean| float(mean.not_measured)))
            }
            ("n", [figure]) => Ok(Some(float(figure_named(self, &figure.text, figure.at)?.n))),
            ("missing", _) => Err(ConditionError::new(at, "`missing` takes a variant, or a figure and a variant")),
            ("n" | "diff" | "low" | "high" | "p" | "p_holm", [figure, a, b]) => of_pair(self, name, [figure, a, b]),
            ("n", _) => Err(ConditionError::new(at, "`n` takes a figure, or a figure and two variants")),
            ("diff" | "low" | "high" | "p" | "p_holm", _) => {
                Err(ConditionError::new(at, format_args!("`{name}` takes a figure and two variants: {name}(em, a, b)")))
            }
            (_, [column]) => {
                let figure = figure_named(self, name, at)?;
                column_named(self, column)?;
                Ok(figure.mean(&column.text).and_then(|mean| mean.mean))
            }
            _ => {
                figure_named(self, name, at)?;
                Err(ConditionError::new(at, format_args!("`{name}` takes one variant: {name}(NAME)")))
            }
        }
    }
}

/// A term of two variants. Differences are `b − a` in either order of the comparison.
fn of_pair(comparison: &Comparison, name: &str, [figure, a, b]: [&Argument; 3]) -> Result<Option<f64>, ConditionError> {
    let figure = figure_named(comparison, &figure.text, figure.at)?;
    column_named(comparison, a)?;
    column_named(comparison, b)?;
    let Some(pair) = figure.pair(&a.text, &b.text) else {
        let reason = if a.text == b.text { "this is the same variant" } else { "these two are not compared" };
        return Err(ConditionError::new(b.at, format_args!("{reason}; see --baseline and --contrast")));
    };
    if pair.stopping.is_some() && name.starts_with('p') {
        let reason = "the rule of the run decides about these two, and has no p; low and high are the ends of its confidence sequence";
        return Err(ConditionError::new(a.at, reason));
    }
    Ok(seen_from(pair, name, pair.a == a.text))
}

/// The value for `b − a` or, unless `as_is`, for `a − b`.
fn seen_from(pair: &Pair, name: &str, as_is: bool) -> Option<f64> {
    let ends = pair.interval.map(|interval| (interval.low, interval.high));
    match name {
        "diff" => pair.difference.map(|difference| if as_is { difference } else { -difference }),
        "low" => ends.map(|(low, high)| if as_is { low } else { -high }),
        "high" => ends.map(|(low, high)| if as_is { high } else { -low }),
        "n" => Some(float(pair.n)),
        "p" => pair.p.map(|p| p.value),
        _ => pair.p_holm,
    }
}

fn figure_named<'a>(comparison: &'a Comparison, name: &str, at: usize) -> Result<&'a FigureComparison, ConditionError> {
    comparison.figure(&canonical(name)).ok_or_else(|| {
        let known: Vec<&str> = comparison.figures.iter().map(|figure| figure.figure.name.as_str()).collect();
        let (name, known) = (visible_line(name, 60), known.join(", "));
        let reason = format_args!("`{name}` is not compared; the figures compared are {known} (see --metric)");
        ConditionError::new(at, reason)
    })
}

fn column_named<'a>(comparison: &'a Comparison, argument: &Argument) -> Result<&'a VariantSummary, ConditionError> {
    comparison.variants.iter().find(|column| column.name == argument.text).ok_or_else(|| {
        let known: Vec<String> = comparison.variants.iter().map(|column| visible_line(&column.name, 60)).collect();
        let (name, known) = (visible_line(&argument.text, 60), known.join(", "));
        ConditionError::new(argument.at, format_args!("there is no variant `{name}`; the variants are {known}"))
    })
}

#[cfg(test)]
mod tests;
