import NevodHost
import NevodPluginTesting
import NevodSupport

/// `replay`: runs a recording with a plugin, and prints what differs.
struct ReplayCommand {
    let arguments: Arguments
    let console: Console

    private static let mostDifferences = 100

    /// Returns the exit code.
    func run() throws -> Int32 {
        guard let file = arguments.operands.first, arguments.operands.count == 1, let name = arguments.value(.plugin) else {
            throw UsageError("replay needs a recording and a plugin: nevod-host replay FILE --plugin NAME")
        }
        let recording: Recording
        let bytes = try readFile(file, limit: Recording.largest)
        do throws(RecordingError) { recording = try Recording(parsing: bytes) } catch {
            throw RecordingFileError(file, error)
        }
        let loaded = try LoadedTable(path: name)
        compare(recording.header, loaded.plugin)
        let replayer = Replayer(loaded.table)
        var differences: [RecordingDifference] = []
        for (index, call) in recording.calls.enumerated() {
            let outcome: ContractOutcome
            let needs: ContractNeeds?
            do throws(Replayer.Problem) { (outcome, needs) = try replayer.run(call) } catch {
                // The plugin may have failed to create something that it created when it was recorded.
                guard differences.isEmpty else { break }
                throw RecordingFileError(file, "call \(index + 1), \(call.function.name): \(error)")
            }
            differences += RecordingDifference.between(call, outcome, needs: needs, number: index + 1)
        }
        guard !differences.isEmpty else {
            try output("\(recording.calls.count) calls, all as recorded")
            return ExitCode.success
        }
        let lines = differences.prefix(Self.mostDifferences).flatMap { $0.lines }
        let more = differences.count > Self.mostDifferences ? ["… and \(differences.count - Self.mostDifferences) more"] : []
        try output((lines + more).map { TerminalText.safe($0) }.joined(separator: "\n"))
        return ExitCode.differs
    }

    /// Names the recorded plugin if it isn't this one: differences are then expected.
    private func compare(_ header: RecordingHeader, _ plugin: Plugin) {
        let recorded = "\(header.plugin) \(header.pluginVersion)"
        guard recorded != "\(plugin.name) \(plugin.version)" else { return }
        console.inform("recorded with \(TerminalText.safe(recorded)), and replayed with \(plugin.name) \(plugin.version)")
    }
}
