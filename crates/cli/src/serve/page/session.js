// One session: what it writes as it comes, and a field to run something in it.

import { get, path, remove } from "./api.js";
import { onEvents } from "./daemon.js";
import { confirm } from "./dialog.js";
import { LITERAL, badge, button, element, facts, failure, heading, link, note, replace } from "./dom.js";
import { OutputPane } from "./output.js";
import { project } from "./projects.js";
import { commandOf as ownCommand, run, runningIn, runs } from "./runs.js";
import { listen } from "./stream.js";
import { exact, line, name, prose, visible } from "./text.js";
import { duration, idle, stopwatch } from "./time.js";

export async function showSession({ root, id, signal }) {
    const pane = new OutputPane(`Output of session ${id}`);
    const about = element("div", {});
    const state = element("span", { class: "note", role: "status" });
    const view = { id, pane, about, state, isLive: false };
    replace(
        root,
        heading(
            ["Session ", exact(id.slice(0, 13))],
            null,
            button("End session", () => end(id, about), { class: "danger" }),
        ),
        about,
        element("div", { class: "output-head" }, element("h2", {}, "Output"), state),
        pane.element,
        runForm(view, signal),
    );
    const refresh = () => describe(view, signal);
    onEvents(["session"], refresh, signal);
    runs.addEventListener("event", ({ detail }) => detail.session === id && ownEvent(view, detail), { signal });
    listen(path("sessions", id, "output"), {
        signal,
        onEvent: (event) => tell(view, event),
        onState: (now, error) => connection(view, now, error),
    });
    await refresh();
}

async function describe({ id, about }, signal) {
    try {
        const all = await get(path("sessions"), { project: project() }, { signal });
        const session = all.find((one) => one.id === id);
        if (!session) {
            replace(about, note("This session has ended."));
            return;
        }
        const { running } = session;
        replace(
            about,
            facts([
                ["Agent", session.agent && visible(session.agent)],
                ["Directory", name(session.directory)],
                [
                    "Runs",
                    running
                        ? [line(running.command), " ", stopwatch(running.started)]
                        : badge("idle", idle(session.idle_ms)),
                ],
                ["Requests", String(session.requests)],
                ["Id", exact(id)],
            ]),
        );
    } catch (error) {
        if (!signal.aborted) replace(about, failure(error));
    }
}

function connection(view, now, error) {
    view.isLive = now === "live";
    const words = {
        live: "live",
        connecting: "connecting …",
        waiting: "the connection is gone; trying again …",
        refused: "",
    };
    replace(view.state, words[now], error && failure(error));
}

/** What this page has started comes on two ways: its own answer and the output of the session. The second one shows it;
 *  the first one is for when the second is not there, and for what only it knows. */
function ownEvent(view, { event, data }) {
    if (event === "failed")
        view.pane.note(element("span", { class: "failed" }, prose(data.message), data.hint && [" ", prose(data.hint)]));
    else if (event === "stopped") view.pane.note("stopped: everything it ran is killed");
    else if (!view.isLive) tell(view, { event, data });
}

function tell(view, { event, data }) {
    const { pane } = view;
    if (event === "started") pane.note(element("span", { class: "prompt" }, "$ "), commandOf(view, data));
    if (event === "output") pane.append(data.stream, data.text);
    if (event === "approval") {
        const words = data.state === "pending" ? "waits for an approval" : `approval: ${data.state}`;
        pane.note(words, " ", link("approvals", data.id, "look at it"));
    }
    if (event === "ended") pane.note(...ended(data));
}

/** Whoever has started it knows it; else the session does, a moment later. */
function commandOf({ id }, data) {
    const known = data.command ?? ownCommand(id, data.id);
    if (known) return exact(known);
    const place = element("span", {}, "…");
    get(path("sessions"), { project: project() })
        .then((all) => place.replaceWith(exact(all.find((one) => one.id === id)?.running?.command ?? "…")))
        .catch(() => {});
    return place;
}

/** How a run has ended, in one line. */
export function ended({
    exit_code: exit,
    duration_ms: took,
    undo,
    correlation_id: id,
    timed_out: timedOut,
    reason,
    decision,
}) {
    return [
        badge(exit === 0 ? "ended" : "failed", `exit ${exit}`),
        ` ${duration(took)}`,
        timedOut && " timed out",
        exit !== 0 && decision !== "allow" && reason ? [" ", visible(reason)] : null,
        undo && [" ", link("undo", undo.id, `undo #${undo.id}`)],
        id && [" ", link("history", id, "details")],
    ];
}

function runForm(view, signal) {
    const field = element("textarea", {
        rows: 1,
        "aria-label": "Command",
        placeholder: "Command; Enter runs it, Shift+Enter is a new line",
        ...LITERAL,
        data: { search: "" },
    });
    const hold = element("input", { type: "checkbox" });
    const start = element("button", { class: "primary" }, "Run");
    const stop = button("Stop", () => runningIn(view.id)?.stop(), { class: "danger" });
    const update = () => {
        const own = runningIn(view.id);
        start.disabled = own !== null;
        stop.hidden = own === null;
    };
    const submit = () => {
        if (field.value.trim() === "" || runningIn(view.id)) return;
        view.pane.follow();
        run(view.id, { project: project(), command: field.value, hold: hold.checked });
        field.value = "";
    };
    field.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
        event.preventDefault();
        submit();
    });
    runs.addEventListener("change", update, { signal });
    update();
    return element(
        "form",
        {
            class: "run-form",
            on: {
                submit: (event) => {
                    event.preventDefault();
                    submit();
                },
            },
        },
        field,
        start,
        stop,
        element("label", { class: "check" }, hold, "Hold what it changes until I have looked at it"),
    );
}

async function end(id, about) {
    const body = element(
        "p",
        {},
        "Everything that runs in it is killed; its directory, variables and functions are gone.",
    );
    if (!(await confirm({ title: "End this session?", body, action: "End session", danger: true }))) return;
    try {
        await remove(path("sessions", id));
        location.hash = "#/sessions";
    } catch (error) {
        replace(about, failure(error));
    }
}
