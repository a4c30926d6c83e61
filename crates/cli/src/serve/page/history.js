// What was asked, newest first, with filters. One request as a whole is in request.js.

import { get, path } from "./api.js";
import { LITERAL, badge, button, element, empty, failure, heading, loading, replace } from "./dom.js";
import { project } from "./projects.js";
import { exitBadge, showRequest } from "./request.js";
import { inline, line } from "./text.js";
import { duration, moment } from "./time.js";

const PAGE = 50;
/** Typing is not interrupted by a question for every letter. */
const PAUSE = 300;
const DECISIONS = [
    ["", "any decision"],
    ["allow", "allowed"],
    ["confirm", "asked"],
    ["deny", "denied"],
];
const SINCE = [
    ["", "any time"],
    ["10m", "last 10 minutes"],
    ["1h", "last hour"],
    ["24h", "last day"],
    ["7d", "last week"],
];

export const history = {
    title: "History",
    show: (place) => (place.id ? showRequest(place) : showAll(place)),
};

async function showAll({ root, query, signal }) {
    const state = {
        limit: PAGE,
        filter: Object.fromEntries(query),
        list: element("div", { class: "results" }),
        signal,
    };
    const { form, grep } = filters(state);
    replace(root, heading("History", "Everything that was asked, and what became of it."), form, state.list);
    await load(state);
    if (query.has("search")) grep.focus();
}

function filters(state) {
    const { filter } = state;
    const grep = element("input", {
        type: "search",
        name: "grep",
        placeholder: "Text in the command",
        "aria-label": "Text in the command",
        value: filter.grep ?? "",
        data: { search: "" },
        ...LITERAL,
    });
    const decision = select("decision", "Decision", DECISIONS, filter.decision);
    const since = select("since", "Since", SINCE, filter.since);
    const session = element("input", {
        type: "text",
        name: "session",
        placeholder: "Session",
        "aria-label": "Session",
        value: filter.session ?? "",
        ...LITERAL,
    });
    const failed = element("input", { type: "checkbox", name: "failed" });
    failed.checked = filter.failed === "true";
    let timer = 0;
    const apply = () => {
        clearTimeout(timer);
        state.filter = {
            grep: grep.value,
            decision: decision.value,
            since: since.value,
            session: session.value.trim(),
            failed: failed.checked ? "true" : "",
        };
        state.limit = PAGE;
        remember(state.filter);
        load(state);
    };
    const soon = () => {
        clearTimeout(timer);
        timer = setTimeout(apply, PAUSE);
    };
    const form = element(
        "form",
        {
            class: "filters",
            role: "search",
            on: {
                submit: (event) => {
                    event.preventDefault();
                    apply();
                },
            },
        },
        grep,
        decision,
        since,
        session,
        element("label", { class: "check" }, failed, "failed only"),
    );
    for (const field of [grep, session]) field.addEventListener("input", soon);
    for (const field of [decision, since, failed]) field.addEventListener("change", apply);
    return { form, grep };
}

function select(name, label, options, chosen) {
    const made = element(
        "select",
        { name, "aria-label": label },
        options.map(([value, words]) => element("option", { value, selected: value === (chosen ?? "") }, words)),
    );
    // A time that came with a link, and is not in the list, is kept.
    if (chosen && made.value !== chosen)
        made.append(element("option", { value: chosen, selected: true }, inline(chosen, 30)));
    return made;
}

/** The address says what is shown, so that it can be reloaded and gone back to. */
function remember(filter) {
    const query = new URLSearchParams(Object.entries(filter).filter(([, value]) => value));
    window.history.replaceState(null, "", `#/history${query.size > 0 ? `?${query}` : ""}`);
}

async function load(state) {
    const { list, filter, limit, signal } = state;
    // An answer that comes after a newer question is not shown.
    const question = (state.question = Symbol("question"));
    if (list.childElementCount === 0) replace(list, loading("history"));
    list.setAttribute("aria-busy", "true");
    const { grep, decision, since, session, failed } = filter;
    try {
        const all = await get(
            path("history"),
            { project: project(), limit, grep, decision, since, session, failed },
            { signal },
        );
        if (question === state.question) show(state, all ?? []);
    } catch (error) {
        if (!signal.aborted && question === state.question)
            replace(
                list,
                failure(error, () => load(state)),
            );
    }
    list.removeAttribute("aria-busy");
}

function show(state, all) {
    const { list, limit } = state;
    if (all.length === 0) {
        const isFiltered = Object.values(state.filter).some(Boolean);
        replace(
            list,
            isFiltered
                ? empty("Nothing matches.", "Fewer filters find more.")
                : empty("Nothing was asked yet.", "Whatever is run in this project is recorded here."),
        );
        return;
    }
    const more =
        all.length >= limit &&
        button(
            "Show more",
            async () => {
                state.limit += PAGE * 2;
                await load(state);
                list.querySelectorAll("[data-item]")[limit]?.focus();
            },
            { class: "more" },
        );
    replace(list, element("div", { class: "rows" }, all.map(row)), more);
}

function row(request) {
    const { number, correlation_id: id, command, decision, timestamp, duration_ms: took, undo, agent } = request;
    return element(
        "a",
        { class: "row request", href: `#/history/${encodeURIComponent(id ?? number)}`, data: { item: "" } },
        badge(decision ?? "none"),
        exitBadge(request),
        element(
            "span",
            { class: "what" },
            line(command),
            agent && element("span", { class: "note" }, inline(agent, 60)),
        ),
        element("span", { class: "amount" }, undo && `undo #${undo.id}`),
        element("span", { class: "amount" }, duration(took)),
        element("span", { class: "amount" }, moment(timestamp)),
    );
}
