//! The commands of tier 1 and their flags, as data. A flag that is not here does not exist: what executes, deletes,
//! follows other programs or writes elsewhere is left out on purpose (`find -exec`, `git --output`, `cp -t`).

/// What a command of tier 1 takes.
pub(super) struct Command {
    pub name: &'static str,
    pub flags: &'static [Flags],
    /// `-5` is a number of lines.
    pub numbers: bool,
    pub operands: Operands,
    pub needs: Needs,
}

/// Flags that take the same kind of value, separated by spaces.
pub(super) struct Flags {
    pub names: &'static str,
    pub value: Value,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value {
    None,
    /// A count: `5`, `+5`, `-5`, `1K`.
    Number,
    /// A count that may be a fraction or a size: `find -mtime +0.5`.
    Measure,
    Text,
    /// A file that is read.
    Path,
    /// Only attached, and it may be missing: `--color=auto`, `-M50%`.
    Attached,
}

/// What the words beside the flags are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operands {
    Paths,
    /// The first is a pattern unless a flag has given one.
    PatternThenPaths,
    /// Nothing is opened by that name.
    Text,
    /// All words are text, those that begin with a dash too: `echo`.
    Anything,
    /// Paths, then an expression of words with one dash: `find`.
    Expression,
}

/// What must be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Needs {
    Nothing,
    Pattern,
    Path,
    TwoPaths,
}

const fn flags(names: &'static str, value: Value) -> Flags {
    Flags { names, value }
}

/// The tier 1 command of this name.
pub(super) fn find(name: &str) -> Option<&'static Command> {
    COMMANDS.iter().find(|command| command.name == name)
}

/// The tier 1 subcommand of git of this name.
pub(super) fn find_git(name: &str) -> Option<&'static Command> {
    GIT.iter().find(|command| command.name == name)
}

/// Before the subcommand of git; everything else there can execute or go elsewhere.
pub(super) const GIT_GLOBAL: &[&str] = &["--no-pager", "-P", "--no-optional-locks"];

static COMMANDS: [Command; 14] = [
    Command {
        name: "ls",
        flags: &[
            flags(
                "-a -A -b -B -c -C -d -f -F -g -G -h -H -i -k -l -L -m -n -N -o -p -q -Q -r -R -s -S -t -u -U -v \
                 -x -X -1 --all --almost-all --author --escape --ignore-backups --directory --file-type --full-time \
                 --group-directories-first --no-group --human-readable --si --dereference \
                 --dereference-command-line --inode --kibibytes --literal --numeric-uid-gid --hide-control-chars \
                 --show-control-chars --quote-name --reverse --recursive --size --zero",
                Value::None,
            ),
            flags("-T -w --tabsize --width", Value::Number),
            flags(
                "-I --block-size --format --hide --indicator-style --ignore --quoting-style --sort --time \
                 --time-style",
                Value::Text,
            ),
            flags("--color --classify", Value::Attached),
        ],
        numbers: false,
        operands: Operands::Paths,
        needs: Needs::Nothing,
    },
    Command {
        name: "cat",
        flags: &[flags(
            "-A -b -e -E -n -s -t -T -u -v --show-all --number-nonblank --show-ends --number --squeeze-blank \
             --show-tabs --show-nonprinting",
            Value::None,
        )],
        numbers: false,
        operands: Operands::Paths,
        needs: Needs::Nothing,
    },
    Command {
        name: "head",
        flags: &[
            flags("-q -v -z --quiet --silent --verbose --zero-terminated", Value::None),
            flags("-c -n --bytes --lines", Value::Number),
        ],
        numbers: true,
        operands: Operands::Paths,
        needs: Needs::Nothing,
    },
    Command {
        name: "tail",
        flags: &[
            flags(
                "-f -F -q -v -z --quiet --silent --verbose --zero-terminated --retry",
                Value::None,
            ),
            flags("-c -n --bytes --lines", Value::Number),
            flags("--follow", Value::Attached),
        ],
        numbers: true,
        operands: Operands::Paths,
        needs: Needs::Nothing,
    },
    Command {
        name: "grep",
        flags: &[
            flags(
                "-E -F -G -P -i -y -v -w -x -c -L -l -o -q -s -b -H -h -n -T -Z -z -a -I -r -R -U \
                 --extended-regexp --fixed-strings --basic-regexp --perl-regexp --ignore-case --no-ignore-case \
                 --invert-match --word-regexp --line-regexp --count --files-without-match --files-with-matches \
                 --only-matching --quiet --silent --no-messages --byte-offset --with-filename --no-filename \
                 --line-number --initial-tab --null --null-data --text --recursive --dereference-recursive \
                 --line-buffered --binary",
                Value::None,
            ),
            flags(
                "-m -A -B -C --max-count --after-context --before-context --context",
                Value::Number,
            ),
            flags(
                "-e -d -D --regexp --label --binary-files --include --exclude --exclude-dir --directories \
                 --devices --group-separator",
                Value::Text,
            ),
            flags("-f --file --exclude-from", Value::Path),
            flags("--color --colour", Value::Attached),
        ],
        numbers: true,
        operands: Operands::PatternThenPaths,
        needs: Needs::Pattern,
    },
    Command {
        name: "find",
        flags: &[
            flags(
                "-L -H -P -depth -d -mount -xdev -noleaf -daystart -follow -warn -nowarn -ignore_readdir_race \
                 -noignore_readdir_race -empty -executable -readable -writable -nouser -nogroup -true -false -print \
                 -print0 -ls -prune -quit -not -and -or -a -o",
                Value::None,
            ),
            flags("-maxdepth -mindepth -inum -links -uid -gid", Value::Number),
            flags("-amin -cmin -mmin -atime -ctime -mtime -used -size", Value::Measure),
            flags(
                "-name -iname -path -wholename -ipath -iwholename -regex -iregex -regextype -type -xtype -perm \
                 -user -group -lname -ilname -fstype -printf -newermt -newerat -newerct -newerBt",
                Value::Text,
            ),
            flags(
                "-newer -anewer -cnewer -samefile -newermm -newerma -newermc -neweram -neweraa -newerac -newercm \
                 -newerca -newercc",
                Value::Path,
            ),
        ],
        numbers: false,
        operands: Operands::Expression,
        needs: Needs::Nothing,
    },
    Command {
        name: "wc",
        flags: &[
            flags("-c -m -l -L -w --bytes --chars --lines --max-line-length --words", Value::None),
            flags("--total", Value::Text),
        ],
        numbers: false,
        operands: Operands::Paths,
        needs: Needs::Nothing,
    },
    Command {
        name: "pwd",
        flags: &[flags("-L -P --logical --physical", Value::None)],
        numbers: false,
        operands: Operands::Text,
        needs: Needs::Nothing,
    },
    Command {
        name: "echo",
        flags: &[],
        numbers: false,
        operands: Operands::Anything,
        needs: Needs::Nothing,
    },
    Command {
        name: "date",
        flags: &[
            flags("-u -R --utc --universal --rfc-email --rfc-2822", Value::None),
            flags("-d --date --rfc-3339", Value::Text),
            flags("-r --reference", Value::Path),
            flags("-I --iso-8601", Value::Attached),
        ],
        numbers: false,
        operands: Operands::Text,
        needs: Needs::Nothing,
    },
    Command {
        name: "mkdir",
        flags: &[flags("-p -v --parents --verbose", Value::None), flags("-m --mode", Value::Text)],
        numbers: false,
        operands: Operands::Paths,
        needs: Needs::Path,
    },
    Command {
        name: "touch",
        flags: &[
            flags("-a -c -f -h -m --no-create --no-dereference", Value::None),
            flags("-d -t --date --time", Value::Text),
            flags("-r --reference", Value::Path),
        ],
        numbers: false,
        operands: Operands::Paths,
        needs: Needs::Path,
    },
    Command {
        name: "cp",
        flags: &[
            flags(
                "-a -b -d -f -H -i -L -n -p -P -r -R -T -u -v -x --archive --dereference --force --interactive \
                 --no-clobber --no-dereference --no-target-directory --one-file-system --parents --recursive \
                 --remove-destination --verbose",
                Value::None,
            ),
            flags("-S --suffix --no-preserve --sparse", Value::Text),
            flags("--backup --preserve --reflink --update", Value::Attached),
        ],
        numbers: false,
        operands: Operands::Paths,
        needs: Needs::TwoPaths,
    },
    Command {
        name: "mv",
        flags: &[
            flags(
                "-b -f -i -n -T -u -v --force --interactive --no-clobber --no-target-directory --verbose",
                Value::None,
            ),
            flags("-S --suffix", Value::Text),
            flags("--backup --update", Value::Attached),
        ],
        numbers: false,
        operands: Operands::Paths,
        needs: Needs::TwoPaths,
    },
];

/// How git shows differences.
const DIFFERENCES: [Flags; 4] = [
    flags(
        "-p -u -s -a -b -c -m -q -t -w -z -D -R -W --patch --no-patch --raw --numstat --shortstat --summary \
         --patch-with-stat --patch-with-raw --compact-summary --name-only --name-status --no-color --check \
         --full-index --binary --text --ignore-space-change --ignore-all-space --ignore-blank-lines \
         --ignore-space-at-eol --ignore-cr-at-eol --exit-code --quiet --no-ext-diff --no-textconv --no-renames \
         --no-prefix --minimal --patience --histogram --pickaxe-regex --pickaxe-all --function-context --cc \
         --no-relative --no-color-moved --indent-heuristic --no-indent-heuristic --default-prefix",
        Value::None,
    ),
    flags("-U -l --unified --inter-hunk-context", Value::Number),
    flags(
        "-G -I -S --diff-algorithm --diff-filter --src-prefix --dst-prefix --line-prefix --word-diff-regex \
         --ws-error-highlight --ignore-matching-lines --find-object --anchored",
        Value::Text,
    ),
    flags(
        "-B -C -M -X --abbrev --break-rewrites --color --color-moved --color-words --dirstat --find-copies \
         --find-renames --ignore-submodules --relative --stat --submodule --word-diff --diff-merges",
        Value::Attached,
    ),
];

/// How git shows commits.
const COMMITS: [Flags; 3] = [
    flags(
        "--oneline --abbrev-commit --no-abbrev-commit --no-decorate --relative-date --parents --children \
         --left-right --source --no-expand-tabs --no-notes",
        Value::None,
    ),
    flags("--format --date", Value::Text),
    flags("--pretty --decorate --expand-tabs --notes", Value::Attached),
];

/// Which commits git shows.
const SELECTION: [Flags; 4] = [
    flags(
        "-E -F -P -g -i --all --all-match --author-date-order --basic-regexp --boundary --cherry --cherry-mark \
         --cherry-pick --date-order --dense --extended-regexp --first-parent --fixed-strings --follow --full-diff \
         --full-history --graph --invert-grep --left-only --log-size --merge --merges --no-graph --no-merges --not \
         --perl-regexp --regexp-ignore-case --remove-empty --reverse --right-only --simplify-by-decoration \
         --simplify-merges --sparse --topo-order --walk-reflogs --ancestry-path --no-min-parents --no-max-parents",
        Value::None,
    ),
    flags("-n --max-count --skip --min-parents --max-parents", Value::Number),
    flags(
        "-L --after --author --before --committer --decorate-refs --decorate-refs-exclude --exclude --glob --grep \
         --grep-reflog --since --since-as-filter --until",
        Value::Text,
    ),
    flags("--branches --no-walk --remotes --tags", Value::Attached),
];

const STATUS: [Flags; 2] = [
    flags(
        "-b -s -v -z --ahead-behind --branch --long --no-ahead-behind --no-column --no-renames --renames --short \
         --show-stash --verbose",
        Value::None,
    ),
    flags(
        "-u -M --column --find-renames --ignore-submodules --ignored --porcelain --untracked-files",
        Value::Attached,
    ),
];

const BRANCH: [Flags; 3] = [
    flags(
        "-a -i -l -q -r -v --all --ignore-case --list --no-abbrev --no-color --no-column --quiet --remotes \
         --show-current --verbose",
        Value::None,
    ),
    flags("--format --points-at --sort", Value::Text),
    flags(
        "--abbrev --color --column --contains --merged --no-contains --no-merged",
        Value::Attached,
    ),
];

const DIFF: [Flags; 5] = {
    let [none, number, text, attached] = DIFFERENCES;
    let more =
        flags("-0 -1 -2 -3 --base --cached --merge-base --ours --staged --theirs", Value::None);
    [none, number, text, attached, more]
};

const LOG: [Flags; 11] = {
    let [a, b, c, d] = DIFFERENCES;
    let [e, f, g] = COMMITS;
    let [h, i, j, k] = SELECTION;
    [a, b, c, d, e, f, g, h, i, j, k]
};

static GIT: [Command; 5] = [
    git("status", &STATUS, false),
    git("diff", &DIFF, false),
    git("log", &LOG, true),
    git("show", &LOG, true),
    git("branch", &BRANCH, false),
];

/// Revisions are checked as if they were paths: none of them looks like one that leads out.
const fn git(name: &'static str, flags: &'static [Flags], numbers: bool) -> Command {
    Command { name, flags, numbers, operands: Operands::Paths, needs: Needs::Nothing }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flag_has_one_meaning() {
        for command in COMMANDS.iter().chain(&GIT) {
            let mut names: Vec<&str> = command
                .flags
                .iter()
                .flat_map(|flags| flags.names.split_ascii_whitespace())
                .collect();
            let count = names.len();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), count, "{}", command.name);
            assert!(names.iter().all(|name| name.starts_with('-')), "{}", command.name);
        }
    }

    #[test]
    fn what_executes_or_writes_elsewhere_is_no_flag() {
        let cases = [
            (
                "find",
                "-exec -execdir -ok -okdir -delete -fprint -fprint0 -fprintf -fls -files0-from",
            ),
            ("cp", "-t --target-directory -s -l --symbolic-link --link"),
            ("mv", "-t --target-directory"),
            ("date", "-s --set -f --file"),
            ("wc", "--files0-from"),
        ];
        let git = "-o --output --ext-diff --textconv --no-index -O --exec-path --open-files-in-pager \
                   --show-signature --output-directory";
        let branch = "-d -D -m -M -f -c -C -u -t --delete --move --force --copy --edit-description --unset-upstream \
                      --set-upstream-to --track --create-reflog";
        let git = GIT.iter().map(|command| (command, git));
        let branch =
            GIT.iter().filter(|command| command.name == "branch").map(|command| (command, branch));
        let plain = cases.iter().map(|(name, names)| (find(name).expect("a command"), *names));
        for (command, names) in plain.chain(git).chain(branch) {
            for name in names.split_ascii_whitespace() {
                let known = command
                    .flags
                    .iter()
                    .any(|flags| flags.names.split_ascii_whitespace().any(|other| other == name));
                assert!(!known, "{} {name}", command.name);
            }
        }
    }
}
