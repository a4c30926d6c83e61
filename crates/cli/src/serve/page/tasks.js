// Tasks: those that there are, and a field for the plan of a new one. One of them is in task.js.

import { get, path, post } from "./api.js";
import { onEvents } from "./daemon.js";
import {
    LITERAL,
    badge,
    button,
    element,
    empty,
    failure,
    heading,
    loading,
    note,
    portions,
    replace,
    section,
} from "./dom.js";
import { areSeveral, nameOf, project } from "./projects.js";
import { showTask } from "./task.js";
import { inline, visible } from "./text.js";
import { moment } from "./time.js";

/** What another process works on changes without an event. */
const AGAIN = 5_000;
const ENDED = ["completed", "failed", "cancelled"];
const EXAMPLE =
    'goal = "what is to be achieved"\n\n[[steps]]\ncommand = "npm test"\nexpect = { stdout_contains = "passed" }';

export const tasks = {
    title: "Tasks",
    show: (place) => (place.id ? showTask(place) : showAll(place)),
};

async function showAll({ root, signal }) {
    const open = element("div", {}, loading("tasks"));
    const over = element("div", {});
    const form = starter(signal);
    const toggle = button(
        "New task",
        () => {
            form.hidden = !form.hidden;
            toggle.setAttribute("aria-expanded", String(!form.hidden));
            if (!form.hidden) form.querySelector("textarea").focus();
        },
        { class: "primary", "aria-expanded": "false" },
    );
    replace(
        root,
        heading("Tasks", "Plans of commands that agents work on; what cannot be undone waits for you.", toggle),
        form,
        section("Not ended", open),
        over,
    );
    const update = () => fill(open, over, signal);
    onEvents(["task", "approval"], update, signal);
    const timer = setInterval(update, AGAIN);
    signal.addEventListener("abort", () => clearInterval(timer));
    await update();
}

async function fill(open, over, signal) {
    try {
        const all = (await get(path("tasks"), { project: project() }, { signal })) ?? [];
        const [running, ended] = [[], []];
        for (const task of all) (ENDED.includes(task.state) ? ended : running).push(task);
        show(open, running, empty("No task is open.", "Agents start them over MCP or HTTP; you can start one here."));
        show(over, ended, null, "Ended");
    } catch (error) {
        if (!signal.aborted) replace(open, failure(error));
    }
}

/** What is there stays as long as it says the same: nothing moves under the pointer for nothing. */
function show(place, all, nothing, title) {
    const key = JSON.stringify(all);
    if (place.dataset.key === key) return;
    place.dataset.key = key;
    const focused = place.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
    const list = all.length === 0 ? nothing : portions(element("div", { class: "rows" }), all, row, 50);
    replace(place, title && all.length > 0 ? section(title, list) : list);
    if (focused) [...place.querySelectorAll("a")].find((link) => link.getAttribute("href") === focused)?.focus();
}

function row(task) {
    const { id, state, goal, agent, reason, steps, done, changed, project: whose } = task;
    return element(
        "a",
        { class: "row task", href: `#/tasks/${encodeURIComponent(id)}`, data: { item: "" } },
        badge(state, state.replaceAll("_", " ")),
        element(
            "span",
            { class: "what" },
            element("span", { class: "task-goal" }, visible(inline(goal, 200))),
            element(
                "span",
                { class: "note" },
                visible(inline(agent || "no agent", 60)),
                reason && [" · ", visible(inline(reason, 160))],
            ),
        ),
        areSeveral() && element("span", { class: "tag" }, inline(nameOf(whose), 30)),
        element("span", { class: "amount" }, steps > 0 ? `${done} of ${steps}` : ""),
        moment(changed),
    );
}

/** A plan as somebody has it, pasted. */
function starter(signal) {
    const field = element("textarea", {
        rows: 9,
        "aria-label": "Plan, as JSON or TOML",
        placeholder: EXAMPLE,
        ...LITERAL,
    });
    const rollback = element("input", { type: "checkbox" });
    const single = element("input", { type: "checkbox" });
    const problem = element("div", { role: "status" });
    const submit = async (event) => {
        event.preventDefault();
        if (field.value.trim() === "") return;
        const wishes = { rollback_on_failure: rollback.checked, step_by_step: single.checked };
        try {
            const { id } = await post(path("tasks"), { project: project(), plan: field.value, ...wishes }, { signal });
            location.hash = `#/tasks/${encodeURIComponent(id)}`;
        } catch (error) {
            if (!signal.aborted) replace(problem, failure(error), pointed(field, error));
        }
    };
    return element(
        "form",
        { class: "run-form task-form", hidden: true, on: { submit } },
        field,
        element("label", { class: "check" }, rollback, "Take back what was done if it fails"),
        element("label", { class: "check" }, single, "Ask me about every dangerous step when it comes to it"),
        element("button", { class: "primary" }, "Start"),
        problem,
    );
}

/** Where in the text it is: the cursor goes there. */
function pointed(field, error) {
    const { line, column } = error.body?.error ?? {};
    if (!line) return null;
    const lines = field.value.split("\n");
    const start = lines.slice(0, line - 1).reduce((sum, each) => sum + each.length + 1, 0);
    field.focus();
    field.setSelectionRange(start, start + (lines[line - 1]?.length ?? 0));
    return note(`Line ${line}, column ${column}.`);
}
