//! Server-sent events out of a stream of bytes that comes in whatever pieces: lines end with any of CR, LF and CRLF,
//! characters and line ends may be cut in two, comments keep the connection alive. Of an event only its data is of interest:
//! both wire formats say in it what it is.

#[derive(Default)]
pub struct Events {
    line: Vec<u8>,
    /// A line feed now belongs to the end of the last line.
    after_return: bool,
    begun: bool,
    data: Vec<u8>,
    has_data: bool,
}

impl Events {
    /// The data of those events that these bytes complete.
    pub fn push(&mut self, bytes: &[u8], complete: &mut Vec<String>) {
        for byte in bytes {
            let after_return = std::mem::take(&mut self.after_return);
            match byte {
                b'\n' if after_return => {}
                b'\n' => self.end_line(complete),
                b'\r' => {
                    self.after_return = true;
                    self.end_line(complete);
                }
                other => self.line.push(*other),
            }
        }
    }

    /// What is left when nothing more comes: some servers leave the last empty line out.
    pub fn finish(mut self, complete: &mut Vec<String>) {
        self.end_line(complete);
        self.dispatch(complete);
    }

    /// So much is held of an event that is not complete.
    pub fn held(&self) -> usize {
        self.line.len() + self.data.len()
    }

    fn end_line(&mut self, complete: &mut Vec<String>) {
        let line = std::mem::take(&mut self.line);
        let mut line = line.as_slice();
        if !std::mem::replace(&mut self.begun, true) {
            line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        }
        if line.is_empty() {
            return self.dispatch(complete);
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (line.get(..colon), line.get(colon + 1..)),
            None => (Some(line), None),
        };
        if field != Some(b"data".as_slice()) {
            return;
        }
        let value = value.unwrap_or_default();
        if self.has_data {
            self.data.push(b'\n');
        }
        self.has_data = true;
        self.data.extend_from_slice(value.strip_prefix(b" ").unwrap_or(value));
    }

    fn dispatch(&mut self, complete: &mut Vec<String>) {
        let data = std::mem::take(&mut self.data);
        if std::mem::take(&mut self.has_data) {
            complete.push(String::from_utf8_lossy(&data).into_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events(text: &str, piece: usize) -> Vec<String> {
        let (mut events, mut complete) = (Events::default(), Vec::new());
        for bytes in text.as_bytes().chunks(piece) {
            events.push(bytes, &mut complete);
        }
        events.finish(&mut complete);
        complete
    }

    #[test]
    fn pieces_and_line_ends_do_not_matter() {
        let text = "\u{feff}: hello\n\nevent: x\ndata: {\"a\":\ndata: \"ü€😀\"}\nid: 7\n\n\n:\ndata:[DONE]\n\ndata";
        let expected = ["{\"a\":\n\"ü€😀\"}", "[DONE]", ""];
        for end in ["\n", "\r\n", "\r"] {
            let text = text.replace('\n', end);
            for piece in 1..text.len() {
                assert_eq!(events(&text, piece), expected, "{end:?} {piece}");
            }
        }
    }

    #[test]
    fn an_event_without_data_is_none() {
        assert_eq!(
            events("event: ping\n\n: keep-alive\n\nretry: 5\n\ndatabase: x\n\n", 3),
            [""; 0]
        );
    }
}
