// Deciding: which answers there are, what is asked before they count, and what happens when somebody was faster.

import { ApiError, path, post } from "./api.js";
import { confirm } from "./dialog.js";
import { element, note } from "./dom.js";
import { refresh } from "./inbox.js";
import { block, exact, inline, name, visible } from "./text.js";

/** Where `always` and `never` are stored, in the project. */
export const STORE = ".clada/commands.json";

const OF_TASKS = [
    {
        name: "once",
        label: "Approve",
        look: "primary",
        decision: "approve",
        scope: "once",
        about: "The task goes on with its plan (a)",
    },
    {
        name: "deny",
        label: "Reject",
        look: "danger",
        decision: "deny",
        scope: "once",
        about: "The task has failed then (d)",
    },
];

/** The answers to this one, in the order of the buttons. */
export function choices(approval) {
    // A task asks once, and for itself.
    if (approval.task) return OF_TASKS;
    return [
        {
            name: "once",
            label: "Approve once",
            look: "primary",
            decision: "approve",
            scope: "once",
            about: "This command, this time (a)",
        },
        {
            name: "session",
            label: "For the session",
            look: "",
            decision: "approve",
            scope: "session",
            about: "This command, as often as the session asks for it",
        },
        approval.always && {
            name: "always",
            label: "Always …",
            look: "",
            decision: "approve",
            scope: "always",
            about: `Stores it as allowed: ${inline(approval.always)}`,
        },
        { name: "deny", label: "Deny", look: "danger", decision: "deny", scope: "once", about: "Not this time (d)" },
        neverOffered(approval) && {
            name: "never",
            label: "Never …",
            look: "danger",
            decision: "deny",
            scope: "never",
            about: "Stores it as blocked",
        },
    ].filter(Boolean);
}

/** No list is to keep a secret. */
function neverOffered(approval) {
    return !approval.redacted;
}

/** What changes later requests, or cannot be taken back, is asked again; so is everything that came from a key. */
export function needsConfirmation(approval, choice, fromKey) {
    const lasting = choice.decision === "approve" && approval.irreversible;
    return fromKey || lasting || choice.scope === "always" || choice.scope === "never";
}

export function askAgain(approval, choice) {
    const titles = {
        once: "Approve once?",
        session: "Approve for the session?",
        always: "Allow always?",
        deny: "Deny?",
        never: "Block always?",
    };
    const stored = { always: approval.always, never: approval.command }[choice.name];
    const lasting = choice.decision === "approve" && approval.irreversible;
    return confirm({
        title: titles[choice.name],
        action: choice.label.replace(" …", ""),
        danger: choice.decision === "deny" || Boolean(lasting),
        careful: Boolean(stored || lasting),
        body: [
            block(approval.command, "command"),
            note(
                approval.agent ? visible(approval.agent, { lines: false }) : "somebody",
                " in ",
                name(approval.directory),
            ),
            lasting &&
                element(
                    "p",
                    { class: "irreversible" },
                    element("strong", {}, "Cannot be undone: "),
                    exact(approval.irreversible),
                ),
            stored &&
                element(
                    "p",
                    {},
                    `From now on this is ${choice.name === "always" ? "allowed without a question" : "blocked"} in this project. Stored in `,
                    element("code", {}, STORE),
                    " exactly as:",
                ),
            stored && block(stored),
        ],
    });
}

/** Resolves to `{ approval }`, `{ late }` when somebody else has decided before, or `{ error }`. */
export async function send(approval, choice) {
    const { project, id } = approval;
    try {
        const answer = await post(path("approvals", id), { project, decision: choice.decision, scope: choice.scope });
        await refresh();
        return { approval: answer };
    } catch (error) {
        if (error instanceof ApiError && error.code === "already_decided") {
            await refresh();
            return { late: error };
        }
        return { error };
    }
}
