import NevodPluginKit
import Testing

/// A flow's function that uses actions which the host doesn't support.
struct FlowUnsupportedTests {
    private func begin(
        without unsupported: Set<String>, _ login: @escaping @Sendable (AuthFlow) async throws(SchemeError) -> IssuedToken
    ) throws -> RunningFlow {
        try FlowTests.Script.$login.withValue(login) {
            let host = try FlowHost(FlowTests.export)
            host.unsupported = unsupported
            return try host.begin(NEVOD_FLOW_LOGIN)
        }
    }

    @Test func `A flow goes on with another action in the same step`() throws {
        let flow = try begin(without: ["ask", "listen", "browse"]) { flow async throws(SchemeError) in
            do throws(SchemeError) { _ = try await flow.ask(.code("passkey", "Passkey")) } catch  where error.isUnsupported {
                #expect(!error.isTransport && !error.isCancellation)
                flow.setState(Array(error.message.utf8))
            }
            do throws(SchemeError) {
                _ = try await flow.listen(path: "/back")
            } catch  where error.isUnsupported {
                do throws(SchemeError) { _ = try await flow.browse("https://h/") } catch  where error.isUnsupported {
                    try await flow.show("Enter ABCD", url: "https://h/device")
                }
            }
            try await flow.wait(.seconds(5))
            return IssuedToken(Secret("t"))
        }
        let step = flow.step(.start())
        #expect(step.status == NEVOD_OK)
        #expect(step.refused == [.ask(["3 passkey Passkey "]), .listen("/back"), .browse("https://h/")])
        #expect(step.action == .show("Enter ABCD", "https://h/device"))
        #expect(step.state == "the host doesn't support ask here")
        #expect(flow.step(.shown).action == .wait(5_000_000_000))
        #expect(flow.step(.timer).action == .token(.init(bytes: "t")))
    }

    @Test func `A flow may finish in the step of an unsupported action`() throws {
        let flow = try begin(without: ["ask"]) { flow async throws(SchemeError) in
            let answer = try? await flow.ask(.secret("password", "Password"))
            return IssuedToken(answer ?? Secret("anonymous"))
        }
        #expect(flow.step(.start()).action == .token(.init(bytes: "anonymous")))
    }

    @Test(arguments: ["send", "ask", "show", "listen", "browse", "wait", "keep"])
    func `An error that the flow doesn't catch ends it as unsupported`(action: String) throws {
        let flow = try begin(without: [action]) { flow async throws(SchemeError) in
            switch action {
            case "send": _ = try await flow.send(.get("https://h/"))
            case "ask": _ = try await flow.ask(.text("user", "User"))
            case "show": try await flow.show("a")
            case "listen": _ = try await flow.listen(path: "/")
            case "browse": _ = try await flow.browseToRedirect("https://h/")
            case "wait": try await flow.wait(.zero)
            default: try await flow.keep(IssuedToken(Secret("k")))
            }
            return IssuedToken(Secret("t"))
        }
        let step = flow.step(.start())
        #expect(step.report == .init(status: 5, message: "the host doesn't support \(action) here"))
        #expect(step.actions.isEmpty && step.refused.count == 1)
    }

    @Test func `A flow that tries forever is ended`() throws {
        let flow = try begin(without: ["browse"]) { flow async throws(SchemeError) in
            while true { _ = try? await flow.browse("https://h/") }
        }
        let step = flow.step(.start())
        #expect(step.report == .init(status: 6, message: "the flow tried too many actions that the host doesn't support"))
        #expect(step.refused.count == 101)
    }

    @Test func `Each step may try as often`() throws {
        let flow = try begin(without: ["ask"]) { flow async throws(SchemeError) in
            for _ in 0..<3 {
                for _ in 0..<60 { _ = try? await flow.ask(.text("user", "User")) }
                try await flow.wait(.zero)
            }
            return IssuedToken(Secret("t"))
        }
        for event in [FlowHost.Event.start(), .timer, .timer] { #expect(flow.step(event).action == .wait(0)) }
        #expect(flow.step(.timer).action == .token(.init(bytes: "t")))
    }
}
