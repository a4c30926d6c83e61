// One background process: its output from wherever it is kept, its input, its end.

import { get, path, post, remove } from "./api.js";
import { confirm } from "./dialog.js";
import { LITERAL, badge, button, element, facts, failure, heading, replace } from "./dom.js";
import { OutputPane } from "./output.js";
import { project } from "./projects.js";
import { ended } from "./session.js";
import { sleep } from "./stream.js";
import { block, exact } from "./text.js";
import { bytes, moment } from "./time.js";

/** How long one question waits for more output. */
const WAIT = 20_000;
const PAUSE_AFTER_ERROR = 3_000;

export async function showProcess({ root, id, signal }) {
    const pane = new OutputPane(`Output of process ${id}`);
    const state = element("span", { role: "status" });
    const about = element("div", {});
    const problem = element("div", {});
    const kill = button("Kill", () => end(id, problem), { class: "danger" });
    const input = inputForm(id, problem);
    replace(
        root,
        heading(["Process ", exact(id.slice(0, 13))], null, kill),
        about,
        problem,
        element("div", { class: "output-head" }, element("h2", {}, "Output"), state),
        pane.element,
        input,
    );
    describe(id, about, signal);
    await follow({ id, pane, problem, signal }, (answer) => {
        const isRunning = answer.state === "running";
        replace(
            state,
            isRunning
                ? badge("running")
                : badge(answer.exit_code === 0 ? "ended" : "failed", `exit ${answer.exit_code ?? "?"}`),
        );
        kill.hidden = !isRunning;
        input.hidden = !isRunning;
    });
}

async function describe(id, about, signal) {
    const all = await get(path("processes"), { project: project() }, { signal }).catch(() => []);
    const found = all.find((one) => one.id === id);
    if (found) replace(about, block(found.command, "command"), facts([["Started", moment(found.started)]]));
}

/** Asks for what comes after what it has, until it has ended. */
async function follow({ id, pane, problem, signal }, tell) {
    let after = 0;
    let wait = 0;
    while (!signal.aborted) {
        try {
            const answer = await get(path("processes", id), { after, wait_ms: wait }, { signal });
            if (answer.dropped > 0) pane.note(`${bytes(answer.dropped)} were dropped here`);
            if (answer.output) pane.append("stdout", answer.output);
            replace(problem);
            tell(answer);
            // Whether there is more is known when nothing new came.
            if (answer.state !== "running" && answer.next === after) {
                if (answer.report) pane.note(...ended(answer.report));
                return;
            }
            after = answer.next;
            // The first answer is wanted at once.
            wait = answer.state === "running" ? WAIT : 0;
        } catch (error) {
            if (signal.aborted) return;
            replace(problem, failure(error));
            if (error.isFinal) return;
            await sleep(PAUSE_AFTER_ERROR, signal);
        }
    }
}

function inputForm(id, problem) {
    const field = element("input", {
        type: "text",
        "aria-label": "Input",
        placeholder: "A line for its standard input",
        ...LITERAL,
    });
    const send = async (body) => {
        try {
            await post(path("processes", id, "input"), body);
            field.value = "";
        } catch (error) {
            replace(problem, failure(error));
        }
    };
    const submit = (event) => {
        event.preventDefault();
        send({ text: `${field.value}\n`, end: false });
    };
    return element(
        "form",
        { class: "run-form", on: { submit } },
        field,
        element("button", {}, "Send"),
        button("End of input", () => send({ text: "", end: true })),
    );
}

async function end(id, problem) {
    const body = element("p", {}, "It and everything that it has started.");
    if (!(await confirm({ title: "Kill this process?", body, action: "Kill", danger: true }))) return;
    await remove(path("processes", id)).catch((error) => replace(problem, failure(error)));
}
