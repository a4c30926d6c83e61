// What a request changed, or would change: file by file, as a unified diff.

import { badge, button, element, note, warning } from "./dom.js";
import { name, visible } from "./text.js";
import { bytes } from "./time.js";

/** Longer ones are opened by hand. */
const MOST_LINES = 400;
const MOST_OPEN = 12;
const SIGNS = { created: "+", modified: "~", deleted: "-", moved: ">" };

export function changeList(changes, { open = true } = {}) {
    return element(
        "div",
        { class: "changes" },
        changes.map((change, index) => file(change, open && index < MOST_OPEN)),
    );
}

/** `+2 ~1 -1 >1`: created, modified, deleted, moved. */
export function tally(paths) {
    if (!paths) return "";
    const named = Object.entries(SIGNS).filter(([kind]) => paths[kind] > 0);
    const spoken = named.map(([kind]) => `${paths[kind]} ${kind}`).join(", ");
    return element(
        "span",
        { class: "tally", title: spoken },
        named.map(([kind, sign]) => element("span", { class: `is-${kind}` }, `${sign}${paths[kind]}`)),
    );
}

function file(change, isOpen) {
    const counts =
        change.added === null || change.added === undefined
            ? null
            : element(
                  "span",
                  { class: "counts" },
                  element("span", { class: "is-created" }, `+${change.added}`),
                  " ",
                  element("span", { class: "is-deleted" }, `−${change.removed}`),
              );
    const title = element(
        "summary",
        {},
        badge(change.kind),
        change.from ? [name(change.from), " → "] : null,
        name(change.path || "."),
        counts,
    );
    const made = element("details", { class: "file", open: isOpen }, title);
    const fill = () => made.append(body(change));
    if (isOpen) fill();
    else made.addEventListener("toggle", fill, { once: true });
    return made;
}

function body(change) {
    return element(
        "div",
        { class: "file-body" },
        change.changed_since && warning("It has been changed since."),
        sides(change),
        change.path_hex && note("Its name is no text: ", element("code", {}, change.path_hex)),
        change.binary && note("Binary: no lines to compare."),
        change.too_large && note("Too large to compare."),
        change.diff && diff(change.diff),
    );
}

/** Kind, mode and size, where they differ. */
function sides({ before, after }) {
    const told = (side) =>
        side && [side.type, side.mode, bytes(side.size), side.target && `→ ${side.target}`].filter(Boolean).join(" ");
    const [was, is] = [told(before), told(after)];
    if (was === is) return null;
    return element(
        "p",
        { class: "sides" },
        was && is ? visible(`${was} → ${is}`) : visible(was ? `was ${was}` : (is ?? "")),
    );
}

export function diff(text) {
    const lines = text.split("\n");
    if (lines.at(-1) === "") lines.pop();
    const made = element("pre", { class: "diff", tabindex: 0, role: "region", "aria-label": "Differences" });
    made.append(...lines.slice(0, MOST_LINES).map(row));
    if (lines.length <= MOST_LINES) return made;
    const more = button(
        `Show all ${lines.length.toLocaleString()} lines`,
        () => {
            made.append(...lines.slice(MOST_LINES).map(row));
            more.remove();
        },
        { class: "more" },
    );
    return element("div", {}, made, more);
}

function row(line) {
    const kind = { "+": "added", "-": "removed", "@": "place", "\\": "place" }[line[0]] ?? "same";
    return element("span", { class: `diff-${kind}` }, visible(line), "\n");
}
