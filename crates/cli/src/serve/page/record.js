// One record: its diff, what taking it back would do, and the question before it is done.

import { ApiError, get, path, post } from "./api.js";
import { changeList, tally } from "./diff.js";
import { confirm } from "./dialog.js";
import {
    announce,
    badge,
    button,
    element,
    empty,
    facts,
    failure,
    heading,
    link,
    linkToSession,
    loading,
    note,
    replace,
    section,
} from "./dom.js";
import { project } from "./projects.js";
import { block, exact, name, visible } from "./text.js";
import { moment } from "./time.js";

export async function showRecord(place) {
    const { root, id, signal } = place;
    const title = `Record #${id}`;
    replace(root, heading(title), loading("the record"));
    const record = await get(path("diff", id), { project: project() }, { signal });
    const actions = element("div", { class: "actions" });
    const preview = element("div", { class: "preview" });
    const view = { record, actions, preview, signal, again: () => showRecord(place) };
    const { changes = [] } = record;
    replace(
        root,
        heading(title, null, actions),
        block(record.command ?? "", "command"),
        facts([
            ["State", badge(record.state)],
            ["Paths", tally(record.paths)],
            ["When", moment(record.time)],
            ["Exit", record.exit_code ?? null],
            ["Directory", record.working_dir && name(record.working_dir)],
            ["Session", record.session && linkToSession(record.session, exact(record.session))],
            // The preview of undoing says it where it matters.
            [
                "Not taken back",
                record.state !== "applied" && record.irreversible?.length > 0 && list(record.irreversible),
            ],
        ]),
        preview,
        section(
            record.state === "held" ? "What it would change" : "What it changed",
            changes.length === 0 ? empty("No file differs.") : changeList(changes),
        ),
    );
    await offer(view);
}

/** What can be done depends on the state. */
async function offer(view) {
    const { state, id } = view.record;
    if (state === "applied") return turn(view, "undo", false);
    if (state === "undone") return turn(view, "redo", false);
    if (state !== "held") return undefined;
    const conflicts = view.record.conflicts ?? [];
    if (conflicts.length > 0) replace(view.preview, inTheWay("In the way of a commit", conflicts));
    const act = (verb, body, danger) => async () => {
        if (
            !(await confirm({
                title: `${verb === "commit" ? "Commit" : "Discard"} #${id}?`,
                body,
                action: verb === "commit" ? "Commit" : "Discard",
                danger,
            }))
        )
            return;
        await perform(
            view,
            () => post(path("held", id, verb), { project: project() }),
            verb === "commit" ? "Committed." : "Discarded.",
        );
    };
    return replace(
        view.actions,
        button(
            "Commit",
            act("commit", element("p", {}, "What it changed comes into the project, and can be taken back."), false),
            { class: "primary", disabled: conflicts.length > 0 },
        ),
        button(
            "Discard",
            act("discard", element("p", {}, "What it changed is dropped. The project stays as it is."), true),
            { class: "danger" },
        ),
    );
}

/** A dry run first: what would happen is shown before it can be asked for. */
async function turn(view, verb, force) {
    const { record, preview, actions, signal } = view;
    const request = { project: project(), id: record.id, force };
    const word = verb === "undo" ? "Undo" : "Redo";
    replace(preview, loading(`what ${verb} would do`));
    let dry;
    try {
        dry = done(await post(path(verb), { ...request, dry_run: true }, { signal }), true);
    } catch (error) {
        if (!signal.aborted) replace(preview, section(`${word} is not possible now`, refusal(error)));
        return;
    }
    const { conflicts = [], changes = [], not_taken_back: remains = [], kept = [] } = dry;
    const told = [
        effects(changes),
        conflicts.length > 0 &&
            inTheWay(
                dry.refused
                    ? "In the way, so it would be refused"
                    : "Would be overwritten; what is there is kept for the way back",
                conflicts,
            ),
        kept.length > 0 && [
            element("p", {}, "These directories stay, as others have put something into them:"),
            list(kept.map((one) => one.path)),
        ],
        remains.length > 0 &&
            element("div", { class: "irreversible" }, element("strong", {}, "Not taken back:"), list(remains)),
    ];
    replace(preview, section(`${word} would`, told));
    const perhaps = async () => {
        const body = [
            block(record.command ?? "", "command"),
            element("p", {}, `${counted(changes.length)} changed${force ? ", whatever stands there now" : ""}.`),
        ];
        if (
            !(await confirm({
                title: `${word} #${record.id}?`,
                body,
                action: force ? `${word} anyway` : word,
                danger: force,
                careful: force,
            }))
        )
            return;
        await perform(
            view,
            () => post(path(verb), { ...request, dry_run: false }),
            verb === "undo" ? "Undone." : "Redone.",
        );
    };
    replace(
        actions,
        dry.refused
            ? button(`${word} anyway …`, () => turn(view, verb, true), { class: "danger" })
            : button(force ? `${word} anyway` : word, perhaps, { class: force ? "danger" : "primary" }),
    );
}

async function perform(view, act, words) {
    for (const each of view.actions.querySelectorAll("button")) each.disabled = true;
    try {
        done(await act(), false);
        announce(words);
        await view.again();
    } catch (error) {
        for (const each of view.actions.querySelectorAll("button")) each.disabled = false;
        replace(view.preview, refusal(error));
        view.preview.scrollIntoView({ block: "nearest" });
    }
}

/** The verbs say `done: false` with an error where the API might say it with a status. */
function done(answer, isDry) {
    if ((answer?.done === false && !isDry) || answer?.error) {
        throw new ApiError({
            status: 200,
            message: answer.error ?? "It was not done.",
            hint: answer.hint ?? "",
            body: answer,
        });
    }
    return answer ?? {};
}

function refusal(error) {
    const [conflicts, later, refused] = ["conflicts", "later", "refusals"].map((name) => error.list?.(name) ?? []);
    return [
        failure(error),
        conflicts.length > 0 && inTheWay("Changed meanwhile", conflicts),
        refused.length > 0 && [
            element("p", {}, "This may not come into the project:"),
            list(refused.map((one) => `${one.path}: ${one.reason}`)),
        ],
        later.length > 0 &&
            element(
                "p",
                {},
                "Later ones that touch the same paths: ",
                later.map((id) => [link("undo", id, `#${id}`), " "]),
            ),
    ];
}

function effects(changes) {
    if (changes.length === 0) return note("change no file.");
    const items = changes
        .slice(0, 200)
        .map(({ action, path: where, from }) =>
            element("li", {}, badge(action), " ", from && [name(from), " → "], name(where || ".")),
        );
    return [
        element("ul", { class: "effects" }, items),
        changes.length > items.length && note(`and ${changes.length - items.length} more`),
    ];
}

function inTheWay(title, conflicts) {
    return element(
        "div",
        { class: "conflicts", role: "alert" },
        element("p", {}, element("strong", {}, title)),
        element(
            "ul",
            {},
            conflicts.map((one) => element("li", {}, name(one.path), " ", badge(one.kind))),
        ),
    );
}

function list(texts) {
    return element(
        "ul",
        {},
        texts.map((text) => element("li", {}, visible(text))),
    );
}

function counted(count) {
    return count === 1 ? "1 path is" : `${count} paths are`;
}
