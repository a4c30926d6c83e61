//! The tree. One tree serves the judge and the interpreter, so that nothing can run which was not seen.
//!
//! Everything nested is a node, never text: substitutions, here-documents, arithmetic, subscripts, patterns.
//! Chains (`a; b; c`, `a && b`, `a | b`) are flat vectors, so that only real nesting makes the tree deep.

use std::sync::Arc;

use bstr::BString;

use crate::Span;

/// Commands separated by `;`, `&` or newlines: a whole script, or the body of anything compound.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct List {
    pub items: Vec<ListItem>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListItem {
    pub chain: AndOr,
    /// Ended by `&`.
    pub background: bool,
}

/// `first && second || third`: operators of equal rank, from left to right.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AndOr {
    pub first: Pipeline,
    pub rest: Vec<(AndOrOperator, Pipeline)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AndOrOperator {
    And,
    Or,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pipeline {
    /// An odd number of leading `!`.
    pub negated: bool,
    pub timed: Option<TimeFormat>,
    /// Empty only for a bare `time` or `!`.
    pub stages: Vec<Stage>,
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeFormat {
    /// `time`
    Bash,
    /// `time -p`
    Posix,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stage {
    pub command: Command,
    /// Followed by `|&`: standard error goes into the pipe as well.
    pub pipes_errors: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    Simple(SimpleCommand),
    Compound(CompoundCommand),
    Function(FunctionDefinition),
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SimpleCommand {
    pub assignments: Vec<Assignment>,
    /// The command word and its arguments, in order.
    pub words: Vec<Argument>,
    pub redirects: Vec<Redirect>,
    pub span: Span,
}

/// A word of a simple command. After a literal `declare`, `typeset`, `local`, `export` or `readonly`
/// what looks like an assignment is one: its value is not split, and `name=(…)` is an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Argument {
    Word(Word),
    Assignment(Assignment),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assignment {
    pub name: BString,
    pub subscript: Option<Subscript>,
    /// `+=`
    pub append: bool,
    pub value: AssignedValue,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AssignedValue {
    Scalar(Word),
    Array(Vec<ArrayElement>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArrayElement {
    pub subscript: Option<Subscript>,
    pub append: bool,
    pub value: Word,
}

/// `[…]` after a name. Whether it is a key or a number is known only when the variable is: both readings are kept.
/// `subscript.text` is what `[@]` and `[*]` are not: those are [`Selector::All`] and [`Selector::Joined`].
pub type Subscript = Arithmetic;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompoundCommand {
    pub kind: CompoundKind,
    pub redirects: Vec<Redirect>,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CompoundKind {
    /// `{ …; }`
    Group(List),
    /// `( … )`
    Subshell(List),
    For(ForLoop),
    ArithmeticFor(ArithmeticFor),
    /// `select name in …; do …; done`
    Select(ForLoop),
    While(WhileLoop),
    If(IfCommand),
    Case(CaseCommand),
    /// `(( … ))`
    Arithmetic(Arithmetic),
    /// `[[ … ]]`
    Conditional(Conditional),
    /// `coproc [name] command`
    Coprocess(Coprocess),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Coprocess {
    /// The array that gets the descriptors: `COPROC` unless the script says otherwise.
    pub name: BString,
    /// One command.
    pub body: List,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForLoop {
    /// As written: bash finds out that `i.j` is no name only when the loop runs.
    pub variable: BString,
    /// Absent: `"$@"`.
    pub words: Option<Vec<Word>>,
    pub body: List,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArithmeticFor {
    pub initial: Option<Arithmetic>,
    pub condition: Option<Arithmetic>,
    pub update: Option<Arithmetic>,
    pub body: List,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WhileLoop {
    /// `until` instead of `while`.
    pub until: bool,
    pub condition: List,
    pub body: List,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IfCommand {
    /// `if` and every `elif`.
    pub branches: Vec<IfBranch>,
    pub otherwise: Option<List>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IfBranch {
    pub condition: List,
    pub body: List,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseCommand {
    pub subject: Word,
    pub clauses: Vec<CaseClause>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CaseClause {
    pub patterns: Vec<Word>,
    pub body: List,
    pub end: CaseEnd,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseEnd {
    /// `;;`
    Break,
    /// `;&`
    FallThrough,
    /// `;;&`
    TestNext,
}

/// `name() compound` or `function name compound`. The body outlives the script that defined it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FunctionDefinition {
    pub name: BString,
    pub body: Arc<CompoundCommand>,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    pub descriptor: Option<RedirectDescriptor>,
    pub kind: RedirectKind,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RedirectDescriptor {
    /// `2>`
    Number(u32),
    /// `{name}>`, `{name[1]}>`
    Variable(BString),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RedirectKind {
    /// `< > >> >| <> &> &>>` and a file name.
    File { operator: FileOperator, target: Word },
    /// `<&` or `>&` and a number, `-`, `n-`, or (for `>&`) a file name: known after expansion.
    Duplicate { direction: DuplicateDirection, target: Word },
    /// `<<` and `<<-`
    HereDocument(HereDocument),
    /// `<<<`
    HereString(Word),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileOperator {
    /// `<`
    Read,
    /// `>`
    Write,
    /// `>|`
    Clobber,
    /// `>>`
    Append,
    /// `<>`
    ReadWrite,
    /// `&>`
    WriteBoth,
    /// `&>>`
    AppendBoth,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DuplicateDirection {
    /// `<&`
    Input,
    /// `>&`
    Output,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HereDocument {
    /// After quote removal.
    pub delimiter: BString,
    /// A quoted delimiter: the body is literal.
    pub quoted: bool,
    /// `<<-`; the tabs are already gone from the body.
    pub strip_tabs: bool,
    /// Literal parts and expansions, as inside double quotes; one literal part if quoted.
    pub body: Word,
}

/// A word before expansion. An empty `parts` is only possible where the grammar has an optional word (`x=`).
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Word {
    pub parts: Vec<WordPart>,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WordPart {
    /// Unquoted text (inside [`WordPart::DoubleQuoted`]: the quoted text). Outside quotes its `*?[` and, with
    /// extglob, `@(…|…)` are active in patterns. Adjacent literals are always one part.
    Literal(BString),
    /// `\x` outside quotes: the character that follows the backslash.
    Escaped(BString),
    /// `'…'`
    SingleQuoted(BString),
    /// `$'…'`, decoded.
    AnsiQuoted(BString),
    /// `"…"`: only `Literal`, `Parameter`, `Command` and `Arithmetic` occur inside.
    DoubleQuoted(Vec<WordPart>),
    /// `$"…"`
    LocaleQuoted(Vec<WordPart>),
    /// `~`, `~name`, `~+`, `~-`: what follows the tilde. Only where bash would expand it.
    Tilde(BString),
    Parameter(Box<ParameterExpansion>),
    Command(CommandSubstitution),
    /// `$((…))` or `$[…]`
    Arithmetic(Box<Arithmetic>),
    Process(ProcessSubstitution),
    /// `{a,b}` or `{1..9}`. Only where bash would expand it.
    Brace(BraceExpansion),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandSubstitution {
    pub body: Arc<List>,
    /// Written `` `…` `` instead of `$(…)`.
    pub backquoted: bool,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProcessSubstitution {
    pub direction: ProcessDirection,
    pub body: Arc<List>,
    pub span: Span,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProcessDirection {
    /// `<(…)`: the commands write, the reader gets a name.
    Read,
    /// `>(…)`: the commands read.
    Write,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BraceExpansion {
    /// Two or more alternatives, each possibly empty.
    Alternatives(Vec<Word>),
    /// `{1..10..2}`, with the width that leading zeros ask for.
    Numbers { first: i64, last: i64, step: i64, width: usize },
    /// `{a..e}`
    Letters { first: u8, last: u8, step: i64 },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParameterExpansion {
    pub parameter: Parameter,
    pub selector: Option<Selector>,
    /// `${!name…}`: the value names the parameter. With `Selector::All` or `Joined` and
    /// [`Operation::Plain`]: the keys of the array.
    pub indirect: bool,
    pub operation: Operation,
    /// Written with braces (`${x}`); matters to the printer only.
    pub braced: bool,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Parameter {
    Variable(BString),
    /// `$1`, `${12}`; `$0` is here too.
    Positional(u32),
    /// `$@`
    All,
    /// `$*`
    Joined,
    /// `$#`
    Count,
    /// `$?`
    Status,
    /// `$-`
    Options,
    /// `$$`
    ProcessId,
    /// `$!`
    BackgroundId,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Selector {
    /// `[@]`
    All,
    /// `[*]`
    Joined,
    /// `[…]`
    Index(Box<Subscript>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operation {
    Plain,
    /// `${#x}`
    Length,
    /// `${x-w} ${x=w} ${x?w} ${x+w}` and, with `colon`, those that count empty as unset.
    Default {
        kind: DefaultKind,
        colon: bool,
        word: Word,
    },
    /// `${x#p}`, `${x##p}`
    RemovePrefix {
        longest: bool,
        pattern: Word,
    },
    /// `${x%p}`, `${x%%p}`
    RemoveSuffix {
        longest: bool,
        pattern: Word,
    },
    /// `${x/p/r}` and its kin.
    Replace {
        kind: ReplaceKind,
        pattern: Word,
        replacement: Option<Word>,
    },
    /// `${x^p}` and its kin.
    ChangeCase {
        change: CaseChange,
        all: bool,
        pattern: Option<Word>,
    },
    /// `${x:offset:length}`
    Slice {
        offset: Arithmetic,
        length: Option<Arithmetic>,
    },
    /// `${x@Q}`: the letter.
    Transform(u8),
    /// `${!prefix*}`, or with `separate` `${!prefix@}`; `parameter` is the prefix.
    NamesWithPrefix {
        separate: bool,
    },
    /// Bash accepts the text and fails with "bad substitution" when it is expanded: the whole `${…}` as written.
    Bad(BString),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DefaultKind {
    /// `-`
    Use,
    /// `=`
    Assign,
    /// `?`
    Fail,
    /// `+`
    Alternative,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplaceKind {
    /// `/`
    First,
    /// `//`
    All,
    /// `/#`
    Prefix,
    /// `/%`
    Suffix,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaseChange {
    /// `^`
    Upper,
    /// `,`
    Lower,
    /// `~`
    Toggle,
}

/// An arithmetic expression as text with expansions, and as a tree where that cannot differ.
///
/// Bash expands the text first and parses the result (`op=+; $((1 $op 2))`). `expression` is present when the
/// text is a valid expression whose only expansions are plain `$name`, `${name}` and positional parameters; the
/// evaluator may use it as long as each of those turns out to be a plain decimal number, else it expands `text`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arithmetic {
    pub text: Word,
    pub expression: Option<Box<Expression>>,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Expression {
    Number(i64),
    Variable(ArithmeticVariable),
    /// `$name` as an operand.
    Expansion(Box<ParameterExpansion>),
    Unary(UnaryOperator, Box<Expression>),
    /// Operands joined by operators that bind equally tightly: `1 + 2 - 3`. One node however long it is, so that
    /// no walk over the tree goes deeper for it. From the left, but for `**`, where the links are all `**`.
    Chain(Box<Expression>, Vec<(BinaryOperator, Expression)>),
    /// `x = e`, or `x += e` and the like.
    Assign {
        target: ArithmeticVariable,
        operator: Option<BinaryOperator>,
        value: Box<Expression>,
    },
    /// `++x`, `x--`, …
    Step {
        target: ArithmeticVariable,
        increment: bool,
        prefix: bool,
    },
    Ternary(Box<Expression>, Box<Expression>, Box<Expression>),
    Comma(Vec<Expression>),
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArithmeticVariable {
    pub name: BString,
    pub subscript: Option<Box<Subscript>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnaryOperator {
    Plus,
    Minus,
    Not,
    Complement,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BinaryOperator {
    Power,
    Multiply,
    Divide,
    Remainder,
    Add,
    Subtract,
    ShiftLeft,
    ShiftRight,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
    BitAnd,
    BitXor,
    BitOr,
    And,
    Or,
}

/// The expression inside `[[ … ]]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Conditional {
    Not(Box<Conditional>),
    And(Vec<Conditional>),
    Or(Vec<Conditional>),
    /// `-f word`; `operator` is the letter (`o`, `v`, `R` included).
    Unary {
        operator: u8,
        operand: Word,
    },
    Binary {
        operator: ConditionalOperator,
        left: Word,
        right: Word,
    },
    /// `word`: true if not empty.
    Word(Word),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConditionalOperator {
    /// `==` or `=`
    Matches,
    /// `!=`
    Differs,
    /// `=~`
    Regex,
    /// `<`
    Before,
    /// `>`
    After,
    /// `-eq`
    Equal,
    /// `-ne`
    NotEqual,
    /// `-lt`
    Less,
    /// `-le`
    LessOrEqual,
    /// `-gt`
    Greater,
    /// `-ge`
    GreaterOrEqual,
    /// `-nt`
    Newer,
    /// `-ot`
    Older,
    /// `-ef`
    SameFile,
}
