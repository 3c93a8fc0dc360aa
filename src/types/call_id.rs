//! The ids that we write for calls: nine letters and digits, which every server takes.
//!
//! Mistral takes no others, `OpenAI` at most 40 characters, Anthropic letters, digits, `_` and `-`. An id is `x` and two
//! numbers for a call of an exemplar, `c` and two numbers for a call of the conversation.

/// The digits of the numbers, of which each has [`WIDTH`].
const DIGITS: &[u8; 36] = b"0123456789abcdefghijklmnopqrstuvwxyz";
const WIDTH: u32 = 4;
const RADIX: u32 = 36;
/// How many numbers there are.
const NUMBERS: usize = (RADIX as usize).pow(WIDTH);
const EXEMPLAR: char = 'x';
const CONVERSATION: char = 'c';

/// The call of step `n` of exemplar `number`, both from 1.
pub fn exemplar_call_id(number: usize, n: usize) -> String {
    written(EXEMPLAR, number, n)
}

/// Call `at` (from 1) of the reply at step `n`; 0 where a step is one call.
pub fn reply_call_id(n: usize, at: usize) -> String {
    written(CONVERSATION, n, at)
}

/// The same id as the first version of the protocol `tools` wrote it; none for ids that are not ours.
pub fn first_version_call_id(id: &str) -> Option<String> {
    let numbers = |kind| {
        let (first, second) = id.strip_prefix(kind)?.split_at_checked(WIDTH as usize)?;
        (second.len() == WIDTH as usize).then_some((number(first)?, number(second)?))
    };
    if let Some((number, n)) = numbers(EXEMPLAR) {
        return Some(format!("example_{number}_call_{n}"));
    }
    numbers(CONVERSATION).map(|(n, at)| if at == 0 { format!("call_{n}") } else { format!("call_{n}_{at}") })
}

/// Numbers that are too large begin again at 0; whoever writes an id sees to it that no other one is the same.
fn written(kind: char, first: usize, second: usize) -> String {
    let mut id = String::from(kind);
    for number in [first, second] {
        let places = (0..WIDTH).rev().map(|place| (number % NUMBERS) / (RADIX as usize).pow(place));
        id.extend(places.map(|digit| char::from(DIGITS[digit % DIGITS.len()])));
    }
    id
}

/// A number as [`written`] writes it.
fn number(digits: &str) -> Option<usize> {
    let known = digits.bytes().all(|digit| DIGITS.contains(&digit));
    known.then(|| usize::from_str_radix(digits, RADIX).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::{exemplar_call_id, first_version_call_id, reply_call_id};
    use std::collections::HashSet;

    #[test]
    fn ids_are_nine_letters_and_digits_and_differ() {
        let mut known = HashSet::new();
        let numbers = [0, 1, 9, 10, 35, 36, 1_295, 46_655, 46_656, 1_679_615];
        for (one, other) in numbers.into_iter().flat_map(|one| numbers.map(|other| (one, other))) {
            for id in [exemplar_call_id(one, other), reply_call_id(one, other)] {
                assert!(id.len() == 9 && id.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{id}");
                assert!(known.insert(id));
            }
        }
        assert_eq!(exemplar_call_id(usize::MAX, 1_679_616).len(), 9);
    }

    #[test]
    fn the_first_version_wrote_them_in_words() {
        for (id, words) in [
            (exemplar_call_id(2, 37), Some("example_2_call_37")),
            (reply_call_id(3, 2), Some("call_3_2")),
            (reply_call_id(12, 0), Some("call_12")),
            ("AbCd12345".to_owned(), None),
            ("x0001000".to_owned(), None),
            ("x00010é01".to_owned(), None),
            ("c00010+01".to_owned(), None),
            (String::new(), None),
        ] {
            assert_eq!(first_version_call_id(&id).as_deref(), words, "{id}");
        }
    }
}
