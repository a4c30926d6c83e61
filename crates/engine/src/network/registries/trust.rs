//! Whose certificates the operator's tools trust: where a network has an authority of its own, nothing works without.

use std::path::{Component, Path};

use bstr::BString;

use super::operator::Reader;

/// Variables by which tools are told.
const VARIABLES: [&str; 10] = [
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
    "PIP_CERT",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "GIT_SSL_CAINFO",
    "CARGO_HTTP_CAINFO",
    "NIX_SSL_CERT_FILE",
    "DENO_CERT",
];

/// What programs see of the system.
const SEEN: [&str; 4] = ["/etc/ssl", "/etc/pki", "/etc/ca-certificates", "/usr"];

/// Those of the operator's that lead to something that is there inside, too.
pub fn variables(reader: &Reader<'_>) -> Vec<(BString, BString)> {
    let known = VARIABLES.iter().filter_map(|name| Some((*name, reader.variable(name)?)));
    let seen = known.filter(|(_, path)| is_seen(path));
    seen.map(|(name, path)| (name.into(), path.into())).collect()
}

pub fn is_seen(path: &str) -> bool {
    let path = Path::new(path);
    let plain = path.components().all(|part| !matches!(part, Component::ParentDir));
    plain && SEEN.iter().any(|folder| path.starts_with(folder))
}
