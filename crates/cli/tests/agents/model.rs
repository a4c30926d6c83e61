//! A model as an agent meets it, over Anthropic's messages endpoint: it wants one command, and is content with what comes of it.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use serde_json::{Value, json};

type Heard = Arc<Mutex<Option<String>>>;

pub struct Model {
    port: u16,
    heard: Heard,
}

impl Model {
    pub fn that_wants(command: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        let (heard, command) = (Heard::default(), command.to_owned());
        let told = Arc::clone(&heard);
        // Ends with the test.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (told, command) = (Arc::clone(&told), command.clone());
                thread::spawn(move || serve(stream, &command, &told));
            }
        });
        Model { port, heard }
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// What it was told of its command.
    pub fn heard(&self) -> Option<String> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

fn serve(stream: TcpStream, command: &str, heard: &Heard) -> Option<()> {
    let mut writer = stream.try_clone().ok()?;
    let mut reader = BufReader::new(stream);
    loop {
        let (path, asked) = request(&mut reader)?;
        let results = results(&asked);
        if let Some(result) = results.first() {
            *heard.lock().unwrap_or_else(PoisonError::into_inner) = Some(result.clone());
        }
        let has_shell = asked["tools"]
            .as_array()
            .is_some_and(|tools| tools.iter().any(|tool| tool["name"] == "Bash"));
        let (kind, body) = if path.contains("count_tokens") {
            ("application/json", json!({ "input_tokens": 1 }).to_string())
        } else if path.starts_with("/v1/messages") {
            let wanted = (has_shell && results.is_empty()).then_some(command);
            ("text/event-stream", events(wanted))
        } else {
            ("application/json", "{}".to_owned())
        };
        let length = body.len();
        write!(
            writer,
            "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .ok()?;
    }
}

fn request(reader: &mut BufReader<TcpStream>) -> Option<(String, Value)> {
    let mut first = String::new();
    reader.read_line(&mut first).ok().filter(|read| *read > 0)?;
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
        let line = line.trim().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let path = first.split(' ').nth(1)?.to_owned();
    Some((path, serde_json::from_slice(&body).unwrap_or_default()))
}

/// What tools have answered so far.
fn results(asked: &Value) -> Vec<String> {
    let messages = asked["messages"].as_array().into_iter().flatten();
    let parts = messages.filter_map(|message| message["content"].as_array()).flatten();
    parts
        .filter(|part| part["type"] == "tool_result")
        .map(|part| part["content"].to_string())
        .collect()
}

fn events(wanted: Option<&str>) -> String {
    let (block, delta, reason) = match wanted {
        Some(command) => (
            json!({ "type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {} }),
            json!({ "type": "input_json_delta", "partial_json": json!({ "command": command, "description": "x" }).to_string() }),
            "tool_use",
        ),
        None => (
            json!({ "type": "text", "text": "" }),
            json!({ "type": "text_delta", "text": "done" }),
            "end_turn",
        ),
    };
    let usage = json!({ "input_tokens": 1, "output_tokens": 1 });
    let message = json!({ "id": "msg_1", "type": "message", "role": "assistant", "model": "m", "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage });
    let all = [
        json!({ "type": "message_start", "message": message }),
        json!({ "type": "content_block_start", "index": 0, "content_block": block }),
        json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": reason, "stop_sequence": null }, "usage": { "output_tokens": 1 } }),
        json!({ "type": "message_stop" }),
    ];
    let event = |event: &Value| {
        format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default())
    };
    all.iter().map(event).collect()
}
