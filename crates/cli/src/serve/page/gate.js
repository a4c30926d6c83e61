// What a person is told before a task goes on: Goal, Plan, Irreversible Command. Deciding itself is the views' business.

import { element, facts } from "./dom.js";
import { exact, visible } from "./text.js";

/** `plan`: the commands; `why`: what asks, with its rule and reason. */
export function gate({ goal, plan, irreversible, why }) {
    return element(
        "div",
        { class: "gate" },
        facts([
            ["Goal", goal ? visible(goal) : "not said"],
            ["Plan", steps(plan)],
            ["Irreversible Command", irreversible && element("strong", { class: "irreversible" }, exact(irreversible))],
        ]),
        element("h4", {}, "Why it asks"),
        element("ul", { class: "asks" }, why.map(reason)),
    );
}

function steps(plan) {
    return element(
        "ol",
        { class: "plan-steps" },
        plan.map((command) => element("li", {}, exact(command))),
    );
}

function reason({ command, reason: words, rule }) {
    return element(
        "li",
        {},
        exact(command),
        element("span", { class: "reason" }, visible(words), " ", element("code", { class: "rule" }, visible(rule))),
    );
}
