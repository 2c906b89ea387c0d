internal import CLinux
internal import Glibc
internal import NevodPluginABI
internal import NevodPluginTesting

// A scheme without NEVOD_SCHEME_BLOCKS runs on the thread that carries all traffic. The limits are generous, and the fastest of
// several calls counts, because the machine may be busy.

extension CheckCatalogue {
    static let timeChecks: [Check] = [
        timed("time.authorize", "authorize returns at once, unless the scheme says that it blocks", "authorize") { subject in
            let token = try subject.usableCredential()
            let view = try subject.view()
            return { _ = subject.authorize(token, view) }
        },
        timed("time.decode", "token_decode returns at once, unless the scheme says that it blocks", "token_decode") { subject in
            guard subject.instance.decodesTokens else { throw CheckStop.skip("the scheme decodes no tokens") }
            let bytes = try subject.issuedToken().bytes
            return { _ = subject.decode(bytes) }
        },
        timed("time.respond", "on_response returns at once, unless the scheme says that it blocks", "on_response") { subject in
            guard subject.instance.seesResponses else { throw CheckStop.skip("the scheme has no on_response") }
            let token = try subject.usableCredential()
            let view = try subject.view()
            let response = PlausibleServer.challenge()
            return { _ = subject.respond(token, view, response) }
        },
        timed("time.flow", "The steps of a flow return at once, unless the scheme says that it blocks", "A login") { subject in
            guard subject.instance.hasFlows else { throw CheckStop.skip("the scheme has no flows") }
            _ = try subject.issuedToken()
            let style = subject.serverStyle()
            return { _ = FlowDriver(subject, Int(NEVOD_FLOW_LOGIN), PlausibleServer(style)).finished() }
        },
        .probing("time.destroy", "destroy waits for nothing") { subject in
            var best = Int64.max
            for _ in 0..<5 {
                let other = try subject.another()
                let start = nevod_monotonic_nanoseconds()
                other.destroy()
                best = min(best, nevod_monotonic_nanoseconds() - start)
            }
            guard best > limit else { return .pass }
            return .fail(
                "destroy returns at once, whatever the scheme's flags say", "The fastest of 5 took \(milliseconds(best)) ms",
                "Tell the instance's threads to end before joining them, and don't let them wait on anything else")
        },
        .probing("time.create", "create returns in a moment") { subject in
            let start = nevod_monotonic_nanoseconds()
            let other = try subject.another()
            let duration = nevod_monotonic_nanoseconds() - start
            other.destroy()
            guard duration > 1_000_000_000 else { return .noted("\(milliseconds(duration)) ms") }
            return .warn(
                "create takes less than a second, since its caller waits", "It took \(milliseconds(duration)) ms",
                "Do the work when it is first needed, in a scheme with NEVOD_SCHEME_BLOCKS")
        },
    ]

    /// 20 times the contract's limit.
    private static let limit = 20 * Int64(NEVOD_LIMIT_CALL_NS)

    private static func milliseconds(_ nanoseconds: Int64) -> Int64 { nanoseconds / 1_000_000 }

    private static func timed(
        _ id: String, _ title: String, _ function: String,
        _ prepare: @escaping @Sendable (Subject) throws -> () -> Void
    ) -> Check {
        .probing(id, title, patience: 2) { subject in
            guard subject.flags & UInt32(NEVOD_SCHEME_BLOCKS) == 0 else {
                return .skip("the scheme declares NEVOD_SCHEME_BLOCKS")
            }
            let call = try prepare(subject)
            var best = Int64.max
            var work = Int64.max
            for _ in 0..<5 {
                let start = nevod_monotonic_nanoseconds()
                let startOfWork = nevod_nanoseconds(CLOCK_THREAD_CPUTIME_ID)
                call()
                work = min(work, nevod_nanoseconds(CLOCK_THREAD_CPUTIME_ID) - startOfWork)
                best = min(best, nevod_monotonic_nanoseconds() - start)
            }
            guard best > limit else { return .pass }
            let waited = max(0, best - work)
            return .fail(
                "\(function) returns within \(Int64(NEVOD_LIMIT_CALL_NS) / 1_000_000) ms (\(milliseconds(limit)) ms on a busy machine)",
                "The fastest of 5 took \(milliseconds(best)) ms: \(milliseconds(work)) of work, \(milliseconds(waited)) of waiting",
                "Declare NEVOD_SCHEME_BLOCKS, so that the calls run on worker threads; or do the work in create")
        }
    }
}
