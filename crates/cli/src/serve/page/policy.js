// What the judge would say about a command. Nothing is run.

import { path, post } from "./api.js";
import { LITERAL, badge, element, facts, failure, heading, loading, replace, section, table } from "./dom.js";
import { project } from "./projects.js";
import { exact, prose, typed, visible } from "./text.js";

const STEPS = [
    ["parse", "Parse", "is it a command at all"],
    ["blocklist", "Blocklist", "is something in it blocked"],
    ["allowlist", "Allowlist", "does a rule allow it"],
    ["paths", "Paths", "does it lead outside"],
    ["policy", "Policy", "what the profile says of the rest"],
];
const WORDS = { allow: "It would run.", confirm: "A person would be asked.", deny: "It would be refused." };

export const policy = { title: "Policy", show };

async function show({ root, query, signal }) {
    const field = element("textarea", {
        rows: 3,
        "aria-label": "Command",
        placeholder: "git push --force origin main",
        ...LITERAL,
        value: query.get("command") ?? "",
        data: { search: "" },
    });
    const result = element("div", { class: "verdict", "aria-live": "polite" });
    const test = () => ask(field.value, result, signal);
    field.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
        event.preventDefault();
        test();
    });
    replace(
        root,
        heading("Policy", "Try what would be said about a command. Nothing is run."),
        element(
            "form",
            {
                class: "run-form",
                on: {
                    submit: (event) => {
                        event.preventDefault();
                        test();
                    },
                },
            },
            field,
            element("button", { class: "primary" }, "Test"),
        ),
        result,
    );
    if (field.value) await test();
}

async function ask(command, place, signal) {
    if (command.trim() === "") return;
    replace(place, loading("the verdict"));
    try {
        const verdict = await post(path("policy", "test"), { project: project(), command }, { signal });
        replace(place, banner(verdict), trace(verdict), commands(verdict.commands ?? []));
    } catch (error) {
        if (!signal.aborted)
            replace(
                place,
                failure(error, () => ask(command, place, signal)),
            );
    }
}

function banner(verdict) {
    const { decision, rule, reason, hint, about, source, irreversible, error } = verdict;
    return element(
        "div",
        { class: `card verdict-card is-${decision}` },
        element("p", { class: "verdict-word" }, badge(decision), " ", WORDS[decision] ?? ""),
        facts([
            ["Why", (reason || error) && visible(reason || error)],
            ["About", about && exact(about)],
            ["Rule", rule && exact(rule)],
            ["Written in", source && exact(`${source.file}:${source.line}`)],
            ["Lasting", irreversible && "what it does cannot be undone"],
            ["Hint", hint && prose(hint)],
        ]),
    );
}

/** The five steps; the one that decided, and what each command was found to be. */
function trace({ step: deciding, decision, commands: all = [] }) {
    const last = STEPS.findIndex(([name]) => name === deciding);
    const items = STEPS.map(([name, title, question], index) => {
        const here = all.filter((command) => command.step === name);
        const isLast = index === last;
        const isReached = decision !== "deny" || last < 0 || index <= last;
        const state = isLast ? `decided ${decision}` : isReached ? "passed" : "unreached";
        const found = isLast ? "decided here" : isReached ? counted(here.length) : "not reached";
        return element(
            "li",
            { class: state, "aria-current": isLast ? "step" : null },
            element("strong", {}, title),
            element("span", { class: "note" }, question),
            found && element("span", { class: "found" }, found),
        );
    });
    return section("Steps", element("ol", { class: "steps" }, items));
}

function counted(count) {
    return count === 0 ? "" : `settled ${count === 1 ? "1 command" : `${count} commands`}`;
}

function commands(all) {
    if (all.length === 0) return null;
    const rows = all.map(({ argv, via = [], decision, step, rule, reason }) => [
        [exact(typed(argv)), via.length > 0 && element("span", { class: "note" }, " through ", exact(via.join(" > ")))],
        badge(decision),
        step ?? "",
        exact(rule ?? ""),
        visible(reason ?? ""),
    ]);
    return section(
        all.length === 1 ? "1 command" : `${all.length} commands`,
        table(["Command", "Decision", "Step", "Rule", "Reason"], rows),
    );
}
