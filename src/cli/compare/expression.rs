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

/// Deeper nesting is refused, because the parser is recursive.
const MAX_DEPTH: usize = 50;

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Expr {
    /// Offset of its first character (of an operation: of the operator), in bytes.
    pub(super) at: usize,
    pub(super) kind: Kind,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Kind {
    Number(f64),
    Call { name: String, arguments: Vec<Argument> },
    Negative(Box<Expr>),
    Operation { operator: Operator, left: Box<Expr>, right: Box<Expr> },
}

#[derive(Debug, Clone, PartialEq)]
pub(super) struct Argument {
    /// Offset of its first character, in bytes.
    pub(super) at: usize,
    pub(super) text: String,
}

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

/// A syntax or name error at an offset in bytes.
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
    /// How tightly it binds; higher binds first.
    fn precedence(self) -> u8 {
        match self {
            Self::Or => 1,
            Self::And => 2,
            Self::Plus | Self::Minus => 4,
            Self::Times | Self::Over => 5,
            _ => 3,
        }
    }

    fn is_comparison(self) -> bool {
        self.precedence() == 3
    }

    pub(super) fn is_junction(self) -> bool {
        matches!(self, Self::Or | Self::And)
    }
}

/// Longer operators first, so that `<=` is not read as `<`.
const OPERATORS: [(&str, Operator); 12] = [
    ("or", Operator::Or),
    ("and", Operator::And),
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

pub(super) fn parse(text: &str) -> Result<Expr, Fault> {
    let mut parser = Parser { text, at: 0, depth: 0 };
    let expr = parser.operations(0)?;
    parser.skip_space();
    if parser.at < text.len() {
        return Err(Fault::new(parser.at, "expected an operator or the end"));
    }
    if expr.is_condition() {
        Ok(expr)
    } else {
        Err(Fault::new(expr.at, "this is a number; expected a condition such as em(a) < em(b)"))
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

    /// Operations whose operators bind at least as tightly as `precedence`, from left to right.
    fn operations(&mut self, precedence: u8) -> Result<Expr, Fault> {
        let mut left = self.factor()?;
        let mut compared = false;
        while let Some((at, operator)) = self.operator(precedence) {
            if compared && operator.is_comparison() {
                return Err(Fault::new(at, "comparisons cannot be chained; join two of them with `and`"));
            }
            compared = operator.is_comparison();
            let right = self.operations(operator.precedence() + 1)?;
            left = joined(at, operator, left, right)?;
        }
        Ok(left)
    }

    fn factor(&mut self) -> Result<Expr, Fault> {
        self.skip_space();
        let at = self.at;
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(Fault::new(at, "nested too deeply"));
        }
        let kind = match self.rest().chars().next() {
            None => return Err(Fault::new(at, "a number, a figure such as em(NAME) or `(` is missing here")),
            Some('-') => {
                self.at += 1;
                let inner = self.factor()?;
                if inner.is_condition() {
                    return Err(Fault::new(inner.at, "this is true or false; expected a number"));
                }
                Kind::Negative(Box::new(inner))
            }
            Some('(') => {
                self.at += 1;
                let inner = self.operations(0)?;
                self.expect(')')?;
                self.depth -= 1;
                return Ok(inner);
            }
            Some(c) if c.is_ascii_digit() || c == '.' => self.number()?,
            Some(c) if c.is_alphabetic() || c == '_' => self.call()?,
            Some(c) => return Err(Fault::new(at, format_args!("`{}` is unexpected here", c.escape_debug()))),
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
            return Err(Fault::new(at, format_args!("`{name}` has no argument; write {name}(NAME)")));
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
        if text.is_empty() { Err(Fault::new(at, "a name is missing here")) } else { Ok(Argument { at, text }) }
    }

    fn taken(&mut self, wanted: char) -> bool {
        self.skip_space();
        let found = self.rest().starts_with(wanted);
        self.at += usize::from(found);
        found
    }

    fn expect(&mut self, wanted: char) -> Result<(), Fault> {
        if self.taken(wanted) { Ok(()) } else { Err(Fault::new(self.at, format_args!("`{wanted}` is missing here"))) }
    }

    /// Takes the next operator if it binds at least as tightly as `precedence`.
    fn operator(&mut self, precedence: u8) -> Option<(usize, Operator)> {
        self.skip_space();
        let rest = self.rest();
        let is_whole = |text: &str| {
            let word = text.starts_with(char::is_alphabetic);
            !word || !rest[text.len()..].starts_with(|c: char| c.is_alphanumeric() || c == '_')
        };
        let (text, operator) = *OPERATORS.iter().find(|(text, _)| rest.starts_with(text) && is_whole(text))?;
        if operator.precedence() < precedence {
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
            (true, false) => return Err(Fault::new(side.at, "this is a number; expected a condition")),
            (false, true) => return Err(Fault::new(side.at, "this is true or false; expected a number")),
            _ => {}
        }
    }
    Ok(Expr { at, kind: Kind::Operation { operator, left: Box::new(left), right: Box::new(right) } })
}
