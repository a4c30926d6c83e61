//! OpenTelemetry traces, as a collector gets them: over plain HTTP and over TLS, with the headers that the operator wants.

#![expect(
    clippy::disallowed_methods,
    clippy::expect_used,
    reason = "tests make directories and run a collector and the binary"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

struct Collector {
    folder: PathBuf,
    server: Child,
    port: String,
}

impl Collector {
    fn new(secure: bool) -> Self {
        static SERIAL: AtomicU32 = AtomicU32::new(0);
        let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
        let folder =
            std::env::temp_dir().join(format!("exacta-traces-{}-{serial}", std::process::id()));
        fs::create_dir_all(folder.join("project/.git")).expect("a temporary directory");
        fs::create_dir_all(folder.join("home")).expect("a temporary directory");
        if secure {
            certify(&folder);
        }
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces.py");
        let mut server = Command::new("python3");
        server.arg(script).arg(folder.join("port")).arg(folder.join("requests"));
        if secure {
            server.args([folder.join("leaf.pem"), folder.join("leaf.key")]);
        }
        let server = server.stdin(Stdio::null()).spawn().expect("python3 is installed");
        let mut collector = Collector { folder, server, port: String::new() };
        collector.port = collector.patiently("port").expect("the collector listens");
        collector
    }

    fn patiently(&self, name: &str) -> Option<String> {
        let started = Instant::now();
        while started.elapsed() < Duration::from_secs(20) {
            if let Ok(text) = fs::read_to_string(self.folder.join(name)) {
                return Some(text);
            }
            thread::sleep(Duration::from_millis(20));
        }
        None
    }

    fn exacta(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_exacta"));
        command.args(arguments).current_dir(self.folder.join("project")).stdin(Stdio::null());
        command.env("HOME", self.folder.join("home")).env_remove("XDG_STATE_HOME");
        // A busy machine takes longer to greet itself than anybody would wait for traces.
        command.env("OTEL_EXPORTER_OTLP_TIMEOUT", "20000").env("EXACTA_AGENT", "tester");
        command
    }

    fn requests(&self) -> Vec<Value> {
        let text = self.patiently("requests").unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }
}

impl Drop for Collector {
    fn drop(&mut self) {
        let _it_may_have_ended = self.server.kill();
        let _it_has_ended = self.server.wait();
        let _best_effort = fs::remove_dir_all(&self.folder);
    }
}

/// An authority, and a certificate of its for this machine.
fn certify(folder: &Path) {
    let openssl = |arguments: &str| {
        let status = Command::new("openssl")
            .args(arguments.split(' '))
            .current_dir(folder)
            .stderr(Stdio::null())
            .status();
        assert!(status.expect("openssl is installed").success(), "openssl {arguments}");
    };
    fs::write(folder.join("names"), "subjectAltName=IP:127.0.0.1\n").expect("written");
    let key = "-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes";
    openssl(&format!("req -x509 {key} -keyout ca.key -out ca.pem -days 2 -subj /CN=authority"));
    openssl(&format!("req -new {key} -keyout leaf.key -out leaf.csr -subj /CN=collector"));
    openssl(
        "x509 -req -in leaf.csr -CA ca.pem -CAkey ca.key -CAcreateserial -out leaf.pem -days 2 -extfile names",
    );
}

fn spans(request: &Value) -> &Vec<Value> {
    request["body"]["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().expect("a list")
}

#[test]
fn a_request_and_its_steps_are_traced() {
    let collector = Collector::new(false);
    let mut command = collector.exacta(&["-c", "echo hi | cat; ls -d ."]);
    let endpoint = format!("http://127.0.0.1:{}/base", collector.port);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint);
    assert!(command.output().expect("it runs").status.success());
    let requests = collector.requests();
    let [request] = &requests[..] else { panic!("one request: {requests:?}") };
    assert_eq!(request["path"], "/base/v1/traces");
    let names: Vec<_> = spans(request).iter().map(|span| span["name"].as_str()).collect();
    assert_eq!(names.first(), Some(&Some("request")), "{names:?}");
    for step in ["echo", "cat", "ls"] {
        assert!(names.contains(&Some(step)), "{names:?}");
    }
    let root = &spans(request)[0];
    assert!(spans(request).iter().skip(1).all(|span| span["parentSpanId"] == root["spanId"]));
    assert!(root.to_string().contains("echo hi | cat; ls -d ."), "{root}");
}

#[test]
fn traces_go_over_tls_with_the_headers_of_the_operator() {
    let collector = Collector::new(true);
    let endpoint = format!("https://127.0.0.1:{}/otlp", collector.port);
    let traced = |command: &mut Command| {
        command.env("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", &endpoint);
        command.env("OTEL_EXPORTER_OTLP_HEADERS", "x-team=a%20b");
        assert!(command.output().expect("it runs").status.success());
    };
    // Without the authority nobody knows who listens there: nothing is sent, and the command is none the worse for it.
    traced(&mut collector.exacta(&["-c", "echo unknown"]));
    let authority = collector.folder.join("ca.pem");
    traced(
        collector.exacta(&["-c", "echo known"]).env("OTEL_EXPORTER_OTLP_CERTIFICATE", authority),
    );
    let requests = collector.requests();
    let [request] = &requests[..] else { panic!("one request: {requests:?}") };
    assert_eq!((&request["path"], &request["headers"]["x-team"]), (&"/otlp".into(), &"a b".into()));
    assert!(request["body"].to_string().contains("echo known"), "{request}");
}

#[test]
fn secrets_are_not_in_traces() {
    let collector = Collector::new(false);
    // A name, which the executable looks up by itself.
    let endpoint = format!("http://localhost:{}", collector.port);
    let mut command = collector.exacta(&["-c", "echo PASSWORD=Tulip.Harbor92x"]);
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint);
    assert!(command.output().expect("it runs").status.success());
    let requests = collector.requests();
    assert_eq!(requests.len(), 1, "{requests:?}");
    assert!(requests[0].to_string().contains("[REDACTED]"), "{requests:?}");
    assert!(!requests[0].to_string().contains("Tulip"), "{requests:?}");
}

#[test]
fn a_collector_that_is_not_there_holds_nobody_up() {
    let collector = Collector::new(false);
    let mut command = collector.exacta(&["-c", "echo hi"]);
    // Nobody listens on the port of nothing.
    command.env("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1");
    command.env_remove("OTEL_EXPORTER_OTLP_TIMEOUT");
    let started = Instant::now();
    let output = command.output().expect("it runs");
    assert_eq!((output.status.code(), output.stdout), (Some(0), b"hi\n".to_vec()));
    assert!(output.stderr.is_empty() && started.elapsed() < Duration::from_secs(10));
}
