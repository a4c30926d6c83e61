// The inbox: what waits for a person, and what became of what has waited.

import { decidedRow, outcome, waitingCard } from "./approval.js";
import { askAgain, choices, needsConfirmation, send } from "./decide.js";
import { announce, element, empty, failure, heading, loading, note, portions, replace, section } from "./dom.js";
import { decided, inbox, refresh, waiting, waits } from "./inbox.js";
import { bindKeys, move } from "./keys.js";
import { inline } from "./text.js";

/** After cards have moved, a click may land on another one than it was aimed at. It does not count. */
const SETTLING = 700;

export const approvals = { title: "Approvals", show };

function show({ root, id, signal }) {
    const list = element("div", { class: "cards" });
    const below = element("div", {});
    const cards = new Map();
    const state = { settled: -Infinity, list, cards };
    replace(
        root,
        heading("Approvals", "What agents may only do when a person says so."),
        section("Waiting", list),
        below,
    );
    let wanted = id;
    const update = () => {
        showWaiting(state);
        showDecided(below, cards);
        if (wanted && reveal(root, wanted)) wanted = null;
    };
    inbox.addEventListener("change", update, { signal });
    bindKeys({ a: () => byKey(state, "once"), d: () => byKey(state, "deny") }, signal);
    update();
}

/** `#/approvals/ID`: a link from a run that waits, or has waited. */
function reveal(root, id) {
    const found = root.querySelector(`[data-approval="${CSS.escape(id)}"]`);
    if (found?.tagName === "DETAILS") found.open = true;
    (found?.querySelector(":scope > summary") ?? found)?.focus();
    return found !== null;
}

/** Cards that were decided stay where they are until the view is opened again: nothing moves up under the pointer. */
function showWaiting(state) {
    const { list, cards } = state;
    if (inbox.all === null) {
        replace(list, inbox.error ? failure(inbox.error, () => refresh()) : loading("approvals"));
        return;
    }
    if (cards.size === 0) replace(list);
    list.querySelector(".failure")?.remove();
    if (inbox.error) list.prepend(failure(inbox.error, () => refresh()));
    for (const approval of waiting()) if (!cards.has(approval.id)) add(state, approval);
    for (const [id, card] of cards) {
        const current = inbox.all.find((approval) => approval.id === id) ?? { ...card.approval, state: "expired" };
        if (!card.isSettled && !waits(current)) settle(state, card, current);
    }
    if (cards.size === 0 && !inbox.error)
        replace(list, empty("Nothing waits.", "When an agent asks for something risky, it appears here at once."));
}

function add(state, approval) {
    const card = { approval, isSettled: false };
    const over = () => setTimeout(() => showWaiting(state), 0);
    card.element = waitingCard(approval, (choice) => decide(state, card, choice, false), over);
    state.cards.set(approval.id, card);
    state.list.append(card.element);
    announce(`${inline(approval.agent || "somebody", 40)} asks for an approval: ${inline(approval.command, 80)}`);
}

function settle(state, card, current) {
    card.isSettled = true;
    card.element.classList.add("settled");
    card.element.querySelector(".decisions").remove();
    card.element.querySelector(".countdown")?.remove();
    const place = card.element.querySelector(".outcome");
    replace(place, place.dataset.late ? element("strong", {}, `${place.dataset.late} `) : null, outcome(current));
    state.settled = performance.now();
}

async function decide(state, card, choice, fromKey) {
    if (card.isSettled || card.isBusy) return;
    if (performance.now() - state.settled < SETTLING) {
        const words = "The list has just changed. Press again.";
        announce(words);
        replace(card.element.querySelector(".outcome"), note(words));
        return;
    }
    card.isBusy = true;
    setEnabled(card, false);
    const place = card.element.querySelector(".outcome");
    replace(place);
    try {
        if (needsConfirmation(card.approval, choice, fromKey) && !(await askAgain(card.approval, choice))) return;
        if (!card.isSettled) replace(place, loading("the decision"));
        tellResult(state, card, place, await send(card.approval, choice));
    } finally {
        card.isBusy = false;
        setEnabled(card, true);
    }
}

function tellResult(state, card, place, { late, error }) {
    if (error) {
        replace(place, failure(error));
        return;
    }
    if (late) {
        place.dataset.late = "Too late:";
        announce(late.message);
        // The list says who; where it does not know yet, the refusal does.
        if (card.isSettled) {
            place.prepend(element("strong", {}, "Too late: "));
        } else {
            replace(place, failure(late));
        }
        return;
    }
    announce("Decided.");
    const next = [...state.cards.values()].find((other) => !other.isSettled);
    (next ?? card).element.focus();
}

function setEnabled(card, isEnabled) {
    for (const each of card.element.querySelectorAll(".decisions button")) each.disabled = !isEnabled;
}

/** The card with the focus; without one, the only one there is. With several it has to be chosen first. */
function byKey(state, name) {
    const open = [...state.cards.values()].filter((card) => !card.isSettled);
    const card =
        open.find((each) => each.element.contains(document.activeElement)) ?? (open.length === 1 ? open[0] : null);
    if (!card) return void move(1);
    decide(
        state,
        card,
        choices(card.approval).find((choice) => choice.name === name),
        true,
    );
}

function showDecided(place, cards) {
    if (inbox.all === null) return;
    const rows = decided().filter((approval) => !cards.has(approval.id));
    // What is open, or read, is not to be closed by news.
    const key = rows.map((approval) => approval.id + approval.state).join();
    if (place.dataset.key === key) return;
    place.dataset.key = key;
    const list = element("div", { class: "rows" });
    replace(
        place,
        section(
            "Decided",
            rows.length === 0 ? empty("Nothing was decided yet.") : portions(list, rows, decidedRow, 30),
        ),
    );
}
