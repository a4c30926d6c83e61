//! Commands in a session that was recorded: those that print a secret, so that the next line is one, and those that write one
//! into a file or a store whose name promises it.

use super::blocks::{Begun, Block};
use super::expected::Expected;
use super::found::{Found, Hit, Memory};
use super::names::{self, Name, Promise};
use super::reading::{Stops, after_spaces, at, unquoted_end};
use super::values::Makeup;
use super::{pipes, vocabulary};

/// So much of a line is looked at.
const LOOKED_AT: usize = 512;

/// A line with a word that may be about a secret. Once for each line is enough.
pub fn look(hit: &Hit<'_>, memory: &mut Memory, found: &mut Found<'_>) -> Begun {
    if !hit.begins || !memory.is_new_line(hit.absolute(0)) {
        return Begun::Nothing;
    }
    let line = hit.line.get(..LOOKED_AT.min(hit.line.len())).unwrap_or_default();
    // Most lines are of a log, and have neither.
    if memchr::memchr2(b'>', b'|', line).is_some()
        && let Some((start, end)) = written(line)
    {
        found.add(start, end, "password-argument");
    }
    let Some(place) = prompt_end(line) else { return Begun::Nothing };
    let command = line.get(place..).unwrap_or_default().trim_ascii_end();
    // After an arrow the folder may come first, and the branch.
    let arrow = place > 2 && line.get(..3).is_some_and(|head| head.starts_with(b"\xe2"));
    let words = if arrow { 4 } else { 1 };
    let commands = std::iter::successors(Some(command), |command| {
        let space = command.iter().position(|byte| *byte == b' ')?;
        command.get(space + 1..).map(<[u8]>::trim_ascii_start)
    });
    if commands.clone().take(words).any(prints_a_secret) {
        return Begun::Block(Block::Expected(Expected::Output));
    }
    if commands.take(words).any(asks_for_a_secret) {
        return Begun::Block(Block::Expected(Expected::Announced { name: PRINTED, left: 1 }));
    }
    Begun::Nothing
}

pub fn is_prompt(line: &[u8]) -> bool {
    prompt_end(line).is_some()
}

/// `$ `, `anna@box:~$ `, `~/src % `, `PS C:\> `: where the command begins.
fn prompt_end(line: &[u8]) -> Option<usize> {
    let front = line.get(..80.min(line.len()))?;
    if front.first()?.is_ascii_digit() {
        return None;
    }
    for (place, byte) in front.iter().enumerate() {
        let sign = matches!(byte, b'$' | b'#' | b'%' | b'>') && at(line, place + 1) == b' ';
        // `❯`, `➜`
        let arrow = *byte == 0xaf
            && front.get(..place).is_some_and(|head| head.ends_with(b"\xe2\x9d"))
            || *byte == 0x9c && front.get(..place).is_some_and(|head| head.ends_with(b"\xe2\x9e"));
        if sign || arrow {
            let head = front.get(..place).unwrap_or_default();
            let words = head.split(|byte| *byte == b' ').count();
            let quoted = head.iter().any(|byte| matches!(byte, b'"' | b'\'' | b'`' | b'='));
            return (words <= 3 && !quoted).then(|| after_spaces(line, place + 1));
        }
    }
    None
}

/// How commands begin that print nothing but a secret, and what must stand in them too.
#[rustfmt::skip]
const PRINTING: &[(&str, &[&str])] = &[
    ("vault ", &["-field"]), ("bao ", &["-field"]), ("pass show ", &[]), ("pass -c ", &[]), ("gopass show ", &[]),
    ("gopass -o ", &[]), ("lpass show ", &["--password"]), ("op read ", &["op://"]),
    ("op item get ", &["--fields"]), ("op get item ", &["--fields"]), ("bw get password ", &[]),
    ("bw get totp ", &[]), ("rbw get ", &[]), ("aws secretsmanager get-secret-value ", &["SecretString", "text"]),
    ("aws ssm get-parameter ", &["--with-decryption", "text"]), ("aws ecr get-login-password", &[]),
    ("gcloud secrets versions access ", &[]), ("gcloud auth print-", &["-token"]),
    ("gcloud auth application-default print-", &["-token"]),
    ("az keyvault secret show ", &["value", "tsv"]), ("az account get-access-token ", &["accessToken", "tsv"]),
    ("az storage account keys list ", &["value", "tsv"]), ("az acr credential show ", &["passwords", "tsv"]),
    ("az acr login ", &["--expose-token", "tsv"]),
    ("security find-generic-password ", &["-w"]), ("security find-internet-password ", &["-w"]),
    ("secret-tool lookup ", &[]), ("gh auth token", &[]), ("glab auth token", &[]), ("bitcoin-cli ", &["dumpprivkey"]),
    ("litecoin-cli ", &["dumpprivkey"]), ("doppler secrets get ", &["--plain"]), ("sops ", &["--extract"]),
    ("wg genkey", &[]), ("wg genpsk", &[]), ("pwgen ", &[]), ("openssl rand ", &[]), ("head -c", &["urandom", "base64"]),
    ("keyring get ", &[]), ("chamber read -q ", &[]), ("infisical secrets get ", &["--plain"]),
    ("kubectl create token ", &[]), ("oc whoami -t", &[]), ("oc whoami --show-token", &[]),
    ("argocd account generate-token", &[]), ("npm token create", &[]), ("fly auth token", &[]),
    ("flyctl auth token", &[]), ("heroku auth:token", &[]), ("htpasswd -n", &[]), ("mkpasswd", &[]),
    ("juju show-secret ", &[]), ("credstash get ", &[]), ("consul keygen", &[]), ("nomad operator gossip keyring generate", &[]),
    ("php artisan key:generate --show", &[]), ("rails secret", &[]), ("rake secret", &[]), ("bin/rails secret", &[]),
    ("mix phx.gen.secret", &[]), ("xkcdpass", &[]), ("diceware", &[]), ("apg -", &[]), ("kubeadm token create", &[]),
    ("kubeadm token generate", &[]), ("docker swarm join-token ", &["-q"]), ("k3s token create", &[]), ("uuidgen-secret", &[]), ("ansible-vault decrypt_string", &[]),
];

/// What such a command may be sent through: it is still the secret that is printed.
const PASSING: &[&str] = &[
    "base64 -d",
    "base64 --decode",
    "base64 -D",
    "tr -d",
    "jq -r",
    "head -1",
    "head -n",
    "xargs",
    "cut ",
];

fn prints_a_secret(command: &[u8]) -> bool {
    let has = |text: &[u8], needle: &str| {
        text.windows(needle.len()).any(|window| window == needle.as_bytes())
    };
    let command = ["sudo ", "command ", "time ", "env "]
        .iter()
        .find_map(|one| command.strip_prefix(one.as_bytes()))
        .unwrap_or(command);
    // A comment begins like the prompt of root.
    let prose = [" is ", " the ", " a ", " files"].iter().any(|word| has(command, word));
    if prose || has(command, "--help") || has(command, ">") || has(command, "=$(") {
        return false;
    }
    // The end may be told apart by a new line.
    let command = command
        .strip_suffix(b" ; echo")
        .or(command.strip_suffix(b"; echo"))
        .or(command.strip_suffix(b" && echo"))
        .unwrap_or(command);
    let mut parts = command.split(|byte| *byte == b'|').map(<[u8]>::trim_ascii);
    let first = parts.next().unwrap_or_default();
    if is_of_kubernetes(command) {
        return has(command, "base64decode")
            || (has(command, "jsonpath") || has(command, "-o json") || has(command, "template"))
                && PASSING.iter().take(3).any(|one| command.ends_with(one.as_bytes()));
    }
    for part in parts {
        if !PASSING.iter().any(|one| part.starts_with(one.as_bytes())) {
            return false;
        }
    }
    PRINTING.iter().any(|(begin, needed)| {
        (first.starts_with(begin.as_bytes()) || begin.as_bytes().strip_suffix(b" ") == Some(first))
            && needed.iter().all(|one| has(first, one))
    }) || shows_a_value(first)
}

/// What a command prints that was asked for it by a name that promises something.
const PRINTED: Name =
    Name { promise: Promise::Password, kind: "command-output", capitals: false, last: true };

/// How words end by which programs are asked to show what they keep or to make it.
const ASKING: [&[u8]; 12] = [
    b"initial-password",
    b"get-password",
    b"show-password",
    b"print-password",
    b"generate-password",
    b"generate-token",
    b"print-token",
    b"get-token",
    b"show-token",
    b"create-token",
    b"join-token",
    b"certificate-key",
];

/// `argocd admin initial-password`, `acme token create`: any program, so what it prints must look like it.
fn asks_for_a_secret(command: &[u8]) -> bool {
    if command.iter().any(|byte| matches!(byte, b'|' | b'>' | b'=' | b'"' | b'\'')) {
        return false;
    }
    let words = command.split(|byte| *byte == b' ').filter(|word| !word.is_empty()).take(8);
    let verbs: [&[u8]; 6] = [b"create", b"generate", b"show", b"print", b"get", b"new"];
    let kept: [&[u8]; 3] = [b"token", b"password", b"secret"];
    let pairs = words.clone().skip(1).zip(words.clone().skip(2));
    words.skip(1).any(|word| ASKING.iter().any(|one| word.ends_with(one)))
        || pairs.clone().any(|(word, verb)| kept.contains(&word) && verbs.contains(&verb))
        || pairs.clone().any(|(verb, word)| kept.contains(&word) && verbs.contains(&verb))
}

fn is_of_kubernetes(command: &[u8]) -> bool {
    let has = |needle: &[u8]| command.windows(needle.len()).any(|window| window == needle);
    [&b"kubectl "[..], b"k ", b"oc ", b"microk8s ", b"k3s "]
        .iter()
        .any(|one| command.starts_with(one))
        && (has(b"get secret") || has(b"get -n") && has(b"secret"))
}

/// `cat ~/.vault_pass`, `echo $DB_PASSWORD`, `printenv API_TOKEN`, `heroku config:get API_KEY`: what is shown has a telling name.
fn shows_a_value(command: &[u8]) -> bool {
    let mut words = command.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
    let inner = |text: &[u8]| -> bool {
        let text = text.strip_prefix(b"\"").unwrap_or(text);
        let text = text.strip_prefix(b"$").unwrap_or(text);
        let text = text.strip_prefix(b"{").unwrap_or(text);
        let end = text.iter().position(|byte| !(byte.is_ascii_alphanumeric() || *byte == b'_'));
        end.is_none_or(|end| {
            text.get(end..).is_some_and(|rest| matches!(rest, b"\"" | b"}" | b"}\""))
        }) && promises(text.get(..end.unwrap_or(text.len())).unwrap_or_default())
    };
    let last = words.clone().next_back().unwrap_or_default();
    let count = words.clone().count();
    match words.next() {
        Some(b"echo") => {
            count == 2 && (last.starts_with(b"$") || last.starts_with(b"\"$")) && inner(last)
        }
        Some(b"printenv") => count == 2 && inner(last),
        Some(b"cat") => count == 2 && is_secret_file(last),
        Some(b"docker" | b"podman" | b"kubectl" | b"ssh") => {
            command.windows(5).any(|window| window == b" cat ") && is_secret_file(last)
        }
        Some(b"terraform" | b"tofu" | b"pulumi") => {
            let raw = [&b"-raw"[..], b"get", b"output"];
            words.any(|word| raw.contains(&word)) && promises(last)
        }
        Some(b"heroku" | b"dokku") => {
            words.next().is_some_and(|word| word == b"config:get")
                && words.any(|word| !word.starts_with(b"-") && promises(word))
        }
        _ => false,
    }
}

fn promises(name: &[u8]) -> bool {
    names::classify(name).is_some_and(|name| name.promise != Promise::Perhaps)
}

/// The same for a file: `password.txt.log` is another.
fn promises_at_its_end(name: &[u8]) -> bool {
    names::classify(name).is_some_and(|name| name.last && name.promise != Promise::Perhaps)
}

/// `.vault_pass`, `/run/secrets/db_password`, `password.txt`, `config/master.key`
fn is_secret_file(path: &[u8]) -> bool {
    let name = path.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let name = name.strip_suffix(b"\"").or(name.strip_suffix(b"'")).unwrap_or(name);
    let name = name.strip_prefix(b".").unwrap_or(name);
    let name = name.strip_suffix(b".txt").unwrap_or(name);
    let known = [&b"erlang.cookie"[..], b"pgpass", b"my.pass"].contains(&name);
    let kept = path.starts_with(b"/run/secrets/") && !name.is_empty();
    known || kept || promises_at_its_end(name)
}

/// `cat > ~/.vault_pass <<< …`
pub fn is_written_to_secret_file(command: &[u8]) -> bool {
    let Some(sign) = command.iter().rposition(|byte| *byte == b'>') else { return false };
    let start = after_spaces(command, sign + 1);
    let end = unquoted_end(command, start, Stops::Word);
    command.get(start..end).is_some_and(is_secret_file)
}

/// `echo 'secret' > ~/.vault_pass`, `printf secret | docker secret create db_password -`: the place of the secret.
fn written(line: &[u8]) -> Option<(usize, usize)> {
    let find = |word: &[u8]| line.windows(word.len()).position(|window| window == word);
    let echo = find(b"echo ").or_else(|| find(b"printf "))?;
    let (start, end) = pipes::echoed(line.get(echo..)?)?;
    let (mut start, end) = (echo + start, echo + end);
    let rest = line.get(end..)?;
    let quotes = usize::from(matches!(at(rest, 0), b'"' | b'\''));
    let (target, from_name) = target(rest, after_spaces(rest, quotes))?;
    let target = target.strip_suffix(b";").unwrap_or(target);
    if target.ends_with(b".pgpass") {
        start += line.get(start..end)?.iter().rposition(|byte| *byte == b':')? + 1;
    }
    let text = line.get(start..end)?;
    let makeup = Makeup::of(text);
    let telling = if from_name { promises(target) } else { is_secret_file(target) };
    // A line for a list of users is none; and what is no password must be more than a word.
    let more = makeup.letters() < makeup.length
        || target.windows(4).any(|part| part.eq_ignore_ascii_case(b"pass"));
    let word = makeup.spaces == 0 && makeup.length >= 6 && !vocabulary::is_placeholder(text);
    let refers = matches!(at(text, 0), b'$' | b'<' | b'{' | b'`')
        || text.windows(2).any(|pair| pair == b"$(" || pair == b"${");
    (telling && more && word && !refers && !text.contains(&b':')).then_some((start, end))
}

/// Where what is written goes: a file, or the name of a secret in a store.
fn target(rest: &[u8], sign: usize) -> Option<(&[u8], bool)> {
    let from = rest.get(sign..)?;
    let (skipped, from_name) = [
        (&b">> "[..], false),
        (b"> ", false),
        (b">>", false),
        (b">", false),
        (b"| tee -a ", false),
        (b"| tee ", false),
        (b"| sudo tee ", false),
        (b"| docker secret create ", true),
        (b"| podman secret create ", true),
        (b"| gh secret set ", true),
        (b"| wrangler secret put ", true),
        (b"| vercel env add ", true),
        (b"| fly secrets set ", true),
        (b"| gcloud secrets create ", true),
        (b"| pass insert -e ", true),
    ]
    .iter()
    .find_map(|(begin, named)| from.starts_with(begin).then_some((begin.len(), *named)))?;
    let start = sign + skipped;
    let end = unquoted_end(rest, start, Stops::Word);
    Some((rest.get(start..end)?, from_name))
}
