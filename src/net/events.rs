//! A parser of server-sent events that takes bytes in pieces of any size.
//!
//! The format is that of the HTML standard (section 9.2.6): lines end in LF, CR LF or CR, a `data` field is a line of the
//! event, a blank line ends it, and a line that starts with a colon is a comment. Three extensions suit existing servers:
//! the end of the stream ends an event, a field `error` is an event `{"error": VALUE}`, and so are the data of an event
//! that is named `error`, unless they say so themselves.

/// Data with this text already say that they are an error, by a field or by their type.
const ERROR: &[u8] = b"\"error\"";

#[expect(clippy::struct_excessive_bools, reason = "each is about a place of its own")]
#[derive(Debug, Default)]
pub(crate) struct Events {
    line: Vec<u8>,
    /// The lines of the current event, separated by newlines.
    data: Vec<u8>,
    /// Whether the current event has a line, even an empty one.
    begun: bool,
    /// Whether the current event is named `error`.
    is_error: bool,
    /// Whether a line feed would belong to the preceding carriage return.
    after_return: bool,
    /// Whether a line has ended; a byte order mark can only precede the first.
    started: bool,
}

impl Events {
    /// Takes the next piece. Passes the events that end in it to `each`, until that returns false.
    pub(crate) fn push(&mut self, piece: &[u8], each: &mut dyn FnMut(&[u8]) -> bool) {
        for &byte in piece {
            let after_return = std::mem::replace(&mut self.after_return, byte == b'\r');
            match byte {
                b'\n' if after_return => {}
                b'\n' | b'\r' => {
                    if !self.end_line(each) {
                        return;
                    }
                }
                _ => self.line.push(byte),
            }
        }
    }

    pub(crate) fn finish(&mut self, each: &mut dyn FnMut(&[u8]) -> bool) {
        if self.end_line(each) && self.begun {
            self.end_line(each);
        }
    }

    pub(super) fn held(&self) -> usize {
        self.line.len() + self.data.len()
    }

    fn end_line(&mut self, each: &mut dyn FnMut(&[u8]) -> bool) -> bool {
        let line = std::mem::take(&mut self.line);
        let mut field = line.as_slice();
        if !std::mem::replace(&mut self.started, true) {
            field = field.strip_prefix(b"\xef\xbb\xbf").unwrap_or(field);
        }
        let more = if field.is_empty() {
            let mut data = std::mem::take(&mut self.data);
            if std::mem::take(&mut self.is_error) && !data.windows(ERROR.len()).any(|part| part == ERROR) {
                data = [b"{\"error\":", data.as_slice(), b"}"].concat();
            }
            !std::mem::take(&mut self.begun) || each(&data)
        } else {
            self.field(field);
            true
        };
        // Keep the allocation for the next line.
        self.line = line;
        self.line.clear();
        more
    }

    fn field(&mut self, line: &[u8]) {
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let value = line.get(colon + 1..).unwrap_or_default();
        let value = value.strip_prefix(b" ").unwrap_or(value);
        let (before, after): (&[u8], &[u8]) = match &line[..colon] {
            b"data" => (b"", b""),
            b"error" => (b"{\"error\":", b"}"),
            b"event" => {
                self.is_error = value == b"error";
                return;
            }
            _ => return,
        };
        if std::mem::replace(&mut self.begun, true) {
            self.data.push(b'\n');
        }
        for part in [before, value, after] {
            self.data.extend_from_slice(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Events;

    fn events(pieces: &[&[u8]]) -> Vec<String> {
        let mut found = Vec::new();
        let mut each = |data: &[u8]| {
            found.push(String::from_utf8(data.to_vec()).expect("whole characters"));
            true
        };
        let mut events = Events::default();
        for piece in pieces {
            events.push(piece, &mut each);
        }
        events.finish(&mut each);
        found
    }

    #[test]
    fn fields_lines_and_comments() {
        for (stream, found) in [
            ("data: a\n\ndata:b\n\n", &["a", "b"][..]),
            ("data:  a\r\n\r\ndata: b\r\rdata: c\n\r\n", &[" a", "b", "c"]),
            ("\u{feff}data: a\n\n", &["a"]),
            (": waiting\n\nevent: x\nid: 1\nretry: 5\ndata: a\ndata: b\n\n", &["a\nb"]),
            ("data\n\ndata:\n\n", &["", ""]),
            ("data: a\n\n\n\nnonsense\n\n", &["a"]),
            ("data: a\n\ndata: [DONE]", &["a", "[DONE]"]),
            ("data: a\n", &["a"]),
            ("error: {\"code\":500}\n\n", &["{\"error\":{\"code\":500}}"]),
            ("event: error\ndata: {\"message\":\"m\"}\n\ndata: a\n\n", &["{\"error\":{\"message\":\"m\"}}", "a"]),
            ("event: error\ndata: {\"type\":\"error\"}\n\n", &["{\"type\":\"error\"}"]),
            ("event: error\n\ndata: a\n\n", &["a"]),
            ("dat\ndatas: a\n\n", &[]),
            ("", &[]),
        ] {
            assert_eq!(events(&[stream.as_bytes()]), found, "{stream:?}");
        }
    }

    #[test]
    fn pieces_may_end_anywhere() {
        let stream = "\u{feff}: k\r\ndata: Ærø 東京 \u{1f600}\r\ndata: two\r\n\r\ndata: a\r\rdata: b\n\n".as_bytes();
        let whole = events(&[stream]);
        assert_eq!(whole, ["Ærø 東京 \u{1f600}\ntwo", "a", "b"]);
        for at in 0..stream.len() {
            assert_eq!(events(&[&stream[..at], &[], &stream[at..]]), whole, "cut at {at}");
        }
        let bytes: Vec<&[u8]> = stream.chunks(1).collect();
        assert_eq!(events(&bytes), whole);
    }

    #[test]
    fn events_stop_on_request_and_held_bytes_are_counted() {
        let mut count = 0;
        Events::default().push(b"data: a\n\ndata: b\n\n", &mut |_| {
            count += 1;
            false
        });
        assert_eq!(count, 1);
        let mut events = Events::default();
        events.push(b"data: abc\nda", &mut |_| true);
        assert_eq!(events.held(), 5);
    }
}
