// What a command writes, as it comes: in pieces, at most so much of it, following its end as long as one looks there.

import { button, element, note } from "./dom.js";
import { visible, withoutEscapes } from "./text.js";

/** More is dropped from the front; the history has the whole. */
const MOST_CHARACTERS = 1_000_000;
/** One line longer than this is folded by hand: browsers take seconds to lay it out. */
const LONGEST_LINE = 4_000;

export class OutputPane {
    constructor(label) {
        this.text = element("pre", {
            class: "output",
            tabindex: 0,
            role: "log",
            "aria-live": "off",
            "aria-label": label,
        });
        this.end = button("To the end", () => this.follow(), { class: "to-end", hidden: true });
        this.element = element("div", { class: "output-pane" }, this.text, this.end);
        this.pieces = [];
        this.held = { stdout: "", stderr: "" };
        this.size = 0;
        this.isFollowing = true;
        this.text.addEventListener("scroll", () => this.notePlace());
    }

    append(stream, text) {
        const { clean, rest } = withoutEscapes((this.held[stream] ?? "") + text);
        this.held[stream] = rest;
        // What a progress bar would overwrite stays, each on its line: nothing that was written is hidden.
        if (clean !== "") this.add(stream === "stderr" ? "stderr" : "stdout", clean.replace(/\r\n?/g, "\n"));
    }

    /** A line of ours between theirs. */
    note(...children) {
        this.pieces.push({ node: element("span", { class: "output-note" }, ...children, "\n"), size: 80 });
        this.schedule();
    }

    add(stream, text) {
        const last = this.pieces.at(-1);
        // One node for what comes together: ten thousand lines are not ten thousand elements.
        if (last && last.stream === stream && last.text.length < 16_384) last.text += text;
        else this.pieces.push({ stream, text });
        this.schedule();
    }

    schedule() {
        this.frame ??= requestAnimationFrame(() => this.flush());
    }

    flush() {
        this.frame = null;
        for (const piece of this.pieces.splice(0)) {
            const node = piece.node ?? this.span(piece);
            node.size = piece.size ?? piece.text.length;
            this.size += node.size;
            this.text.append(node);
        }
        this.dropOldest();
        if (this.isFollowing) this.text.scrollTop = this.text.scrollHeight;
        else this.end.hidden = false;
    }

    span({ stream, text }) {
        const lines = text.split("\n").map((line) => folded(line));
        return element(
            "span",
            { class: stream },
            lines.flatMap((line, index) => (index === 0 ? [line] : ["\n", line])),
        );
    }

    dropOldest() {
        while (this.size > MOST_CHARACTERS && this.text.children.length > 1) {
            const oldest = this.text.querySelector(":scope > span");
            this.size -= oldest.size;
            oldest.remove();
            this.dropped ??= this.text.insertAdjacentElement(
                "beforebegin",
                note("The beginning is not shown any more. The history has it."),
            );
        }
    }

    notePlace() {
        const { scrollTop, clientHeight, scrollHeight } = this.text;
        this.isFollowing = scrollTop + clientHeight > scrollHeight - 30;
        if (this.isFollowing) this.end.hidden = true;
    }

    follow() {
        this.isFollowing = true;
        this.end.hidden = true;
        this.text.scrollTop = this.text.scrollHeight;
    }
}

function folded(line) {
    if (line.length <= LONGEST_LINE) return visible(line);
    const rest = line.slice(LONGEST_LINE);
    const more = button(`… ${rest.length.toLocaleString()} more characters`, () => more.replaceWith(visible(rest)), {
        class: "fold",
    });
    return [visible(line.slice(0, LONGEST_LINE)), more];
}

/** Output that is complete. */
export function finished(text, stream, label) {
    const lines = withoutEscapes(text).clean.replace(/\r\n?/g, "\n").replace(/\n$/, "").split("\n");
    const made = element("pre", {
        class: `output finished ${stream}`,
        tabindex: 0,
        role: "region",
        "aria-label": label,
    });
    const most = 500;
    const show = (from, to) => made.append(...lines.slice(from, to).flatMap((line) => [folded(line), "\n"].flat()));
    show(0, most);
    if (lines.length <= most) return made;
    const more = button(
        `Show all ${lines.length.toLocaleString()} lines`,
        () => {
            show(most);
            more.remove();
        },
        { class: "more" },
    );
    return element("div", {}, made, more);
}
