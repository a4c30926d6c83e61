//! The whole proxy over real sockets of this machine's loopback, with a made-up world outside: attacks as data.

#![expect(clippy::disallowed_methods, reason = "a test connects to what it has made itself")]

use std::io::{Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, SocketAddrV4};

use exacta_policy::rules::grant::Grant;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, socket_with};

use super::*;
use crate::network::Outside;
use crate::network::key::base64;
use crate::network::upstream::Upstreams;

const PUBLIC: IpAddr = IpAddr::V4(Ipv4Addr::new(93, 184, 216, 34));

/// Names lead where the test says, and every public address to one server of the test.
struct MadeUp {
    names: Vec<(&'static str, Vec<IpAddr>)>,
    server: SocketAddr,
    dialled: Mutex<Vec<SocketAddr>>,
}

impl Outside for MadeUp {
    fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        let found = self.names.iter().find(|(known, _)| *known == name);
        found.map(|(_, addresses)| addresses.clone()).ok_or(io::ErrorKind::NotFound.into())
    }

    fn dial(&self, address: SocketAddr, patience: Duration) -> io::Result<TcpStream> {
        self.dialled.lock().expect("dialled").push(address);
        TcpStream::connect_timeout(&self.server, patience)
    }
}

/// A machine outside, which keeps what it was sent and answers with one line.
struct Server {
    address: SocketAddr,
    heard: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Server {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a server");
        let address = listener.local_addr().expect("its address");
        let heard: Arc<Mutex<Vec<Vec<u8>>>> = Arc::default();
        let keeps = Arc::clone(&heard);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let keeps = Arc::clone(&keeps);
                thread::spawn(move || answer(stream, &keeps));
            }
        });
        Server { address, heard }
    }

    fn heard(&self) -> String {
        let heard = self.heard.lock().expect("heard");
        heard
            .iter()
            .map(|bytes| String::from_utf8_lossy(bytes).into_owned())
            .collect::<Vec<_>>()
            .join("|")
    }
}

/// Whoever begins so gets all of it back.
const ECHO: &[u8] = b"echo";

fn echo(mut stream: TcpStream, first: &[u8]) {
    stream.set_read_timeout(Some(Duration::from_secs(9))).expect("patience");
    stream.write_all(first).expect("the beginning");
    let mut back = stream.try_clone().expect("the other direction");
    let _copied = io::copy(&mut stream, &mut back);
    let _last = stream.shutdown(Shutdown::Write);
}

/// Reads for a moment after the head, so that whatever should not have been sent is noticed too.
fn answer(mut stream: TcpStream, keeps: &Mutex<Vec<Vec<u8>>>) {
    let _patience = stream.set_read_timeout(Some(Duration::from_millis(150)));
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = stream.read(&mut buffer) {
        if bytes.is_empty() && buffer.starts_with(ECHO) {
            return echo(stream, &buffer[..read]);
        }
        bytes.extend_from_slice(&buffer[..read]);
    }
    keeps.lock().expect("heard").push(bytes);
    let _gone =
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello");
}

struct Scene {
    proxy: Proxy,
    server: Server,
    outside: Arc<MadeUp>,
    at: SocketAddr,
    /// The words after `exacta:` in the address, and as HTTP sends them.
    key: String,
    encoded: String,
}

fn scene_with(grants: &[&str], upstreams: Upstreams) -> Scene {
    let server = Server::start();
    let names = vec![
        ("a.example", vec![PUBLIC]),
        ("b.example", vec![PUBLIC]),
        ("www.cdn.example", vec![PUBLIC]),
        ("evil.example", vec![PUBLIC]),
        ("proxy.example", vec![IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1))]),
        ("rebound.example", vec![IpAddr::V4(Ipv4Addr::LOCALHOST)]),
        ("metadata.example", vec![IpAddr::V4(Ipv4Addr::new(169, 254, 169, 254))]),
        ("lan.example", vec![IpAddr::V4(Ipv4Addr::new(192, 168, 1, 1))]),
        ("mapped.example", vec!["::ffff:127.0.0.1".parse().expect("an address")]),
        ("nat.example", vec!["64:ff9b::7f00:1".parse().expect("an address")]),
        ("zero.example", vec![IpAddr::V4(Ipv4Addr::UNSPECIFIED)]),
        ("mixed.example", vec![IpAddr::V4(Ipv4Addr::LOCALHOST), PUBLIC]),
        ("empty.example", vec![]),
    ];
    let dialled = Mutex::default();
    let outside = Arc::new(MadeUp { names, server: server.address, dialled });
    let outlook = Outlook { outside: Arc::clone(&outside) as _, upstreams };
    let socket = socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None);
    let socket = socket.expect("a socket");
    // As in a jail the port is named: one that the kernel has chosen would be lost when nobody listens.
    let free = TcpListener::bind("127.0.0.1:0").and_then(|it| it.local_addr()).expect("a port");
    bind(&socket, &SocketAddrV4::new(Ipv4Addr::LOCALHOST, free.port())).expect("the same port");
    let at = free;
    let proxy = Proxy::new(std::os::fd::AsFd::as_fd(&socket), at.port(), outlook).expect("a proxy");
    let reach = Reach(grants.iter().map(|text| Grant::read(text).expect(text)).collect());
    let address = proxy.admit(reach).expect("a key");
    let key = address.split(['@', ':']).nth(2).expect("a key").to_owned();
    let encoded = base64(format!("exacta:{key}").as_bytes());
    Scene { proxy, server, outside, at, key, encoded }
}

const GRANTS: [&str; 12] = [
    "a.example",
    "*.cdn.example",
    "GET,HEAD http://b.example/pub/",
    "rebound.example",
    "metadata.example",
    "lan.example",
    "mapped.example",
    "nat.example",
    "zero.example",
    "mixed.example",
    "gone.example",
    "10.1.2.3",
];

fn scene() -> Scene {
    scene_with(&GRANTS, Upstreams::default())
}

impl Scene {
    /// Sends all and reads all.
    fn say(&self, bytes: &[u8]) -> Vec<u8> {
        let mut stream = TcpStream::connect(self.at).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(5))).expect("patience");
        let _refused_early = stream.write_all(bytes);
        let mut answer = Vec::new();
        let _ended = stream.read_to_end(&mut answer);
        answer
    }

    /// `KEY` in the text is the key.
    fn say_text(&self, text: &str) -> String {
        let text = text.replace("KEY", &format!("Proxy-Authorization: Basic {}\r\n", self.encoded));
        String::from_utf8_lossy(&self.say(text.as_bytes())).into_owned()
    }

    fn dialled(&self) -> usize {
        self.outside.dialled.lock().expect("dialled").len()
    }
}

/// What is sent, and the status that answers it.
const REFUSED: &[(&str, &str)] = &[
    // Not granted.
    ("CONNECT evil.example:443 HTTP/1.1\r\nKEY\r\n", "403"),
    ("CONNECT a.example:22 HTTP/1.1\r\nKEY\r\n", "403"),
    ("CONNECT a.example.evil.example:443 HTTP/1.1\r\nKEY\r\n", "403"),
    ("CONNECT cdn.example:443 HTTP/1.1\r\nKEY\r\n", "403"),
    ("CONNECT b.example:80 HTTP/1.1\r\nKEY\r\n", "403"),
    ("GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\nKEY\r\n", "403"),
    (
        "POST http://b.example/pub/x HTTP/1.1\r\nHost: b.example\r\nContent-Length: 1\r\nKEY\r\nx",
        "403",
    ),
    ("GET http://b.example/secret HTTP/1.1\r\nHost: b.example\r\nKEY\r\n", "403"),
    ("GET http://b.example/pub/../secret HTTP/1.1\r\nHost: b.example\r\nKEY\r\n", "403"),
    // Addresses.
    ("CONNECT 93.184.216.34:443 HTTP/1.1\r\nKEY\r\n", "403"),
    ("CONNECT 127.0.0.1:443 HTTP/1.1\r\nKEY\r\n", "403"),
    ("CONNECT [::1]:443 HTTP/1.1\r\nKEY\r\n", "403"),
    ("CONNECT [::ffff:93.184.216.34]:443 HTTP/1.1\r\nKEY\r\n", "403"),
    ("CONNECT 10.1.2.3:443 HTTP/1.1\r\nKEY\r\n", "403"),
    ("CONNECT 2130706433:443 HTTP/1.1\r\nKEY\r\n", "400"),
    ("CONNECT 0177.0.0.1:443 HTTP/1.1\r\nKEY\r\n", "400"),
    ("CONNECT 0x5db8d822:443 HTTP/1.1\r\nKEY\r\n", "400"),
    ("CONNECT localhost:443 HTTP/1.1\r\nKEY\r\n", "403"),
    // Granted names that lead where nothing may.
    ("CONNECT rebound.example:443 HTTP/1.1\r\nKEY\r\n", "403"),
    ("CONNECT metadata.example:80 HTTP/1.1\r\nKEY\r\n", "403"),
    ("GET http://metadata.example/latest/ HTTP/1.1\r\nHost: metadata.example\r\nKEY\r\n", "403"),
    ("CONNECT lan.example:443 HTTP/1.1\r\nKEY\r\n", "403"),
    ("CONNECT mapped.example:443 HTTP/1.1\r\nKEY\r\n", "403"),
    ("CONNECT nat.example:443 HTTP/1.1\r\nKEY\r\n", "403"),
    ("CONNECT zero.example:443 HTTP/1.1\r\nKEY\r\n", "403"),
    ("CONNECT gone.example:443 HTTP/1.1\r\nKEY\r\n", "502"),
    // Two names in one request.
    ("CONNECT a.example:443 HTTP/1.1\r\nHost: evil.example:443\r\nKEY\r\n", "400"),
    ("GET http://a.example/ HTTP/1.1\r\nHost: evil.example\r\nKEY\r\n", "400"),
    ("GET http://evil.example/ HTTP/1.1\r\nHost: a.example\r\nKEY\r\n", "400"),
    ("GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\nHost: evil.example\r\nKEY\r\n", "400"),
    ("GET http://a.example@evil.example/ HTTP/1.1\r\nHost: evil.example\r\nKEY\r\n", "400"),
    ("GET http://a.example:80@evil.example/ HTTP/1.1\r\nHost: a.example\r\nKEY\r\n", "400"),
    ("CONNECT a.example@evil.example:443 HTTP/1.1\r\nKEY\r\n", "400"),
    ("GET http://a.example\\.evil.example/ HTTP/1.1\r\nHost: a.example\r\nKEY\r\n", "400"),
    ("GET https://a.example/ HTTP/1.1\r\nHost: a.example\r\nKEY\r\n", "400"),
    ("GET /x HTTP/1.1\r\nHost: a.example\r\nKEY\r\n", "400"),
    ("CONNECT a\u{3002}example:443 HTTP/1.1\r\nKEY\r\n", "400"),
    ("CONNECT \u{430}.example:443 HTTP/1.1\r\nKEY\r\n", "400"),
    // Two requests in one.
    (
        "POST http://a.example/ HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\nKEY\r\n0\r\n\r\n",
        "411",
    ),
    (
        "POST http://a.example/ HTTP/1.1\r\nHost: a.example\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\nKEY\r\n0\r\n\r\n",
        "411",
    ),
    (
        "POST http://a.example/ HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding : chunked\r\nKEY\r\n",
        "400",
    ),
    (
        "POST http://a.example/ HTTP/1.1\r\nHost: a.example\r\nContent-Length: 1\r\nContent-Length: 9\r\nKEY\r\nx",
        "400",
    ),
    ("GET http://a.example/ HTTP/1.1\r\nHost: a.example\nX: y\r\nKEY\r\n", "400"),
    ("GET http://a.example/\rHost:x HTTP/1.1\r\nHost: a.example\r\nKEY\r\n", "400"),
    ("GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n folded: x\r\nKEY\r\n", "400"),
    ("GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\nConnection: Host\r\nKEY\r\n", "400"),
    // No key, or another one.
    ("GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\nContent-Length: 1\r\n\r\nx", "407"),
    ("CONNECT a.example:443 HTTP/1.1\r\nProxy-Authorization: Basic eDp5\r\n\r\n", "407"),
    (
        "CONNECT a.example:443 HTTP/1.1\r\nProxy-Authorization: Basic\r\n\r\nCONNECT a.example:443 HTTP/1.1\r\n\r\n",
        "407",
    ),
    ("CONNECT a.example:443 HTTP/1.1\r\nKEYProxy-Authorization: Basic eDp5\r\n\r\n", "400"),
];

#[test]
fn what_is_refused_never_leaves() {
    let scene = scene();
    for (text, status) in REFUSED {
        let answer = scene.say_text(text);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{text:?}: {answer:?}");
        assert!(
            answer.contains("exacta: no connection to ") && answer.contains("hint: "),
            "{answer}"
        );
        assert_eq!(scene.dialled(), 0, "{text:?}");
    }
    assert_eq!(scene.server.heard(), "");
    let connections = scene.proxy.close();
    assert_eq!(connections.len(), REFUSED.len());
    assert!(connections.iter().all(|it| it.fate != Fate::Reached && it.sent == 0));
}

#[test]
fn what_is_granted_gets_there_once_and_as_it_was_checked() {
    let scene = scene();
    let cases: &[(&str, &str)] = &[
        (
            "GET http://a.example/x HTTP/1.1\r\nHost: a.example\r\nKEY\r\nGET http://a.example/smuggled HTTP/1.1\r\n\r\n",
            "GET /x HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n",
        ),
        (
            "POST http://a.example/x HTTP/1.1\r\nHost: A.EXAMPLE.\r\nContent-Length: 3\r\nKEY\r\nabcdef",
            "POST /x HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc",
        ),
        (
            "GET http://b.example/pub/x HTTP/1.1\r\nHost: b.example\r\nKEY\r\n",
            "GET /pub/x HTTP/1.1\r\nHost: b.example\r\nConnection: close\r\n\r\n",
        ),
        ("CONNECT www.cdn.example:443 HTTP/1.1\r\nKEY\r\nraw bytes", "raw bytes"),
        ("CONNECT mixed.example:443 HTTP/1.1\r\nKEY\r\nto the public one", "to the public one"),
        // As a client that shows its key only when it is asked for it.
        (
            "CONNECT a.example:443 HTTP/1.1\r\n\r\nCONNECT a.example:443 HTTP/1.1\r\nKEY\r\nlate",
            "late",
        ),
    ];
    for (at, (text, heard)) in cases.iter().enumerate() {
        let answer = scene.say_text(text);
        assert!(answer.ends_with("\r\n\r\nhello"), "{text:?}: {answer:?}");
        assert_eq!(scene.server.heard().split('|').nth(at), Some(*heard), "{text:?}");
    }
    let dialled = scene.outside.dialled.lock().expect("dialled").clone();
    assert!(dialled.iter().all(|address| address.ip() == PUBLIC), "{dialled:?}");
    let connections = scene.proxy.close();
    assert_eq!(connections.len(), cases.len());
    let tunnel = &connections[3];
    assert_eq!((tunnel.host.as_str(), tunnel.port), ("www.cdn.example", 443));
    assert_eq!((tunnel.address, &tunnel.fate), (Some(PUBLIC), &Fate::Reached));
    assert_eq!((tunnel.sent, tunnel.protocol), (9, Protocol::Connect));
    assert!(tunnel.received > 5 && tunnel.duration > Duration::ZERO);
}

/// A greeting, the key if `KEY`, and then this.
fn socks(scene: &Scene, key: &[u8], request: &[u8]) -> Vec<u8> {
    let mut bytes = vec![5, 1, 2, 1, 6];
    bytes.extend(b"exacta");
    bytes.push(key.len() as u8);
    bytes.extend(key);
    bytes.extend(request);
    scene.say(&bytes)
}

fn named(name: &[u8], port: u16) -> Vec<u8> {
    [&[5, 1, 0, 3, name.len() as u8], name, &port.to_be_bytes()].concat()
}

#[test]
fn socks_with_names() {
    let scene = scene();
    let key = scene.key.clone();
    let key = key.as_bytes();
    let granted = [5, 2, 1, 0];
    let reply = |code: u8| [&granted[..], &[5, code, 0, 1, 0, 0, 0, 0, 0, 0]].concat();
    let refused: &[(Vec<u8>, u8)] = &[
        (named(b"evil.example", 443), 2),
        (named(b"a.example", 22), 2),
        (named(b"b.example", 80), 2),
        (named(b"127.0.0.1", 443), 2),
        (named(b"93.184.216.34", 443), 2),
        (named(b"2130706433", 443), 8),
        (named(b"[::1]", 443), 2),
        (named(b"a.example\0.evil.example", 443), 8),
        (named(b"a@example", 443), 8),
        (named(b"", 443), 8),
        (named("b\u{fc}cher.example".as_bytes(), 443), 8),
        (named(b"rebound.example", 443), 2),
        (named(b"metadata.example", 80), 2),
        (named(b"gone.example", 443), 4),
        (named(b"empty.example", 443), 2),
        (named(b"a.example", 0), 7),
        (vec![5, 1, 0, 1, 93, 184, 216, 34, 1, 187], 2),
        (vec![5, 1, 0, 1, 127, 0, 0, 1, 1, 187], 2),
        ([&[5, 1, 0, 4][..], &[0; 15], &[1, 1, 187]].concat(), 2),
        ([&[5, 2, 0, 3, 9][..], b"a.example", &[1, 187]].concat(), 7),
        ([&[5, 3, 0, 3, 9][..], b"a.example", &[1, 187]].concat(), 7),
        (vec![5, 1, 0, 9, 1, 2, 3, 4, 5, 6], 8),
        (vec![4, 1, 0, 1, 1, 2, 3, 4, 5, 6], 7),
    ];
    for (request, code) in refused {
        assert_eq!(socks(&scene, key, request), reply(*code), "{request:?}");
    }
    assert_eq!(scene.dialled(), 0);
    // Without a key, with another, and as somebody who knows none.
    assert_eq!(scene.say(&[5, 1, 0]), [5, 0xff]);
    assert_eq!(socks(&scene, b"wrong", &named(b"a.example", 443)), [5, 2, 1, 1]);
    assert_eq!(socks(&scene, b"", &named(b"a.example", 443)), [5, 2, 1, 1]);
    assert_eq!(scene.dialled(), 0);
    let through = [named(b"A.example.", 443), b"raw".to_vec()].concat();
    let answer = socks(&scene, key, &through);
    assert!(answer.starts_with(&reply(0)) && answer.ends_with(b"hello"), "{answer:?}");
    assert_eq!(scene.server.heard(), "raw");
    let connections = scene.proxy.close();
    assert_eq!(connections.len(), refused.len() + 4);
    assert_eq!(connections.iter().filter(|it| it.fate == Fate::Reached).count(), 1);
}

#[test]
fn garbage_ends_quickly_and_quietly() {
    let scene = scene();
    let long = [b"GET http://a.example/".as_slice(), &vec![b'x'; 40 << 10]].concat();
    let headers =
        [b"GET http://a.example/ HTTP/1.1\r\n".as_slice(), &b"X: y\r\n".repeat(9000)].concat();
    let cases: [(&[u8], &[u8]); 10] = [
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b""),
        (b"\x04\x01\x00\x50\x7f\x00\x00\x01\x00", b""),
        (b"\0\0\0\0\0\0\0\0", b""),
        (b"\r\n\r\n", b""),
        (b"\xff\xfe\xfd", b""),
        (b"get / HTTP/1.1\r\n\r\n", b""),
        (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"HTTP/1.1 505"),
        (&long, b"HTTP/1.1 431"),
        (&headers, b"HTTP/1.1 431"),
        (b"G\0T / HTTP/1.1\r\n\r\n", b"HTTP/1.1 400"),
    ];
    for (bytes, expected) in cases {
        let start = Instant::now();
        let answer = scene.say(bytes);
        assert!(answer.starts_with(expected), "{:?}", String::from_utf8_lossy(&answer));
        assert!(start.elapsed() < Duration::from_secs(4), "{:?}", bytes.get(..9));
    }
    assert_eq!(scene.dialled(), 0);
    // And who asks properly is served as before.
    assert!(scene.say_text("GET http://a.example/ HTTP/1.0\r\nKEY\r\n").ends_with("hello"));
}

#[test]
fn slow_and_silent_clients_do_not_keep_others_out() {
    let scene = scene();
    let silent: Vec<TcpStream> = (0..MOST_AT_ONE_TIME - 1)
        .map(|_| {
            let mut stream = TcpStream::connect(scene.at).expect("a connection");
            stream.write_all(b"GET http://a").expect("a beginning");
            stream
        })
        .collect();
    assert!(scene.say_text("GET http://a.example/ HTTP/1.0\r\nKEY\r\n").ends_with("hello"));
    let start = Instant::now();
    let connections = scene.proxy.close();
    assert!(start.elapsed() < Duration::from_secs(1));
    assert_eq!(connections.len(), 1);
    for mut stream in silent {
        stream.set_read_timeout(Some(Duration::from_secs(5))).expect("patience");
        assert!(matches!(stream.read(&mut [0; 9]), Ok(0) | Err(_)), "they were let go");
    }
}

#[test]
fn nobody_listens_but_while_something_is_granted() {
    let scene = scene();
    let mut open = TcpStream::connect(scene.at).expect("open");
    let head = format!(
        "CONNECT a.example:443 HTTP/1.1\r\nProxy-Authorization: Basic {}\r\n\r\n",
        scene.encoded
    );
    open.write_all(head.as_bytes()).expect("asked");
    let mut established = [0; 12];
    open.read_exact(&mut established).expect("established");
    assert_eq!(&established, b"HTTP/1.1 200");
    for round in 0..20 {
        let connections = scene.proxy.close();
        assert_eq!(connections.len(), usize::from(round == 0));
        let refused = TcpStream::connect(scene.at).expect_err("closed").kind();
        assert_eq!(refused, io::ErrorKind::ConnectionRefused);
        // What was open has ended, and its key with it.
        let _ended = open.read_to_end(&mut Vec::new());
        let again = scene.proxy.admit(Reach(vec![Grant::read("b.example:443").expect("a grant")]));
        assert!(again.is_ok_and(|address| !address.contains(&scene.key)));
        let answer = scene.say_text("CONNECT a.example:443 HTTP/1.1\r\nKEY\r\n");
        assert!(answer.starts_with("HTTP/1.1 407"), "{answer}");
        assert_eq!(scene.proxy.close().len(), 1);
    }
}

#[test]
fn each_key_opens_what_was_granted_with_it() {
    let scene = scene();
    let other = scene.proxy.admit(Reach(vec![Grant::read("evil.example").expect("a grant")]));
    let other = other.expect("another key");
    let other = base64(other.split(['@', '/']).nth(2).expect("a key").as_bytes());
    let ask = |host: &str, key: &str| {
        let text =
            format!("CONNECT {host}:443 HTTP/1.1\r\nProxy-Authorization: Basic {key}\r\n\r\nx");
        String::from_utf8_lossy(&scene.say(text.as_bytes())).get(9..12).map(str::to_owned)
    };
    assert_eq!(ask("a.example", &scene.encoded).as_deref(), Some("200"));
    assert_eq!(ask("evil.example", &scene.encoded).as_deref(), Some("403"));
    assert_eq!(ask("a.example", &other).as_deref(), Some("403"));
    assert_eq!(ask("evil.example", &other).as_deref(), Some("200"));
}

#[test]
fn through_the_operators_own_proxy_names_are_still_checked() {
    let proxy = |name: &str| match name {
        "HTTPS_PROXY" | "HTTP_PROXY" => Some("http://me:secret@proxy.example:3128"),
        _ => None,
    };
    let scene = scene_with(&["a.example", "rebound.example"], Upstreams::read(proxy));
    let plain = scene.say_text("GET http://a.example/x HTTP/1.1\r\nHost: a.example\r\nKEY\r\n");
    assert!(plain.ends_with("hello"), "{plain}");
    let heard = scene.server.heard();
    let credentials = base64(b"me:secret");
    assert_eq!(
        heard,
        format!(
            "GET http://a.example/x HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\
             Proxy-Authorization: Basic {credentials}\r\n\r\n"
        )
    );
    let tunnel = scene.say_text("CONNECT a.example:443 HTTP/1.1\r\nKEY\r\n");
    assert!(tunnel.starts_with("HTTP/1.1 200"), "{tunnel}");
    let heard = scene.server.heard();
    let asked = format!(
        "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\nProxy-Authorization: Basic {credentials}\r\n\r\n"
    );
    assert_eq!(heard.split('|').nth(1), Some(asked.as_str()));
    let refused = scene.say_text("CONNECT evil.example:443 HTTP/1.1\r\nKEY\r\n");
    assert!(refused.starts_with("HTTP/1.1 403"), "{refused}");
    assert_eq!(scene.dialled(), 2);
}

#[test]
fn much_goes_both_ways_and_arrives_as_it_was() {
    let scene = scene();
    let mut stream = TcpStream::connect(scene.at).expect("a connection");
    stream.set_read_timeout(Some(Duration::from_secs(9))).expect("patience");
    let head = format!(
        "CONNECT a.example:443 HTTP/1.1\r\nProxy-Authorization: Basic {}\r\n\r\n",
        scene.encoded
    );
    let much: Vec<u8> = (0..8_000_000_u32).map(|number| (number % 251) as u8).collect();
    let sent = [ECHO, &much].concat();
    let mut writer = stream.try_clone().expect("the other direction");
    let writes = sent.clone();
    let writing = thread::spawn(move || {
        writer.write_all(head.as_bytes()).expect("the head");
        writer.write_all(&writes).expect("the rest");
        writer.shutdown(Shutdown::Write).expect("the end");
    });
    let mut received = Vec::new();
    stream.read_to_end(&mut received).expect("all of it");
    writing.join().expect("written");
    let start = received.windows(4).position(|four| four == b"\r\n\r\n").expect("a head") + 4;
    assert!(received[start..] == sent, "{} {}", received.len() - start, sent.len());
    let connections = scene.proxy.close();
    let bytes = sent.len() as u64;
    assert_eq!((connections[0].sent, connections[0].received), (bytes, bytes));
}

#[test]
fn what_is_encrypted_is_for_the_machine_that_was_granted() {
    use crate::network::greeting::ALERT;
    use crate::network::greeting::tests::greeting;
    let scene = scene();
    let ask = |name: &[u8], record: usize| {
        let head = format!(
            "CONNECT www.cdn.example:443 HTTP/1.1\r\nProxy-Authorization: Basic {}\r\n\r\n",
            scene.encoded
        );
        scene.say(&[head.as_bytes(), &greeting(&[name], record)].concat())
    };
    for record in [1, 99, 9999] {
        assert!(ask(b"evil.example", record).ends_with(&ALERT), "{record}");
    }
    assert_eq!(scene.server.heard().trim_matches('|'), "");
    assert!(ask(b"www.cdn.example", 50).ends_with(b"hello"));
    let connections = scene.proxy.close();
    let refused = connections.iter().filter(|it| matches!(it.fate, Fate::Refused(_))).count();
    assert_eq!((refused, connections.len()), (3, 4));
    assert!(connections.iter().take(3).all(|it| it.sent == 0));
}
