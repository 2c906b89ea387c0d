import Glibc
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodHostTestSupport

/// Tests a plugin in C that keeps a call's sinks, and uses them in later calls, on other threads, and after the call's thread has
/// ended. Each use is rejected and touches nothing.
@Suite(.blocking)
struct KeptSinkTests {
    private let lines = Collected<String>()
    private let scheme: Scheme

    init() throws {
        scheme = try TestPlugin.keeper().scheme()
    }

    private func instance() throws -> SchemeInstance {
        try scheme.makeInstance { [lines] level, line in lines.append("\(level) \(line)") }
    }

    @discardableResult
    private func authorize(_ target: String, _ instance: SchemeInstance) throws -> HTTPRequest {
        var request = try HTTPRequest(.get, "http://h\(target)")
        try instance.authorize(&request, attempt: 1)
        return request
    }

    private func answer(_ instance: SchemeInstance) throws -> Verdict {
        let response = FlowResponse(status: 200, headers: HTTPHeaders(), body: [], url: "http://h/")
        return try instance.verdict(on: response, to: HTTPRequest(.get, "http://h/"), attempt: 1, SchemeUse()).0
    }

    private func expectRefused(
        _ place: String, _ sinks: [String], rounds: Int = 1, sourceLocation: SourceLocation = #_sourceLocation
    ) {
        let results = lines.values.filter { $0.hasPrefix("2 \(place) ") }
        #expect(results.count == sinks.count * 4 * rounds, "\(results)", sourceLocation: sourceLocation)
        for sink in sinks {
            #expect(
                results.filter { $0 == "2 \(place) \(sink) 5" }.count == 4 * rounds, "\(results)", sourceLocation: sourceLocation)
        }
        let warnings = lines.values.filter { $0.hasPrefix("3 ") }
        #expect(warnings.count == 1, "\(warnings)", sourceLocation: sourceLocation)
        let expected = "the scheme \"keeper\" called"
        #expect(warnings.allSatisfy { $0.contains(expected) && $0.contains("libkeeper.so") }, sourceLocation: sourceLocation)
    }

    private let edits = ["edits", "copied edits"]
    private let actions = ["actions", "copied actions"]

    @Test func `Kept edits are refused in a later call`() throws {
        let instance = try instance()
        #expect(try authorize("/keep", instance).headers["X-Own"] == "1")
        let request = try authorize("/use", instance)
        #expect(request.headers["X-Stolen"] == nil)
        #expect(request.headers["X-Own"] == "1")
        #expect(request.target == "/use")
        #expect(request.headers["Cookie"] == nil)
        expectRefused("authorize", edits)
    }

    @Test func `A kept sink for errors reports nothing in a later call`() throws {
        let instance = try instance()
        let error = try #require(throws: PluginError.self) { try authorize("/fail", instance) }
        #expect("\(error)".contains("refused to authorize the request: no reason given"))
        guard case .failed(_, _, _, _, _, let detail) = error.reason else { throw error }
        #expect(detail == nil)
    }

    @Test func `Kept edits are refused in on_response, and kept actions in a later authorize`() throws {
        let instance = try instance()
        try authorize("/keep", instance)
        #expect(try answer(instance) == .stateChanged)
        expectRefused("on_response", edits)
        // The first state is on_response's. Kept actions can't replace it.
        let request = try authorize("/use", instance)
        #expect(request.headers["X-Own"] == "own")
        #expect(try authorize("/", instance).headers["X-Own"] == "own")
        expectRefused("authorize", edits + actions)
    }

    @Test func `Sinks of one step are refused in the next, and when the flow is freed`() throws {
        let instance = try instance()
        try authorize("/keep", instance)
        do {
            let flow = try #require(try Flow(.login, of: instance))
            guard case (.wait, nil) = try flow.step(.start(token: nil, response: nil), now: .init(nanoseconds: 1), state: nil)
            else { throw CancellationError() }
            guard case (.token(let token), nil) = try flow.step(.timer, now: .init(nanoseconds: 1), state: nil)
            else { throw CancellationError() }
            #expect(token.bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) } == "own")
            expectRefused("flow_step", edits + actions)
        }
        expectRefused("flow_free", edits + actions)
    }

    @Test func `Kept sinks are refused in destroy`() throws {
        do {
            let instance = try instance()
            try authorize("/keep", instance)
            _ = try answer(instance)
        }
        expectRefused("destroy", edits + actions)
    }

    @Test func `A call's own sinks are refused on another thread`() throws {
        let request = try authorize("/thread", instance())
        #expect(request.headers["X-Stolen"] == nil)
        #expect(request.headers["X-Own"] == "1")
        expectRefused("thread", edits)
    }

    @Test func `The sinks of a call in progress are refused in another call`() async throws {
        let instance = try instance()
        let waiting = Task { try await onOwnThread { try authorize("/wait", instance) } }
        #expect(await eventually { lines.values.contains("2 waiting") })
        let other = try await onOwnThread { try authorize("/use", instance) }
        #expect(other.headers["X-Stolen"] == nil)
        try authorize("/release", instance)
        let request = try await waiting.value
        #expect(request.headers["X-Stolen"] == nil)
        #expect(request.headers["X-Own"] == "1")
        expectRefused("authorize", edits)
    }

    @Test func `Sinks are refused after the thread of their call has ended`() throws {
        let instance = try instance()
        for _ in 0..<20 {
            _ = try onJoinedThread { try authorize("/keep", instance) }
            // This thread takes over the other one's record.
            let request = try onJoinedThread { try authorize("/use", instance) }
            #expect(request.headers.map(\.name) == ["X-Own"])
        }
        expectRefused("authorize", edits, rounds: 20)
    }

    @Test func `Pointers that were kept over many calls edit no other request`() throws {
        let instance = try instance()
        let other = try scheme.makeInstance()
        try authorize("/keep", instance)
        // The ring of tables is used up several times.
        for _ in 0..<100 {
            #expect(try authorize("/", other).headers.map(\.name) == ["X-Own"])
        }
        #expect(try onJoinedThread { try authorize("/use", instance) }.headers.map(\.name) == ["X-Own"])
        expectRefused("authorize", edits)
    }

    @Test func `Calls made during a call leave its sinks alone`() throws {
        let inner = try instance()
        let depth = Collected<Int>()
        let outer = try scheme.makeInstance { [scheme] _, line in
            guard line == "nest" else { return }
            for _ in 0..<40 { _ = try? authorize("/", inner) }
            guard depth.values.count < 5 else { return }
            depth.append(1)
            let nested = try? scheme.makeInstance { _, _ in }
            if let nested { _ = try? authorize("/nest", nested) }
        }
        #expect(try authorize("/nest", outer).headers["X-Own"] == "1")
        #expect(lines.values.filter { $0.hasPrefix("3 ") }.isEmpty)
    }
}
