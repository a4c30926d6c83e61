// What is open and what runs: sessions and background processes.

import { get, path, post } from "./api.js";
import { onEvents } from "./daemon.js";
import { LITERAL, badge, button, element, empty, failure, heading, loading, replace, section } from "./dom.js";
import { project } from "./projects.js";
import { showProcess } from "./process.js";
import { showSession } from "./session.js";
import { inline, line, visible } from "./text.js";
import { bytes, idle, moment, stopwatch } from "./time.js";

/** Idle times and byte counts change without an event. */
const AGAIN = 10_000;

export const sessions = {
    title: "Sessions",
    show: (place) => (place.id ? showSession(place) : showAll(place)),
};

export const processes = {
    title: "Process",
    show: (place) => (place.id ? showProcess(place) : showAll(place)),
};

async function showAll({ root, signal }) {
    const [open, background] = [element("div", {}, loading("sessions")), element("div", {}, loading("processes"))];
    const problem = element("div", { role: "status" });
    replace(
        root,
        heading(
            "Sessions",
            "Shells that agents keep open, and what runs in the background.",
            button("New session", () => create("sessions", {}, problem), { class: "primary" }),
        ),
        problem,
        section("Open", open),
        section("Background", background, starter(problem)),
    );
    const update = () => {
        fill(
            open,
            "sessions",
            sessionRow,
            "No session is open.",
            "Agents open them as they work; you can open one yourself.",
            signal,
        );
        fill(background, "processes", processRow, "Nothing runs in the background.", "", signal);
    };
    onEvents(["session", "process"], update, signal);
    const timer = setInterval(update, AGAIN);
    signal.addEventListener("abort", () => clearInterval(timer));
    update();
}

async function fill(place, what, row, nothing, more, signal) {
    try {
        const all = ofProject(await get(path(what), { project: project() }, { signal }));
        const focused = place.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
        replace(place, all.length === 0 ? empty(nothing, more) : element("div", { class: "rows" }, all.map(row)));
        if (focused) [...place.querySelectorAll("a")].find((link) => link.getAttribute("href") === focused)?.focus();
    } catch (error) {
        if (!signal.aborted) replace(place, failure(error));
    }
}

/** A daemon may tell of those of all its projects. */
function ofProject(all) {
    return (all ?? []).filter((one) => !one.project || one.project === project());
}

function sessionRow(session) {
    const { id, agent, directory, running, requests, idle_ms: quiet } = session;
    return element(
        "a",
        { class: "row session", href: `#/sessions/${encodeURIComponent(id)}`, data: { item: "" } },
        badge(running ? "running" : "idle"),
        element(
            "span",
            { class: "what" },
            running ? line(running.command) : element("span", { class: "note" }, "nothing runs"),
            element("span", { class: "note" }, visible(inline(agent || "no agent", 60)), " in ", line(directory, 80)),
        ),
        element("span", { class: "amount" }, `${requests} ${requests === 1 ? "request" : "requests"}`),
        element("span", { class: "amount" }, running ? stopwatch(running.started) : idle(quiet)),
    );
}

function processRow({ id, command, state, exit_code: exit, started, bytes: written }) {
    return element(
        "a",
        { class: "row process", href: `#/processes/${encodeURIComponent(id)}`, data: { item: "" } },
        state === "running" ? badge("running") : badge(exit === 0 ? "ended" : "failed", `exit ${exit ?? "?"}`),
        element("span", { class: "what" }, line(command)),
        element("span", { class: "amount" }, bytes(written)),
        element("span", { class: "amount" }, moment(started)),
    );
}

/** A field for a command that is to run on without a session. */
function starter(problem) {
    const field = element("input", {
        type: "text",
        "aria-label": "Command to run in the background",
        placeholder: "npm run dev",
        ...LITERAL,
    });
    const start = () => field.value.trim() && create("processes", { command: field.value }, problem);
    return element(
        "form",
        {
            class: "run-form",
            on: {
                submit: (event) => {
                    event.preventDefault();
                    start();
                },
            },
        },
        field,
        element("button", {}, "Start"),
    );
}

async function create(what, body, problem) {
    try {
        const { id } = await post(path(what), { project: project(), ...body });
        location.hash = `#/${what}/${encodeURIComponent(id)}`;
    } catch (error) {
        replace(problem, failure(error));
    }
}
