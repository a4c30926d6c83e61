// Text that others have written, so that nothing in it hides, reorders or imitates. It is never markup.

/** What is not seen, or not for what it is: controls, marks that reorder, unusual spaces, what no font draws,
 *  long runs of blanks that push something out of sight, towers of accents. Line ends and tabs are treated apart. */
const HIDDEN =
    /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}| {24,}|(?<=\p{M}\p{M})\p{M}/gu;
/** A text with more marks than this is no text any more; each costs an element, and the page has to stay usable. */
const MOST_MARKS = 4_000;

const NAMES = {
    0x00: "null",
    0x07: "bell",
    0x08: "backspace",
    0x0b: "vertical tab",
    0x0c: "form feed",
    0x0d: "carriage return",
    0x1b: "escape",
    0x7f: "delete",
    0x9b: "control sequence introducer",
    0xa0: "no-break space",
    0xad: "soft hyphen",
    0x61c: "Arabic letter mark",
    0x200b: "zero width space",
    0x200c: "zero width non-joiner",
    0x200d: "zero width joiner",
    0x200e: "left-to-right mark",
    0x200f: "right-to-left mark",
    0x2028: "line separator",
    0x2029: "paragraph separator",
    0x202a: "left-to-right embedding",
    0x202b: "right-to-left embedding",
    0x202c: "pop directional formatting",
    0x202d: "left-to-right override",
    0x202e: "right-to-left override",
    0x2060: "word joiner",
    0x2066: "left-to-right isolate",
    0x2067: "right-to-left isolate",
    0x2068: "first strong isolate",
    0x2069: "pop directional isolate",
    0x3000: "ideographic space",
    0xfeff: "byte order mark",
};

/** Scripts with letters that look like Latin ones, and the wide and mathematical twins of ASCII. */
const TWINS =
    /[\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}\uff01-\uff5e\u{1d400}-\u{1d7ff}]/u;
const WORD = /[\p{L}\p{N}]+/gu;

/** As nodes. With `lines: false` line ends are shown, but do not break the line. */
export function visible(text, { lines = true } = {}) {
    const nodes = document.createDocumentFragment();
    const value = String(text ?? "");
    let [end, marks] = [0, 0];
    for (const match of value.matchAll(HIDDEN)) {
        if (++marks > MOST_MARKS) break;
        nodes.append(...imitations(value.slice(end, match.index)));
        end = match.index + match[0].length;
        // A line end of Windows is one line end.
        if (match[0] === "\r" && value[end] === "\n") continue;
        nodes.append(shown(match[0], lines));
    }
    const rest = value.slice(end);
    nodes.append(...(marks > MOST_MARKS ? [span("escaped", escaped(rest))] : imitations(rest)));
    return nodes;
}

/** The same as plain text; line ends and tabs stay what they are. */
function escaped(text) {
    return text.replace(HIDDEN, (hidden) => (/[\n\t ]/.test(hidden) ? hidden : `⟨${code(hidden.codePointAt(0))}⟩`));
}

function shown(hidden, lines) {
    if (hidden === "\n") return span("newline", lines ? "\n" : " ");
    if (hidden === "\t") return span("tab", "\t");
    if (hidden.startsWith(" ")) return span("mark", `${hidden.length} spaces`);
    const point = hidden.codePointAt(0);
    return span("mark", code(point), NAMES[point] ?? "a character that is not seen");
}

/** Words that mix Latin letters with such as look like them. */
function imitations(text) {
    if (!TWINS.test(text)) return text === "" ? [] : [text];
    const nodes = [];
    let end = 0;
    for (const match of text.matchAll(WORD)) {
        const [word] = match;
        const mixes = TWINS.test(word) && (/[A-Za-z]/.test(word) || /[\uff01-\uff5e\u{1d400}-\u{1d7ff}]/u.test(word));
        if (!mixes) continue;
        nodes.push(text.slice(end, match.index), span("mixed", word, "has letters that look like others"));
        end = match.index + word.length;
    }
    nodes.push(text.slice(end));
    return nodes.filter((node) => node !== "");
}

function span(className, text, title) {
    const made = document.createElement("span");
    made.className = className;
    made.textContent = text;
    if (title) made.title = title;
    return made;
}

function code(point) {
    return `U+${point.toString(16).toUpperCase().padStart(4, "0")}`;
}

/** A command to the letter, whole, in the order it is written in whatever its letters would prefer. */
export function exact(text, className = "") {
    const made = document.createElement("code");
    made.className = `exact ${className}`.trim();
    made.dir = "ltr";
    made.append(visible(text));
    return made;
}

/** A path or a name: a line end in it is shown, but does not break the line. */
export function name(text) {
    const made = document.createElement("code");
    made.className = "exact";
    made.dir = "ltr";
    made.append(visible(text, { lines: false }));
    return made;
}

/** A block of it, with how long it is when that is more than a screen. */
export function block(text, className = "") {
    const made = document.createElement("pre");
    made.className = "block";
    made.append(exact(text, className));
    const lines = String(text).split("\n").length;
    if (lines > 30 || text.length > 3000) {
        made.prepend(
            span("length", `${lines.toLocaleString()} lines, ${text.length.toLocaleString()} characters, shown whole`),
        );
    }
    return made;
}

/** What exacta says, with what it puts between backticks as code. */
export function prose(text) {
    const nodes = document.createDocumentFragment();
    String(text ?? "")
        .split(/`([^`]+)`/)
        .forEach((part, index) => nodes.append(index % 2 === 1 ? exact(part) : visible(part)));
    return nodes;
}

/** One line for lists; the rest is behind the link. */
export function line(text, longest = 240) {
    const made = document.createElement("code");
    made.className = "exact line";
    made.dir = "ltr";
    made.append(visible(shortened(String(text ?? ""), longest), { lines: false }));
    return made;
}

/** The same where only a string can stand: titles, labels, announcements. */
export function inline(text, longest = 120) {
    return shortened(String(text ?? ""), longest)
        .replace(/\r?\n/g, " ↵ ")
        .replace(/\t/g, " ")
        .replace(HIDDEN, (hidden) => (hidden.startsWith(" ") ? " … " : `⟨${code(hidden.codePointAt(0))}⟩`));
}

function shortened(text, longest) {
    const points = Array.from(text.slice(0, longest * 2));
    return points.length > longest ? `${points.slice(0, longest - 1).join("")}…` : text;
}

/** Words of a command as one would type them. */
export function typed(argv) {
    const plain = /^[A-Za-z0-9_@%+=:,./-]+$/;
    return argv.map((word) => (plain.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
}

/** Complete escape sequences of terminals: colours, cursor, titles, links. */
const ESCAPES =
    /\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[PX^_][^\x1b]*\x1b\\|\x9b[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-OQ-WYZ\\`-~]/g;
const BEGUN = /(?:\x1b|\x9b)[^\x07]{0,4096}$/;

/** Output without them; one that has begun at the end is kept back until the rest of it comes. */
export function withoutEscapes(text) {
    const clean = text.replace(ESCAPES, "");
    const begun = clean.match(BEGUN);
    const isOpen = begun && /^(?:\x1b|\x1b\[[0-?]*[ -/]*|\x9b[0-?]*[ -/]*|\x1b[\]PX^_][^]*)$/.test(begun[0]);
    return isOpen ? { clean: clean.slice(0, begun.index), rest: begun[0] } : { clean, rest: "" };
}
