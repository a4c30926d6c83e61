//! A world outside that the tests make up: names, public addresses that nobody has, and servers on loopback behind them.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use exacta::network::Outside;

/// What a server has, by path.
pub type Pages = BTreeMap<String, Vec<u8>>;

/// Every name leads to a public address, and every connection to one server, which is told apart by its names.
pub struct MadeUp {
    names: Vec<(&'static str, IpAddr)>,
    server: SocketAddr,
    /// Requests it has had: `METHOD host path`.
    pub heard: Arc<Mutex<Vec<String>>>,
}

impl MadeUp {
    pub fn new(pages: Pages) -> Arc<Self> {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a server");
        let server = listener.local_addr().expect("its address");
        let heard: Arc<Mutex<Vec<String>>> = Arc::default();
        let (keeps, pages) = (Arc::clone(&heard), Arc::new(pages));
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (keeps, pages) = (Arc::clone(&keeps), Arc::clone(&pages));
                thread::spawn(move || answer(stream, &pages, &keeps));
            }
        });
        let public = IpAddr::V4(Ipv4Addr::new(93, 184, 216, 34));
        let names = vec![
            ("granted.example", public),
            ("packages.example", public),
            ("evil.example", public),
            ("rebound.example", IpAddr::V4(Ipv4Addr::LOCALHOST)),
            ("metadata.example", IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254))),
        ];
        Arc::new(MadeUp { names, server, heard })
    }

    pub fn heard(&self) -> Vec<String> {
        self.heard.lock().expect("heard").clone()
    }
}

impl Outside for MadeUp {
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let found = self.names.iter().find(|(known, _)| *known == name);
        found.map(|(_, address)| vec![*address]).ok_or(io::ErrorKind::NotFound.into())
    }

    fn dial(&self, address: SocketAddr, patience: Duration) -> io::Result<TcpStream> {
        assert!(!address.ip().is_loopback(), "the proxy asked for {address}");
        TcpStream::connect_timeout(&self.server, patience)
    }
}

/// As many requests as the client wants.
fn answer(stream: TcpStream, pages: &Pages, keeps: &Mutex<Vec<String>>) {
    let Ok(mut writer) = stream.try_clone() else { return };
    let mut reader = BufReader::new(stream);
    loop {
        let (mut line, mut host, mut length) = (String::new(), String::new(), 0);
        if reader.read_line(&mut line).is_err() || line.is_empty() {
            return;
        }
        let mut close = line.contains("HTTP/1.0");
        loop {
            let mut header = String::new();
            if reader.read_line(&mut header).is_err() || header.trim().is_empty() {
                break;
            }
            let (name, value) = header.split_once(':').unwrap_or_default();
            match (name.to_ascii_lowercase().as_str(), value.trim()) {
                ("host", value) => value.clone_into(&mut host),
                ("content-length", value) => length = value.parse().unwrap_or(0),
                ("connection", value) => close |= value.eq_ignore_ascii_case("close"),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        let _gone = reader.read_exact(&mut body);
        let mut words = line.split_whitespace();
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        keeps.lock().expect("heard").push(format!("{method} {host} {path}"));
        let found = pages.get(path.split('?').next().unwrap_or_default());
        let status = if found.is_some() { "200 OK" } else { "404 Not Found" };
        let body = found.cloned().unwrap_or_default();
        let kind = match path.rsplit('.').next() {
            Some("json") => "application/json",
            Some("whl" | "tgz" | "crate") => "application/octet-stream",
            _ if body.starts_with(b"{") => "application/json",
            _ => "text/html",
        };
        let connection = if close { "close" } else { "keep-alive" };
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: {connection}\r\n\r\n",
            body.len()
        );
        let body = if method == "HEAD" { &[][..] } else { &body };
        if writer.write_all(&[head.as_bytes(), body].concat()).is_err() || close {
            return;
        }
    }
}
