internal import NevodPluginABI
internal import NevodPluginTesting
internal import NevodSupport

extension CheckCatalogue {
    /// Flows with a server, person or host that doesn't do what the flow expects.
    static let flowServerChecks: [Check] = [
        flow("flow.no-answers", "A flow survives a person who enters nothing, or something odd") { subject in
            let odd: [[UInt8]] = [
                [], [0x20], [0xFF, 0xFE], Array("ä\"\\&=%00\r\n".utf8), [UInt8](repeating: 0x61, count: 100_000),
            ]
            try each(subject, NEVOD_EVENT_ANSWERS) { event in
                var none = event
                none.answers = []
                var other = event
                other.answers = [ContractPair("something-else", "x")]
                return [none, other]
                    + odd.map { value in
                        var changed = event
                        changed.answers = event.answers.map { ContractPair($0.name, value) }
                        return changed
                    }
            }
            return .pass
        },
        flow("flow.wrong-types", "A flow survives each body of a response") { subject in
            try each(subject, NEVOD_EVENT_RESPONSE) { event in
                oddBodies.flatMap { body in
                    ["application/json", "text/html", ""].map { type in
                        var changed = event
                        changed.response?.body = body
                        let date = ContractPair("Date", "Fri, 15 Jan 2027 08:00:00 GMT")
                        changed.response?.headers = type.isEmpty ? [date] : [date, ContractPair("Content-Type", type)]
                        return changed
                    }
                }
            }
            return .pass
        },
        flow("flow.odd-headers", "A flow survives odd headers of a response") { subject in
            try each(subject, NEVOD_EVENT_RESPONSE) { event in
                let lists: [[ContractPair]] = [
                    [], [ContractPair("Set-Cookie", "")],
                    [ContractPair("Set-Cookie", "=; =; Domain=; Path=; Max-Age=x; Expires=never")],
                    [ContractPair("Set-Cookie", [0xFF, 0x3D, 0xFE])], [ContractPair("Set-Cookie", "a=b; Domain=.com; Secure")],
                    (0..<500).map { ContractPair("Set-Cookie", "c\($0)=\($0); Path=/") },
                    [ContractPair("Location", "")], [ContractPair("Location", "//"), ContractPair("Location", "http://")],
                    [ContractPair("Content-Type", "application/json; charset=\"")], [ContractPair("DPoP-Nonce", "")],
                    [ContractPair("X-Long", String(repeating: "v", count: 65_536))],
                ]
                return lists.map { headers in
                    var changed = event
                    changed.response?.headers = headers
                    return changed
                }
            }
            return .pass
        },
        flow("flow.transport-errors", "A flow survives an unreachable server at each step") { subject in
            try each(subject, NEVOD_EVENT_RESPONSE) { errors($0) }
            try each(subject, NEVOD_EVENT_LISTENING) { errors($0) }
            return .pass
        },
        flow("flow.server-errors", "A flow survives each status of a server") { subject in
            try each(subject, NEVOD_EVENT_RESPONSE) { event in
                ([
                    400, 401, 403, 404, 405, 409, 410, 415, 429, 500, 501, 502, 503, 504, 599, 204, 206, 299, 301, 302, 304, 307,
                    100,
                ] as [Int32])
                .map { status in
                    var changed = event
                    changed.response = ContractResponse(
                        status, headers: [ContractPair("Content-Type", "text/html"), ContractPair("Retry-After", "soon")],
                        url: event.response?.url ?? [])
                    return changed
                }
            }
            return .pass
        }.caused(by: "flow.wrong-types"),
        flow("flow.large-responses", "A flow survives a response of the largest size, and one that is too large") { subject in
            try each(subject, NEVOD_EVENT_RESPONSE) { event in
                var text = event
                text.response?.body = [UInt8](repeating: 0x61, count: Int(NEVOD_LIMIT_FLOW_RESPONSE))
                var json = event
                json.response?.body =
                    Array("{\"a\":\"".utf8) + [UInt8](repeating: 0x61, count: Int(NEVOD_LIMIT_FLOW_RESPONSE) - 8)
                    + Array("\"}".utf8)
                // A body of 10 MiB never reaches a flow.
                var refused = ContractEvent.transportError(Int(NEVOD_TRANSPORT_TOO_LARGE), "the response is larger than 1 MiB")
                refused.unixTime = event.unixTime
                refused.random = event.random
                return [text, json, refused]
            }
            return .pass
        }.caused(by: "flow.wrong-types", "flow.transport-errors"),
        flow("flow.bounded", "A flow ends even if its server repeats the same response forever") { subject in
            let style = subject.serverStyle()
            for (what, response) in [
                ("a challenge", PlausibleServer.challenge()),
                ("a redirect", ContractResponse(302, headers: [ContractPair("Location", "/login")])),
                (
                    "a page with a form",
                    PlausibleServer(.form).response(to: Array("\(SettingValues.server)/login".utf8), isGet: true)
                ),
                ("\"slow_down\"", json(400, #"{"error":"slow_down"}"#)),
                ("\"authorization_pending\"", json(400, #"{"error":"authorization_pending"}"#)),
                ("an empty object", json(200, "{}")),
            ] {
                for kind in startedKinds(subject) {
                    let driver = FlowDriver(subject, kind, PlausibleServer(style), token: subject.issued)
                    driver.change = { _, event in
                        guard event.kind == NEVOD_EVENT_RESPONSE, let url = event.response?.url else { return event }
                        var event = event
                        event.response = response
                        event.response?.url = url
                        return event
                    }
                    let run = driver.finished()
                    guard case .endless = run.ending else { continue }
                    // People may take long, so polling for a code has its own limit.
                    if what == "\"authorization_pending\"" || what == "\"slow_down\"" { continue }
                    return .fail(
                        "A \(run.name) gives up when the server responds with \(what) forever", run.reason,
                        "Count the attempts in the flow")
                }
            }
            return .pass
        }.caused(by: "flow.wrong-types"),
        flow("flow.transient", "A transient failure clears no token") { subject in
            let style = subject.serverStyle()
            for (what, failed) in [
                (
                    "a server that can't be reached",
                    ContractEvent.transportError(Int(NEVOD_TRANSPORT_TRANSIENT), "connection refused")
                ),
                ("a status of 503", .response(ContractResponse(503, headers: [ContractPair("Retry-After", "120")]))),
            ] {
                for kind in [Int(NEVOD_FLOW_LOGIN), Int(NEVOD_FLOW_REFRESH)] {
                    guard kind == Int(NEVOD_FLOW_LOGIN) || subject.issued != nil else { continue }
                    let driver = FlowDriver(subject, kind, PlausibleServer(style), token: subject.issued)
                    driver.change = { _, event in
                        guard event.kind == NEVOD_EVENT_RESPONSE else { return event }
                        var changed = failed
                        changed.unixTime = event.unixTime
                        changed.random = event.random
                        changed.response?.url = event.response?.url ?? []
                        return changed
                    }
                    let run = driver.finished()
                    guard case .status(let status) = run.ending, status == NEVOD_DENIED else { continue }
                    return .fail(
                        "After \(what), a \(run.name) returns NEVOD_UNAVAILABLE, which keeps the token",
                        "It returned NEVOD_DENIED",
                        "Return NEVOD_DENIED only if the server refuses the token or the password")
                }
            }
            return .pass
        }.caused(by: "flow.server-errors", "flow.transport-errors"),
        flow("flow.cancelled", "A flow can be cancelled at each step") { subject in
            try atEachStep(subject) { driver, event in
                var cancelled = ContractEvent.cancelled
                cancelled.unixTime = event.unixTime
                cancelled.random = event.random
                _ = driver.step(cancelled)
            }
            return .pass
        },
        flow("flow.left", "A flow can be freed at each step") { subject in
            try atEachStep(subject) { _, _ in }
            return .pass
        }.caused(by: "lifecycle.mid-flow"),
        flow("flow.clock-skew", "A flow survives a clock that is wrong") { subject in
            let style = subject.serverStyle()
            for time in [0, 1, 946_684_800_000_000_000, 4_102_444_800_000_000_000, .max - 1] as [Int64] {
                for kind in startedKinds(subject) {
                    let driver = FlowDriver(subject, kind, PlausibleServer(style), token: subject.issued)
                    driver.change = { _, event in
                        var event = event
                        event.unixTime = time
                        return event
                    }
                    _ = driver.finished()
                }
            }
            return .pass
        },
        flow("flow.wrong-events", "A flow survives events that it isn't waiting for") { subject in
            for kind in Int(NEVOD_EVENT_START)...Int(NEVOD_EVENT_KEPT) {
                try atEachStep(subject) { driver, event in
                    // A flow that waits for a response must expect a transport error.
                    let isUsual = kind == NEVOD_EVENT_TRANSPORT_ERROR && event.kind == NEVOD_EVENT_RESPONSE
                    guard event.kind != Int32(kind), !isUsual else { return }
                    var other = ContractEvent(kind)
                    other.unixTime = event.unixTime
                    other.random = event.random
                    if kind == NEVOD_EVENT_RESPONSE { other.response = json(200, "{}") }
                    _ = driver.step(other)
                }
            }
            return .pass
        }.caused(by: "flow.left", "lifecycle.mid-flow"),
        flow("flow.unknown-events", "A flow refuses an event of an unknown kind") { subject in
            var result = CheckResult.pass
            try atEachStep(subject) { driver, event in
                var other = ContractEvent(77)
                other.unixTime = event.unixTime
                other.random = event.random
                guard let outcome = driver.step(other), result == .pass else { return }
                if outcome.result == NEVOD_OK {
                    result = .fail(
                        "flow_step returns NEVOD_UNSUPPORTED for an event of an unknown kind", "It returned NEVOD_OK",
                        "Compare event->kind with the kind that the flow waits for")
                }
            }
            return result
        },
        flow("flow.unsupported-actions", "A flow survives a host that can't perform its actions") { subject in
            for status in [Int32(NEVOD_UNSUPPORTED), Int32(NEVOD_INTERNAL)] {
                for kind in startedKinds(subject) {
                    let token = subject.issued
                    let style = subject.serverStyle()
                    for failing in 0..<6 {
                        let tries = Tries()
                        subject.host.replaceResults { call, _ in
                            guard call.isAction else { return nil }
                            return tries.next() >= failing ? status : nil
                        }
                        let run = FlowDriver(subject, kind, PlausibleServer(style), token: token).finished()
                        subject.host.replaceResults(nil)
                        if run.steps.count <= failing { break }
                    }
                }
            }
            return .pass
        },
    ]

    private static func json(_ status: Int32, _ text: String) -> ContractResponse {
        ContractResponse(
            status, headers: [ContractPair("Content-Type", "application/json")], body: Array(text.utf8),
            url: Array("\(SettingValues.server)/".utf8))
    }

    private static func errors(_ event: ContractEvent) -> [ContractEvent] {
        [Int(NEVOD_TRANSPORT_TRANSIENT), Int(NEVOD_TRANSPORT_PERMANENT), Int(NEVOD_TRANSPORT_TOO_LARGE), 77].map { kind in
            var error = ContractEvent.transportError(kind, kind == 77 ? "" : "the connection was refused")
            error.unixTime = event.unixTime
            error.random = event.random
            return error
        }
    }

    /// Runs a flow of each kind repeatedly. Each time, replaces an event of `kind` with one of its variants.
    private static func each(_ subject: Subject, _ kind: Int, _ variants: (ContractEvent) -> [ContractEvent]) throws {
        let (style, token) = (subject.serverStyle(), subject.issued)
        for flow in startedKinds(subject) {
            let plain = FlowDriver(subject, flow, PlausibleServer(style), token: token).finished()
            // In a flow that polls, later steps are like earlier ones.
            for (index, step) in plain.steps.prefix(12).enumerated() where step.event.kind == Int32(kind) {
                for variant in variants(step.event) {
                    let driver = FlowDriver(subject, flow, PlausibleServer(style), token: token)
                    driver.change = { $0 == index ? variant : $1 }
                    _ = driver.finished()
                }
            }
        }
    }

    /// Runs a flow of each kind up to each of its steps, calls `body` with the event that would follow, and frees the flow.
    private static func atEachStep(_ subject: Subject, _ body: (FlowDriver, ContractEvent) throws -> Void) throws {
        let (style, token) = (subject.serverStyle(), subject.issued)
        for flow in startedKinds(subject) {
            let plain = FlowDriver(subject, flow, PlausibleServer(style), token: token).finished()
            for (index, step) in plain.steps.prefix(12).enumerated() {
                let driver = FlowDriver(subject, flow, PlausibleServer(style), token: token)
                for _ in 0..<index { driver.step() }
                if !driver.isFinished { try body(driver, step.event) }
                // Skips flows without a step, which flow.unused checks.
                if driver.run.steps.isEmpty { driver.step() }
                driver.free()
            }
        }
    }
}

/// Counts the calls of a sink over several steps.
final class Tries: Sendable {
    private let count = Locked<Int>(0)

    /// The number of earlier calls.
    func next() -> Int {
        count.withLock { count in
            defer { count += 1 }
            return count
        }
    }
}
