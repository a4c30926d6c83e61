//! Heads that are understood, and heads that are not, as data.

use super::*;

fn read(text: &str) -> Result<Head, Malformed> {
    Head::read(text.as_bytes())
}

/// What the two readers make of it: `host:port path length`, or the status.
fn plain(text: &str) -> String {
    match read(text).and_then(|head| head.plain()) {
        Ok(plain) => format!("{}:{} {} {}", plain.host, plain.port, plain.path, plain.length),
        Err(malformed) => malformed.status.to_string(),
    }
}

fn tunnel(text: &str) -> String {
    match read(text).and_then(|head| head.tunnel()) {
        Ok((host, port)) => format!("{host}:{port}"),
        Err(malformed) => malformed.status.to_string(),
    }
}

/// A head, and what is read from it, or the status that refuses it.
const PLAIN: &[(&str, &str)] = &[
    ("GET http://a.example/x?y HTTP/1.1\r\nHost: a.example\r\n\r\n", "a.example:80 /x?y 0"),
    ("GET HTTP://A.Example./ HTTP/1.1\r\nhost: a.EXAMPLE\r\n\r\n", "a.example:80 / 0"),
    ("GET http://a.example HTTP/1.1\r\nHost: a.example:80\r\n\r\n", "a.example:80 / 0"),
    ("GET http://a.example?q HTTP/1.1\r\nHost: a.example\r\n\r\n", "a.example:80 /?q 0"),
    ("GET http://a.example:8080/ HTTP/1.1\r\nHost: a.example:8080\r\n\r\n", "a.example:8080 / 0"),
    ("GET http://a.example/ HTTP/1.0\r\n\r\n", "a.example:80 / 0"),
    (
        "PUT http://a.example/ HTTP/1.1\r\nHost: a.example\r\nContent-Length: 12\r\n\r\n",
        "a.example:80 / 12",
    ),
    // Names that are not the ones asked for.
    ("GET http://a.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n", "400"),
    ("GET http://a.example/ HTTP/1.1\r\nHost: a.example:81\r\n\r\n", "400"),
    ("GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\nHost: evil.example\r\n\r\n", "400"),
    ("GET http://a.example/ HTTP/1.1\r\nHost: a.example, evil.example\r\n\r\n", "400"),
    ("GET http://a.example/ HTTP/1.1\r\nHost:\r\n\r\n", "400"),
    ("GET http://a.example/ HTTP/1.1\r\n\r\n", "400"),
    ("GET http://granted@evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n", "400"),
    ("GET http://granted:80@evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n", "400"),
    ("GET http://a.example\\@evil.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n", "400"),
    ("GET http://a.example#@evil.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n", "400"),
    ("GET http://a.example%2eevil.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n", "400"),
    ("GET http:///x HTTP/1.1\r\nHost: a.example\r\n\r\n", "400"),
    ("GET http://2130706433/ HTTP/1.1\r\nHost: 2130706433\r\n\r\n", "400"),
    ("GET http://0x7f.1/ HTTP/1.1\r\nHost: 0x7f.1\r\n\r\n", "400"),
    ("GET http://b\u{fc}cher.example/ HTTP/1.1\r\nHost: x\r\n\r\n", "400"),
    // No address, or one that is not for here.
    ("GET /x HTTP/1.1\r\nHost: a.example\r\n\r\n", "400"),
    ("GET a.example HTTP/1.1\r\nHost: a.example\r\n\r\n", "400"),
    ("GET https://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n", "400"),
    ("GET ftp://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n", "400"),
    ("GET file:///etc/passwd HTTP/1.1\r\nHost: a.example\r\n\r\n", "400"),
    ("TRACE http://a.example/ HTTP/1.1\r\nHost: a.example\r\n\r\n", "400"),
    ("OPTIONS * HTTP/1.1\r\nHost: a.example\r\n\r\n", "400"),
    // Lengths on which two readers could differ.
    (
        "POST http://a.example/ HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: chunked\r\n\r\n",
        "411",
    ),
    (
        "POST http://a.example/ HTTP/1.1\r\nHost: a.example\r\nTransfer-Encoding: identity\r\nContent-Length: 3\r\n\r\n",
        "411",
    ),
    (
        "POST http://a.example/ HTTP/1.1\r\nHost: a.example\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\n",
        "400",
    ),
    ("POST http://a.example/ HTTP/1.1\r\nHost: a.example\r\nContent-Length: 3, 3\r\n\r\n", "400"),
    ("POST http://a.example/ HTTP/1.1\r\nHost: a.example\r\nContent-Length: +3\r\n\r\n", "400"),
    ("POST http://a.example/ HTTP/1.1\r\nHost: a.example\r\nContent-Length: 0x3\r\n\r\n", "400"),
    ("POST http://a.example/ HTTP/1.1\r\nHost: a.example\r\nContent-Length:\r\n\r\n", "400"),
    (
        "POST http://a.example/ HTTP/1.1\r\nHost: a.example\r\nContent-Length: 9999999999999999999\r\n\r\n",
        "400",
    ),
    ("GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\nConnection: close, Host\r\n\r\n", "400"),
    (
        "GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\nConnection: content-length\r\n\r\n",
        "400",
    ),
    (
        "GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\nConnection: TE, close\r\n\r\n",
        "a.example:80 / 0",
    ),
];

#[test]
fn plain_requests() {
    for (text, expected) in PLAIN {
        assert_eq!(plain(text), *expected, "{text:?}");
    }
}

#[test]
fn tunnels() {
    for (text, expected) in [
        ("CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n\r\n", "a.example:443"),
        ("CONNECT A.example.:443 HTTP/1.1\r\nHost: a.example\r\n\r\n", "a.example:443"),
        ("CONNECT a.example:443 HTTP/1.0\r\n\r\n", "a.example:443"),
        ("CONNECT [2001:db8::1]:443 HTTP/1.1\r\n\r\n", "[2001:db8::1]:443"),
        ("CONNECT a.example:443 HTTP/1.1\r\nContent-Length: 0\r\n\r\n", "a.example:443"),
        ("CONNECT a.example HTTP/1.1\r\n\r\n", "400"),
        ("CONNECT a.example: HTTP/1.1\r\n\r\n", "400"),
        ("CONNECT a.example:443/x HTTP/1.1\r\n\r\n", "400"),
        ("CONNECT https://a.example:443 HTTP/1.1\r\n\r\n", "400"),
        ("CONNECT a.example:443@evil.example:443 HTTP/1.1\r\n\r\n", "400"),
        ("CONNECT a.example:443 HTTP/1.1\r\nHost: evil.example:443\r\n\r\n", "400"),
        ("CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:22\r\n\r\n", "400"),
        ("CONNECT a.example:443 HTTP/1.1\r\nContent-Length: 5\r\n\r\n", "400"),
        ("CONNECT a.example:443 HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", "400"),
        ("CONNECT 127.1:443 HTTP/1.1\r\n\r\n", "400"),
    ] {
        assert_eq!(tunnel(text), expected, "{text:?}");
    }
}

#[test]
fn heads_that_are_none() {
    for text in [
        "",
        "\r\n\r\n",
        "GET\r\n\r\n",
        "GET  http://a.example/ HTTP/1.1\r\n\r\n",
        "GET http://a.example/ HTTP/1.1 \r\n\r\n",
        "GET\thttp://a.example/\tHTTP/1.1\r\n\r\n",
        "get http://a.example/ HTTP/1.1\r\n\r\n",
        "GET http://a.example/\0 HTTP/1.1\r\n\r\n",
        "GET http://a.example/ HTTP/2.0\r\n\r\n",
        "GET http://a.example/ HTTP/0.9\r\n\r\n",
        "GET http://a.example/ http/1.1\r\n\r\n",
        "GET http://a.example/ HTTP/1.1\nHost: a.example\r\n\r\n",
        "GET http://a.example/ HTTP/1.1\r\nHost: a.example\nX: y\r\n\r\n",
        "GET http://a.example/ HTTP/1.1\r\nHost: a.example\rX: y\r\n\r\n",
        "GET http://a.example/ HTTP/1.1\r\nHost : a.example\r\n\r\n",
        "GET http://a.example/ HTTP/1.1\r\n Host: a.example\r\n\r\n",
        "GET http://a.example/ HTTP/1.1\r\nX: y\r\n folded\r\n\r\n",
        "GET http://a.example/ HTTP/1.1\r\nX\r\n\r\n",
        "GET http://a.example/ HTTP/1.1\r\n: y\r\n\r\n",
        "GET http://a.example/ HTTP/1.1\r\nX: \0\r\n\r\n",
        "GET http://a.example/ HTTP/1.1\r\nX: \x1b[0m\r\n\r\n",
        "GET http://a.example/ HTTP/1.1\r\nHost: a.example\r\n",
    ] {
        assert!(read(text).is_err(), "{text:?}");
    }
    let many = "X: y\r\n".repeat(MOST_HEADERS + 1);
    let many = format!("GET http://a.example/ HTTP/1.1\r\n{many}\r\n");
    assert_eq!(read(&many).map_err(|it| it.status), Err(431));
}

#[test]
fn what_is_passed_on_is_written_anew() {
    let text = "POST http://A.example:80/x?y HTTP/1.1\r\nhOsT: A.example\r\nProxy-Authorization: Basic eDp5\r\n\
                Proxy-Connection: Keep-Alive\r\nConnection: keep-alive, TE\r\nTE: trailers\r\nUpgrade: h2c\r\n\
                Keep-Alive: 5\r\nTrailer: X\r\ncontent-LENGTH: 007\r\nUser-Agent:  curl \r\nExpect: 100-continue\r\n\r\n";
    let head = read(text).expect("a head");
    let plain = head.plain().expect("a request");
    let rest = "Connection: close\r\nContent-Length: 7\r\n";
    let own = "user-agent: curl\r\nexpect: 100-continue\r\n\r\n";
    let direct = format!("POST /x?y HTTP/1.1\r\nHost: a.example\r\n{rest}{own}");
    assert_eq!(String::from_utf8_lossy(&head.forwarded(&plain, None)), direct);
    let through = Through { credentials: Some("eDp5") };
    let proxied = format!(
        "POST http://a.example/x?y HTTP/1.1\r\nHost: a.example\r\n{rest}Proxy-Authorization: Basic eDp5\r\n{own}"
    );
    assert_eq!(String::from_utf8_lossy(&head.forwarded(&plain, Some(&through))), proxied);
    assert_eq!(head.key(), Ok(Some(&b"eDp5"[..])));
}
