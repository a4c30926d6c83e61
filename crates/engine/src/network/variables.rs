//! How a program that was granted something learns of the proxy.

use bstr::BString;

/// Every spelling that some client looks for.
const ADDRESS: [&str; 6] =
    ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"];
/// What is inside is reached without it.
const DIRECT: [&str; 2] = ["NO_PROXY", "no_proxy"];

/// Puts the proxy of this address into an environment, whatever it says of others: there are none.
pub fn add(environment: &mut Vec<(BString, BString)>, address: &str) {
    let proxy = ADDRESS.map(|name| (name, address));
    let direct = DIRECT.map(|name| (name, "localhost,127.0.0.1,::1"));
    // node looks for the others only if it is told to.
    let all = proxy.into_iter().chain(direct).chain([("NODE_USE_ENV_PROXY", "1")]);
    for (name, value) in all {
        environment.retain(|(known, _)| known != name);
        environment.push((name.into(), value.into()));
    }
}
