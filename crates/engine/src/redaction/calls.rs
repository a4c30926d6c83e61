//! Calls that take a login by position: `new PDO(address, user, password)`, `smtp.login(user, password)`.

use super::around::after_wrapper;
use super::chosen;
use super::found::{Found, Hit};
use super::names::{Name, Promise};
use super::reading::{at, closing_quote, opening_quote};
use super::sure::is_given;
use super::values::{Form, Makeup, is_application_password, is_secret};

/// How calls begin, and the number of the argument that is the password.
#[rustfmt::skip]
pub const CALLS: &[(&str, usize)] = &[
    ("auth=(", 2), ("auth = (", 2), ("BasicAuth(", 2), ("DigestAuth(", 2), ("auth.basic(", 2),
    ("Credentials.basic(", 2), ("NetworkCredential(", 2), ("PasswordAuthentication(", 2), ("PlainAuth(", 3),
    (".login(", 2), (".authenticate(", 2), ("ftp_login(", 3), ("ssh2_auth_password(", 3), ("PDO(", 3),
    ("getConnection(", 3), ("mysql.connect(", 3), ("mysqldb.connect(", 3), ("mysqli(", 3), ("mysqli_connect(", 3),
    ("mysql_connect(", 3), ("mysql_pconnect(", 3), ("mssql_connect(", 3), ("sqlsrv_connect(", 3),
    ("odbc_connect(", 3), ("DBI->connect(", 3), ("DBI.connect(", 3), ("oci_connect(", 2), ("oracle.connect(", 2),
    ("oracledb.connect(", 2), ("ssh.connect(", 4), ("imap_open(", 3), ("ldap_bind(", 3), (".simple_bind_s(", 2), ("ldap_simple_bind_s(", 3),
    ("jwt.sign(", 2), ("jwt.verify(", 2), ("jwt.encode(", 2), ("jwt.decode(", 2), ("jsonwebtoken.sign(", 2),
    ("createHmac(", 2), ("hash_hmac(", 3), ("hmac.hexdigest(", 2), ("hmac.digest(", 2), ("hmac.new(", 1),
    ("hmac.new(sha256.new,", 1), ("hmac.new(sha512.new,", 1), ("hmac.new(sha1.new,", 1), ("HmacSHA256(", 2),
    ("HmacSHA1(", 2), ("cookieParser(", 1), ("cookie_parser(", 1), ("fernet(", 1), ("signWith(", 2),
    ("SecretKeySpec(", 1), ("hmacShaKeyFor(", 1), ("SymmetricSecurityKey(Encoding.UTF8.GetBytes(", 1),
    ("SymmetricSecurityKey(Encoding.ASCII.GetBytes(", 1), (".PlainCredentials(", 2), ("AuthTokens.basic(", 2),
    ("ssh.Password(", 1), ("redis.auth(", 1), (".auth_plain(", 2), ("UserPassCredentials(", 2),
    ("UsernamePasswordCredential(", 4), ("PlainAuthenticator(", 2), ("CredentialsProvider(", 2),
    ("PasswordCredential(", 2), (".setCredentials(", 2), (".withCredentials(", 2), (".withBasicAuth(", 2),
    (".basicAuthentication(", 2), ("httpBasic(", 2), (".setBasicAuth(", 2), (".auth_basic(", 2),
    ("pymssql.connect(", 3), ("ibm_db.connect(", 3), ("MongoCredential.createCredential(", 3), ("ftplib.FTP(", 3),
    ("paramiko.connect(", 4), ("Net::SSH.start(", 3), ("SimpleCredentials(", 2), ("XmppClient(", 2),
    ("mysql_real_connect(", 4), ("mysql_change_user(", 3), ("PQsetdbLogin(", 7), ("PG::Connection.new(", 7),
    ("PG::Connection.open(", 7), ("SQLConnect(", 6), ("SQLConnectA(", 6), ("driver->connect(", 3), ("instance()->connect(", 3),
    ("conn.connect(", 4), ("pymysql.connect(", 3), ("dbapi.connect(", 4), ("cass_cluster_set_credentials(", 3),
    ("mosquitto_username_pw_set(", 3), (".username_pw_set(", 2), ("ssh_userauth_password(", 3),
    ("libssh2_userauth_password(", 3), ("WiFi.begin(", 2), ("WiFi.softAP(", 2), ("WiFiMulti.addAP(", 2),
    ("wifiMulti.addAP(", 2), ("AUTH %s\",", 1), ("oci_pconnect(", 2), ("oci_new_connect(", 2), ("ocilogon(", 2),
    ("db2_connect(", 3), ("ibase_connect(", 3), ("fbird_connect(", 3), ("sybase_connect(", 3), ("sqlite3_key(", 2),
    ("PKCS12_parse(", 2), ("X509Certificate2(", 2), ("keyStore.load(", 2), ("ks.load(", 2),
    ("signInWithEmailAndPassword(", 3), ("createUserWithEmailAndPassword(", 3), ("signInWithPassword(", 2),
];

/// The arguments begin here, of which one may be a key.
pub fn look_for_key(hit: &Hit<'_>, from: usize, wanted: usize, found: &mut Found<'_>) {
    let before = hit.at.checked_sub(1).map_or(b' ', |place| at(hit.line, place));
    if before.is_ascii_alphanumeric() || before == b'_' {
        return;
    }
    let Some(place) = argument(hit.line, from, wanted) else { return };
    let place = after_wrapper(hit.line, place);
    let Some(quote) = opening_quote(hit.line, place) else { return };
    let mut start = place + quote.length();
    let Some(mut end) = closing_quote(hit.line, start, quote) else { return };
    // `"\"…\""`: a string of the program that is made.
    if let Some(inner) = opening_quote(hit.line, start).filter(|inner| inner.length() > 1) {
        start += inner.length();
        end = end.saturating_sub(inner.length()).max(start);
    }
    let text = hit.line.get(start..end).unwrap_or_default();
    let schemes: [&[u8]; 2] = [b"Bot ", b"Bearer "];
    let scheme = schemes.iter().find(|one| text.starts_with(one));
    start += scheme.map_or(0, |scheme| scheme.len());
    let text = hit.line.get(start..end).unwrap_or_default();
    let name = Name { promise: Promise::Secret, kind: "api-key", capitals: false, last: true };
    // `meta-llama/Llama-3-8B`: the name of a model or of a repository.
    let named = text.contains(&b'/') && text.contains(&b'-');
    if !named && Makeup::of(text).is_random() && is_secret(text, name, Form::Quoted) {
        found.add(start, end, "api-key");
    }
}

/// The arguments begin here.
pub fn look(hit: &Hit<'_>, from: usize, wanted: usize, found: &mut Found<'_>) {
    let Some(place) = argument(hit.line, from, wanted) else { return };
    // `b"…"`, `[]byte("…")`
    let place = after_wrapper(hit.line, place);
    let Some(quote) = opening_quote(hit.line, place) else { return };
    let start = place + quote.length();
    let Some(end) = closing_quote(hit.line, start, quote) else { return };
    let text = hit.line.get(start..end).unwrap_or_default();
    let name = Name { promise: Promise::Password, kind: "password", capitals: false, last: true };
    let behind = end + quote.length();
    let rest = hit.line.get(behind..).unwrap_or_default();
    let whole = matches!(at(rest, 0), b',' | b')' | b' ' | 0)
        || rest.starts_with(b".toCharArray")
        || rest.starts_with(b".getBytes");
    let user = argument(hit.line, from, wanted - 1).map_or(0, |place| at(hit.line, place));
    let whole = whole && !user.is_ascii_digit();
    // `.login(` may be anybody's: there words need a number.
    let own = at(hit.line, hit.at) != b'.' || text.iter().any(u8::is_ascii_digit);
    let joined = own && chosen::is_joined(text) && is_secret(text, name, Form::Argument);
    let chosen = own && chosen::is_chosen(text) && is_given(text, name);
    if whole
        && (joined
            || chosen
            || is_secret(text, name, Form::Quoted)
            || is_application_password(text))
    {
        found.add(start, end, "password");
    }
}

/// Where the argument of this number begins, without the spaces before it.
pub fn argument(line: &[u8], from: usize, wanted: usize) -> Option<usize> {
    let mut place = from;
    let mut number = 1;
    let mut depth = 0_usize;
    while number < wanted {
        if place > from + 512 {
            return None;
        }
        if let Some(quote) = opening_quote(line, place) {
            place = closing_quote(line, place + quote.length(), quote)? + quote.length();
            continue;
        }
        match line.get(place)? {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.checked_sub(1)?,
            b',' if depth == 0 => number += 1,
            _ => {}
        }
        place += 1;
    }
    Some(super::reading::after_spaces(line, place))
}
