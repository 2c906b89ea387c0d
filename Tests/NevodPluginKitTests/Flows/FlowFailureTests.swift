import NevodPluginKit
import Testing

/// Flows that fail, are cancelled, or misbehave.
struct FlowFailureTests {
    private func begin(_ login: @escaping @Sendable (AuthFlow) async throws(SchemeError) -> IssuedToken) throws -> RunningFlow {
        try FlowTests.Script.$login.withValue(login) { try FlowHost(FlowTests.export).begin(NEVOD_FLOW_LOGIN) }
    }

    @Test func `Each error ends the flow with its status`() throws {
        let failures: [(SchemeError, FlowHost.Report)] = [
            (SchemeError.denied("no", detail: "d"), .init(status: 3, message: "no", detail: "d")),
            (SchemeError.unavailable("later"), .init(status: 4, message: "later")),
            (SchemeError.badToken("old"), .init(status: 2, message: "old")),
            (SchemeError.unsupported("not this"), .init(status: 5, message: "not this")),
            (SchemeError.badSetting("url", "is wrong"), .init(status: 1, subject: "url", message: "is wrong")),
            (SchemeError.internal("fault"), .init(status: 6, message: "fault")),
        ]
        for (error, report) in failures {
            let flow = try begin { _ async throws(SchemeError) in throw error }
            let step = flow.step(.start())
            #expect(step.report == report)
            #expect(step.actions.isEmpty)
        }
    }

    @Test(arguments: [
        (NEVOD_TRANSPORT_TRANSIENT, TransportFailure.transient), (NEVOD_TRANSPORT_PERMANENT, .permanent),
        (NEVOD_TRANSPORT_TOO_LARGE, .tooLarge), (99, .permanent),
    ])
    func `Transport errors are thrown where the flow sends`(number: Int, kind: TransportFailure) throws {
        let caught = try begin { flow async throws(SchemeError) in
            do throws(SchemeError) { _ = try await flow.send(.get("https://h/")) } catch  where error.isTransport {
                return IssuedToken(Secret("\(error.transportFailure == kind && !error.isUnsupported) \(error.message)"))
            }
            return IssuedToken(Secret("-"))
        }
        _ = caught.step(.start())
        #expect(caught.step(.transportError(number, "reset")).action == .token(.init(bytes: "true reset")))

        let uncaught = try begin { flow async throws(SchemeError) in IssuedToken(try await flow.send(.get("https://h/")).body) }
        _ = uncaught.step(.start())
        #expect(uncaught.step(.transportError(number, "reset")).report == .init(status: 4, message: "reset"))
    }

    @Test func `A response that is not JSON is a transient failure`() throws {
        let flow = try begin { flow async throws(SchemeError) in
            let json = try await flow.send(.get("https://h/")).json()
            return IssuedToken(Secret(json["t"]?.string ?? "-"))
        }
        _ = flow.step(.start())
        let step = flow.step(.response(200, "<html>hunter2"))
        #expect(step.status == NEVOD_UNAVAILABLE)
        #expect(
            step.report.message == "the server's response (status 200) is not valid JSON: expected a JSON value at byte 0")
    }

    @Test func `Cancellation is thrown where the flow waits`() throws {
        let flow = try begin { flow async throws(SchemeError) in
            do throws(SchemeError) { try await flow.wait(.seconds(9)) } catch {
                #expect(error.isCancellation && Task.isCancelled)
                throw error
            }
            return IssuedToken(Secret("t"))
        }
        _ = flow.step(.start())
        let step = flow.step(.cancelled)
        #expect(step.report == .init(status: 4, message: "the flow was cancelled"))
        #expect(step.actions.isEmpty)
        // Steps after the cancellation.
        #expect(flow.step(.timer).status == NEVOD_INTERNAL)
        #expect(flow.step(.cancelled).status == NEVOD_UNAVAILABLE)
        #expect(flow.step(.start()).report == .init(status: 6, message: "the host started one flow twice"))
    }

    @Test func `A flow that ignores cancellation once goes on; one that always does is ended`() throws {
        let once = try begin { flow async throws(SchemeError) in
            try? await flow.wait(.seconds(9))
            try? await flow.wait(.seconds(9))
            return IssuedToken(Secret("t"))
        }
        _ = once.step(.start())
        #expect(once.step(.cancelled).report == .init(status: 6, message: "the flow continued after it was cancelled"))

        let silently = try begin { flow async throws(SchemeError) in
            try? await flow.wait(.seconds(9))
            return IssuedToken(Secret("t"))
        }
        _ = silently.step(.start())
        let step = silently.step(.cancelled)
        #expect(step.status == NEVOD_UNAVAILABLE)
        #expect(step.actions.isEmpty)

        let forEver = try begin { flow async throws(SchemeError) in
            while true { try? await flow.wait(.seconds(9)) }
        }
        _ = forEver.step(.start())
        #expect(forEver.step(.cancelled).report == .init(status: 6, message: "the flow continued after it was cancelled"))
    }

    @Test func `A flow freed after any number of steps leaks nothing`() throws {
        final class Count: Sendable {
            let alive = Locked(0)
            func change(by change: Int) { alive.withLock { $0 += change } }
        }
        final class Held: Sendable {
            let count: Count
            init(_ count: Count) {
                self.count = count
                count.change(by: 1)
            }
            deinit { count.change(by: -1) }
        }
        let count = Count()
        let unwound = Locked(0)
        let events: [FlowHost.Event] = [.start(), .response(200), .answers([("a", "b")]), .timer, .kept]
        for steps in 0...events.count {
            var flow: RunningFlow? = try begin { flow async throws(SchemeError) in
                let held = Held(count)
                defer { withExtendedLifetime(held) { unwound.withLock { $0 += 1 } } }
                _ = try await flow.send(.get("https://h/"))
                _ = try await flow.ask(.text("a", "A"))
                try await flow.wait(.seconds(1))
                try await flow.keep(IssuedToken(Secret("k")))
                return IssuedToken(Secret("t"))
            }
            for event in events.prefix(steps) { #expect(flow?.step(event).report.status == Int32(NEVOD_OK)) }
            flow = nil
            #expect(count.alive.withLock { $0 } == 0)
            #expect(unwound.withLock { $0 } == steps)
        }
    }

    @Test func `Suspending outside the flow's calls is an error`() throws {
        let ways: [(String, @Sendable (AuthFlow) async throws(SchemeError) -> Void)] = [
            ("sleep", { _ in try? await Task.sleep(for: .seconds(3600)) }),
            ("continuation", { _ in await Never.resumed() }),
            (
                "stream",
                { _ in
                    for await _ in AsyncStream<Int>(unfolding: {
                        await Never.resumed()
                        return nil
                    }) {}
                }
            ),
            (
                "sleep after a step",
                { flow async throws(SchemeError) in
                    try await flow.wait(.zero)
                    try? await Task.sleep(for: .seconds(3600))
                }
            ),
        ]
        for (name, way) in ways {
            let flow = try begin { flow async throws(SchemeError) in
                try await way(flow)
                return IssuedToken(Secret("t"))
            }
            var step = flow.step(.start())
            if step.action != nil { step = flow.step(.timer) }
            #expect(step.status == NEVOD_INTERNAL, "\(name)")
            #expect(step.report.message.hasPrefix("suspended outside flow"), "\(name)")
            #expect(step.actions.isEmpty, "\(name)")
        }
    }

    /// A suspended flow that can't be ended is left waiting. It is resumed at the end of the tests, so that nothing leaks.
    enum Never {
        static func resumed() async {
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in waiting.withLock { $0.append(continuation) } }
            } onCancel: {
                for continuation in waiting.withLock({ waiting in
                    defer { waiting = [] }
                    return waiting
                }) { continuation.resume() }
            }
        }
        private static let waiting = Locked<[CheckedContinuation<Void, Swift.Never>]>([])
    }

    @Test func `A late resumption runs outside a step, and gives no action`() async throws {
        let gate = AsyncStream.makeStream(of: Void.self)
        let ended = AsyncStream.makeStream(of: String.self)
        let lateFlow = try begin { flow async throws(SchemeError) in
            // Not cancellable: the function is resumed long after the host has cancelled the flow.
            await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Swift.Never>) in
                Task.detached {
                    for await _ in gate.stream { break }
                    continuation.resume()
                }
            }
            do throws(SchemeError) {
                _ = try await flow.send(.get("https://h/"))
                ended.continuation.yield("sent")
            } catch {
                ended.continuation.yield("\(error.isCancellation)")
            }
            return IssuedToken(Secret("t"))
        }
        #expect(lateFlow.step(.start()).report.message.hasPrefix("suspended outside flow"))
        gate.continuation.yield()
        var results = ended.stream.makeAsyncIterator()
        #expect(await results.next() == "true")
    }

    @Test func `Child tasks that finish within a step are no suspension`() throws {
        actor Counter {
            var count = 0
            func add() -> Int {
                count += 1
                return count
            }
        }
        let counter = Counter()
        let flow = try begin { flow async throws(SchemeError) in
            async let one = counter.add()
            let sum = await withTaskGroup(of: Int.self) { group in
                for index in 0..<10 {
                    group.addTask {
                        await Task.yield()
                        return index
                    }
                }
                return await group.reduce(0, +)
            }
            await Task.yield()
            let status = try await flow.send(.get("https://h/")).status
            return IssuedToken(Secret("\(await one) \(sum) \(status) \(await counter.add())"))
        }
        #expect(flow.step(.start()).action == .send("GET https://h/ 1\n\n"))
        #expect(flow.step(.response(200)).action == .token(.init(bytes: "1 45 200 2")))
    }

    @Test func `Two concurrent actions are refused`() throws {
        @Sendable func wait(_ flow: AuthFlow) async -> Result<Void, SchemeError> {
            do throws(SchemeError) { return .success(try await flow.wait(.seconds(1))) } catch { return .failure(error) }
        }
        let flow = try begin { flow async throws(SchemeError) in
            async let one = wait(flow)
            async let two = wait(flow)
            let results = await [one, two]
            for result in results { try result.get() }
            return IssuedToken(Secret("t"))
        }
        let first = flow.step(.start())
        #expect(first.actions.count == 1)
        #expect(flow.step(.timer).report == .init(status: 6, message: "the flow requested two actions at once"))
    }

    @Test func `An event that doesn't match the action is refused`() throws {
        let flow = try begin { flow async throws(SchemeError) in
            _ = try await flow.send(.get("https://h/"))
            return IssuedToken(Secret("t"))
        }
        #expect(flow.step(.timer).status == NEVOD_INTERNAL)
        _ = flow.step(.start())
        #expect(flow.step(.timer).status == NEVOD_INTERNAL)
        #expect(flow.step(.start()).status == NEVOD_INTERNAL)
        let unknown = try begin { flow async throws(SchemeError) in
            try await flow.wait(.zero)
            return IssuedToken(Secret("t"))
        }
        _ = unknown.step(.start())
        #expect(unknown.step(FlowHost.Event(kind: 77)).status == NEVOD_UNSUPPORTED)
    }

    @Test func `A thousand concurrent flows run on one thread`() throws {
        let flows = try (0..<1000).map { index in
            try begin { flow async throws(SchemeError) in
                var sum = 0
                for _ in 0..<3 { sum += try await flow.send(.get("https://h/\(index)")).status }
                return IssuedToken(Secret("\(index) \(sum)"))
            }
        }
        for (index, flow) in flows.enumerated() {
            #expect(flow.step(.start()).action == .send("GET https://h/\(index) 1\n\n"))
        }
        for _ in 0..<2 { for flow in flows { #expect(flow.step(.response(200)).action != nil) } }
        for (index, flow) in flows.enumerated().reversed() {
            #expect(flow.step(.response(200)).action == .token(.init(bytes: "\(index) 600")))
        }
    }

    @Test func `Steps may run on different threads`() async throws {
        // One thread at a time: each step is awaited before the next.
        nonisolated(unsafe) let flow = try begin { flow async throws(SchemeError) in
            var count = 0
            while count < 50 {
                try await flow.wait(.zero)
                count += 1
            }
            return IssuedToken(Secret("\(count)"))
        }
        _ = flow.step(.start())
        for _ in 0..<49 {
            let action = await Task.detached { flow.step(.timer).action }.value
            #expect(action == .wait(0))
        }
        #expect(flow.step(.timer).action == .token(.init(bytes: "50")))
    }
}
