//! The help text.

pub const HELP: &str = "\
exacta: the shell you can hand to an AI agent

Usage:
  exacta [OPTIONS] -c SCRIPT [NAME [ARGUMENT]...]   run a text, as `bash -c` does
  exacta [OPTIONS] FILE [ARGUMENT]...               run a script file
  exacta [OPTIONS] -s [ARGUMENT]...                 run standard input
  exacta [OPTIONS] run [RUN OPTIONS] -- COMMAND     run one request and report on it
  exacta                                            an interactive shell, on a terminal
  exacta shell test [--json] COMMAND                would it be allowed? exit 0 allow, 3 confirm, 4 deny
  exacta shell test --json --batch                  one JSON string a line in, one verdict a line out
  exacta shell status|allowlist|blocklist|rules     what is in force; --json
  exacta shell history [ID] [FILTERS]               what was run here, newest first; one of them as a whole
  exacta audit verify [--head LINE]                 is the record what was written? exit 1 if not
  exacta audit head                                 a signed line, to be kept elsewhere
  exacta audit tail [-f|--follow] [FILTERS]         the last requests, and those that come
  exacta audit export [--format jsonl|csv|cef|ocsf] [FILTERS]
  exacta audit prune [--dry-run]                    remove what is older or more than the limits say
                                                    FILTERS: --limit N, --since 2h, --until DAY, --session ID,
                                                    --decision allow|confirm|deny, --failed, --grep TEXT
  exacta approvals [list | show ID | approve ID [--session|--always] | deny ID [--never]]
  exacta undo [ID | --last N] [--force] [--dry-run] take requests back; redo makes them again
  exacta log [--limit N]                            what was recorded, newest first; --json on all of these
  exacta diff [ID]                                  what a request changed, or would change if it is held
  exacta commit ID | discard ID                     apply what is held, or drop it
  exacta serve [--listen 127.0.0.1:7300 | --socket PATH] [--project DIR]... [--print-token]
                                                    HTTP for agents and a page for people: docs/serve.md
  exacta mcp [--listen 127.0.0.1:PORT] [--project DIR]...
                                                    an MCP server on standard streams, or over HTTP: docs/mcp.md
  exacta task run FILE|-|ID | --goal DESCRIPTION    a plan of commands, with what is expected of each: docs/tasks.md
                                                    exit 0 completed, 1 failed, 3 waits for an approval, 4 denied
                                                    --agent NAME, --rollback-on-failure, --step-by-step; at a question
                                                    --wait TIME, --no-wait (leave it), --yes, --no-input (no)
  exacta task list [--state S] [--agent A] [--limit N] | show ID | log ID [-f|--follow]
  exacta task approve ID [--step N] [--no-run] | reject ID | cancel ID | retry ID [--force] [--no-run]
  exacta task plan DESCRIPTION [-o|--output FILE]   a plan by a planner; task schema: the JSON Schema of plans
  exacta redact [--json]                            standard input without its secrets; --json: kinds and counts on stderr
  exacta hook claude-code [--rewrite]               judge what Claude Code is about to do: a PreToolUse hook
  exacta setup claude-code|codex|gemini|goose|opencode [--scope project|user] [--write [--yes]] [--mcp]
                                                    the configuration that makes an agent use exacta, printed or written
  exacta help VERB, exacta VERB --help              one verb at length; exacta man [VERB]: as a manual page
  exacta completions bash|zsh|fish                  a script for your shell: source <(exacta completions bash)
  exacta trust [--yes | --forget]                   let .exacta.toml loosen the rules, as it is now
  exacta doctor [--json]                            what holds programs on this machine, tried out; exit 0 all of it
  exacta init [--import FILE|claude-code] [--force] write a first .exacta.toml

Options:
  --root DIR         the project: all that exists for the script, beside a private /tmp
                     (default: nearest parent with .exacta.toml, .clada or .git, else here)
  --profile NAME     safe (nothing runs), dev (default: asks about what it does not know) or
                     full-auto (asks only about what cannot be undone)
  --config FILE      the operator's rules (default: $XDG_CONFIG_HOME/exacta/config.toml)
  --min-isolation L  run programs with no less than this around them: full, namespaces (default),
                     landlock, seccomp or limits; `exacta doctor` says what can be had
  --tools DIR        a directory of your own programs, read-only on the jail's PATH; may be repeated
  --env NAME=VALUE   give the script a variable; may be repeated
  --inherit-env      give it the caller's whole environment
  --json             report as JSON
  --help, --version

As in bash: -e -u -x -v -n -f -C -a -E -T, -o OPTION, -O SHOPT, -l, -i; `exacta -c help` lists the commands.

Run options:
  --cwd DIR          start there (default: the root)
  --clear-env        start with no variables but PATH, HOME and PWD
  --timeout TIME     end it after 30s, 500ms, 2m, ...; exit status 124
  --yes              answer every question yes; never lifts a deny
  --no-input         refuse what would need a person
  --wait TIME        wait so long until somebody has decided what needs a person
  --goal TEXT        what it is for, as whoever decides is told
  --dry-run          run it for real, show what it would change, and change nothing
  --hold             keep what it changes until `exacta commit` or `exacta discard`
  --direct           let programs write into the project at once, without undo (servers, watchers)
  --strict           one plain command, no operators; what is not plainly harmless asks on the terminal
  --max-output SIZE  keep the head and the tail of longer output (with --json); the whole goes to a file

Exit status: the script's own; 2 wrong use, 124 timed out, 125 exacta could not run it,
126 refused or not executable, 127 not found, 128+n ended by signal n. Of undo and its kin: 1 refused as things are.
";
