// What a person is told before a task goes on: Goal, Plan, Irreversible Command. Deciding itself is the views' business.

import { element, facts } from "./dom.js";
import { exact, visible } from "./text.js";

/** `plan`: the commands; `irreversible` and `others`: those that ask, each with its rule and reason. */
export function gate({ goal, plan, irreversible, others }) {
    return element(
        "div",
        { class: "gate" },
        facts([
            ["Goal", goal ? visible(goal) : "not said"],
            ["Plan", steps(plan)],
            ["Irreversible Command", irreversible.length > 0 && dangers(irreversible, "irreversible")],
            ["Needs Approval", others.length > 0 && dangers(others, "")],
        ]),
    );
}

/** The same of a question on file. */
export function gateOf({ goal, plan, asks }) {
    const irreversible = asks.filter((each) => each.irreversible);
    return gate({ goal, plan, irreversible, others: asks.filter((each) => !each.irreversible) });
}

function steps(plan) {
    return element(
        "ol",
        { class: "plan-steps" },
        plan.map((command) => element("li", {}, exact(command))),
    );
}

function dangers(all, look) {
    return all.map(({ step, command, reason, rule }) =>
        element(
            "div",
            { class: `danger-of ${look}`.trim() },
            element("strong", {}, exact(command)),
            element(
                "span",
                { class: "reason" },
                step > 0 && `step ${step}: `,
                visible(reason),
                " ",
                element("code", { class: "rule" }, visible(rule)),
            ),
        ),
    );
}
