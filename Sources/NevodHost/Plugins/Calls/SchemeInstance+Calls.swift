internal import CPluginCalls
internal import NevodStorage

extension SchemeInstance {
    /// Whether its calls run on the threads of `workers`.
    var mayBlock: Bool { scheme.called.mayBlock }

    /// Makes a call on one of the threads of `workers`, or of a scheme that doesn't say that it blocks, on one of a set of their own. What it does after the deadline has no effect: all that `body` changes must
    /// be its own, or its result.
    ///
    /// - Parameters:
    ///   - function: the function that `body` calls.
    ///   - deadline: nil for none.
    /// - Throws: errors of `body`; ``PluginError/Reason/unreturned(scheme:function:)`` at the deadline; `CancellationError`.
    func onWorker<Success: Sendable>(
        _ function: StaticString, until deadline: ContinuousClock.Instant?,
        _ body: @escaping @Sendable () throws(PluginError) -> Success
    ) async throws -> Success {
        let threads = mayBlock ? workers : SchemeWorkers.unannounced
        do { return try await threads.run(until: deadline, body) } catch is DeadlineExceededError {
            throw PluginError(scheme.plugin, .unreturned(scheme: scheme.id, function: "\(function)"))
        } catch is SchemeWorkers.NoThreadError {
            throw PluginError(
                scheme.plugin,
                .failed(
                    scheme: scheme.id, function: "\(function)", status: PluginStatus.unavailable.rawValue, subject: "",
                    message: "the system can start no thread for it; raise the limit on threads (ulimit -u)", detail: nil))
        }
    }

    /// The error for a step of a flow of this scheme that has not returned, whichever request needs the flow; nil if there is none.
    var unreturnedFlow: PluginError? {
        let call = CallInProgress.all.first {
            $0.library == scheme.plugin && $0.scheme == scheme.id && $0.function.hasPrefix("flow_")
        }
        return call.map { PluginError(scheme.plugin, .unreturned(scheme: scheme.id, function: $0.function)) }
    }

    /// Records the call that `body` makes in the work of its request, which ends at its deadline even if the call doesn't return.
    ///
    /// - Throws: errors of `body`; `CancellationError` if the request has ended in the meantime.
    func recording<Success>(
        _ function: StaticString, in work: RequestWork?, _ body: () async throws -> Success
    ) async throws -> Success {
        guard let work else { return try await body() }
        guard !work.isAbandoned else { throw CancellationError() }
        work.begin(scheme.called.names, PluginCall.name(function))
        let result: Success
        do { result = try await body() } catch is CancellationError where work.isOver {
            // The transport gave up waiting for the call, which has not returned: its record stays, for the request's error.
            throw CancellationError()
        } catch {
            guard work.end() else { throw CancellationError() }
            throw error
        }
        guard work.end() else { throw CancellationError() }
        return result
    }
}
