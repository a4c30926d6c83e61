//! Where OpenTelemetry traces go, by the variables that all exporters of OTLP know (`OTEL_EXPORTER_OTLP_…`), and how they get there.

#![expect(clippy::disallowed_methods, reason = "the operator names a file of certificates")]

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use exacta::audit::Carrier;
use ureq::http::{HeaderName, HeaderValue, Uri};
use ureq::tls::{Certificate, PemItem, RootCerts, TlsConfig, parse_pem};

/// On this machine; another one takes as long as it takes to greet it.
const NEAR: Duration = Duration::from_millis(500);
const FAR: Duration = Duration::from_secs(2);
/// Whoever waits longer for a collector has no use for it.
const LONGEST: Duration = Duration::from_secs(30);
/// Where a collector listens that has no port in its address.
const PORT: u16 = 4318;

/// What the operator has said, one variable each.
pub struct Said<'a>(pub &'a dyn Fn(&str) -> Option<String>);

struct Collector {
    agent: ureq::Agent,
    address: String,
    /// A key is in there as a rule: never shown.
    headers: Vec<(HeaderName, HeaderValue)>,
    patience: Duration,
}

impl fmt::Debug for Collector {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Collector").field("address", &self.address).finish_non_exhaustive()
    }
}

impl Carrier for Collector {
    fn carry(&self, spans: String) {
        let request = self.agent.post(&self.address).header("content-type", "application/json");
        let request =
            self.headers.iter().fold(request, |request, (name, value)| request.header(name, value));
        let _not_taken = request.send(spans);
    }

    fn patience(&self) -> Duration {
        self.patience
    }
}

impl Said<'_> {
    /// Where they are to go. `Ok(None)`: nowhere. An error says what is wrong and what to do.
    pub fn collector(&self) -> Result<Option<Arc<dyn Carrier>>, String> {
        let Some((variable, endpoint)) = self.endpoint() else { return Ok(None) };
        let wrong = |why: &str| {
            format!(
                "no traces are sent to {variable}={endpoint}: {why}; set it to an address like http://localhost:4318"
            )
        };
        let address = address(&endpoint, variable == TRACES)
            .ok_or_else(|| wrong("that is no address of HTTP"))?;
        let secure = address.starts_with("https://");
        let patience = match self.either("TIMEOUT") {
            Some(text) => text.parse().map(Duration::from_millis).map_err(|_| {
                format!("no traces are sent: OTEL_EXPORTER_OTLP_TIMEOUT={text} is no number of milliseconds; correct it")
            })?,
            None if secure => FAR,
            None => NEAR,
        };
        let patience = patience.min(LONGEST);
        let headers = self.headers()?;
        let roots = self.roots()?;
        exacta_jail::host_names::look_up_plainly();
        let config = ureq::Agent::config_builder()
            // A key goes to whom it was given for.
            .max_redirects(0)
            .timeout_global(Some(patience))
            .user_agent(concat!("exacta/", env!("CARGO_PKG_VERSION")));
        let config = match roots {
            Some(roots) => config.tls_config(TlsConfig::builder().root_certs(roots).build()),
            None => config,
        };
        // What goes to this machine goes through no proxy.
        let config = if secure { config } else { config.proxy(None) };
        let agent = config.build().new_agent();
        Ok(Some(Arc::new(Collector { agent, address, headers, patience })))
    }

    fn endpoint(&self) -> Option<(&'static str, String)> {
        let said = |variable| (self.0)(variable).map(|text| (variable, text));
        said(TRACES).or_else(|| said(ALL))
    }

    /// What is said of traces, else of everything.
    fn either(&self, what: &str) -> Option<String> {
        let said = |prefix: &str| (self.0)(&format!("{prefix}_{what}"));
        said("OTEL_EXPORTER_OTLP_TRACES").or_else(|| said("OTEL_EXPORTER_OTLP"))
    }

    /// `api-key=…,other=…`, values encoded as in an address.
    fn headers(&self) -> Result<Vec<(HeaderName, HeaderValue)>, String> {
        let text = self.either("HEADERS").unwrap_or_default();
        let pairs = text.split(',').filter(|pair| !pair.trim().is_empty());
        let header = |pair: &str| {
            let (name, value) = pair.split_once('=')?;
            let value = decoded(value.trim());
            Some((name.trim().parse().ok()?, HeaderValue::from_bytes(&value).ok()?))
        };
        // Not what is in it: keys are.
        let wrong = "no traces are sent: OTEL_EXPORTER_OTLP_HEADERS is not of the form name=value,name=value; correct it";
        pairs.map(|pair| header(pair).ok_or_else(|| wrong.to_owned())).collect()
    }

    /// The authorities of the operator's own, instead of the usual ones.
    fn roots(&self) -> Result<Option<RootCerts>, String> {
        let Some(path) = self.either("CERTIFICATE") else { return Ok(None) };
        let wrong = |why: &dyn fmt::Display| {
            format!(
                "no traces are sent: OTEL_EXPORTER_OTLP_CERTIFICATE={path}: {why}; name a file of certificates (PEM)"
            )
        };
        let text = std::fs::read(&path).map_err(|error| wrong(&error))?;
        let certificate = |item| match item {
            Ok(PemItem::Certificate(certificate)) => Some(certificate),
            _ => None,
        };
        let all: Vec<Certificate<'static>> = parse_pem(&text).filter_map(certificate).collect();
        if all.is_empty() {
            return Err(wrong(&"there is no certificate in it"));
        }
        Ok(Some(RootCerts::new_with_certs(&all)))
    }
}

const ALL: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const TRACES: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";

/// Whole as it is, or with the path of traces behind it.
fn address(endpoint: &str, whole: bool) -> Option<String> {
    let uri: Uri = endpoint.parse().ok()?;
    let scheme = uri.scheme_str().filter(|scheme| matches!(*scheme, "http" | "https"))?;
    let host = uri.host().filter(|host| !host.is_empty())?;
    let port = match (uri.port_u16(), scheme) {
        (Some(port), _) => port,
        (None, "https") => 443,
        (None, _) => PORT,
    };
    let path = uri.path_and_query().map_or("", |path| path.as_str());
    let path =
        if whole { path.to_owned() } else { format!("{}/v1/traces", path.trim_end_matches('/')) };
    Some(format!("{scheme}://{host}:{port}{path}"))
}

/// `%20` and the like.
fn decoded(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&byte, tail)) = rest.split_first() {
        let digits =
            tail.get(..2).filter(|_| byte == b'%').and_then(|two| std::str::from_utf8(two).ok());
        match digits.and_then(|two| u8::from_str_radix(two, 16).ok()) {
            Some(value) => {
                bytes.push(value);
                rest = tail.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(byte);
                rest = tail;
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_traces_go() {
        let of = |endpoint: &str| address(endpoint, false);
        assert_eq!(of("http://localhost:4318").as_deref(), Some("http://localhost:4318/v1/traces"));
        assert_eq!(of("http://otel/").as_deref(), Some("http://otel:4318/v1/traces"));
        assert_eq!(of("http://[::1]:1/a/").as_deref(), Some("http://[::1]:1/a/v1/traces"));
        assert_eq!(
            of("https://otlp.example").as_deref(),
            Some("https://otlp.example:443/v1/traces")
        );
        let whole = address("https://x.example/api/traces", true);
        assert_eq!(whole.as_deref(), Some("https://x.example:443/api/traces"));
        for wrong in ["", "http://", "localhost:4318", "http://a\r\nb", "ftp://x", "grpc://x:4317"]
        {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }

    fn said(pairs: &'static [(&'static str, &'static str)]) -> impl Fn(&str) -> Option<String> {
        |name| pairs.iter().find(|(it, _)| *it == name).map(|(_, value)| (*value).to_owned())
    }

    #[test]
    fn headers_are_decoded() {
        let variables =
            said(&[("OTEL_EXPORTER_OTLP_HEADERS", "x-key = a%20b,  authorization=Basic%20Zm9v")]);
        let headers = Said(&variables).headers().expect("they are right");
        let shown: Vec<_> =
            headers.iter().map(|(name, value)| (name.as_str(), value.as_bytes())).collect();
        assert_eq!(shown, [("x-key", &b"a b"[..]), ("authorization", b"Basic Zm9v")]);
    }

    #[test]
    fn what_is_wrong_is_said() {
        for (variables, part) in [
            (&[(ALL, "localhost:4318")][..], "localhost:4318"),
            (&[(ALL, "http://x"), ("OTEL_EXPORTER_OTLP_TIMEOUT", "soon")], "soon"),
            (&[(ALL, "http://x"), ("OTEL_EXPORTER_OTLP_HEADERS", "nothing")], "name=value"),
            (&[(ALL, "https://x"), ("OTEL_EXPORTER_OTLP_CERTIFICATE", "/nowhere")], "/nowhere"),
        ] {
            let variables = said(variables);
            let problem = Said(&variables).collector().expect_err("something is wrong");
            assert!(problem.contains(part) && problem.contains("no traces are sent"), "{problem}");
        }
        let nothing = said(&[]);
        assert!(Said(&nothing).collector().expect("nothing is wrong").is_none());
    }
}
