//! Lines that are known by their shape as a whole: `.pgpass`, `.htpasswd`, netrc, SQL, protocols of mail servers.

use super::blocks::Begun;
use super::found::{Found, Hit, Memory};
use super::reading::{Stops, after_spaces, at, closing_quote, opening_quote, unquoted_end};
use super::references::is_crypted;
use super::values::Makeup;
use super::{
    addresses, below, commands, devices, headers, logins, pipes, prompts, statements, vocabulary,
    wallets,
};

/// What kind of line a word of the gate belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Line {
    /// `host:5432:database:user:password`
    PasswordFile,
    /// `user:$apr1$…`
    Crypted,
    /// `machine host login user`
    Login,
    /// `IDENTIFIED BY '…'`
    Sql,
    /// `ACL SETUSER name on >password`
    Acl,
    /// `WIFI:S:name;T:WPA;P:password;;`, as codes for telephones have it.
    Wifi,
    /// `createUser name SHA "password" AES "password"`
    SnmpUser,
    /// `SET PASSWORD FOR user = '…'`
    SqlSet,
    /// `AUTH PLAIN …`
    Mail,
    /// `jdbc:oracle:thin:user/password@host`
    Oracle,
    /// `ConvertTo-SecureString "…"`
    SecureString,
    /// `echo … | login --password-stdin`
    Piped,
    /// `login --with-token <<< …`
    HereString,
    /// `CURLOPT_USERPWD, "user:password"`
    UserPassword,
    /// A key of a wallet in Base58.
    Wallet,
    /// The words that a wallet can be recovered with.
    Phrase,
    /// `recovery codes` and what follows.
    Codes,
    /// A command that prints a secret, if it is one.
    Command,
    /// `snmp-server community …`
    Community,
    /// `net user name password`
    WindowsUser,
    /// `auth=("user", "password")`
    Pair,
    /// `[host]:587 user:password`, `static:user:password`
    MailMap,
    /// `Digest …, response="…"`
    Digest,
    /// A line of a file of cookies.
    Jar,
    /// `expect "password:"`, `send "…\r"`
    Dialog,
    /// `echo … | az devops login`
    PipedToken,
    /// `user:password@tcp(host)/database`
    Driver,
    /// `tacacs server …`
    Server,
    /// `user:1001:…:…:::`, as Windows keeps passwords.
    WindowsHash,
    /// `&sk=…`
    QueryKey,
    /// `ftp -n host <<EOF`
    Transfer,
}

pub const WORDS: &[(&str, Line)] = &[
    (":5432:", Line::PasswordFile),
    (":5433:", Line::PasswordFile),
    (":6432:", Line::PasswordFile),
    (":5439:", Line::PasswordFile),
    (":*:*:", Line::PasswordFile),
    (":$apr1$", Line::Crypted),
    (":$2y$", Line::Crypted),
    (":$2a$", Line::Crypted),
    (":$2b$", Line::Crypted),
    (":$1$", Line::Crypted),
    (":$5$", Line::Crypted),
    (":$6$", Line::Crypted),
    (":$y$", Line::Crypted),
    (":{SHA}", Line::Crypted),
    (":{SSHA}", Line::Crypted),
    (":$argon2", Line::Crypted),
    (":$$apr1$$", Line::Crypted),
    (":$$2y$$", Line::Crypted),
    ("machine ", Line::Login),
    ("login ", Line::Login),
    ("login: ", Line::Login),
    ("identified by", Line::Sql),
    ("identified with", Line::Sql),
    ("acl setuser ", Line::Acl),
    ("pragma key", Line::SqlSet),
    ("pragma rekey", Line::SqlSet),
    ("stats auth ", Line::MailMap),
    ("WIFI:", Line::Wifi),
    ("createUser ", Line::SnmpUser),
    ("set password for", Line::SqlSet),
    ("auth plain", Line::Mail),
    ("oracle:thin:", Line::Oracle),
    ("securestring ", Line::SecureString),
    ("-stdin", Line::Piped),
    ("chpasswd", Line::Piped),
    ("kinit", Line::Piped),
    ("sudo -S", Line::Piped),
    ("--passphrase-fd", Line::Piped),
    ("cryptsetup", Line::Piped),
    ("--with-token", Line::Piped),
    ("<<< ", Line::HereString),
    ("<<<\"", Line::HereString),
    ("<<<'", Line::HereString),
    ("userpwd", Line::UserPassword),
    ("privkey", Line::Wallet),
    ("private key", Line::Wallet),
    ("bitcoin", Line::Wallet),
    ("wallet", Line::Wallet),
    ("phrase", Line::Phrase),
    ("mnemonic", Line::Phrase),
    ("seed words", Line::Phrase),
    ("seed: ", Line::Phrase),
    ("seed = ", Line::Phrase),
    ("recovery codes", Line::Codes),
    ("backup codes", Line::Codes),
    ("scratch codes", Line::Codes),
    ("rescue codes", Line::Codes),
    ("emergency codes", Line::Codes),
    ("get-parameter", Line::Command),
    ("op read", Line::Command),
    ("pwgen", Line::Command),
    ("openssl rand", Line::Command),
    ("sops -d", Line::Command),
    ("vault kv", Line::Command),
    ("vault read", Line::Command),
    ("snmp", Line::Community),
    ("rocommunity ", Line::Community),
    ("rwcommunity ", Line::Community),
    ("net user ", Line::WindowsUser),
    ("net.exe user ", Line::WindowsUser),
    ("net1 user ", Line::WindowsUser),
    ("passwd ", Line::Piped),
    ("keepassxc-cli", Line::Piped),
    ("expect \"", Line::Dialog),
    ("send \"", Line::Dialog),
    ("send -- \"", Line::Dialog),
    // The end of a flag, and the path that most cookies have.
    ("E\t/\t", Line::Jar),
    ("#HttpOnly_", Line::Jar),
    ("basic_auth", Line::Pair),
    ("UsernamePassword", Line::Pair),
    (":587 ", Line::MailMap),
    (":465 ", Line::MailMap),
    (" static:", Line::MailMap),
    ("response=\"", Line::Digest),
    ("devops login", Line::PipedToken),
    ("auth init", Line::PipedToken),
    ("auth login", Line::PipedToken),
    ("vault login -", Line::PipedToken),
    ("cargo login", Line::PipedToken),
    ("pulumi login", Line::PipedToken),
    ("wandb login", Line::PipedToken),
    ("huggingface-cli login", Line::PipedToken),
    ("snyk auth", Line::PipedToken),
    ("@tcp(", Line::Driver),
    ("@tcp4(", Line::Driver),
    ("@tcp6(", Line::Driver),
    ("@unix(", Line::Driver),
    ("tacacs server ", Line::Server),
    ("radius server ", Line::Server),
    (":::", Line::WindowsHash),
    ("?sk=", Line::QueryKey),
    ("&sk=", Line::QueryKey),
    ("ftp -n", Line::Transfer),
    ("ftp -i", Line::Transfer),
    ("ftp -v", Line::Transfer),
    ("diceware", Line::Command),
    ("apg -", Line::Command),
];

pub fn look(
    hit: &Hit<'_>,
    line: Line,
    length: usize,
    memory: &mut Memory,
    found: &mut Found<'_>,
) -> Begun {
    match line {
        Line::Wallet => return wallets::look_for_key(hit, found),
        Line::Phrase => return wallets::look_for_words(hit, length, found),
        Line::Codes => return wallets::look_for_codes(hit, length, found),
        Line::Command => return commands::look(hit, memory, found),
        Line::Transfer => return below::transfer(hit),
        Line::Piped if hit.rest().starts_with(b"chpasswd") => {
            pipes::piped(hit, found);
            return below::users(hit);
        }
        _ => look_at_line(hit, line, length, memory, found),
    }
    Begun::Nothing
}

fn look_at_line(
    hit: &Hit<'_>,
    line: Line,
    length: usize,
    memory: &mut Memory,
    found: &mut Found<'_>,
) {
    match line {
        Line::Wallet | Line::Phrase | Line::Codes | Line::Command | Line::Transfer => {}
        Line::Community => logins::community(hit, hit.at + length, found),
        Line::PasswordFile => password_file(hit, found),
        Line::Crypted => crypted(hit, found),
        Line::Login => {
            let before = hit.line.get(..hit.at).unwrap_or_default();
            let first = hit.begins && before.iter().all(|byte| matches!(byte, b' ' | b'\t'));
            let first = first && is_entry(hit.line, hit.at + length);
            if first || before.ends_with(b" ") && memory.login_is_near(hit.absolute(hit.at)) {
                memory.remember_login(hit.absolute(hit.at));
            }
            logins::look(hit, hit.at + length, found);
        }
        Line::SqlSet => {
            let equals = hit.rest().iter().take(120).position(|byte| *byte == b'=');
            if let Some(equals) = equals {
                quoted(hit, hit.at + equals + 1, "password", found);
            }
        }
        // In prose it is names in backticks that things are identified by.
        Line::Sql if at(hit.line, after_spaces(hit.line, hit.at + length)) == b'`' => {}
        Line::Sql => statements::identified(hit, hit.at + length, found),
        Line::Acl => statements::access_list(hit, length, found),
        Line::Wifi => statements::wifi(hit, found),
        Line::SnmpUser => statements::snmp_user(hit, found),
        Line::SecureString => {
            let rest = after_spaces(hit.line, hit.at + length);
            let option = hit.line.get(rest..).is_some_and(|rest| rest.starts_with(b"-String "));
            quoted(hit, if option { rest + 8 } else { rest }, "password", found);
        }
        Line::Mail => word(hit, hit.at + length, "authorization-header", found),
        Line::Oracle => logins::oracle(hit, hit.at + length, found),
        Line::Piped => pipes::piped(hit, found),
        Line::HereString => pipes::here_string(hit, found),
        Line::UserPassword => logins::user_password(hit, hit.at + length, found),
        Line::Pair => logins::pair(hit, hit.at + length, found),
        Line::MailMap => logins::mail_map(hit, hit.at + length, found),
        Line::Digest => {
            let before = hit.line.get(..hit.at).unwrap_or_default();
            if before.windows(7).any(|window| window.eq_ignore_ascii_case(b"digest ")) {
                quoted(hit, hit.at + length - 1, "authorization-header", found);
            }
        }
        Line::WindowsUser => logins::windows_user(hit, hit.at + length, found),
        Line::Dialog => prompts::dialog(hit, length, memory, found),
        Line::PipedToken => pipes::piped_token(hit, found),
        Line::Driver => addresses::of_driver(hit, found),
        Line::Server => devices::server(hit, memory),
        Line::WindowsHash => windows_hash(hit, found),
        Line::QueryKey => {
            let start = hit.at + length;
            let end = unquoted_end(hit.line, start, Stops::Query);
            if hit.line.get(start..end).is_some_and(|text| Makeup::of(text).is_random()) {
                found.add(start, end, "url-secret");
            }
        }
        Line::Jar => {
            headers::look_for_jar(hit, found);
        }
    }
}

pub fn is_real(text: &[u8]) -> bool {
    text.len() > 2
        && !matches!(text.first(), Some(b'$' | b'<' | b'{' | b'%' | b':' | b'/' | b'?' | b'@'))
        && !vocabulary::is_placeholder(text)
}

/// One word follows and then nothing, or the next word of the file: `login failed: password expired` is a sentence.
fn is_entry(line: &[u8], place: usize) -> bool {
    let start = after_spaces(line, place);
    let end = unquoted_end(line, start, Stops::Line);
    let next = line.get(after_spaces(line, end)..).unwrap_or_default().trim_ascii();
    let words: [&[u8]; 7] =
        [b"login ", b"password ", b"passwd ", b"account ", b"port ", b"protocol ", b"#"];
    end > start
        && !matches!(at(line, end - 1), b':' | b',')
        && (next.is_empty() || words.iter().any(|word| next.starts_with(word)))
}

/// Five fields; the first on a line of its own.
fn password_file(hit: &Hit<'_>, found: &mut Found<'_>) {
    let mut fields = Vec::with_capacity(5);
    let mut start = 0;
    for (place, byte) in hit.line.iter().enumerate() {
        if *byte == b':' && !(place > 0 && at(hit.line, place - 1) == b'\\') && fields.len() < 4 {
            fields.push((start, place));
            start = place + 1;
        }
    }
    let password = hit.line.get(start..).unwrap_or_default().trim_ascii_end();
    let spaces = hit.line.iter().any(|byte| matches!(byte, b' ' | b'\t' | b'"' | b'/'));
    if hit.begins && fields.len() == 4 && !spaces && is_real(password) {
        found.add(start, start + password.len(), "password-file");
    }
}

/// `name:` at the beginning of a line or of a string, and then what a password was turned into.
fn crypted(hit: &Hit<'_>, found: &mut Found<'_>) {
    let before = hit.line.get(..hit.at).unwrap_or_default();
    let name = before
        .iter()
        .rev()
        .take_while(|byte| byte.is_ascii_alphanumeric() || b"._-@".contains(byte))
        .count();
    let front = before.get(..before.len() - name).unwrap_or_default();
    let begins = front.is_empty() && hit.begins
        || matches!(front.last(), Some(b'"' | b'\'' | b'=' | b',' | b' '));
    let start = hit.at + 1;
    let rest = hit.line.get(start..).unwrap_or_default();
    let length = rest
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || b"$./{}=+,-".contains(byte))
        .count();
    let text = rest.get(..length).unwrap_or_default();
    let text = text.strip_suffix(b",").unwrap_or(text);
    if name > 0
        && begins
        && (is_crypted(text)
            || text.starts_with(b"{") && text.len() > 20
            || text.starts_with(b"$$") && text.len() > 24)
    {
        found.add(start, start + text.len(), "password-hash");
    }
}

/// Of the empty password, which everybody knows.
const EMPTY: [&[u8]; 2] =
    [b"aad3b435b51404eeaad3b435b51404ee", b"31d6cfe0d16ae931b73c59d7e0c089c0"];

/// `user:1001:…:…:::`: two hashes of 32 digits, of which the first is of nothing as a rule.
fn windows_hash(hit: &Hit<'_>, found: &mut Found<'_>) {
    let before = hit.line.get(..hit.at).unwrap_or_default();
    let mut fields = before.rsplitn(4, |byte| *byte == b':');
    let (second, first, number) = (fields.next(), fields.next(), fields.next());
    let is_hash = |field: Option<&[u8]>| {
        field.is_some_and(|hash| hash.len() == 32 && hash.iter().all(u8::is_ascii_hexdigit))
    };
    let numbered = number.is_some_and(|id| !id.is_empty() && id.iter().all(u8::is_ascii_digit));
    let is_empty = |field: Option<&[u8]>| {
        field.is_some_and(|hash| EMPTY.iter().any(|empty| hash.eq_ignore_ascii_case(empty)))
    };
    if is_hash(first) && is_hash(second) && numbered && !(is_empty(first) && is_empty(second)) {
        let start = hit.at - if is_empty(first) { 32 } else { 65 };
        found.add(start, hit.at, "password-hash");
    }
}

/// A string in quotes from here.
pub fn quoted(hit: &Hit<'_>, place: usize, kind: &'static str, found: &mut Found<'_>) {
    let mut place = after_spaces(hit.line, place);
    for word in [&b"PASSWORD "[..], b"VALUES "] {
        if hit.line.get(place..).is_some_and(|rest| rest.starts_with(word)) {
            place += word.len();
        }
    }
    let Some(quote) = opening_quote(hit.line, place) else { return };
    let start = place + quote.length();
    let Some(end) = closing_quote(hit.line, start, quote) else { return };
    if hit.line.get(start..end).is_some_and(is_real) {
        found.add(start, end, kind);
    }
}

fn word(hit: &Hit<'_>, place: usize, kind: &'static str, found: &mut Found<'_>) {
    let start = after_spaces(hit.line, place);
    let end = unquoted_end(hit.line, start, Stops::Word);
    let text = hit.line.get(start..end).unwrap_or_default();
    let odd = text.iter().any(|byte| !byte.is_ascii_alphabetic()) || text.len() > 12;
    if start > place && odd && text.len() >= 6 && is_real(text) {
        found.add(start, end, kind);
    }
}

/// What is in the quotes that open here, or the word.
pub fn string_or_word(line: &[u8], start: usize) -> (usize, usize) {
    match opening_quote(line, start) {
        Some(quote) => {
            let start = start + quote.length();
            (start, closing_quote(line, start, quote).unwrap_or(line.len()))
        }
        None => (start, unquoted_end(line, start, Stops::Word)),
    }
}
