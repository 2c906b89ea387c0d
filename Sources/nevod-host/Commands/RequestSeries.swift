import NevodHost
import NevodSupport

/// Runs the requests of one command: one after another, or with `-Z` at the same time.
///
/// A failure doesn't stop the other requests, unless `--fail-early` is given or they would fail as well. The exit code is the
/// last failure's. (curl's is the last request's, even if that request succeeded and an earlier one failed.)
struct RequestSeries: Sendable {
    let operations: [Arguments]
    let console: Console
    let session: CurlSession
    let report: ErrorReport

    /// Plugins are loaded, and logged in, before the first request is sent.
    func run() async throws {
        if let only = operations.first, operations.count == 1 {
            return try await RequestCommand(arguments: only, console: console, session: session).run()
        }
        StandardInputContent.keep()
        let (prepared, authorizations) = try await prepared()
        try await SchemeLogin.savingTokens(of: authorizations.map(\.login), on: session) { try await run(prepared) }
    }

    private struct Prepared: Sendable {
        let command: RequestCommand
        let authorization: RequestAuthorization
        let turn: OutputTurn
    }

    private func prepared() async throws -> ([Prepared], [RequestAuthorization]) {
        var prepared: [Prepared] = []
        var authorizations: [[String]: RequestAuthorization] = [:]
        var sessions: [[String]: CurlSession] = [:]
        let isParallel = operations.first?.has(.parallel) ?? false
        var turn: OutputTurn?
        let urls = Dictionary(grouping: operations, by: RequestAuthorization.key).mapValues { $0.flatMap(\.operands) }
        for (number, operation) in operations.enumerated() {
            try CredentialScope(operation).check()
            let connection = Self.connectionKey(of: operation)
            let session =
                try sessions[connection]
                ?? (sessions.isEmpty ? session : CurlSession(SessionBuilder(arguments: operation).configuration()))
            sessions[connection] = session
            let key = RequestAuthorization.key(of: operation)
            let authorization =
                if let known = authorizations[key] { known } else {
                    try await RequestAuthorization(operation.authorizing(urls[key] ?? []), console, session)
                }
            authorizations[key] = authorization
            let own = OutputTurn(after: operation.writesToStandardOutput ? turn : nil)
            if isParallel, operation.writesToStandardOutput { turn = own }
            prepared.append(
                Prepared(
                    command: RequestCommand(arguments: operation, console: console, session: session, number: number),
                    authorization: authorization,
                    turn: own))
        }
        return (prepared, Array(authorizations.values))
    }

    /// The flags that determine a session's configuration.
    private static func connectionKey(of operation: Arguments) -> [String] {
        let names = Flag.connection.map(\.name) + [.compressed]
        return operation.flags.filter { names.contains($0.name) }.map { "\($0.name)=\($0.value)" }
            + operation.values(.writeOut).filter(WriteOutFormat.mayShowCertificates).prefix(1).map { _ in "certificates" }
    }

    private func run(_ prepared: [Prepared]) async throws {
        let limit = operations.first?.has(.parallel) == true ? try parallelMax() : 1
        let isEager = operations.first?.has(.failEarly) ?? false
        var failure: ReportedFailure?
        try await withThrowingTaskGroup(of: ReportedFailure?.self) { group in
            var rest = prepared[...]
            for _ in 0..<limit {
                guard let next = rest.popFirst() else { break }
                add(next, to: &group)
            }
            while let result = try await group.next() {
                if let result {
                    failure = result
                    if isEager || result.isFatal {
                        group.cancelAll()
                        break
                    }
                }
                if let next = rest.popFirst() { add(next, to: &group) }
            }
        }
        if let failure { throw failure }
    }

    private func add(_ prepared: Prepared, to group: inout ThrowingTaskGroup<ReportedFailure?, any Error>) {
        let report = report
        group.addTask(executorPreference: session.executor) {
            defer { prepared.turn.end() }
            do {
                try await prepared.command.run(with: prepared.authorization, prepared.turn)
                return nil
            } catch {
                // A request that --fail-early cancels isn't reported.
                if Task.isCancelled { return nil }
                return ReportedFailure(code: report.write(error), isFatal: (error as? OutputError)?.isBrokenPipe ?? false)
            }
        }
    }

    private func parallelMax() throws(UsageError) -> Int {
        guard let text = operations.first?.value(.parallelMax) else { return 50 }
        guard let count = Int(text), (1...300).contains(count), !text.hasPrefix("+") else {
            throw UsageError("--parallel-max \(text) is not a number from 1 to 300")
        }
        return count
    }
}

extension Arguments {
    /// Whether the body is written to standard output.
    fileprivate var writesToStandardOutput: Bool {
        !has(.remoteName) && (value(.output).map { $0 == "-" || OwnDescriptor.number(of: $0) != nil } ?? true)
    }
}
