// One approval: all that a person should know before they decide. Deciding itself is in decide.js.

import { path, post } from "./api.js";
import { badge, button, element, facts, failure, link, loading, note, replace, warning } from "./dom.js";
import { diff } from "./diff.js";
import { STORE, choices } from "./decide.js";
import { gateOf } from "./gate.js";
import { areSeveral, nameOf } from "./projects.js";
import { block, exact, inline, name, visible } from "./text.js";
import { countdown, moment } from "./time.js";

/** A card with what waits. `decide(choice)` is called when a button is pressed, `over` when the time is up. */
export function waitingCard(approval, decide, over) {
    const title = `approval-${approval.id}`;
    const offered = choices(approval).map((choice) =>
        button(choice.label, () => decide(choice), {
            class: choice.look,
            data: { choice: choice.name },
            title: choice.about,
        }),
    );
    // Enter on the card leads to its answers; it is none itself.
    const enter = (event) => {
        if (event.key !== "Enter" || event.target !== event.currentTarget) return;
        event.preventDefault();
        offered[0].focus();
    };
    return element(
        "article",
        {
            on: { keydown: enter },
            class: `card approval${approval.irreversible ? " lasting" : ""}`,
            tabindex: 0,
            "aria-labelledby": title,
            data: { item: "", approval: approval.id },
        },
        element(
            "header",
            { class: "card-head" },
            element(
                "h3",
                { id: title },
                approval.agent ? visible(approval.agent, { lines: false }) : "Somebody",
                " asks",
            ),
            areSeveral() && element("span", { class: "tag" }, inline(nameOf(approval.project), 30)),
            element("span", { class: "times" }, moment(approval.created), countdown(approval.expires, over)),
        ),
        details(approval),
        element("footer", { class: "decisions", role: "group", "aria-label": "Decide" }, offered),
        element("div", { class: "outcome", role: "status" }),
    );
}

/** What became of it, in one line that opens. */
export function decidedRow(approval) {
    const summary = element(
        "summary",
        { data: { item: "" } },
        badge(stateOf(approval)),
        element("code", { class: "exact line", dir: "ltr" }, visible(approval.command.slice(0, 240), { lines: false })),
        areSeveral() && element("span", { class: "tag" }, inline(nameOf(approval.project), 30)),
        element("span", { class: "who" }, decidedBy(approval)),
        moment(approval.decided ?? approval.created),
    );
    const row = element("details", { class: "row", data: { approval: approval.id } }, summary);
    // Most are never opened.
    row.addEventListener("toggle", () => row.append(details(approval)), { once: true });
    return row;
}

/** `approved for the session by anna (telegram)` */
export function outcome(approval) {
    const scope = { once: " once", session: " for the session", always: " for always" }[approval.scope] ?? "";
    const by = decidedBy(approval);
    return [badge(stateOf(approval)), `${scope}${by ? ` by ${by}` : ""} `, moment(approval.decided)];
}

function decidedBy({ by, door }) {
    return by ? inline(door ? `${by} (${door})` : by, 60) : "";
}

function stateOf(approval) {
    return approval.state === "pending" ? "expired" : approval.state;
}

/** Of a task: its goal, its plan and the command that cannot be undone. */
function ofTask(approval) {
    const { task, directory } = approval;
    return element(
        "div",
        { class: "approval-body" },
        gateOf(approval),
        facts([
            ["Runs in", name(directory)],
            ["Task", link("tasks", task, exact(task))],
        ]),
    );
}

function details(approval) {
    if (approval.task) return ofTask(approval);
    const command = block(approval.command, "command");
    return element(
        "div",
        { class: "approval-body" },
        approval.goal &&
            element("p", { class: "goal" }, element("span", { class: "label" }, "For "), visible(approval.goal)),
        plan(approval),
        command,
        command.querySelector(".mark, .escaped") &&
            warning("Some characters in it would not be seen, or would reorder it. They are marked."),
        command.querySelector(".mixed") &&
            warning("Some words in it have letters that look like others. They are underlined."),
        approval.redacted &&
            note(
                "A secret in it is not shown. It can be approved or denied, but no list is to keep it: always and never are not offered.",
            ),
        approval.irreversible &&
            element(
                "p",
                { class: "irreversible" },
                element("strong", {}, "Cannot be undone: "),
                exact(approval.irreversible),
            ),
        facts([["Runs in", name(approval.directory)]]),
        reasons(approval),
        tried(approval),
        preview(approval),
        always(approval),
    );
}

function plan({ plan: steps = [] }) {
    if (steps.length === 0) return null;
    return element(
        "details",
        { class: "plan", open: steps.length <= 5 },
        element("summary", {}, `Plan, ${steps.length} ${steps.length === 1 ? "step" : "steps"}`),
        element(
            "ol",
            {},
            steps.map((step) => element("li", {}, visible(step))),
        ),
    );
}

function reasons({ asks = [] }) {
    const each = asks.map(({ command, via = [], rule, reason }) =>
        element(
            "li",
            {},
            exact(command),
            via.length > 0 && element("span", { class: "via" }, " through ", exact(via.join(" > "))),
            element(
                "span",
                { class: "reason" },
                visible(reason),
                " ",
                element("code", { class: "rule", title: "rule" }, visible(rule)),
            ),
        ),
    );
    return element("div", { class: "asks" }, element("h4", {}, "Why it asks"), element("ul", {}, each));
}

/** It has run apart already: what came of it is what is decided about. */
function tried({ tried: result }) {
    if (!result) return null;
    const said = ["stdout", "stderr"].filter((stream) => result[stream] !== "");
    const paths = `${result.paths} ${result.paths === 1 ? "path" : "paths"}`;
    return element(
        "div",
        { class: "would-change" },
        element("h4", {}, `It has run apart, with exit code ${result.exit}: nothing of it is in the project yet`),
        result.shortened && warning("Not all of it is shown: exacta diff shows the whole."),
        element("h4", {}, `What it would change${result.paths > 0 ? `, ${paths}` : ""}`),
        result.changes === "" ? note("Nothing in the project.") : diff(result.changes),
        said.map((stream) => [element("h4", {}, `What it wrote to ${stream}`), block(result[stream])]),
    );
}

/** Whoever is asked can have it run apart first, and sees what would come of it. */
function preview(approval) {
    if (approval.state !== "pending" || approval.tried || approval.redacted) return null;
    const place = element("div", { class: "preview", role: "status" });
    const look = async () => {
        replace(place, loading("what it would change"));
        try {
            const where = path("approvals", approval.id, "preview");
            const result = await post(where, { project: approval.project });
            replace(place, tried({ tried: result }));
        } catch (error) {
            replace(place, failure(error));
        }
    };
    replace(place, button("What would it change?", look, { title: "Runs it apart, shows what comes of it, and drops it" }));
    return place;
}

function always(approval) {
    if (approval.redacted) return null;
    if (!approval.always)
        return element("p", { class: "note always" }, "Always is not offered: what it runs can be anything.");
    return element(
        "p",
        { class: "note always" },
        "Always would store, as allowed in ",
        element("code", {}, STORE),
        ": ",
        approval.always === approval.command && approval.always.length > 300
            ? "exactly the command above."
            : exact(approval.always),
    );
}
