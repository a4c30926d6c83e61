//! Which names promise a secret: `DB_PASSWORD`, `apiKey`, `x-auth-token`; and which only talk about one: `password_length`,
//! `tokenType`, `max_tokens`, `public_key`.

/// What a name promises, and so what its value must look like to be believed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Promise {
    /// Chosen by people: short ones count.
    Password,
    /// Made by machines.
    Secret,
    /// It may be one: only a value that can be nothing else counts.
    Perhaps,
    /// Many words.
    Mnemonic,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Name {
    pub promise: Promise,
    pub kind: &'static str,
    /// As variables of an environment are written.
    pub capitals: bool,
    /// The name ends with the promise: `db_password`, not `password_db`.
    pub last: bool,
}

/// The words by which names are found; the gate looks for them in any case.
#[rustfmt::skip]
pub const HINTS: &[&str] = &[
    "pass", "pwd", "secret", "token", "key", "cred", "auth", "psk", "salt", "mnemonic",
    "seed_phrase", "sig=", "signature", "dsn", "webhook", "code=", "otp", "sas=", "sid=", "_pw",
    "-pw", "pw=", "pw:", "pw =", "sessi", "bindpw", "rootpw", "jwt", "hmac", "passwort", "kennwort",
    "contrase", "senha", "seedphrase", "recovery_code", "recovery-code", "recoverycode",
    "backup_code", "backup-code", "wachtwoord", "haslo", "heslo", "parola", "motdepasse", "pepper", "bearer:", "bearer=", "bearer\"", "_cookie", "_pat=", "_pat:", "_pat\"", "_pat = ", "_pat : ", "Pat = \"", "Pat: \"", "Pat=\"", "wif=", "wif:", "wif\"",
    "honeycomb-team", "art-api", "appid=", "app_id=", "apiid=", "api_id=", "apiuser=", "ticket=", "license=",
];

const LONGEST: usize = 96;

/// What has several words as a rule.
pub const PASSPHRASE: &str = "passphrase";
/// `…_PAT`, which also is short for a pattern.
pub const ACCESS_TOKEN: &str = "personal-access-token";
/// What is secret if it is a UUID.
pub const SECRET_ID: &str = "secret-id";

/// Names a queue, unless it is as long as the keys of a pager.
pub const ROUTING_KEY: &str = "routing-key";
/// `primaryKey`: of a table, unless it is Base64.
pub const LISTED_KEY: &str = "account-key";
/// `appid`: in an address, a key if it is as long as one.
pub const WEAK_KEY: &str = "url-key";
/// Capitals as a rule.
pub const ERLANG_COOKIE: &str = "erlang-cookie";

/// What a name promises, if anything.
pub fn classify(name: &[u8]) -> Option<Name> {
    let mut buffer = [0; LONGEST];
    let lower = buffer.get_mut(..name.len())?;
    lower.copy_from_slice(name);
    lower.make_ascii_lowercase();
    let mut words: [&[u8]; 16] = [b""; 16];
    let count = split(name, lower, &mut words);
    let words = words.get(..count)?;
    let mut found = words.iter().enumerate().rev();
    let (at, promise, kind) =
        found.find_map(|(at, word)| promise(words, at, word).map(|(p, k)| (at, p, k)))?;
    let after = words.get(at + 1..)?;
    // `secret_id`: half of a login where its value is a UUID, else the name of a secret.
    if promise == Promise::Secret && after == [b"id"] && words.get(at) == Some(&&b"secret"[..]) {
        let capitals = !name.iter().any(u8::is_ascii_lowercase);
        return Some(Name { promise, kind: SECRET_ID, capitals, last: true });
    }
    if after.iter().any(|word| is_in(NOT_AFTER, word)) {
        return None;
    }
    // `key_node.tag`: what only may be a secret must at least be what the name ends with.
    if promise == Promise::Perhaps && !after.is_empty() {
        return None;
    }
    let capitals = !name.iter().any(u8::is_ascii_lowercase);
    Some(Name { promise, kind, capitals, last: after.is_empty() })
}

fn is_in(list: &[&str], word: &[u8]) -> bool {
    list.iter().any(|one| one.as_bytes() == word)
}

/// Parts of a name: at signs, where the case changes, and where digits begin or end.
fn split<'a>(name: &[u8], lower: &'a [u8], words: &mut [&'a [u8]; 16]) -> usize {
    let mut count = 0;
    let mut start = 0;
    let mut add = |from: usize, to: usize| {
        if let (Some(word), Some(slot)) = (lower.get(from..to), words.get_mut(count))
            && !word.is_empty()
        {
            *slot = word;
            count += 1;
        }
    };
    for (at, byte) in name.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|at| name.get(at)).copied().unwrap_or(b' ');
        let next = name.get(at + 1).copied().unwrap_or(b' ');
        if !byte.is_ascii_alphanumeric() {
            add(start, at);
            start = at + 1;
        } else if byte.is_ascii_uppercase()
            && (before.is_ascii_lowercase()
                || before.is_ascii_uppercase() && next.is_ascii_lowercase())
            || byte.is_ascii_digit() != before.is_ascii_digit() && before.is_ascii_alphanumeric()
        {
            add(start, at);
            start = at;
        }
    }
    add(start, name.len());
    count
}

/// What one word of a name promises, with those before it.
fn promise(words: &[&[u8]], at: usize, word: &[u8]) -> Option<(Promise, &'static str)> {
    let before = at.checked_sub(1).and_then(|at| words.get(at)).copied().unwrap_or(b"");
    let ends = |with: &str| word.ends_with(with.as_bytes());
    // `passWord`, `Pass_Word`
    if before == b"pass" && matches!(word, b"word" | b"wd" | b"phrase" | b"code") {
        let kind = if word == b"phrase" { PASSPHRASE } else { "password" };
        return Some((Promise::Password, kind));
    }
    if PASSWORDS.iter().any(|one| ends(one)) || is_in(SHORT_PASSWORDS, word) {
        let talks = is_in(NOT_BEFORE_PASSWORD, before);
        let kind = if ends(PASSPHRASE) { PASSPHRASE } else { "password" };
        return (!talks).then_some((Promise::Password, kind));
    }
    if ends("token") {
        // `PublicKeyToken` of an assembly.
        if words.contains(&&b"public"[..]) {
            return None;
        }
        let talks = is_in(NOT_BEFORE_TOKEN, before) || is_in(NOT_BEFORE_TOKEN, words.first()?);
        return (!talks).then_some((Promise::Secret, "token"));
    }
    if ends("secret") || word == b"jwt" {
        return (before != b"non").then_some((Promise::Secret, "secret"));
    }
    if KEYS.iter().any(|one| ends(one)) {
        return Some((Promise::Secret, "api-key"));
    }
    if word == b"key" {
        match before {
            b"routing" => return Some((Promise::Secret, ROUTING_KEY)),
            b"primary" | b"secondary" | b"storage" => return Some((Promise::Secret, LISTED_KEY)),
            _ => {}
        }
        // `NEXT_PUBLIC_…_KEY` is sent to every browser.
        if words.contains(&&b"public"[..]) || words.contains(&&b"publishable"[..]) {
            return None;
        }
        if is_in(NOT_BEFORE_KEY, before) {
            return None;
        }
        // Two ends of a tunnel share it, and people type it in.
        let agreed = at.checked_sub(2).and_then(|at| words.get(at)).copied() == Some(b"pre");
        if before == b"preshared" || before == b"shared" && agreed {
            return Some((Promise::Password, "password"));
        }
        let owned = is_in(BEFORE_KEY, before);
        return Some((if owned { Promise::Secret } else { Promise::Perhaps }, "api-key"));
    }
    of_rare_word(words, at, word)
}

/// The same for words that promise something in few names, or little.
fn of_rare_word(words: &[&[u8]], at: usize, word: &[u8]) -> Option<(Promise, &'static str)> {
    let before = at.checked_sub(1).and_then(|at| words.get(at)).copied().unwrap_or(b"");
    match word {
        b"auth" if before == b"rediscli" => Some((Promise::Password, "password")),
        b"credential" | b"credentials" | b"cred" | b"creds" | b"auth" | b"salt" | b"dsn"
        | b"webhook" | b"hmac" => Some((Promise::Perhaps, "credential")),
        b"pepper" => Some((Promise::Secret, "secret")),
        // Headers that hold a key and are not called so.
        b"team" if before == b"honeycomb" => Some((Promise::Secret, "honeycomb-key")),
        b"api" if before == b"art" => Some((Promise::Secret, "artifactory-key")),
        // Of a network without wires, as Windows keeps it.
        b"material" if before == b"key" => Some((Promise::Password, "password")),
        b"bearer" if words.len() == 1 => Some((Promise::Secret, "token")),
        b"cookie" if before == b"erlang" => Some((Promise::Secret, ERLANG_COOKIE)),
        b"seed" if matches!(before, b"otp" | b"totp" | b"mfa") => Some((Promise::Secret, "secret")),
        b"psk" if at + 1 == words.len() => Some((Promise::Password, PASSPHRASE)),
        b"wif" => Some((Promise::Secret, "wallet-key")),
        b"pat" if at > 0 => Some((Promise::Secret, ACCESS_TOKEN)),
        b"otp" if before != b"is" => Some((Promise::Perhaps, "secret")),
        b"code" if matches!(before, b"recovery" | b"backup") => Some((Promise::Secret, "secret")),
        b"sig" | b"signature" => Some((Promise::Perhaps, "signature")),
        b"mnemonic" | b"phrase" if word != b"phrase" || before == b"seed" => {
            Some((Promise::Mnemonic, "seed-phrase"))
        }
        _ => None,
    }
}

/// Whose secret it is, where the name says it.
pub fn issuer(name: &[u8]) -> Option<&'static str> {
    let mut buffer = [0; LONGEST];
    let lower = buffer.get_mut(..name.len())?;
    lower.copy_from_slice(name);
    lower.make_ascii_lowercase();
    let mut words: [&[u8]; 16] = [b""; 16];
    let count = split(name, lower, &mut words);
    let words = words.get(..count)?;
    let has = |wanted: &str| wanted.split(' ').all(|one| words.contains(&one.as_bytes()));
    ISSUERS.iter().find(|(wanted, _)| has(wanted)).map(|(_, kind)| *kind)
}

#[rustfmt::skip]
const PASSWORDS: &[&str] = &[
    "password", "passwd", "passphrase", "passcode", "userpass", "dbpass", "sshpass", "storepass",
    "keypass", "requirepass", "masterauth", "rootpass", "adminpass", "passwort", "kennwort", "contrasena",
    "senha", "wachtwoord", "haslo", "heslo", "parola", "motdepasse", "bindpw", "rootpw", "smtppass", "ftppass", "mailpass", "authtok",
];
const SHORT_PASSWORDS: &[&str] = &["pass", "pwd", "pw", "passin", "passout", "stapsk"];

#[rustfmt::skip]
const KEYS: &[&str] = &[
    "apikey", "secretkey", "accesskey", "authkey", "privatekey", "presharedkey", "accountkey",
    "encryptionkey", "signingkey", "masterkey", "appkey", "sharedkey", "licensekey", "privkey",
    "apitoken",
];

/// `primary_key`, `cache-key`: names of things.
#[rustfmt::skip]
const NOT_BEFORE_KEY: &[&str] = &[
    "public", "foreign", "sort", "partition", "cache", "idempotency", "unique", "group",
    "object", "row", "hash", "index", "range", "composite", "natural", "surrogate", "parameter",
    "dedup", "dictionary", "config", "property", "env", "translation", "i", "locale", "message",
    "map", "json", "yaml", "header", "param", "query", "column", "field", "sort", "order", "press",
    "hot", "shortcut", "arrow", "escape", "enter", "tab", "host", "known", "publishable", "pub",
    "public", "site", "storage", "bucket", "s", "any", "missing", "invalid", "unknown", "duplicate",
    "issue", "project", "socket", "etag", "jira", "measurement",
];

/// `api_key`, `encryption-key`: what opens something.
#[rustfmt::skip]
const BEFORE_KEY: &[&str] = &[
    "api", "access", "secret", "private", "encryption", "encrypt", "decryption", "signing", "sign",
    "master", "account", "shared", "service", "client", "auth", "license", "deploy", "subscription",
    "function", "admin", "write", "jwt", "hmac", "aes", "cipher", "symmetric", "preshared", "crypt",
    "crypto", "cookie", "wallet", "ssh", "rsa", "security", "server", "consumer", "ingest", "app",
    "application", "backup", "token", "password", "session", "webhook", "priv", "ssl", "tls",
    "integration", "rest", "root", "seal", "unseal", "recovery", "transit", "kms", "storage",
    "license", "sas", "mac", "unlock", "ingestion", "bot", "host", "restic", "csrf", "rails", "django", "flask", "stripe",
    "openai", "anthropic", "mistral", "cohere", "google", "gemini", "datadog", "algolia",
    "sendgrid", "mailgun", "mailchimp", "twilio", "openweather", "maps", "youtube", "news",
    "alchemy", "infura", "etherscan", "moralis", "pusher", "newrelic", "relic", "rollbar",
    "bugsnag", "honeybadger", "segment", "amplitude", "mixpanel", "intercom", "zendesk",
    "freshdesk", "hubspot", "shopify", "square", "plaid", "coinbase", "binance", "kraken",
    "telegram", "discord", "slack", "linode", "vultr", "hetzner", "cloudflare", "fastly", "dyn",
    "deepl", "deepseek", "elevenlabs", "assemblyai", "deepgram", "pinecone", "weaviate", "qdrant",
    "supabase", "appwrite", "sonar", "snyk", "codecov", "wandb", "comet", "groq", "replicate",
    "together", "openrouter", "tavily", "serpapi", "serper", "pagerduty", "opsgenie", "grafana",
    "loki", "elastic", "dd",
];

/// Names that go on like this talk about a secret and do not hold one.
#[rustfmt::skip]
const NOT_AFTER: &[&str] = &[
    "length", "len", "size", "min", "max", "minimum", "maximum", "count", "expires", "expiry",
    "expiration", "expire", "exp", "ttl", "age", "timeout", "lifetime", "validity", "duration",
    "interval", "rotation", "rotate", "policy", "policies", "rule", "rules", "strength",
    "requirements", "required", "enabled", "disabled", "enable", "disable", "type", "types",
    "format", "name", "names", "file", "files", "filename", "path", "paths", "dir", "directory",
    "folder", "location", "url", "uri", "urls", "endpoint", "host", "hostname", "port", "issuer",
    "audience", "ref", "refs", "reference", "field", "fields", "label", "hint", "placeholder",
    "prompt", "message", "title", "text", "description", "desc", "help", "regex", "pattern",
    "validator", "validation", "valid", "invalid", "error", "errors", "algorithm", "algo", "alg",
    "method", "mode", "scheme", "header", "headers", "prefix", "suffix", "param", "parameter",
    "query", "column", "table", "index", "id", "ids", "idx", "arn", "alias", "version", "at",
    "date", "time", "timestamp", "updated", "created", "changed", "modified", "reset", "resets",
    "attempts", "retries", "tries", "limit", "limits", "usage", "used", "budget", "cost", "store",
    "manager", "provider", "service", "source", "factory", "generator", "encoder", "decoder",
    "hasher", "hashers", "backends", "classes", "hash", "hashed", "hashing", "digest", "sha", "md", "checksum", "fingerprint",
    "thumbprint", "bits", "bytes", "rate", "ratio", "status", "state", "verified", "confirm",
    "confirmation", "stdin", "input", "output", "prefixes", "list", "set", "map", "array", "vec",
    "class", "style", "css", "icon", "button", "form", "page", "view", "screen", "dialog", "modal",
    "component", "handler", "callback", "hook", "event", "listener", "user", "username", "owner",
    "scope", "scopes", "permissions", "grant", "command", "cmd", "script", "helper", "agent",
    "board", "word", "words", "ring", "stroke", "code", "codes", "frame", "chain", "through",
    "thru", "ed", "ing", "er", "ers", "enger", "ize", "izer", "ise", "kind", "group", "day", "days",
    "hours", "minutes", "seconds", "secs", "ms", "history", "similarity", "score", "scores",
    "distance", "level", "env", "var", "variable", "vault", "engine", "backend", "mount",
    "metadata", "annotations", "labels", "schema", "model", "template", "config", "settings",
    "options", "opts", "props", "loading", "visible", "visibility", "hidden", "shown", "toggle",
    "show", "hide", "match", "matches", "equal", "equals", "mismatch", "incorrect", "wrong",
    "missing", "empty", "blank", "present", "exists", "exist", "not", "too", "must", "should", "is",
    "has", "can", "was", "for", "forgot", "forgotten", "recovery", "change", "update", "create",
    "delete", "generate", "revoke", "refresh", "revoked", "request", "response", "auth", "url",
    "domain", "realm", "region", "zone", "keyid", "curve", "usages", "ops", "down", "up", "press",
    "pressed", "path", "bindings", "binding", "map", "maps", "metric", "metrics", "total",
    "counter", "sum", "bucket", "buckets", "le", "plugin", "plugins", "file_path", "jar", "pom", "aar", "war", "tgz", "whl", "zip", "gz", "nupkg", "deb", "rpm", "gem", "dll", "exe", "asm",
    "js", "ts", "py", "java", "pem", "crt", "attribute", "attr", "arg", "argument", "literal", "selector", "locator", "xpath", "less", "free",
    "fds", "fd", "node", "tag", "details", "func", "fn", "over", "band", "on", "methods", "bytes",
    "expired", "needed", "rejected", "restriction", "allowed", "flag", "flags", "re", "regexp", "rx",
];

#[rustfmt::skip]
const NOT_BEFORE_PASSWORD: &[&str] = &[
    "no", "without", "forgot", "reset", "change", "show", "hide", "toggle", "has", "is", "by",
    "lines", "allow", "require", "requires", "boarding", "bypass", "type", "input", "multi",
    "single", "one", "first", "second", "two", "render", "compiler", "optimization", "test",
    "tests", "ask", "to", "will", "must", "can", "did", "not",
];

/// `next_page_token`: a place in a list. `max_token`: a number of words.
#[rustfmt::skip]
const NOT_BEFORE_TOKEN: &[&str] = &[
    "next", "page", "continuation", "pagination", "cursor", "max", "min", "num", "total", "prompt",
    "completion", "cached", "per", "unexpected", "expected", "invalid", "eof", "eos", "bos", "pad",
    "unk", "sep", "cls", "mask", "special", "stop", "start", "end", "first", "last", "current",
    "previous", "lookahead", "peek", "lexer", "is", "has", "no", "non", "fungible", "resume",
    "sync", "change", "fencing", "position", "starting", "lock", "idempotency", "action", "marker", "dedup",
];

/// By words of the name, the most telling first.
const ISSUERS: &[(&str, &str)] = &[
    ("aws secret", "aws-secret-key"),
    ("secret access key", "aws-secret-key"),
    ("aws session token", "aws-session-token"),
    ("account key", "azure-storage-key"),
    ("shared access key", "azure-shared-access-key"),
    ("azure", "azure-credential"),
    ("gcp", "google-credential"),
    ("cloudflare", "cloudflare-token"),
    ("cf api", "cloudflare-token"),
    ("heroku", "heroku-key"),
    ("datadog", "datadog-key"),
    ("dd api", "datadog-key"),
    ("dd app", "datadog-key"),
    ("twilio", "twilio-token"),
    ("pagerduty", "pagerduty-key"),
    ("opsgenie", "opsgenie-key"),
    ("cohere", "cohere-key"),
    ("co api", "cohere-key"),
    ("mistral", "mistral-key"),
    ("gemini", "google-api-key"),
    ("algolia", "algolia-key"),
    ("fastly", "fastly-token"),
    ("linode", "linode-token"),
    ("vultr", "vultr-key"),
    ("hcloud", "hetzner-token"),
    ("hetzner", "hetzner-token"),
    ("scw", "scaleway-key"),
    ("okta", "okta-token"),
    ("auth 0", "auth0-secret"),
    ("rollbar", "rollbar-token"),
    ("bugsnag", "bugsnag-key"),
    ("codecov", "codecov-token"),
    ("snyk", "snyk-token"),
    ("travis", "travis-token"),
    ("zendesk", "zendesk-token"),
    ("intercom", "intercom-token"),
    ("spotify", "spotify-secret"),
    ("wandb", "wandb-key"),
    ("etherscan", "etherscan-key"),
    ("infura", "infura-key"),
    ("alchemy", "alchemy-key"),
    ("binance", "binance-key"),
    ("coinbase", "coinbase-key"),
    ("consul", "consul-token"),
    ("nomad", "nomad-token"),
    ("ngrok", "ngrok-token"),
    ("splunk", "splunk-token"),
    ("elastic", "elastic-password"),
    ("snowflake", "snowflake-password"),
    ("client secret", "oauth-client-secret"),
    ("access token", "oauth-token"),
    ("refresh token", "oauth-token"),
    ("id token", "oauth-token"),
    ("preshared key", "wireguard-key"),
    ("private key", "private-key"),
    ("privatekey", "private-key"),
    ("auth token", "token"),
];

#[cfg(test)]
mod tests {
    use super::*;

    fn promise_of(name: &str) -> Option<Promise> {
        classify(name.as_bytes()).map(|name| name.promise)
    }

    #[test]
    fn names_that_hold_a_secret() {
        for name in [
            "password",
            "DB_PASSWORD",
            "spring.datasource.password",
            "userPassword",
            "PGPASSWORD",
            "MYSQL_PWD",
            "db_pass",
            "Password1",
            "password_prod",
        ] {
            assert_eq!(promise_of(name), Some(Promise::Password), "{name}");
        }
        for name in [
            "apiKey",
            "API_KEY",
            "X-Api-Key",
            "clientSecret",
            "accessToken",
            "AWS_SECRET_ACCESS_KEY",
            "SECRET_KEY_BASE",
            "AccountKey",
            "authToken",
            "_authToken",
            "APIKey",
            "secret",
            "api_key_prod",
        ] {
            assert_eq!(promise_of(name), Some(Promise::Secret), "{name}");
        }
    }

    #[test]
    fn names_that_only_talk_about_one() {
        for name in [
            "password_length",
            "passwordResetTokenExpiresIn",
            "token_type",
            "max_tokens",
            "public_key",
            "next_page_token",
            "secretName",
            "password_file",
            "keyboard",
            "author",
            "tokenizer",
            "passenger",
            "compass",
            "monkey",
            "token_url",
            "secretKeyRef",
            "KeyId",
        ] {
            assert_eq!(promise_of(name), None, "{name}");
        }
    }
}
