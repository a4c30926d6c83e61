//! Calls that take a login by position: `new PDO(address, user, password)`, `smtp.login(user, password)`.

use super::around::after_wrapper;
use super::chosen;
use super::found::{Found, Hit};
use super::names::{Name, Promise};
use super::reading::{at, closing_quote, opening_quote};
use super::values::{Form, is_application_password, is_secret};

/// How calls begin, and the number of the argument that is the password.
pub const CALLS: &[(&str, usize)] = &[
    ("auth=(", 2),
    ("auth = (", 2),
    ("BasicAuth(", 2),
    ("DigestAuth(", 2),
    ("auth.basic(", 2),
    ("Credentials.basic(", 2),
    ("NetworkCredential(", 2),
    ("PasswordAuthentication(", 2),
    ("PlainAuth(", 3),
    (".login(", 2),
    (".authenticate(", 2),
    ("ftp_login(", 3),
    ("ssh2_auth_password(", 3),
    ("PDO(", 3),
    ("getConnection(", 3),
    ("mysql.connect(", 3),
    ("mysqldb.connect(", 3),
    ("mysqli(", 3),
    ("mysqli_connect(", 3),
    ("mysql_connect(", 3),
    ("mysql_pconnect(", 3),
    ("mssql_connect(", 3),
    ("sqlsrv_connect(", 3),
    ("odbc_connect(", 3),
    ("DBI->connect(", 3),
    ("DBI.connect(", 3),
    ("oci_connect(", 2),
    ("oracle.connect(", 2),
    ("oracledb.connect(", 2),
    ("ssh.connect(", 4),
    ("imap_open(", 3),
    ("ldap_bind(", 3),
    ("simple_bind_s(", 2),
    ("jwt.sign(", 2),
    ("jwt.verify(", 2),
    ("jwt.encode(", 2),
    ("jwt.decode(", 2),
    ("jsonwebtoken.sign(", 2),
    ("createHmac(", 2),
    ("hash_hmac(", 3),
    ("hmac.hexdigest(", 2),
    ("hmac.digest(", 2),
    ("hmac.new(", 1),
    ("hmac.new(sha256.new,", 1),
    ("hmac.new(sha512.new,", 1),
    ("hmac.new(sha1.new,", 1),
    ("HmacSHA256(", 2),
    ("HmacSHA1(", 2),
    ("cookieParser(", 1),
    ("cookie_parser(", 1),
    ("fernet(", 1),
    ("signWith(", 2),
    ("SecretKeySpec(", 1),
    ("hmacShaKeyFor(", 1),
    ("SymmetricSecurityKey(Encoding.UTF8.GetBytes(", 1),
    ("SymmetricSecurityKey(Encoding.ASCII.GetBytes(", 1),
];

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
    if whole && (joined || is_secret(text, name, Form::Quoted) || is_application_password(text)) {
        found.add(start, end, "password");
    }
}

/// Where the argument of this number begins, without the spaces before it.
fn argument(line: &[u8], from: usize, wanted: usize) -> Option<usize> {
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
