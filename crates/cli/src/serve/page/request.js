// One request, all of it.

import { get, path } from "./api.js";
import { badge, element, facts, heading, link, linkToSession, loading, note, replace, section, table } from "./dom.js";
import { finished } from "./output.js";
import { project } from "./projects.js";
import { block, exact, name, prose, typed, visible } from "./text.js";
import { bytes, duration, moment, toDate } from "./time.js";

export async function showRequest({ root, id, signal }) {
    replace(root, heading("Request"), loading("the request"));
    const request = await get(path("history", id), { project: project() }, { signal });
    replace(
        root,
        heading(
            `Request ${request.number ?? ""}`,
            null,
            element(
                "a",
                { class: "button", href: `#/policy?command=${encodeURIComponent(request.command ?? "")}` },
                "Test it",
            ),
            request.undo &&
                link("undo", request.undo.id, `Undo record #${request.undo.id}`, { class: "button primary" }),
        ),
        block(request.command ?? "", "command"),
        summary(request),
        parts(request),
        raw(request),
    );
}

export function exitBadge({ state, exit_code: exit, timed_out: timedOut, signal }) {
    if (state === "no outcome") return badge("running", "no outcome");
    if (timedOut) return badge("failed", "timed out");
    if (signal) return badge("failed", `signal ${signal}`);
    return badge(exit === 0 ? "ended" : "failed", `exit ${exit ?? "?"}`);
}

function summary(request) {
    const { approval, resource_usage: used = {}, isolation = {} } = request;
    return facts([
        ["Decision", [badge(request.decision ?? "none"), " ", request.reason && visible(request.reason)]],
        [
            "Rule",
            request.policy_rule_matched && [
                exact(request.policy_rule_matched),
                request.rule_source && [" in ", exact(request.rule_source)],
            ],
        ],
        ["Hint", request.hint && prose(request.hint)],
        ["Ended", [exitBadge(request), request.stopped && [" ", visible(request.stopped)]]],
        [
            "Approval",
            approval && [
                link("approvals", approval.id, exact(String(approval.id).slice(0, 13))),
                approval.by && [" by ", visible(approval.by)],
                approval.scope && [", ", visible(approval.scope)],
            ],
        ],
        [
            "Asked",
            toDate(request.timestamp) && [moment(request.timestamp), " · ", toDate(request.timestamp).toLocaleString()],
        ],
        ["Took", request.duration_ms !== undefined && duration(request.duration_ms)],
        [
            "Used",
            used.cpu_ms !== undefined &&
                `${duration(used.cpu_ms)} of processor time${used.memory_peak_bytes ? `, ${bytes(used.memory_peak_bytes)} of memory` : ""}`,
        ],
        ["Agent", request.agent && visible(request.agent)],
        ["Session", request.session && linkToSession(request.session, exact(request.session))],
        ["Directory", request.working_dir && name(request.working_dir)],
        ["Profile", request.profile && visible(request.profile)],
        [
            "Isolation",
            isolation.level && [
                visible(isolation.level),
                isolation.walls?.length > 0 && `: ${isolation.walls.join(", ")}`,
            ],
        ],
        [
            "Missing walls",
            isolation.missing?.length > 0 && visible(isolation.missing.map((one) => one.wall ?? one).join(", ")),
        ],
        ["Limits reached", request.limits_hit?.length > 0 && visible(request.limits_hit.join(", "))],
        ["Redacted", counted(request.redacted)],
        ["Id", request.correlation_id && exact(request.correlation_id)],
    ]);
}

function counted(kinds) {
    const entries = Object.entries(kinds ?? {});
    return entries.length > 0 && visible(entries.map(([kind, count]) => `${count} × ${kind}`).join(", "));
}

function parts(request) {
    const { steps = [], refusals = [], starts = [], execs = [], connections = [] } = request;
    return [
        output(request),
        refusals.length > 0 &&
            section(
                "Refused in it",
                table(
                    ["Command", "Decision", "Rule", "Reason"],
                    refusals.map((one) => [
                        exact(typed(one.argv)),
                        badge(one.decision),
                        rule(one.policy_rule_matched, one.rule_source),
                        visible(one.reason ?? ""),
                    ]),
                ),
            ),
        steps.length > 0 &&
            section(
                `Steps (${steps.length + (request.steps_left_out ?? 0)})`,
                table(
                    ["Command", "Rule", "Exit", "Took", "Kind"],
                    steps.map((step) => [
                        exact(typed(step.argv)),
                        rule(step.rule),
                        String(step.exit_code),
                        duration(step.duration_ms),
                        step.builtin ? "in process" : "program",
                    ]),
                ),
                request.steps_left_out > 0 && note(`${request.steps_left_out} more are not recorded one by one.`),
            ),
        starts.length > 0 &&
            section(
                `Programs started (${starts.length})`,
                table(
                    ["Command", "Decision", "Rule", "Directory"],
                    starts.map((start) => [
                        exact(typed(start.argv)),
                        badge(start.decision),
                        rule(start.rule, start.rule_source),
                        name(start.working_dir),
                    ]),
                ),
            ),
        execs.length > 0 &&
            section(
                `What they executed (${execs.length})`,
                table(
                    ["Program", "Words", "Process"],
                    execs.map((exec) => [name(exec.path), exact(typed(exec.argv)), String(exec.pid)]),
                ),
            ),
        connections.length > 0 &&
            section(
                `Connections (${connections.length})`,
                table(
                    ["To", "Verdict", "Why", "Sent", "Received", "Took"],
                    connections.map((one) => [
                        exact(`${one.host}:${one.port}${one.address ? ` (${one.address})` : ""} ${one.protocol}`),
                        badge(one.verdict),
                        visible(one.reason ?? ""),
                        bytes(one.sent_bytes),
                        bytes(one.received_bytes),
                        duration(one.duration_ms),
                    ]),
                ),
            ),
    ];
}

function rule(rule, source) {
    return rule ? [exact(rule), source && element("span", { class: "note" }, " ", exact(source))] : "";
}

function output({ stdout = "", stderr = "", stdout_bytes: out, stderr_bytes: err }) {
    if (!stdout && !stderr) return section("Output", note("It has written nothing."));
    const one = (text, stream, words, count) =>
        text && [
            element("h3", {}, words, " ", element("span", { class: "note" }, bytes(count ?? text.length))),
            finished(text, stream, words),
        ];
    return section(
        "Output",
        one(stdout, "stdout", "Standard output", out),
        one(stderr, "stderr", "Standard error", err),
    );
}

/** Every field as it was recorded, for whoever misses one above. */
function raw(request) {
    const made = element("details", { class: "raw" }, element("summary", {}, "All fields"));
    made.addEventListener(
        "toggle",
        () => {
            const { stdout, stderr, ...rest } = request;
            made.append(element("pre", { class: "block", tabindex: 0 }, exact(JSON.stringify(rest, null, 2))));
        },
        { once: true },
    );
    return made;
}
