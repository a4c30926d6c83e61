//! What clients that everybody has can reach, and what they cannot.

use libtest_mimic::{Failed, Trial};

use crate::outside::Pages;
use crate::scene::{Scene, connections, texts};

/// Lets everything run, so that what is refused is refused by the walls; and grants two hosts to what is asked for.
const RULES: &str = r#"
[[rule]]
id = "test-clients"
verdict = "allow"
command = ["{curl,python,node,git}"]
hosts = ["granted.example", "rebound.example", "metadata.example", "GET http://packages.example/pub/"]
overrides = ["block-curl", "network"]
reason = "clients of the tests"
"#;

struct Case {
    name: &'static str,
    files: &'static [(&'static str, &'static str)],
    script: &'static str,
    /// In the output or among the errors.
    says: &'static str,
    /// What was asked for, and what became of it.
    connections: &'static [&'static str],
    /// What the machines outside were asked.
    heard: &'static [&'static str],
}

const REACHED: &[&str] = &["granted.example:80 reached"];
const ASKED: &[&str] = &["GET granted.example /pub/x"];

/// Asks the proxy without a key, as soon as somebody listens, and looks for one among the others.
const LOOK: &str = r#"use IO::Socket::INET; $| = 1; print $ENV{HTTPS_PROXY} // "no key\n";
for (1 .. $ARGV[0]) { last if $s = IO::Socket::INET->new("127.0.0.1:61113"); print "$!\n"; select undef, undef, undef, 0.05 }
exit unless $s; print $s "CONNECT granted.example:443 HTTP/1.1\r\n\r\n"; print scalar <$s>; close $s;
for (glob "/proc/[0-9]*/environ") { open F, "<", $_ or next; local $/; print "STOLEN $_\n" if <F> =~ /HTTPS_PROXY/ }
for (glob "/proc/[0-9]*/mem") { open F, "<", $_ and $_ ne "/proc/$$/mem" and print "STOLEN $_\n" }
"#;

const CASES: &[Case] = &[
    Case {
        name: "curl, a plain request",
        files: &[],
        script: "curl -sS http://granted.example/pub/x",
        says: "a page",
        connections: REACHED,
        heard: ASKED,
    },
    Case {
        name: "curl, a tunnel",
        files: &[],
        script: "curl -sSp http://granted.example/pub/x",
        says: "a page",
        connections: REACHED,
        heard: ASKED,
    },
    Case {
        name: "curl, SOCKS5 with names",
        files: &[(
            "socks.py",
            "import os, subprocess\nproxy = 'socks5h' + os.environ['HTTPS_PROXY'][4:]\n\
             subprocess.run(['curl', '-sS', '-x', proxy, 'http://granted.example/pub/x'])\n",
        )],
        script: "python3 socks.py",
        says: "a page",
        connections: REACHED,
        heard: ASKED,
    },
    Case {
        name: "curl, a host that is not granted",
        files: &[],
        script: "curl -sS http://evil.example/x",
        says: "exacta: no connection to evil.example:80: no rule grants it to this command",
        connections: &["evil.example:80 refused"],
        heard: &[],
    },
    Case {
        name: "curl, an address",
        files: &[],
        script: "curl -sS http://93.184.216.34/x",
        says: "it is an address",
        connections: &["93.184.216.34:80 refused"],
        heard: &[],
    },
    Case {
        name: "curl, a name that leads to this machine",
        files: &[],
        script: "curl -sS http://rebound.example/x",
        says: "it leads to 127.0.0.1, a loopback address",
        connections: &["rebound.example:80 refused"],
        heard: &[],
    },
    Case {
        name: "curl, a name that leads to credentials",
        files: &[],
        script: "curl -sS http://metadata.example/latest/meta-data/",
        says: "it leads to 169.254.169.254, a metadata service",
        connections: &["metadata.example:80 refused"],
        heard: &[],
    },
    Case {
        name: "curl, another port",
        files: &[],
        script: "curl -sS http://granted.example:8080/x",
        says: "no rule grants it to this command",
        connections: &["granted.example:8080 refused"],
        heard: &[],
    },
    Case {
        name: "curl, another Host header",
        files: &[],
        script: "curl -sS -H 'Host: evil.example' http://granted.example/pub/x",
        says: "the Host header names another machine",
        connections: &["http://granted.example/pub/x:0 refused"],
        heard: &[],
    },
    Case {
        name: "curl, a method that is not granted",
        files: &[],
        script: "curl -sS -d secret http://packages.example/pub/x",
        says: "no rule grants POST requests for this path of it",
        connections: &["packages.example:80 refused"],
        heard: &[],
    },
    Case {
        name: "curl, chunks",
        files: &[],
        script: "printf secret | curl -sS -T - http://granted.example/pub/x",
        says: "a body needs a Content-Length",
        connections: &["http://granted.example/pub/x:0 refused"],
        heard: &[],
    },
    Case {
        name: "curl without the proxy",
        files: &[],
        script: "curl -sS --noproxy '*' http://granted.example/; curl -sS --noproxy '*' http://93.184.216.34/",
        says: "Could not resolve host: granted.example",
        connections: &[],
        heard: &[],
    },
    Case {
        name: "python",
        files: &[(
            "client.py",
            "import urllib.request as r\nprint(r.urlopen('http://granted.example/pub/x').read())\n",
        )],
        script: "python3 client.py",
        says: "a page",
        connections: REACHED,
        heard: ASKED,
    },
    Case {
        name: "python, a raw socket",
        files: &[(
            "client.py",
            "import socket\ntry: socket.create_connection(('93.184.216.34', 80), 3)\n\
             except OSError as e: print(e)\n",
        )],
        script: "python3 client.py",
        says: "Network is unreachable",
        connections: &[],
        heard: &[],
    },
    Case {
        name: "python, the name service",
        files: &[(
            "client.py",
            "import socket\ntry: socket.gethostbyname('granted.example')\n\
             except OSError as e: print(e)\n",
        )],
        script: "python3 client.py",
        says: "Name or service not known",
        connections: &[],
        heard: &[],
    },
    Case {
        name: "git",
        files: &[],
        script: "git ls-remote http://granted.example/repository.git",
        says: "not found",
        connections: REACHED,
        heard: &["GET granted.example /repository.git/info/refs?service=git-upload-pack"],
    },
    Case {
        name: "node",
        files: &[(
            "client.js",
            "const http = require('http'); const p = new URL(process.env.HTTP_PROXY);\n\
             const auth = 'Basic ' + Buffer.from(p.username + ':' + p.password).toString('base64');\n\
             http.get({ host: p.hostname, port: p.port, path: 'http://granted.example/pub/x',\n\
             headers: { host: 'granted.example', 'proxy-authorization': auth } }, r => r.pipe(process.stdout));\n",
        )],
        script: "node client.js",
        says: "a page",
        connections: REACHED,
        heard: ASKED,
    },
    Case {
        name: "what a granted program starts is granted the same",
        files: &[(
            "start.py",
            "import subprocess\n\
             subprocess.run(['setsid', 'sh', '-c', '(curl -sS http://granted.example/pub/x)'])\n",
        )],
        script: "python3 start.py",
        says: "a page",
        connections: REACHED,
        heard: ASKED,
    },
    Case {
        name: "what was not granted anything finds nothing",
        files: &[("look.pl", LOOK)],
        script: "perl look.pl 1",
        says: "Connection refused",
        connections: &[],
        heard: &[],
    },
    Case {
        name: "what was not granted anything has no key beside one that was",
        files: &[("look.pl", LOOK), ("wait.py", "import time\ntime.sleep(4)\n")],
        script: "python3 wait.py & perl look.pl 60; kill %1",
        says: "HTTP/1.1 407",
        connections: &["granted.example:443 refused"],
        heard: &[],
    },
];

pub fn trials() -> Vec<Trial> {
    CASES.iter().map(|case| Trial::test(case.name, || check(case))).collect()
}

fn pages() -> Pages {
    Pages::from([("/pub/x".to_owned(), b"a page\n".to_vec())])
}

fn check(case: &Case) -> Result<(), Failed> {
    let scene = Scene::new(pages(), RULES);
    scene.lay_out(case.files, &[]);
    let outcome = scene.run(case.script);
    let (output, errors) = texts(&outcome);
    let shown = format!("stdout: {output}\nstderr: {errors}\n{:?}", connections(&outcome));
    if !output.contains(case.says) && !errors.contains(case.says) {
        return Err(format!("does not say {:?}\n{shown}", case.says).into());
    }
    if output.contains("STOLEN") {
        return Err(shown.into());
    }
    assert_eq!(connections(&outcome), case.connections, "{shown}");
    assert_eq!(scene.outside.heard(), case.heard, "{shown}");
    Ok(())
}
