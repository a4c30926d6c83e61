// Single keys, for those who do not want to reach for the mouse. They can be switched off: some type by speaking.

import { isAsking, tell } from "./dialog.js";
import { element } from "./dom.js";

const KEPT_AS = "exacta-keys";
const VIEWS = ["approvals", "tasks", "sessions", "history", "undo", "policy", "status"];
const HELP = [
    ["j  k", "next, previous in a list"],
    ["Enter", "open"],
    ["a  d", "approve, deny what has the focus; asks before it counts"],
    ["/", "search"],
    ["1 … 7", "the views, from left to right"],
    ["Esc", "leave a field or a question"],
    ["?", "this"],
];

const bound = new Map();

/** Keys of one view, while it is shown. */
export function bindKeys(keys, signal) {
    for (const [key, call] of Object.entries(keys)) bound.set(key, call);
    signal.addEventListener("abort", () => {
        for (const [key, call] of Object.entries(keys)) if (bound.get(key) === call) bound.delete(key);
    });
}

export function startKeys() {
    document.addEventListener("keydown", (event) => {
        if (
            event.ctrlKey ||
            event.metaKey ||
            event.altKey ||
            isAsking() ||
            document.body.classList.contains("signed-out")
        )
            return;
        if (event.target.closest("input, textarea, select")) {
            if (event.key === "Escape") event.target.blur();
            return;
        }
        if (localStorage.getItem(KEPT_AS) !== "off" && pressed(event)) event.preventDefault();
    });
}

/** Whether the key meant something. A key that is held down decides nothing. */
function pressed({ key, repeat }) {
    if (key === "j" || key === "k") return move(key === "j" ? 1 : -1);
    if (repeat) return false;
    if (bound.has(key)) {
        bound.get(key)();
        return true;
    }
    if (key === "?") {
        showHelp();
        return true;
    }
    if (key === "/") return search();
    const view = VIEWS[Number(key) - 1];
    if (view) location.hash = `#/${view}`;
    return view !== undefined;
}

/** Items carry `data-item`. */
export function move(step) {
    const items = [...document.querySelectorAll("#main [data-item]")].filter((item) => item.offsetParent !== null);
    if (items.length === 0) return false;
    const current = items.findIndex((item) => item.contains(document.activeElement));
    const next = current < 0 ? 0 : Math.min(Math.max(current + step, 0), items.length - 1);
    items[next].focus();
    items[next].scrollIntoView({ block: "nearest" });
    return true;
}

function search() {
    const field = document.querySelector("#main [data-search]");
    if (!field) {
        location.hash = "#/history?search";
        return true;
    }
    field.focus();
    field.select?.();
    return true;
}

export function showHelp() {
    const rows = HELP.map(([keys, text]) =>
        element("tr", {}, element("th", { scope: "row" }, element("kbd", {}, keys)), element("td", {}, text)),
    );
    const box = element("input", {
        type: "checkbox",
        on: { change: () => localStorage.setItem(KEPT_AS, box.checked ? "on" : "off") },
    });
    box.checked = localStorage.getItem(KEPT_AS) !== "off";
    tell("Keys", [
        element("table", { class: "keys" }, element("tbody", {}, rows)),
        element("label", { class: "check" }, box, "Single keys do this"),
    ]);
}
