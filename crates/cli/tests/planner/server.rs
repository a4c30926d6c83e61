//! A server with answers that were written before: statuses, headers, pieces as they go over the wire, and what it was asked.

use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

#[derive(Clone)]
pub struct Reply {
    status: u16,
    headers: Vec<(String, String)>,
    pieces: Vec<Vec<u8>>,
    ending: Ending,
}

#[derive(Clone, Copy, PartialEq)]
enum Ending {
    Proper,
    /// In the midst of a chunk.
    Abrupt,
    /// Never.
    None,
}

impl Reply {
    pub fn new(status: u16, kind: &str, pieces: Vec<Vec<u8>>) -> Self {
        let headers = vec![("content-type".to_owned(), kind.to_owned())];
        Reply { status, headers, pieces, ending: Ending::Proper }
    }

    pub fn json(status: u16, body: &Value) -> Self {
        Reply::new(status, "application/json", vec![body.to_string().into_bytes()])
    }

    /// Events, cut into pieces of so many bytes.
    pub fn stream(text: &str, piece: usize) -> Self {
        let pieces = text.as_bytes().chunks(piece).map(<[u8]>::to_vec).collect();
        Reply::new(200, "text/event-stream; charset=utf-8", pieces)
    }

    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn abrupt(self) -> Self {
        Reply { ending: Ending::Abrupt, ..self }
    }

    pub fn endless(self) -> Self {
        Reply { ending: Ending::None, ..self }
    }
}

#[derive(Clone, Debug)]
pub struct Asked {
    pub path: String,
    pub headers: BTreeMap<String, String>,
    pub body: Value,
    pub text: String,
}

#[derive(Clone)]
pub struct Server {
    pub port: u16,
    asked: Arc<Mutex<Vec<Asked>>>,
    replies: Arc<Mutex<VecDeque<Reply>>>,
}

impl Server {
    /// The last answer is given for ever.
    pub fn start(replies: impl IntoIterator<Item = Reply>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let replies = Arc::new(Mutex::new(replies.into_iter().collect()));
        let server = Server { port, asked: Arc::default(), replies };
        let answering = server.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let server = answering.clone();
                std::thread::spawn(move || server.answer(&stream));
            }
        });
        server
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("no test has failed here").clone()
    }

    fn next(&self) -> Option<Reply> {
        let mut replies = self.replies.lock().expect("no test has failed here");
        if replies.len() > 1 { replies.pop_front() } else { replies.front().cloned() }
    }

    fn answer(&self, stream: &TcpStream) -> Option<()> {
        let asked = read(stream)?;
        self.asked.lock().expect("no test has failed here").push(asked);
        let reply = self.next()?;
        let mut stream = stream;
        let mut head = format!("HTTP/1.1 {} x\r\nconnection: close\r\n", reply.status);
        for (name, value) in &reply.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str("transfer-encoding: chunked\r\n\r\n");
        stream.write_all(head.as_bytes()).ok()?;
        for piece in &reply.pieces {
            let mut chunk = format!("{:x}\r\n", piece.len()).into_bytes();
            chunk.extend_from_slice(piece);
            chunk.extend_from_slice(b"\r\n");
            stream.write_all(&chunk).ok()?;
            stream.flush().ok()?;
        }
        match reply.ending {
            Ending::Proper => stream.write_all(b"0\r\n\r\n").ok(),
            Ending::Abrupt => stream.write_all(b"ff\r\ndata: {").ok(),
            Ending::None => {
                std::thread::sleep(Duration::from_secs(60));
                None
            }
        }
    }
}

fn read(stream: &TcpStream) -> Option<Asked> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|count| *count > 0)?;
    let mut headers = BTreeMap::new();
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim().split_once(':') else { break };
        headers.insert(name.to_lowercase(), value.trim().to_owned());
    }
    let length = headers.get("content-length").and_then(|it| it.parse().ok()).unwrap_or(0);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let text = String::from_utf8(body).ok()?;
    let path = line.split(' ').nth(1)?.to_owned();
    Some(Asked { path, headers, body: serde_json::from_str(&text).unwrap_or_default(), text })
}

/// Events of the kind of `OpenAI` with this content, a few characters each.
pub fn openai(content: &str, finish: &str) -> String {
    let chunk = |delta: Value, finish: Value| {
        let choice = json!({ "index": 0, "delta": delta, "finish_reason": finish });
        format!("data: {}\n\n", json!({ "object": "chat.completion.chunk", "choices": [choice] }))
    };
    let mut text = chunk(json!({ "role": "assistant", "content": "" }), Value::Null);
    let characters: Vec<char> = content.chars().collect();
    for piece in characters.chunks(7) {
        text.push_str(&chunk(json!({ "content": String::from_iter(piece) }), Value::Null));
    }
    text.push_str(&chunk(json!({}), finish.into()));
    let usage = json!({ "choices": [], "usage": { "total_tokens": 3 } });
    text + &format!("data: {usage}\n\ndata: [DONE]\n\n")
}

/// Events of Anthropic's kind with this as the input of the tool.
pub fn anthropic(input: &str, stop: &str) -> String {
    let event = |kind: &str, mut data: Value| {
        data["type"] = kind.into();
        format!("event: {kind}\ndata: {data}\n\n")
    };
    let mut text =
        event("message_start", json!({ "message": { "role": "assistant", "content": [] } }));
    let block = json!({ "type": "tool_use", "id": "toolu_1", "name": "submit_plan", "input": {} });
    text += &event("content_block_start", json!({ "index": 0, "content_block": block }));
    text += &event("ping", json!({}));
    let characters: Vec<char> = input.chars().collect();
    for piece in characters.chunks(7) {
        let delta = json!({ "type": "input_json_delta", "partial_json": String::from_iter(piece) });
        text += &event("content_block_delta", json!({ "index": 0, "delta": delta }));
    }
    text += &event("content_block_stop", json!({ "index": 0 }));
    text += &event("something_new", json!({ "index": 0 }));
    text += &event("message_delta", json!({ "delta": { "stop_reason": stop } }));
    text + &event("message_stop", json!({}))
}
