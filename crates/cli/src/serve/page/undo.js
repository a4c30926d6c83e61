// Records of what requests changed. One of them, with what can be done about it, is in record.js.

import { get, path } from "./api.js";
import { tally } from "./diff.js";
import { badge, button, element, empty, heading, loading, replace } from "./dom.js";
import { project } from "./projects.js";
import { showRecord } from "./record.js";
import { line } from "./text.js";
import { moment } from "./time.js";

const PAGE = 100;

export const undo = {
    title: "Undo",
    show: (place) => (place.id ? showRecord(place) : showAll(place)),
};

async function showAll({ root, signal }, limit = PAGE) {
    const list = element("div", { class: "results" }, loading("records"));
    replace(
        root,
        heading("Undo", "Every request is one record. It can be looked at, taken back and made again."),
        list,
    );
    const all = (await get(path("log"), { project: project(), limit }, { signal })) ?? [];
    const held = all.filter((record) => record.state === "held");
    const others = all.filter((record) => record.state !== "held");
    replace(
        list,
        all.length === 0 &&
            empty("Nothing was recorded yet.", "As soon as a command changes a file, it can be taken back here."),
        held.length > 0 && [element("h2", {}, "Held, until you decide"), rows(held)],
        others.length > 0 && [held.length > 0 && element("h2", {}, "Done"), rows(others)],
        all.length >= limit &&
            button("Show more", () => showAll({ root, signal }, limit + PAGE * 2), { class: "more" }),
    );
}

function rows(records) {
    return element("div", { class: "rows" }, records.map(row));
}

function row({ id, state, command, paths, exit_code: exit, time, irreversible = [] }) {
    return element(
        "a",
        { class: `row record is-${state}`, href: `#/undo/${encodeURIComponent(id)}`, data: { item: "" } },
        element("span", { class: "number" }, `#${id}`),
        badge(state),
        element(
            "span",
            { class: "what" },
            line(command),
            irreversible.length > 0 && element("span", { class: "note" }, "not all of it can be taken back"),
        ),
        tally(paths),
        element("span", { class: "amount" }, exit === null || exit === undefined ? "" : `exit ${exit}`),
        element("span", { class: "amount" }, moment(time)),
    );
}
