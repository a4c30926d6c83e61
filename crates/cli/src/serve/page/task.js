// One task: its steps with what was expected and found, its log as it comes, and what a person can do about it.

import { path, post } from "./api.js";
import { confirm } from "./dialog.js";
import {
    announce,
    badge,
    button,
    element,
    facts,
    failure,
    heading,
    link,
    loading,
    note,
    replace,
    section,
    table,
} from "./dom.js";
import { gate } from "./gate.js";
import { bindKeys } from "./keys.js";
import { OutputPane, finished } from "./output.js";
import { listen } from "./stream.js";
import { block, exact, inline, visible } from "./text.js";
import { countdown, duration, moment } from "./time.js";

/** Just after the question has come or changed, a click may have been aimed at something else. */
const SETTLING = 700;
const ENDED = ["completed", "failed", "cancelled"];

export async function showTask({ root, id, signal }) {
    const view = {
        id,
        signal,
        task: null,
        gateShown: -Infinity,
        head: element("div", {}, loading("the task")),
        question: element("div", {}),
        problem: element("div", { role: "status" }),
        steps: element("div", {}),
        pane: new OutputPane(`Log of task ${id}`),
        state: element("span", { class: "note", role: "status" }),
        after: 0,
    };
    replace(
        root,
        view.head,
        view.problem,
        view.question,
        view.steps,
        element("div", { class: "output-head" }, element("h2", {}, "Log"), view.state),
        view.pane.element,
    );
    bindKeys({ a: () => byKey(view, "approve"), d: () => byKey(view, "reject") }, signal);
    follow(view);
}

/** Until it has ended; whoever has it begin anew follows it again. */
function follow(view) {
    view.following?.abort();
    const following = new AbortController();
    view.following = following;
    view.signal.addEventListener("abort", () => following.abort());
    // Asked again with each connection: what was shown already does not come twice.
    const query = {
        get after() {
            return view.after;
        },
    };
    listen(path("tasks", view.id, "events"), {
        query,
        signal: following.signal,
        onEvent: (event) => tell(view, event),
        onState: (now, error) => connection(view, now, error),
    });
}

function connection(view, now, error) {
    const words = {
        live: "live",
        connecting: "connecting …",
        waiting: "the connection is gone; trying again …",
        refused: "",
    };
    replace(view.state, words[now]);
    if (error) replace(view.task ? view.problem : view.head, failure(error));
}

function tell(view, { event, data }) {
    if (event === "log") return logged(view, data);
    if (event === "problem") return replace(view.problem, failure(data.error));
    if (event !== "task" && event !== "ended") return undefined;
    // The answer to a decision may come after what the stream has told since.
    if (view.task && data.changed < view.task.changed) return undefined;
    const before = view.task?.state;
    view.task = data;
    showHead(view);
    showQuestion(view);
    showSteps(view);
    if (before && before !== data.state) announce(`The task is ${data.state.replaceAll("_", " ")}.`);
    if (event === "ended") {
        view.following.abort();
        replace(view.state, "ended");
    }
    return undefined;
}

function logged(view, { number, type, content }) {
    view.after = Math.max(view.after, number);
    if (type === "command") view.pane.note(element("span", { class: "prompt" }, "$ "), exact(content));
    else if (type === "info") view.pane.note(visible(content));
    else view.pane.append(type === "error" ? "stderr" : "stdout", `${content}\n`);
}

function showHead(view) {
    const { task, head } = view;
    const key = JSON.stringify([
        task.state,
        task.reason,
        task.done,
        task.round,
        task.approved_by,
        task.rolled_back,
    ]);
    if (head.dataset.key === key) return;
    head.dataset.key = key;
    const isOver = ENDED.includes(task.state);
    const [done, total] = [task.done, task.steps.length];
    replace(
        head,
        heading(
            ["Task: ", visible(inline(task.goal, 200))],
            null,
            !isOver && button("Cancel task", () => act(view, "cancel"), { class: "danger" }),
            ["failed", "cancelled", "needs_review"].includes(task.state) &&
                button("Retry", () => act(view, "retry"), { class: "primary" }),
        ),
        facts([
            ["State", [badge(task.state, task.state.replaceAll("_", " ")), task.reason && [" ", visible(task.reason)]]],
            [
                "Progress",
                total > 0 && [
                    element("progress", { max: total, value: done, "aria-label": "Steps done" }),
                    ` ${done} of ${total} steps`,
                ],
            ],
            ["Agent", task.agent && visible(task.agent, { lines: false })],
            ["Approved by", task.approved_by && visible(task.approved_by)],
            ["Taken back", task.rolled_back && "what was done was undone"],
            ["Asked for", moment(task.created)],
            ["Id", exact(task.id)],
        ]),
    );
}

/** The gate. It is made anew only for another question: nothing changes under a pointer that is about to decide. */
function showQuestion(view) {
    const { task, question } = view;
    const told = task.state === "pending_approval" ? task.notification : null;
    const key = told ? `${told.approval} ${told.state}` : "";
    if (question.dataset.key === key) return;
    question.dataset.key = key;
    if (!told) return void replace(question);
    if (told.state !== "pending")
        return void replace(question, note(`The question is ${told.state}; the task goes on in a moment.`));
    view.gateShown = performance.now();
    const several = task.steps.filter(({ number }) => task.asks.includes(number) && !task.approved.includes(number));
    replace(
        question,
        element(
            "article",
            {
                class: `card approval${told["Irreversible Command"].length > 0 ? " lasting" : ""}`,
                data: { gate: told.approval },
            },
            element(
                "header",
                { class: "card-head" },
                element("h3", {}, "May this task go on?"),
                element("span", { class: "times" }, countdown(told.expires)),
            ),
            asked(told),
            element(
                "footer",
                { class: "decisions", role: "group", "aria-label": "Decide" },
                button(several.length > 1 ? "Approve all" : "Approve", () => decide(view, "approve"), {
                    class: "primary",
                    title: "(a)",
                }),
                several.length > 1 &&
                    several.map(({ number }) =>
                        button(`Approve step ${number}`, () => decide(view, "approve", number)),
                    ),
                button("Reject", () => decide(view, "reject"), {
                    class: "danger",
                    title: "(d)",
                    data: { choice: "deny" },
                }),
            ),
        ),
    );
    announce(`The task asks: ${inline(told.Goal, 80)}`);
}

function asked(told) {
    return gate({
        goal: told.Goal,
        plan: told.Plan,
        irreversible: told["Irreversible Command"],
        others: told["Needs Approval"] ?? [],
    });
}

function byKey(view, action) {
    if (view.task?.state === "pending_approval") decide(view, action, undefined, true);
}

async function decide(view, action, step, fromKey = false) {
    if (performance.now() - view.gateShown < SETTLING) {
        announce("The question has just come. Press again.");
        replace(view.problem, note("The question has just come. Press again."));
        return;
    }
    const told = view.task.notification;
    const lasting = action === "approve" && told["Irreversible Command"].length > 0;
    if (fromKey || lasting) {
        const isWanted = await confirm({
            title: action === "approve" ? (step ? `Approve step ${step}?` : "Approve the plan?") : "Reject?",
            action: action === "approve" ? "Approve" : "Reject",
            danger: true,
            careful: lasting,
            body: asked(told),
        });
        if (!isWanted) return;
    }
    await send(view, { action, step });
}

async function act(view, action) {
    const words = {
        cancel: [
            "Cancel this task?",
            "Cancel it",
            "What its running step did is taken back; what earlier steps did stays.",
        ],
        retry: ["Begin anew?", "Retry", "Steps that are done stay done. The rest is judged, and asked about, again."],
    };
    const [title, label, body] = words[action];
    const isWanted = await confirm({ title, action: label, danger: action === "cancel", body: element("p", {}, body) });
    if (isWanted) await send(view, { action });
}

async function send(view, wish) {
    replace(view.problem);
    try {
        const data = await post(path("tasks", view.id), { project: view.task.project, ...wish });
        tell(view, { event: "task", data });
        if (wish.action === "retry") follow(view);
    } catch (error) {
        // A person may go over what could have taken effect, after having looked.
        const forced =
            error.code === "unsafe_retry" &&
            button("Retry anyway", () => send(view, { action: "retry", force: true }), { class: "danger" });
        replace(view.problem, failure(error), forced);
    }
}

function showSteps({ task, steps }) {
    const key = JSON.stringify([task.steps, task.asks, task.approved]);
    if (steps.dataset.key === key) return;
    steps.dataset.key = key;
    const open = new Set([...steps.querySelectorAll("details[open]")].map((each) => each.dataset.step));
    replace(
        steps,
        section(
            "Steps",
            element(
                "ol",
                { class: "task-steps" },
                task.steps.map((step) => stepItem(task, step, open)),
            ),
        ),
    );
}

function stepItem(task, step, open) {
    const { number, command, why, state, problem, attempts } = step;
    const [asks, approved] = [task.asks.includes(number), task.approved.includes(number)];
    const last = attempts.at(-1);
    const took = last?.ended ? duration(last.ended - last.started) : "";
    return element(
        "li",
        { class: `card task-step is-${state}`, data: { state } },
        element(
            "div",
            { class: "card-head" },
            badge(state),
            attempts.length > 1 && `${attempts.length} attempts`,
            asks && badge(approved ? "approved" : "confirm", approved ? "approved" : "needs a yes"),
            element("span", { class: "times note" }, took),
        ),
        block(command, "command"),
        why && note(visible(why)),
        problem && element("p", { class: "warning" }, visible(problem)),
        checks(step),
        attempts.length > 0 && output(step, open.has(String(number))),
    );
}

function checks({ checks: all }) {
    if (all.length === 0) return null;
    const rows = all.map(({ what, expected, found, held }) => [
        badge(held ? "holds" : "failed", held ? "ok" : "no"),
        exact(what),
        exact(inline(expected, 400)),
        exact(inline(found, 400)),
    ]);
    return table(["", "Check", "Expected", "Found"], rows);
}

function output({ number, attempts }, isOpen) {
    const each = attempts.flatMap((attempt, index) => [
        element(
            "h4",
            {},
            `Attempt ${index + 1}: `,
            attempt.timed_out ? "timed out" : attempt.interrupted ? "stopped" : `exit ${attempt.exit_code ?? "?"}`,
            attempt.rolled_back && ", taken back",
            attempt.undo && [" ", link("undo", attempt.undo, `undo #${attempt.undo}`)],
            " ",
            link("history", attempt.request, "details"),
        ),
        attempt.failed && note(visible(attempt.failed)),
        ["stdout", "stderr"].map(
            (stream) => attempt[stream] && finished(attempt[stream], stream, `${stream} of attempt ${index + 1}`),
        ),
    ]);
    return element(
        "details",
        { class: "raw", data: { step: String(number) }, open: isOpen },
        element("summary", {}, "What it wrote"),
        each,
    );
}
