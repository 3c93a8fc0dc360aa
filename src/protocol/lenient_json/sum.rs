//! Sums that stand where a number should, such as `2+3` or `1990-1995`: the original hands them to Python's `eval`.

use super::{Fault, Item};

/// Parentheses and signs inside one another.
const MAX_DEPTH: usize = 64;

/// The part of a text that counts as a sum: the longest match of `[0-9.+\-]*[()[0-9+\-*/eEx&|]+`.
pub(super) fn extent(text: &str) -> Option<&str> {
    let in_sum = |b: &u8| {
        matches!(b, b'(' | b')' | b'[' | b'0'..=b'9' | b'+' | b'-' | b'*' | b'/' | b'e' | b'E' | b'x' | b'&' | b'|')
    };
    let in_front = |b: &u8| matches!(b, b'0'..=b'9' | b'.' | b'+' | b'-');
    let bytes = text.as_bytes();
    let front = bytes.iter().take_while(|b| in_front(b)).count();
    let back = bytes[front..].iter().take_while(|b| in_sum(b)).count();
    if back > 0 {
        return Some(&text[..front + back]);
    }
    // Without a second part the first gives back its end, which may be anything but a full stop.
    bytes[..front].iter().rposition(in_sum).map(|last| &text[..=last])
}

/// The value of a sum. Integers beyond 128 bits, and whatever Python raises on, are faults.
pub(super) fn evaluate(text: &str) -> Result<Item, Fault> {
    let mut sum = Sum { text: text.as_bytes(), at: 0, depth: 0 };
    let number = sum.either()?;
    if sum.at < text.len() {
        return Err(Fault);
    }
    Ok(match number {
        Number::Int(n) => Item::Int(n.to_string()),
        Number::Float(n) => Item::Float(n),
    })
}

#[derive(Debug, Clone, Copy)]
enum Number {
    Int(i128),
    Float(f64),
}

/// Python's grammar for these characters, from the weakest operator to the strongest.
struct Sum<'a> {
    text: &'a [u8],
    at: usize,
    depth: usize,
}

impl Sum<'_> {
    fn takes(&mut self, token: &[u8]) -> bool {
        let found = self.text[self.at..].starts_with(token);
        self.at += if found { token.len() } else { 0 };
        found
    }

    fn either(&mut self) -> Result<Number, Fault> {
        let mut left = self.both()?;
        while self.takes(b"|") {
            left = bits(left, self.both()?, |a, b| a | b)?;
        }
        Ok(left)
    }

    fn both(&mut self) -> Result<Number, Fault> {
        let mut left = self.terms()?;
        while self.takes(b"&") {
            left = bits(left, self.terms()?, |a, b| a & b)?;
        }
        Ok(left)
    }

    fn terms(&mut self) -> Result<Number, Fault> {
        let mut left = self.factors()?;
        loop {
            left = if self.takes(b"+") {
                arithmetic(left, self.factors()?, i128::checked_add, |a, b| a + b)?
            } else if self.takes(b"-") {
                arithmetic(left, self.factors()?, i128::checked_sub, |a, b| a - b)?
            } else {
                return Ok(left);
            };
        }
    }

    fn factors(&mut self) -> Result<Number, Fault> {
        let mut left = self.signed()?;
        loop {
            left = if self.takes(b"//") {
                let right = nonzero(self.signed()?)?;
                arithmetic(left, right, floor_division, |a, b| (a / b).floor())?
            } else if self.takes(b"/") {
                Number::Float(left.float() / nonzero(self.signed()?)?.float())
            } else if self.takes(b"*") {
                arithmetic(left, self.signed()?, i128::checked_mul, |a, b| a * b)?
            } else {
                return Ok(left);
            };
        }
    }

    fn signed(&mut self) -> Result<Number, Fault> {
        let mut negative = false;
        while let Some(sign @ (b'+' | b'-')) = self.text.get(self.at) {
            negative ^= *sign == b'-';
            self.at += 1;
        }
        match self.power()? {
            number if !negative => Ok(number),
            Number::Int(n) => n.checked_neg().map(Number::Int).ok_or(Fault),
            Number::Float(n) => Ok(Number::Float(-n)),
        }
    }

    fn power(&mut self) -> Result<Number, Fault> {
        let base = self.atom()?;
        if !self.takes(b"**") {
            return Ok(base);
        }
        let exponent = self.deeper(Self::signed)?;
        if let (Number::Int(base), Number::Int(exponent @ 0..)) = (base, exponent) {
            let exponent = u32::try_from(exponent).map_err(|_| Fault)?;
            return base.checked_pow(exponent).map(Number::Int).ok_or(Fault);
        }
        // Zero to a negative power, complex results and overflow are faults.
        let power = base.float().powf(exponent.float());
        if power.is_finite() { Ok(Number::Float(power)) } else { Err(Fault) }
    }

    fn atom(&mut self) -> Result<Number, Fault> {
        if !self.takes(b"(") {
            return self.literal();
        }
        let inside = self.deeper(Self::either)?;
        if self.takes(b")") { Ok(inside) } else { Err(Fault) }
    }

    fn deeper(&mut self, read: fn(&mut Self) -> Result<Number, Fault>) -> Result<Number, Fault> {
        if self.depth == MAX_DEPTH {
            return Err(Fault);
        }
        self.depth += 1;
        let number = read(self)?;
        self.depth -= 1;
        Ok(number)
    }

    fn literal(&mut self) -> Result<Number, Fault> {
        let start = self.at;
        if self.takes(b"0x") {
            self.digits(u8::is_ascii_hexdigit);
            return i128::from_str_radix(self.since(start + 2), 16).map(Number::Int).map_err(|_| Fault);
        }
        self.digits(u8::is_ascii_digit);
        let whole = self.at;
        if self.takes(b".") {
            self.digits(u8::is_ascii_digit);
        }
        if self.takes(b"e") || self.takes(b"E") {
            if !self.takes(b"+") {
                self.takes(b"-");
            }
            if self.digits(u8::is_ascii_digit) == 0 {
                return Err(Fault);
            }
        }
        let text = self.since(start);
        if self.at > whole {
            return text.parse().map(Number::Float).map_err(|_| Fault);
        }
        let leading_zero = text.starts_with('0') && text.bytes().any(|b| b != b'0');
        if leading_zero { Err(Fault) } else { text.parse().map(Number::Int).map_err(|_| Fault) }
    }

    fn digits(&mut self, is_digit: fn(&u8) -> bool) -> usize {
        let count = self.text[self.at..].iter().take_while(|byte| is_digit(byte)).count();
        self.at += count;
        count
    }

    fn since(&self, start: usize) -> &str {
        std::str::from_utf8(&self.text[start..self.at]).unwrap_or_default()
    }
}

impl Number {
    #[expect(clippy::cast_precision_loss, reason = "Python loses the same digits")]
    fn float(self) -> f64 {
        match self {
            Self::Int(n) => n as f64,
            Self::Float(n) => n,
        }
    }
}

fn arithmetic(
    left: Number,
    right: Number,
    whole: fn(i128, i128) -> Option<i128>,
    float: fn(f64, f64) -> f64,
) -> Result<Number, Fault> {
    match (left, right) {
        (Number::Int(a), Number::Int(b)) => whole(a, b).map(Number::Int).ok_or(Fault),
        _ => Ok(Number::Float(float(left.float(), right.float()))),
    }
}

fn bits(left: Number, right: Number, operation: fn(i128, i128) -> i128) -> Result<Number, Fault> {
    match (left, right) {
        (Number::Int(a), Number::Int(b)) => Ok(Number::Int(operation(a, b))),
        _ => Err(Fault),
    }
}

fn floor_division(a: i128, b: i128) -> Option<i128> {
    let quotient = a.checked_div(b)?;
    if a % b != 0 && (a < 0) != (b < 0) { quotient.checked_sub(1) } else { Some(quotient) }
}

fn nonzero(number: Number) -> Result<Number, Fault> {
    if number.float() == 0.0 { Err(Fault) } else { Ok(number) }
}
