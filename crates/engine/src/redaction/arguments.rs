//! Passwords in the short options of programs that are known to take one: `mysql -pSECRET`, `sshpass -p SECRET`,
//! `curl -u user:SECRET`. What `-p` means elsewhere (`mkdir -p`, `ssh -p 22`) is not looked at.

use super::found::{Found, Hit};
use super::reading::{after_spaces, at, closing_quote, opening_quote};
use super::values::Makeup;
use super::{headers, vocabulary};

#[derive(Debug)]
pub struct Program {
    /// What is looked for: the name, and what follows if that is too short or too common.
    pub gate: &'static str,
    name: &'static str,
    /// Must stand behind the name: `docker login`.
    verb: &'static str,
    options: &'static [(&'static str, Takes)],
}

/// What follows an option.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Takes {
    /// `-pSECRET`; by itself it takes nothing.
    Attached,
    /// `-p SECRET` or `-pSECRET`
    Next,
    /// `-u user:SECRET`
    Pair,
    /// `-U user%SECRET`
    Percent,
    /// The last word of so many.
    Last(usize),
    /// The last word of so many, if a machine made it.
    Made(usize),
    /// The word after one that begins like this: `net use \\\\host\\share SECRET`
    After,
    /// `user/SECRET@host`, with or without the option before it.
    Slash,
    /// `-b 'name=value; name=value'`
    Cookies,
}

const fn program(
    name: &'static str,
    verb: &'static str,
    options: &'static [(&'static str, Takes)],
) -> Program {
    Program { gate: name, name, verb, options }
}

const fn behind(gate: &'static str, program: Program) -> Program {
    Program { gate, ..program }
}

use Takes::{After, Attached, Cookies, Last, Made, Next, Pair, Percent, Slash};

pub const PROGRAMS: &[Program] = &[
    program("mysql", "", &[("-p", Attached)]),
    program("mysqldump", "", &[("-p", Attached)]),
    program("mysqladmin", "", &[("-p", Attached), ("password", Last(1))]),
    program("mysqlimport", "", &[("-p", Attached)]),
    program("mariadb", "", &[("-p", Attached)]),
    program("mariadb-dump", "", &[("-p", Attached)]),
    program("sshpass", "", &[("-p", Next)]),
    program("docker", "login", &[("-p", Next)]),
    program("podman", "login", &[("-p", Next)]),
    program("buildah", "login", &[("-p", Next)]),
    program("skopeo", "login", &[("-p", Next)]),
    program("helm", "login", &[("-p", Next)]),
    program("nerdctl", "login", &[("-p", Next)]),
    program("crane", "login", &[("-p", Next)]),
    program("oras", "login", &[("-p", Next)]),
    program("skopeo", "copy", &[("--src-creds", Pair), ("--dest-creds", Pair)]),
    behind("oc login", program("oc", "login", &[("-p", Next)])),
    behind("az login", program("az", "login", &[("-p", Next)])),
    behind("cf login", program("cf", "login", &[("-p", Next)])),
    program("redis-cli", "", &[("-a", Next)]),
    program("mongo", "", &[("-p", Next)]),
    program("mongosh", "", &[("-p", Next)]),
    program("mongodump", "", &[("-p", Next)]),
    program("mongorestore", "", &[("-p", Next)]),
    program("mongoexport", "", &[("-p", Next)]),
    program("mongoimport", "", &[("-p", Next)]),
    program("sqlcmd", "", &[("-P", Next)]),
    program("bcp", "", &[("-P", Next)]),
    program("cqlsh", "", &[("-p", Next)]),
    program("isql", "", &[("-P", Next)]),
    program(
        "curl",
        "",
        &[
            ("-u", Pair),
            ("--user", Pair),
            ("-U", Pair),
            ("--proxy-user", Pair),
            ("-b", Cookies),
            ("--oauth2-bearer", Made(1)),
            ("--pass", Next),
            ("--proxy-pass", Next),
            ("--key-pass", Next),
            ("--tlspassword", Next),
        ],
    ),
    program("wget", "", &[("--user-pass", Pair)]),
    behind("http ", program("http", "", &[("-a", Pair), ("--auth", Pair)])),
    behind("https ", program("https", "", &[("-a", Pair), ("--auth", Pair)])),
    program("ldapsearch", "", &[("-w", Next)]),
    program("ldapmodify", "", &[("-w", Next)]),
    program("ldapadd", "", &[("-w", Next)]),
    program("ldapwhoami", "", &[("-w", Next)]),
    program("ldapdelete", "", &[("-w", Next)]),
    program("ldappasswd", "", &[("-w", Next), ("-s", Next), ("-a", Next)]),
    program("smbclient", "", &[("-U", Percent)]),
    program("rpcclient", "", &[("-U", Percent)]),
    program("unzip", "", &[("-P", Next)]),
    behind("zip ", program("zip", "", &[("-P", Next)])),
    behind("7z ", program("7z", "", &[("-p", Attached)])),
    program("7za", "", &[("-p", Attached)]),
    behind("rar ", program("rar", "", &[("-p", Attached), ("-hp", Attached)])),
    program("unrar", "", &[("-p", Attached)]),
    program("mosquitto_pub", "", &[("-P", Next)]),
    program("mosquitto_sub", "", &[("-P", Next)]),
    program("xfreerdp", "", &[("/p:", Attached)]),
    program("rdesktop", "", &[("-p", Next)]),
    program(
        "htpasswd",
        "",
        &[
            ("-b", Last(3)),
            ("-bc", Last(3)),
            ("-cb", Last(3)),
            ("-nb", Last(2)),
            ("-bn", Last(2)),
            ("-Bb", Last(3)),
            ("-bB", Last(3)),
            ("-Bbn", Last(2)),
            ("-nbB", Last(2)),
            ("-Bbc", Last(3)),
            ("-cBb", Last(3)),
            ("-bnB", Last(2)),
            ("-nbm", Last(2)),
        ],
    ),
    program("rabbitmqctl", "", &[("add_user", Last(2)), ("change_password", Last(2))]),
    program("openssl", "enc", &[("-k", Next), ("-K", Next)]),
    program("openssl", "", &[("-passin", Next), ("-passout", Next), ("-pass", Next)]),
    program("vault", "login", &[("login", Last(1))]),
    behind("mc alias", program("mc", "alias", &[("set", Last(4))])),
    program("wpa_passphrase", "", &[("wpa_passphrase", Last(2))]),
    program("ipmitool", "", &[("-P", Next)]),
    program("snmpwalk", "", &[("-A", Next), ("-X", Next)]),
    program("evil-winrm", "", &[("-p", Next)]),
    program("crackmapexec", "", &[("-p", Next)]),
    program("neo4j-admin", "", &[("set-initial-password", Last(1))]),
    program("cypher-shell", "", &[("-p", Next)]),
    program("influx", "", &[("-password", Next)]),
    program("kubectl", "secret", &[("--from-literal", Next)]),
    program("keytool", "", &[("-storepass", Next), ("-keypass", Next)]),
    program("useradd", "", &[("-p", Next)]),
    program("usermod", "", &[("-p", Next)]),
    program("nmcli", "", &[("password", Last(1))]),
    behind("lftp ", program("lftp", "", &[("-u", Next)])),
    program("gpg", "", &[("--passphrase", Next)]),
    behind("gh secret", program("gh", "secret", &[("--body", Next), ("-b", Next)])),
    program("ssh-keygen", "", &[("-N", Next), ("-P", Next)]),
    program("svn", "", &[("--password", Next)]),
    program("jenkins-cli.jar", "", &[("-auth", Pair)]),
    program("jenkins-cli", "", &[("-auth", Pair)]),
    program("sqlplus", "", &[("", Slash)]),
    program("sqlplus64", "", &[("", Slash)]),
    program("sqlldr", "", &[("userid=", Slash), ("", Slash)]),
    program("expdp", "", &[("userid=", Slash), ("", Slash)]),
    program("impdp", "", &[("userid=", Slash), ("", Slash)]),
    program("rman", "", &[("target=", Slash), ("", Slash)]),
    program("tnsping", "", &[("", Slash)]),
    program("mysqlcheck", "", &[("-p", Attached)]),
    program("mysqlbinlog", "", &[("-p", Attached)]),
    program("mysqlslap", "", &[("-p", Attached)]),
    program("mysqlsh", "", &[("-p", Attached)]),
    program("mycli", "", &[("-p", Next)]),
    program("litecli", "", &[("-p", Next)]),
    program("mongofiles", "", &[("-p", Next)]),
    program("mongostat", "", &[("-p", Next)]),
    program("couchbase-cli", "", &[("-p", Next)]),
    program("cbbackupmgr", "", &[("-p", Next)]),
    program("beeline", "", &[("-p", Next)]),
    program("vsql", "", &[("-w", Next)]),
    program("nzsql", "", &[("-pw", Next)]),
    program("tsql", "", &[("-P", Next)]),
    behind("db2 connect", program("db2", "connect", &[("using", Last(1))])),
    program("redis-benchmark", "", &[("-a", Next)]),
    program("valkey-cli", "", &[("-a", Next)]),
    program("keydb-cli", "", &[("-a", Next)]),
    program("twine", "", &[("-p", Next)]),
    program("conan", "", &[("-p", Next)]),
    behind("cargo login", program("cargo", "login", &[("login", Made(1))])),
    behind("nuget setapikey", program("nuget", "setapikey", &[("setapikey", Made(1))])),
    behind("nuget setApiKey", program("nuget", "setApiKey", &[("setApiKey", Made(1))])),
    program("codecov", "", &[("-t", Made(1))]),
    program("gitlab-runner", "register", &[("-r", Made(1))]),
    program("netlify", "", &[("--auth", Made(1)), ("-a", Made(1))]),
    program("vercel", "", &[("-t", Made(1))]),
    program("rclone", "obscure", &[("obscure", Last(1))]),
    behind("vault operator", program("vault", "operator", &[("unseal", Made(1))])),
    behind("vault unseal", program("vault", "unseal", &[("unseal", Made(1))])),
    behind("bw login", program("bw", "login", &[("login", Last(2))])),
    behind("bw unlock", program("bw", "unlock", &[("unlock", Last(1))])),
    program("smbmap", "", &[("-p", Next)]),
    program("winexe", "", &[("-U", Percent)]),
    program("smbget", "", &[("-U", Percent)]),
    program("smbcacls", "", &[("-U", Percent)]),
    program("wbinfo", "", &[("-a", Percent)]),
    behind("net rpc", program("net", "rpc", &[("-U", Percent)])),
    behind("net ads", program("net", "ads", &[("-U", Percent)])),
    behind("net use", program("net", "use", &[("\\\\", After)])),
    behind(
        "samba-tool user",
        program("samba-tool", "user", &[("create", Last(2)), ("add", Last(2))]),
    ),
    program("netexec", "", &[("-p", Next)]),
    behind("nxc ", program("nxc", "", &[("-p", Next)])),
    program("plink", "", &[("-pw", Next)]),
    program("plink.exe", "", &[("-pw", Next)]),
    program("pscp", "", &[("-pw", Next)]),
    program("psftp", "", &[("-pw", Next)]),
    program("psexec", "", &[("-p", Next)]),
    program("kadmin", "", &[("-w", Next), ("-pw", Next)]),
    program("kadmin.local", "", &[("-pw", Next)]),
    program("addprinc", "", &[("-pw", Next)]),
    program("ldapcompare", "", &[("-w", Next)]),
    program("ldapmodrdn", "", &[("-w", Next)]),
    program("cmdkey", "", &[("/pass:", Attached)]),
    program("schtasks", "", &[("/RP", Next), ("/rp", Next)]),
    program("mosquitto_passwd", "", &[("-b", Last(3))]),
    program("mosquitto_rr", "", &[("-P", Next)]),
    program("rabbitmqadmin", "", &[("-p", Next)]),
    program("rabbitmqctl", "", &[("authenticate_user", Last(2))]),
    program("ncftpput", "", &[("-p", Next)]),
    program("ncftpget", "", &[("-p", Next)]),
    program("7zz", "", &[("-p", Attached)]),
    program("7zr", "", &[("-p", Attached)]),
    program("zipcloak", "", &[("-P", Next)]),
    program("pdftk", "", &[("input_pw", Last(1)), ("user_pw", Last(1)), ("owner_pw", Last(1))]),
    behind("security unlock-", program("security", "unlock-keychain", &[("-p", Next)])),
    behind("security create-", program("security", "create-keychain", &[("-p", Next)])),
    behind("security set-key", program("security", "set-key-partition-list", &[("-k", Next)])),
    behind("security import", program("security", "import", &[("-P", Next)])),
    program("signtool", "", &[("/p", Next)]),
    program("jarsigner", "", &[("-storepass", Next), ("-keypass", Next)]),
    program("xfreerdp3", "", &[("/p:", Attached)]),
    program("wlfreerdp", "", &[("/p:", Attached)]),
    behind("snyk auth", program("snyk", "auth", &[("auth", Made(1))])),
    program("doctl", "auth", &[("-t", Made(1))]),
    behind("wandb login", program("wandb", "login", &[("login", Made(1))])),
    program("newrelic", "", &[("-k", Made(1))]),
    behind("comet login", program("comet", "login", &[("login", Made(1))])),
    behind("ngrok authtoken", program("ngrok", "authtoken", &[("authtoken", Made(1))])),
    behind("ngrok config", program("ngrok", "config", &[("add-authtoken", Made(1))])),
    behind("sentry-cli login", program("sentry-cli", "login", &[("--auth-token", Made(1))])),
    behind("heroku auth", program("heroku", "", &[("auth:token", Made(1))])),
    program("hcloud", "", &[("--token", Made(1))]),
    program("linode-cli", "", &[("--root_pass", Next)]),
    program("influx", "", &[("-t", Made(1))]),
    program("consul", "", &[("-token", Made(1))]),
    program("nomad", "", &[("-token", Made(1))]),
    program("boundary", "", &[("-token", Made(1)), ("-password", Next)]),
    program("argocd", "login", &[("--password", Next)]),
    program("zabbix_get", "", &[("--tls-psk", Next)]),
    program("openconnect", "", &[("--form-entry", Next)]),
    program("xfreerdp2", "", &[("/p:", Attached)]),
    program("impacket-secretsdump", "", &[("-p", Next)]),
    program("isql-fb", "", &[("-p", Next), ("-password", Next)]),
    program("hdbsql", "", &[("-p", Next)]),
    program("hdbuserstore", "", &[("set", Last(4)), ("SET", Last(4))]),
    program("clickhouse-client", "", &[("--password", Next)]),
    program("swift", "", &[("-K", Next)]),
    program("s3cmd", "", &[("--secret_key", Next), ("--access_key", Made(1))]),
    program("aria2c", "", &[("--http-passwd", Next), ("--rpc-secret", Next)]),
    program("wget", "", &[("--http-passwd", Next)]),
    program("websocat", "", &[("--basic-auth", Pair)]),
    program("nordvpn", "login", &[("--token", Made(1))]),
    program("pritunl-client", "", &[("-p", Next)]),
    program("ykman", "", &[("-P", Next)]),
    program("qpdf", "", &[("--encrypt", Last(1))]),
    program("gsql", "", &[("-W", Next)]),
    program("ksql", "", &[("-p", Next)]),
    program("dolt", "", &[("-p", Next)]),
    program("bitcoin-cli", "", &[("importprivkey", Made(1)), ("walletpassphrase", Last(1))]),
];

/// The name of a program begins here.
pub fn look(hit: &Hit<'_>, program: &Program, found: &mut Found<'_>) {
    let end = hit.at + program.name.len();
    let before = hit.at.checked_sub(1).map_or(b' ', |place| at(hit.line, place));
    // A name of its own, not a part of one: the end of a path is fine.
    if !matches!(
        before,
        b' ' | b'\t'
            | b'/'
            | b'"'
            | b'\''
            | b'`'
            | b'('
            | b'|'
            | b';'
            | b'&'
            | b'$'
            | b'['
            | b','
            | b'>'
            | b':'
            | b'='
    ) || !matches!(at(hit.line, end), b' ' | b'\t' | b'"' | b'\'')
    {
        return;
    }
    let mut words = Words { line: hit.line, place: end };
    let mut verb = program.verb.is_empty();
    let mut seen = 0;
    while let Some((start, stop)) = words.next() {
        seen += 1;
        let word = hit.line.get(start..stop).unwrap_or_default();
        if seen > 64 || matches!(word, b"|" | b"||" | b"&&" | b";") {
            return;
        }
        verb = verb || word == program.verb.as_bytes();
        if !verb {
            continue;
        }
        for (option, takes) in program.options {
            if *takes == Cookies && word == option.as_bytes() {
                let cookies = words.clone().next().map(|(from, to)| unquoted(hit.line, from, to));
                let (from, to) = cookies.unwrap_or_default();
                headers::pairs(hit.line, from, to, false, found);
                continue;
            }
            if let Some((from, to)) = secret(hit.line, &words, (start, stop), option, *takes) {
                found.add(from, to, "password-argument");
            }
        }
    }
}

/// The secret that belongs to an option, if the word is that option.
fn secret(
    line: &[u8],
    words: &Words<'_>,
    word: (usize, usize),
    option: &str,
    takes: Takes,
) -> Option<(usize, usize)> {
    let text = line.get(word.0..word.1)?;
    if takes == Slash {
        return user_and_secret(line, word, option);
    }
    let attached = match takes {
        // `zip -rP`: short options of one letter in one word.
        Next if is_bundle(text, option) => b"",
        _ => text.strip_prefix(option.as_bytes())?,
    };
    let (start, end) = match takes {
        After => words.clone().next()?,
        Last(count) | Made(count) if attached.is_empty() => last(line, words, count)?,
        Last(_) | Made(_) => return None,
        Attached if attached.is_empty() => return None,
        _ if attached.is_empty() => words.clone().next()?,
        Next | Pair | Percent if option.starts_with("--") || option.len() > 2 => {
            let rest = attached.strip_prefix(b"=")?;
            (word.1 - rest.len(), word.1)
        }
        _ => (word.0 + option.len(), word.1),
    };
    let (start, end) = unquoted(line, start, end);
    let value = line.get(start..end)?;
    let skip = match takes {
        Pair => value.iter().position(|byte| *byte == b':')? + 1,
        Percent => value.iter().position(|byte| *byte == b'%')? + 1,
        Cookies => return None,
        Made(_) if !Makeup::of(value).is_random() => return None,
        After if value.starts_with(b"/") || value.starts_with(b"*") => return None,
        _ if value.starts_with(b"pass:") => 5,
        _ if option == "--from-literal" => value.iter().position(|byte| *byte == b'=')? + 1,
        _ if option == "-u" => value.iter().position(|byte| *byte == b',')? + 1,
        _ => 0,
    };
    let value = value.get(skip..)?;
    is_value(value).then_some((start + skip, end))
}

/// The last of so many words. Options of one letter may stand between; a long one may have a word of its own.
fn last(line: &[u8], words: &Words<'_>, count: usize) -> Option<(usize, usize)> {
    let text = |range: &(usize, usize)| line.get(range.0..range.1).unwrap_or_default();
    let rest = words.clone().filter(|range| !matches!(text(range), [b'-', _]));
    rest.take_while(|range| !text(range).starts_with(b"-")).nth(count - 1)
}

/// `-rP` where `-P` is meant: capitals only, for `-np` may be anything.
fn is_bundle(text: &[u8], option: &str) -> bool {
    let [b'-', letter] = option.as_bytes() else { return false };
    matches!(text, [b'-', front @ .., last] if last == letter
        && letter.is_ascii_uppercase()
        && (1..4).contains(&front.len())
        && front.iter().all(u8::is_ascii_lowercase))
}

/// `scott/tiger@host`, as Oracle's programs take it.
fn user_and_secret(line: &[u8], word: (usize, usize), option: &str) -> Option<(usize, usize)> {
    let (start, end) = unquoted(line, word.0, word.1);
    let start = if line.get(start..end)?.starts_with(option.as_bytes()) {
        start + option.len()
    } else {
        return None;
    };
    let text = line.get(start..end)?;
    let is_user = |byte: &u8| byte.is_ascii_alphanumeric() || b"_$#".contains(byte);
    let user = text.iter().take_while(|byte| is_user(byte)).count();
    if user == 0 || text.get(user) != Some(&b'/') {
        return None;
    }
    let rest = text.get(user + 1..)?;
    // In quotes it may have any sign.
    let quoted =
        rest.strip_prefix(b"\"").and_then(|rest| rest.iter().position(|byte| *byte == b'"'));
    let host = || rest.iter().position(|byte| *byte == b'@').unwrap_or(rest.len());
    let length = quoted.map_or_else(host, |length| length + 2);
    let value = rest.get(..length)?;
    // A file, where no host follows: `sqlplus scripts/nightly.sql`.
    let file = length == rest.len() && (value.contains(&b'/') || value.contains(&b'.'));
    let inset = usize::from(quoted.is_some() && length > 4);
    let from = start + user + 1;
    (!file && is_value(value)).then_some((from + inset, from + length - inset))
}

fn is_value(value: &[u8]) -> bool {
    let refers = matches!(value.first(), Some(b'$' | b'<' | b'{' | b'-' | b'%' | b'`' | b'@'))
        || [&b"env:"[..], b"file:", b"stdin", b"fd:"].iter().any(|one| value.starts_with(one));
    let port = value.iter().all(|byte| byte.is_ascii_digit() || *byte == b':') && value.len() < 6;
    value.len() > 2 && !refers && !port && !vocabulary::is_placeholder(value)
}

/// Without the quotes around it.
fn unquoted(line: &[u8], start: usize, end: usize) -> (usize, usize) {
    match opening_quote(line, start) {
        Some(quote) if end >= start + 2 * quote.length() => {
            (start + quote.length(), end - quote.length())
        }
        _ => (start, end),
    }
}

/// The words of a command, quotes and all.
#[derive(Clone)]
struct Words<'a> {
    line: &'a [u8],
    place: usize,
}

impl Iterator for Words<'_> {
    type Item = (usize, usize);

    fn next(&mut self) -> Option<Self::Item> {
        let mut start = after_spaces(self.line, self.place);
        // A list of words in code: `["mysql", "-pSECRET"]`.
        while matches!(at(self.line, start), b',' | b' ')
            || start == self.place && matches!(at(self.line, start), b'"' | b'\'')
        {
            start += 1;
        }
        let listed = matches!(at(self.line, self.place), b'"' | b'\'');
        if start >= self.line.len() || matches!(at(self.line, start), b']' | b')') {
            return None;
        }
        let mut end = start;
        while end < self.line.len() {
            if let Some(quote) = opening_quote(self.line, end) {
                let inner = end + quote.length();
                match closing_quote(self.line, inner, quote) {
                    Some(close) => end = close + quote.length(),
                    None => break,
                }
            } else if matches!(at(self.line, end), b' ' | b'\t' | b'\r' | b'\n' | b',')
                && (listed || at(self.line, end) != b',')
                || matches!(at(self.line, end), b'`')
            {
                break;
            } else {
                end += 1;
            }
        }
        self.place = end.max(start + 1);
        if end <= start {
            return None;
        }
        if listed && opening_quote(self.line, start).is_some() {
            return Some(unquoted(self.line, start, end));
        }
        Some((start, end))
    }
}
