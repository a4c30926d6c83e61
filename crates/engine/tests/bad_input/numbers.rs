//! Numbers that are too large, too small or none, wherever a command takes one.

use crate::case::{Case, battery, case};

/// Put in place of `N` in every script below.
const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "-1",
    "1",
    "2147483647",
    "2147483648",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999999999999999",
    "0x7fffffffffffffff",
    "0777777777777777777777",
    "08",
    "1e400",
    "-1e400",
    "1e-400",
    "nan",
    "inf",
    "+5",
    "5K",
    "5E",
    "9Y",
    "1000000000000",
    "",
    " 1 ",
    "1.5",
    "\u{664}",
    "1_000",
    "1,000",
    "0b1",
    "36#Z",
    "65#1",
];

const SCRIPTS: &[&str] = &[
    "echo $((N)) $((N+1)) $((N-1)) $((-N)) $((N*N)) $((~N))",
    "echo $((N/-1)) $((N%-1)) $((1<<N)) $((N<<63)) $((N>>64)) $((2**N))",
    "((x=N)); ((x++)); ((x--)); ((x/=-1)); ((x%=-1)); ((x<<=N)); ((x**=2)); echo $x",
    "let x=N x+=N; declare -i y=N; y+=N; echo $y; for ((i=N; i<N; i++)); do :; done",
    "[ N -eq N ]; [ N -lt 0 ]; [[ N -gt 1 ]]; test N -le N; [ -t N ]",
    "x=abc; echo ${x:N} ${x:0:N} ${x: N:N}; a=(1 2); echo ${a[N]} ${a[@]:N} ${a[@]:0:N}; a[N]=1; unset 'a[N]'; echo ${#a[@]}",
    "set -- a b c; shift N; echo $#; echo ${@:N} ${N}; set -- a; getopts a x; OPTIND=N; getopts a x",
    "printf '%d %i %u %x %o %X\\n' N N N N N N; printf '%f %e %g %a\\n' N N N N; printf '%c %b %q\\n' N N N",
    "printf '%.*f|%*d|%-*s|%.*s\\n' 5 N 5 N 5 N 5 N; printf '%(%Y)T\\n' N",
    "echo a | head -n N; echo a | head -c N; echo a | tail -n N; echo a | tail -c N; echo a | head -n -N; echo a | tail -n +N",
    "echo a | cut -c N; echo a | cut -b -N; echo a | cut -f N-; echo a | cut -c 1-N; echo a | cut -d N -f N",
    "printf 'a\\nb\\n' | sort -k N; echo a | sort -k 1.N,N.1; echo a | sort -S N; echo a | sort --parallel=N; echo a | sort --batch-size=N; printf 'N\\n1\\n' | sort -n; printf 'N\\n1\\n' | sort -g; printf 'N\\n1\\n' | sort -h; printf 'N\\n1\\n' | sort -V",
    "echo a | uniq -f N; echo a | uniq -s N; echo a | uniq -w N; echo a | wc -l; echo abc | tr a '[x*N]'; echo abc | tr 'a-N' x",
    "seq N | head -n 3; seq N N | head -n 3; seq N 1 N | head -n 3; seq 1 N 5 | head -n 3; seq -w N 3 | head -n 3; seq -s, 1 N | head -c 9; seq -f %NG 2 | head -c 9",
    "grep -m N a <<< a; grep -A N a <<< a; grep -C N a <<< a; grep -N a <<< a; ls -w N; ls -T N; xargs -n N echo <<< a; xargs -s N echo <<< a; xargs -P N echo <<< a; xargs -L N echo <<< a",
    "find . -maxdepth N; find . -mindepth N; find . -size N; find . -size +Nk; find . -mtime N; find . -mmin -N; find . -links N; find . -inum N; find . -uid N; find . -perm N; find . -newermt N; find . -printf %Np",
    "date -d @N; date -d 'N days'; date -d 'N years ago'; date -d N; date -d 'now + N seconds'; date -d N-01-01; date -d '2000-N-01'; date -d 'N:00'; date +%NY; date -u -d '1970-01-01 N sec'",
    "touch -d @N f; touch -t N f; touch -d 'N days' f; stat -c %NY f; stat -c %.Ny f; stat -c %Nn f; ls -l f; ls -l --time-style=+%NY f; find f -printf '%Ts %TY\\n'",
    "read -n N x <<< abc; read -N N x <<< abc; read -t N x <<< abc; read -u N x; read -d N x <<< abc; mapfile -n N x <<< a; mapfile -s N x <<< a; mapfile -O N x <<< a; mapfile -u N x",
    "(exit N); (return N); f() { return N; }; f; while :; do break N; done; for i in 1; do continue N; done; exit N",
    "kill -N $$; kill -l N; kill -s N 1; kill N; wait N; wait %N; fg %N; disown N; jobs N; trap : N; trap - N; kill -- -N",
    "ulimit -n N; ulimit -s N; ulimit -c N; umask N; umask -S; chmod N f; mkdir -m N d; set -o N; shopt N; caller N; pushd +N; popd -N; dirs +N; history N; times N; suspend N",
    "exec N</dev/null; exec N>&1; echo a >&N; cat <&N; exec N<&-; exec {x}<&N; echo a N>&2; cat /dev/fd/N",
    "sleep -- -N; env -N true; mktemp -u N; mktemp -u xN.XXX; basename N; basename -s N N; realpath N; dirname N; tee N < /dev/null; cp -N f g; mv -t N f; ln -N f; rm -f N; rmdir N; touch N; wc -N f; cat -N f; sort -N f; stat N",
    "HISTSIZE=N; SECONDS=N; echo $SECONDS; RANDOM=N; echo $RANDOM > /dev/null; LINENO=N; echo $LINENO; OPTIND=N; SRANDOM=N; BASH_ARGV0=N; FUNCNEST=N; f() { f; }; COLUMNS=N; TMOUT=N; IFS=N; LC_ALL=N; TZ=N date +%z > /dev/null; PS4=N; EPOCHSECONDS=N; BASH_COMPAT=N",
];

pub fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = SCRIPTS
        .iter()
        .map(|script| {
            let name = script.chars().take(40).collect::<String>();
            let scripts = NUMBERS.iter().map(|number| script.replace('N', number).into_bytes());
            battery(format!("numbers::{}", name.escape_default()), scripts.collect())
                .may_meet_limit()
        })
        .collect();
    cases.extend([
        battery("numbers::huge widths", ["%1000000000d", "%.1000000000d", "%1000000000s", "%.1000000000f", "%2147483648d", "%99999999999999999999d", "%-99999999999999999999s", "%*d", "%.*f", "%1000000000c", "%1000000000b", "%1000000000q", "%1000000000(%Y)T"]
            .iter()
            .flat_map(|format| [format!("printf '{format}' 1000000000 1"), format!("printf -v x '{format}' 1000000000 1"), format!("printf '{format}' 1000000000 1 | wc -c")])
            .map(String::into_bytes)
            .collect()).endless().memory(400),
        battery("numbers::other huge widths", ["seq -f %1000000000g 1", "seq -w 1 1e300", "seq 1 0.0000000000000000000000001 2 | head -n 2", "date +%1000000000Y", "date +%0999999999N", "stat -c %1000000000n .", "find . -maxdepth 0 -printf %1000000000p", "ls -w 1000000000 -C", "find . -maxdepth 0 -printf '%.1000000000f'", "head -c 9E /dev/null", "tail -c 9E /dev/null", "tail -n 9E /dev/null", "sort -S 9E /dev/null", "echo a | xargs -s 9999999999 echo", "mktemp -u $(printf '%100000s' | tr ' ' X)", "echo a | cut -c 1000000000", "echo a | cut --output-delimiter=$(printf '%1000000s') -c 1-", "echo a | tr a '[b*1000000000]'", "basename -a $(seq 1 100000) | wc -l", "fold -w 1000000000", "read -n 1000000000 x <<< abc", "read -N 1000000000 x <<< abc", "mapfile -O 1000000000 x <<< abc", "mapfile -n 99999999999 x <<< abc", "printf '%s' {1..100000} | wc -c"]
            .iter()
            .map(|script| script.as_bytes().to_vec())
            .collect()).endless().memory(400),
        case("numbers::dates of every kind", DATES.iter().map(|date| format!("date -d '{date}' +%s; touch -d '{date}' f; find . -newermt '{date}' > /dev/null\n")).collect::<Vec<_>>().concat()),
    ]);
    cases
}

const DATES: &[&str] = &[
    "",
    " ",
    "now",
    "yesterday noon",
    "99999-99-99",
    "0000-00-00",
    "2000-02-30",
    "-1",
    "+",
    "-",
    "@",
    "@-",
    "@1.5.5",
    "1 fortnight ago",
    "next",
    "last",
    "last last monday",
    "tuesday tuesday",
    "12:60",
    "25:00",
    "12:00:61",
    "2000-01-01T00:00:00+99:99",
    "2000-01-01 00:00 EST EDT",
    "jan",
    "1 jan",
    "jan 1 jan",
    "9999999999999 years",
    "-9999999999999 years",
    "1000000 months",
    "2038-01-19 03:14:08",
    "9999-12-31 23:59:59",
    "10000-01-01",
    "TZ=\"\" now",
    "TZ=\"nosuch\" now",
    "TZ=\"\u{e9}\" now",
    "TZ=\"unclosed",
    "2000-366",
    "20000101",
    "20000101 0000",
    "12 am pm",
    "13pm",
    "noon midnight",
    "(comment)",
    "(((",
    "2000/13/01",
    "a",
    "\u{1f600}",
    "1 1 1 1 1 1",
];
