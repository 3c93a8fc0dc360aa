//! Applies stops in the client: some servers refuse them, some ignore them.

/// The length, in bytes, of `text` before the earliest occurrence of any stop; empty stops are ignored.
pub fn cut_at_stop<S: AsRef<str>>(text: &str, stops: &[S]) -> usize {
    let stops = stops.iter().map(AsRef::as_ref).filter(|stop: &&str| !stop.is_empty());
    stops.fold(text.len(), |end, stop| {
        // A stop may begin before `end` and extend beyond it, so search the whole text.
        text.find(stop).map_or(end, |at| at.min(end))
    })
}

#[cfg(test)]
mod tests {
    use super::cut_at_stop;

    #[test]
    fn the_earliest_stop_counts() {
        for (text, stops, left) in [
            ("a\nObservation 1: b", &["\nObservation 1:"][..], "a"),
            ("one two three", &["three", "two"][..], "one "),
            ("one two three", &["o th", "two three", "one two three four"][..], "one "),
            ("abcd", &["cd", "bcd"][..], "a"),
            ("stop at once", &["stop"][..], ""),
            ("no stop here", &["", "\n"][..], "no stop here"),
            ("a\u{3002}b\u{3002}", &["\u{3002}"][..], "a"),
            ("", &["x"][..], ""),
            ("text", &[][..], "text"),
        ] {
            assert_eq!(&text[..cut_at_stop(text, stops)], left, "{text:?} {stops:?}");
        }
    }
}
