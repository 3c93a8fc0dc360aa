//! The conditions of `--fail-if`: `em(new) < em(base) and p(em, base, new) < 0.05`.
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

use std::fmt;

/// Deeper nesting is refused: nobody writes it, and reading it takes a stack.
const MAX_DEPTH: usize = 50;

/// What was read, with the place of each part in the text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Expr {
    /// Offset of its first character (of an operation: of the operator), in bytes.
    pub(super) at: usize,
    pub(super) kind: Kind,
}

/// One part of a condition.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Number(f64),
    Call { name: String, arguments: Vec<Argument> },
    Negative(Box<Expr>),
    Operation { operator: Operator, left: Box<Expr>, right: Box<Expr> },
}

/// One argument of a call.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Argument {
    /// Offset of its first character, in bytes.
    pub(super) at: usize,
    pub(super) text: String,
}

/// An operation on two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operator {
    Or,
    And,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
    Plus,
    Minus,
    Times,
    Over,
}

/// What is wrong, and where: the offset in bytes.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fault {
    pub(super) at: usize,
    pub(super) reason: String,
}

impl Fault {
    pub(super) fn new(at: usize, reason: impl fmt::Display) -> Self {
        Self { at, reason: reason.to_string() }
    }
}

impl Operator {
    /// Whether the result is true or false.
    pub(super) fn is_comparison(self) -> bool {
        use Operator::{Equal, Greater, GreaterOrEqual, Less, LessOrEqual, NotEqual};
        matches!(self, Less | LessOrEqual | Greater | GreaterOrEqual | Equal | NotEqual)
    }

    /// Whether it joins two conditions.
    pub(super) fn is_junction(self) -> bool {
        matches!(self, Self::Or | Self::And)
    }
}

/// Longer operators first, so that `<=` is not read as `<`.
const OPERATORS: [(&str, Operator); 10] = [
    ("<=", Operator::LessOrEqual),
    (">=", Operator::GreaterOrEqual),
    ("==", Operator::Equal),
    ("!=", Operator::NotEqual),
    ("<", Operator::Less),
    (">", Operator::Greater),
    ("+", Operator::Plus),
    ("-", Operator::Minus),
    ("*", Operator::Times),
    ("/", Operator::Over),
];

/// Reads a condition.
pub(super) fn parse(text: &str) -> Result<Expr, Fault> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    let expr = parser.condition()?;
    parser.skip_space();
    if parser.at < text.len() {
        return Err(Fault::new(parser.at, "here an operator or the end is expected"));
    }
    if expr.is_condition() {
        Ok(expr)
    } else {
        Err(Fault::new(expr.at, "this is a number, and a condition is expected, such as em(a) < em(b)"))
    }
}

impl Expr {
    /// Whether it is true or false, rather than a number.
    fn is_condition(&self) -> bool {
        matches!(&self.kind, Kind::Operation { operator, .. } if operator.is_comparison() || operator.is_junction())
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
}

impl Parser<'_> {
    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn skip_space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    fn condition(&mut self) -> Result<Expr, Fault> {
        let mut left = self.both()?;
        while let Some(at) = self.word("or") {
            left = joined(at, Operator::Or, left, self.both()?)?;
        }
        Ok(left)
    }

    fn both(&mut self) -> Result<Expr, Fault> {
        let mut left = self.comparison()?;
        while let Some(at) = self.word("and") {
            left = joined(at, Operator::And, left, self.comparison()?)?;
        }
        Ok(left)
    }

    fn comparison(&mut self) -> Result<Expr, Fault> {
        let left = self.sum()?;
        let Some((at, operator)) = self.operator(Operator::is_comparison) else { return Ok(left) };
        let expr = joined(at, operator, left, self.sum()?)?;
        match self.operator(Operator::is_comparison) {
            Some((at, _)) => Err(Fault::new(at, "comparisons cannot be chained; join two of them with `and`")),
            None => Ok(expr),
        }
    }

    fn sum(&mut self) -> Result<Expr, Fault> {
        let mut left = self.product()?;
        while let Some((at, operator)) = self.operator(|found| matches!(found, Operator::Plus | Operator::Minus)) {
            left = joined(at, operator, left, self.product()?)?;
        }
        Ok(left)
    }

    fn product(&mut self) -> Result<Expr, Fault> {
        let mut left = self.factor()?;
        while let Some((at, operator)) = self.operator(|found| matches!(found, Operator::Times | Operator::Over)) {
            left = joined(at, operator, left, self.factor()?)?;
        }
        Ok(left)
    }

    fn factor(&mut self) -> Result<Expr, Fault> {
        self.skip_space();
        let at = self.at;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Fault::new(at, "this is nested too deeply"));
        }
        let kind = match self.rest().chars().next() {
            None => return Err(Fault::new(at, "here a number, a figure such as em(NAME) or `(` is missing")),
            Some('-') => {
                self.at += 1;
                let inner = self.factor()?;
                if inner.is_condition() {
                    return Err(Fault::new(inner.at, "this is true or false, and a number is expected"));
                }
                Kind::Negative(Box::new(inner))
            }
            Some('(') => {
                self.at += 1;
                let inner = self.condition()?;
                self.expect(')')?;
                self.depth -= 1;
                return Ok(inner);
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number()?,
            Some(c) if c.is_alphabetic() || c == '_' => self.call()?,
            Some(c) => return Err(Fault::new(at, format_args!("`{}` is not understood here", c.escape_debug()))),
        };
        self.depth -= 1;
        Ok(Expr { at, kind })
    }

    fn number(&mut self) -> Result<Kind, Fault> {
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
        number.map(Kind::Number).ok_or_else(|| Fault::new(at, format_args!("`{text}` is not a number")))
    }

    fn call(&mut self) -> Result<Kind, Fault> {
        let at = self.at;
        let length = self.rest().find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(self.rest().len());
        let name = self.rest()[..length].to_owned();
        self.at += length;
        self.skip_space();
        if !self.rest().starts_with('(') {
            return Err(Fault::new(at, format_args!("`{name}` stands alone; a figure is written as {name}(NAME)")));
        }
        self.at += 1;
        let mut arguments = vec![self.argument()?];
        while self.taken(',') {
            arguments.push(self.argument()?);
        }
        self.expect(')')?;
        Ok(Kind::Call { name, arguments })
    }

    fn argument(&mut self) -> Result<Argument, Fault> {
        self.skip_space();
        let at = self.at;
        let quote = self.rest().chars().next().filter(|c| matches!(c, '"' | '\''));
        let text = if let Some(quote) = quote {
            let inner = &self.text[at + 1..];
            let length = inner.find(quote).ok_or_else(|| Fault::new(at, "this quote is not closed"))?;
            self.at += length + 2;
            inner[..length].to_owned()
        } else {
            let length = self.rest().find([',', ')', '(', '"', '\'']).unwrap_or(self.rest().len());
            self.at += length;
            self.text[at..at + length].trim_end().to_owned()
        };
        if text.is_empty() { Err(Fault::new(at, "here a name is missing")) } else { Ok(Argument { at, text }) }
    }

    fn taken(&mut self, wanted: char) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(wanted);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, wanted: char) -> Result<(), Fault> {
        if self.taken(wanted) { Ok(()) } else { Err(Fault::new(self.at, format_args!("here `{wanted}` is missing"))) }
    }

    /// Takes the word where it stands by itself.
    fn word(&mut self, word: &str) -> Option<usize> {
        self.skip_space();
        let after = self.rest().strip_prefix(word)?;
        if after.starts_with(|c: char| c.is_alphanumeric() || c == '_') {
            return None;
        }
        let at = self.at;
        self.at += word.len();
        Some(at)
    }

    fn operator(&mut self, wanted: impl Fn(Operator) -> bool) -> Option<(usize, Operator)> {
        self.skip_space();
        let (text, operator) = *OPERATORS.iter().find(|(text, _)| self.rest().starts_with(text))?;
        if !wanted(operator) {
            return None;
        }
        let at = self.at;
        self.at += text.len();
        Some((at, operator))
    }
}

/// Both sides must be what the operator takes: conditions for `and` and `or`, numbers for the others.
fn joined(at: usize, operator: Operator, left: Expr, right: Expr) -> Result<Expr, Fault> {
    for side in [&left, &right] {
        match (operator.is_junction(), side.is_condition()) {
            (true, false) => return Err(Fault::new(side.at, "this is a number, and a condition is expected")),
            (false, true) => return Err(Fault::new(side.at, "this is true or false, and a number is expected")),
            _ => {}
        }
    }
    Ok(Expr { at, kind: Kind::Operation { operator, left: Box::new(left), right: Box::new(right) } })
}
