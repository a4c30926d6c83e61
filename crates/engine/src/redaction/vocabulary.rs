//! Words that people write where a secret would stand: placeholders, names of types, names of variables.

/// Stands for a secret and is none.
pub fn is_placeholder(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    let has = |needle: &str| lower.windows(needle.len()).any(|window| window == needle.as_bytes());
    if is_monotonous(value) || SIGNS.iter().any(|sign| has(sign)) {
        return true;
    }
    if value.contains(&b'<') && value.contains(&b'>') && value.first() == Some(&b'<') {
        return true;
    }
    let numbers = lower.split(|byte| !byte.is_ascii_digit()).filter(|part| !part.is_empty());
    let counted = numbers.clone().all(|number| {
        COUNTED.contains(&number.iter().map(|byte| char::from(*byte)).collect::<String>().as_str())
    });
    let plain = lower
        .iter()
        .all(|byte| byte.is_ascii_alphanumeric() || b"-_ .,!:/()[]{}'\"*#@".contains(byte));
    let mut words =
        lower.split(|byte| !byte.is_ascii_alphabetic()).filter(|word| !word.is_empty()).peekable();
    plain && counted && words.peek().is_some() && words.all(|word| is_made_of(word, VOCABULARY, 6))
}

/// The same for a token whose form is right: only what nobody could issue.
pub fn is_filler(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    let has = |needle: &str| lower.windows(needle.len()).any(|window| window == needle.as_bytes());
    is_monotonous(value) || FILLERS.iter().any(|sign| has(sign))
}

/// One character, or a few over and over: `xxxx`, `****`, `......`.
fn is_monotonous(value: &[u8]) -> bool {
    let mut seen = [false; 256];
    let mut distinct = 0;
    for byte in value {
        if let Some(seen) = seen.get_mut(usize::from(*byte))
            && !*seen
        {
            *seen = true;
            distinct += 1;
        }
    }
    let blots = value.iter().filter(|byte| b"*xX.-_#?\xe2\x80\xa2\xa6".contains(byte)).count();
    distinct <= 2
        || value.len() >= 16 && distinct <= 3
        || blots * 2 > value.len()
        || longest_run(value) >= 8 && longest_run(value) * 2 >= value.len()
}

fn longest_run(value: &[u8]) -> usize {
    value.chunk_by(|a, b| a == b).map(<[u8]>::len).max().unwrap_or(0)
}

/// The word falls apart into words of the list.
fn is_made_of(word: &[u8], list: &[&str], depth: usize) -> bool {
    word.is_empty()
        || depth > 0
            && list.iter().any(|one| {
                word.strip_prefix(one.as_bytes())
                    .is_some_and(|rest| is_made_of(rest, list, depth - 1))
            })
}

pub fn is_of_variables(word: &[u8]) -> bool {
    let lower = word.to_ascii_lowercase();
    let mut parts = lower.split(|byte| *byte == b'_').filter(|part| !part.is_empty());
    parts.all(|part| is_made_of(part, VARIABLES, 4) || is_made_of(part, VOCABULARY, 4))
}

pub fn is_technical(value: &[u8]) -> bool {
    let lower = value.to_ascii_lowercase();
    let trimmed: &[u8] = lower.strip_suffix(b",").or(lower.strip_suffix(b";")).unwrap_or(&lower);
    TECHNICAL.iter().any(|one| one.as_bytes() == trimmed)
}

/// `required|min:8|confirmed`: what a form asks of a password.
pub fn is_validation(value: &[u8]) -> bool {
    let separator = if value.contains(&b'|') { b'|' } else { b',' };
    let is_rule = |part: &[u8]| {
        let word =
            part.iter().take_while(|byte| byte.is_ascii_alphabetic() || **byte == b'_').count();
        word > 1 && matches!(part.get(word), None | Some(b':' | b'=' | b',' | b'(' | b'['))
    };
    let known = |part: &[u8]| {
        RULES.iter().any(|rule| {
            part.strip_prefix(rule.as_bytes())
                .is_some_and(|rest| !rest.first().is_some_and(u8::is_ascii_alphanumeric))
        })
    };
    let mut parts = value.split(|byte| *byte == separator);
    value.contains(&separator) && parts.clone().all(is_rule) && parts.any(known)
}

pub fn is_of_code(word: &[u8]) -> bool {
    CODE.iter().any(|one| word.eq_ignore_ascii_case(one.as_bytes()))
}

pub fn is_of_placeholders(word: &[u8]) -> bool {
    VOCABULARY.iter().any(|one| word.eq_ignore_ascii_case(one.as_bytes()))
}

/// Words of what is said about a password: `Case-Sensitive`, `Auto-Generated`.
pub fn is_of_labels(word: &[u8]) -> bool {
    LABELS.iter().any(|one| word.eq_ignore_ascii_case(one.as_bytes()))
}

/// Words of messages and labels about passwords.
pub fn is_of_prose(word: &[u8]) -> bool {
    PROSE.iter().any(|one| word.eq_ignore_ascii_case(one.as_bytes()))
}

/// The ending of a file.
pub fn is_ending(ending: &[u8]) -> bool {
    ENDINGS.iter().any(|one| ending.eq_ignore_ascii_case(one.as_bytes()))
}

/// Anywhere in a value.
#[rustfmt::skip]
const SIGNS: &[&str] = &[
    "[redacted", "redacted]", "<redacted", "***", "xxxxx", "...", "…", "changeme", "change_me",
    "change-me", "your_", "your-", "yourapi", "yourtoken", "yourkey", "yoursecret", "yourpass",
    "placeholder", "examplekey", "_here>", "insert-", "insert_", "replace_", "replace-",
    "replaceme", "todo", "dummy", "not-a-real", "notreal", "fake_", "fake-", "example_", "example-",
    "-example", "_example", "my-secret-", "my_secret_", "goes-here", "goes_here", "-here", "_here",
    "filtered]", "[filtered", "masked", "000000000000", "lorem", "contrase", "_hier", "-hier", "ihr_", "ihr-", "dein_",
    "deine_", "hier_ein", "votre_", "votre-", "_ici", "-ici", "tu_clave", "su_clave", "tu_token", "su_token", "_aqui", "-aqui",
    "sua_", "seu_", "tuo_", "tua_", "la_tua", "il_tuo", "_qui>", "jouw_", "jouw-", "uw_", "_invullen", "ditt_", "din_",
    "twoje_", "twoj_", "tutaj", "_buraya", "sifreniz", "vash_", "va\u{161}e",
];

#[rustfmt::skip]
const FILLERS: &[&str] = &[
    "xxxxx", "***", "...", "your_", "your-", "yourapi", "yourtoken", "yourkey", "yoursecret",
    "placeholder", "changeme", "redacted", "example_", "example-", "-example", "_example", "_here",
    "-here", "000000000000", "replace-", "replace_", "insert-", "insert_",
];

/// Numbers that count or fill.
#[rustfmt::skip]
const COUNTED: &[&str] = &[
    "0", "1", "2", "3", "12", "123", "1234", "12345", "123456", "1234567", "12345678", "123456789",
    "1234567890", "0123456789", "0000", "00", "000", "111", "1111", "321", "4321", "42",
];

#[rustfmt::skip]
const VOCABULARY: &[&str] = &[
    "a", "an", "the", "my", "your", "our", "some", "this", "that", "is", "it", "me", "not", "real",
    "here", "there", "insert", "replace", "change", "changed", "put", "enter", "add", "use", "set",
    "paste", "provide", "api", "app", "key", "keys", "token", "tokens", "secret", "secrets",
    "super", "very", "long", "strong", "secure", "random", "pass", "password", "passwords",
    "passwd", "passphrase", "passcode", "pwd", "pw", "user", "username", "admin", "administrator",
    "root", "guest", "test", "tests", "testing", "tester", "example", "sample", "dummy", "fake",
    "mock", "stub", "placeholder", "todo", "fixme", "tbd", "default", "value", "val", "string",
    "str", "text", "db", "database", "access", "client", "id", "auth", "bearer", "private",
    "public", "redacted", "hidden", "masked", "removed", "filtered", "omitted", "none", "null",
    "nil", "undefined", "unset", "empty", "na", "n", "true", "false", "yes", "no", "on", "off",
    "xxx", "xx", "x", "foo", "bar", "baz", "qux", "foobar", "dev", "development", "local",
    "localhost", "demo", "temp", "tmp", "goes", "with", "to", "from", "of", "for", "in", "and",
    "or", "env", "var", "variable", "account", "service", "login", "credential", "credentials",
    "cred", "creds", "github", "gitlab", "slack", "aws", "gcp", "azure", "google", "openai",
    "anthropic", "stripe", "required", "optional", "incorrect", "invalid", "missing", "wrong",
    "boolean", "number", "integer", "any", "object", "bytes", "char", "varchar", "disabled",
    "enabled", "expired", "confirm", "confirmation", "forgot", "forgotten", "reset", "new", "old",
    "current", "repeat", "again", "first", "second", "last", "name", "field", "input", "label",
    "type", "prod", "production", "staging", "stage", "postgres", "mysql", "mariadb", "mongo",
    "mongodb", "redis", "rabbitmq", "minio", "minioadmin", "sa", "sudo", "letmein", "abc", "asdf",
    "qwerty", "hello", "world", "company", "project", "product", "website", "site", "domain",
    "email", "mail", "passwort", "kennwort", "contrase", "contrasena", "motdepasse", "senha",
    "wachtwoord", "parola", "lozinka", "haslo", "heslo", "and", "prompt", "stdin", "interactive",
    "file", "path", "url", "host", "port", "self", "shared", "session", "cookie", "header", "basic",
    "digest", "plaintext", "plain", "encrypted", "hashed", "hash", "generated", "generate",
    "autogenerated", "unknown", "anonymous", "nobody", "internal", "external", "master", "main",
    "simple", "weak", "short", "min", "max", "length", "characters", "chars", "letters", "digits",
    "symbols", "vault", "keychain", "keyring", "ldap", "sso", "saml", "oauth", "oidc", "jwt",
    "webhook", "signing", "encryption", "refresh", "expires", "validator", "validators", "config",
    "settings", "option", "options", "rotate", "rotated", "revoked", "security", "machine",
    "device", "display", "personal", "deploy", "bot", "docker", "npm", "pypi", "registry",
    "kubernetes", "cluster", "namespace", "form", "control", "group", "minimum", "maximum",
    "letter", "one", "two", "three", "must", "should", "be", "at", "least", "see", "docs", "below",
    "above", "only", "used", "by", "request", "response", "data", "body", "params", "query",
    "props", "state", "handler", "manager", "provider", "store", "factory", "encoder", "hasher",
    "policy", "rule", "rules", "strength", "checker", "error", "message", "title", "description",
    "hint", "show", "toggle", "visible", "visibility", "mot", "de", "passe", "kata", "sandi", "salasana",
    "losenord", "adgangskode", "passord", "jelszo", "sifre", "parool", "clave", "unchanged",
    "whatever", "unused", "ignored", "nothing", "something", "anything", "supplied", "managed",
];

#[rustfmt::skip]
const VARIABLES: &[&str] = &[
    "arg", "args", "argv", "value", "values", "val", "var", "user", "pass", "password", "token",
    "key", "secret", "temp", "tmp", "input", "param", "params", "str", "string", "s", "p", "x", "y",
    "k", "v", "t", "data", "field", "text", "line", "item", "node", "obj", "res", "result", "env",
    "config", "cfg", "ctx", "opts", "options", "self", "this", "request", "req", "resp", "response",
    "body", "form", "raw", "hash", "hashed", "encrypted", "decoded", "encoded", "plain", "part",
    "parts", "match", "group", "buf", "buffer", "bytes", "test", "expected", "actual", "left",
    "right", "a", "b", "c", "i", "j", "n",
];

#[rustfmt::skip]
const TECHNICAL: &[&str] = &[
    "u8", "u16", "u32", "u64", "u128", "i8", "i16", "i32", "i64", "f32", "f64", "int8", "int16",
    "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "base64",
    "base64url", "base32", "base58", "utf8", "utf-8", "utf-16", "sha1", "sha-1", "sha256",
    "sha-256", "sha384", "sha512", "sha-512", "md5", "hs256", "hs384", "hs512", "rs256", "rs384",
    "rs512", "es256", "es384", "ps256", "aes128", "aes256", "aes-128-gcm", "aes-256-gcm",
    "aes-256-cbc", "aes-128-cbc", "oauth2", "oauth1", "oauth-2.0", "argon2", "argon2id", "argon2i",
    "pbkdf2", "pbkdf2_sha256", "scrypt", "bcrypt", "p256", "p-256", "p384", "ed25519", "x25519",
    "secp256k1", "secp256r1", "curve25519", "rsa2048", "rsa4096", "rsa-2048", "rsa-4096", "tls12",
    "tls1.2", "tls1.3", "http2", "ipv4", "ipv6", "uuid4", "uuidv4", "uuidv7", "hmac-sha256",
    "hmac_sha256", "hmac-sha1", "x-api-key", "pkcs1", "pkcs8", "pkcs12", "x509", "x.509", "md5sum",
    "scram-sha-256", "caching_sha2_password", "mysql_native_password", "sha256_password",
    "chacha20", "chacha20-poly1305", "log4j", "s3", "k8s", "i18n", "win32", "es6", "es2020",
    "basestring", "nonetype", "oauth2passwordbearer", "keycode13",
];

#[rustfmt::skip]
const CODE: &[&str] = &[
    "arg", "args", "argv", "value", "values", "val", "var", "vars", "variables", "user", "users",
    "pass", "password", "passwd", "passphrase", "pwd", "token", "tokens", "key", "keys", "secret",
    "secrets", "secure", "cred", "creds", "credential", "credentials", "auth", "login", "tmp",
    "input", "param", "params", "str", "string", "data", "field", "fields", "text", "item", "node",
    "obj", "object", "res", "result", "env", "environ", "environment", "config", "conf", "cfg",
    "ctx", "context", "opts", "options", "option", "self", "this", "request", "req", "resp",
    "response", "body", "form", "raw", "hash", "hashed", "encrypted", "decoded", "encoded", "buf",
    "buffer", "bytes", "settings", "setting", "process", "os", "sys", "props", "state", "session",
    "client", "server", "service", "account", "db", "database", "app", "api", "vault", "from",
    "see", "via", "managed", "default", "type", "kind", "enum", "name", "id", "version", "ver",
    "level", "mode", "none", "null", "undefined", "example", "sample", "test", "tests", "local",
    "constants", "const", "module", "model", "models", "utils", "util", "helper", "manager",
    "provider", "factory", "handler", "util", "get", "https", "http", "www", "com", "org", "net",
    "sha", "rsa", "aes", "hmac", "bearer", "basic", "digest", "oauth", "jwt", "prod", "staging",
    "dev", "cluster", "file", "path", "role", "policy", "group", "store", "storage", "cache",
    "factor", "sign", "label", "title", "message", "error", "hint", "hasher", "encoder", "required",
    "stored", "injected", "defined", "keychain", "sensitive", "insensitive",
    "registry", "docker", "kube", "module", "package", "class", "method", "function", "index",
];

#[rustfmt::skip]
const RULES: &[&str] = &[
    "required", "nullable", "sometimes", "confirmed", "optional", "omitempty", "min", "max", "gte",
    "lte", "minLength", "maxLength", "min_length", "max_length", "string", "alphanum", "alpha_num",
    "uuid", "trim", "matches", "size", "between", "filled", "present", "bail", "same", "regex",
];

#[rustfmt::skip]
const PROSE: &[&str] = &[
    "password", "passwords", "passphrase", "passphrases", "passcode", "pin", "key", "keys", "token",
    "secret", "enter", "type", "your", "please", "must", "should", "invalid", "wrong", "incorrect",
    "required", "optional", "confirm", "repeat", "again", "characters", "least", "cannot", "can",
    "empty", "missing", "login", "user", "username", "account", "field", "value", "default", "not",
    "set", "unset", "unable", "failed", "error", "if", "for", "used", "use", "uses", "this",
    "change", "changed", "forgot", "reset", "given", "from", "optionally", "protect", "encrypt",
    "decrypt", "encrypted", "protected", "network", "wifi", "wi-fi", "psk", "pre-shared", "string",
    "see", "read", "provided", "when", "which", "select", "insert", "update", "delete", "where",
    "here", "hidden", "redacted", "example", "some", "e.g",
];

#[rustfmt::skip]
const LABELS: &[&str] = &[
    "case", "sensitive", "insensitive", "read", "write", "factor", "auto", "encoded", "applicable",
    "non", "expiring", "never", "always", "alpha", "numeric", "alphanumeric", "opt", "time", "times", "protected",
    "upper", "lower", "uppercase", "lowercase", "mixed", "based", "less", "kerberos", "active", "directory", "delegated", "federated",
    "authenticated", "authentication", "authorization", "authorized", "rotation", "recovery", "reminder", "hashing",
    "sha", "bcrypt", "scrypt", "argon", "pbkdf", "base", "utf", "ascii", "hex", "binary", "trim", "spaces", "enterprise", "wpa",
    "wpa2", "eap", "radius", "sign", "signed", "signin", "signup", "log", "logged", "logout", "click", "submit", "cancel", "save", "edit",
    "warning", "info", "notice", "success", "failure", "compliant", "compliance", "complexity", "multi", "multifactor", "single", "dual",
    "step", "verified", "unverified", "validated", "locked", "unlocked", "lock", "unlock", "ready", "pending", "complete", "aware", "safe",
    "authenticator", "adapter", "interface", "abstract", "builder", "widget", "component", "screen", "view", "page", "modal",
    "dialog", "button", "icon", "image", "color", "style", "table", "column", "row", "cell", "grid", "layout", "content", "type", "header",
];

#[rustfmt::skip]
const ENDINGS: &[&str] = &[
    "pem", "key", "txt", "json", "yaml", "yml", "toml", "crt", "cer", "p12", "pfx", "jks", "env",
    "ini", "conf", "cfg", "properties", "go", "rs", "py", "js", "ts", "tsx", "jsx", "java", "rb",
    "php", "sh", "md", "html", "xml", "gpg", "asc", "pub", "der", "keystore", "csv", "log", "tf",
    "tfvars", "lock", "sql", "css", "vue", "c", "h", "cpp", "kdbx", "enc", "age", "local", "zip", "tgz", "jar", "whl",
];
