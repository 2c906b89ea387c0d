internal import Glibc
internal import NevodTestSupport

@testable import NevodHost

/// An instance of a scheme of slow.c. Its calls of one function wait until the test lets them pass.
final class SlowScheme: Sendable {
    let instance: SchemeInstance
    private let gate: Gate

    /// A pipe from which each waiting call reads one byte.
    final class Gate: Sendable {
        let path: String
        private let folder: TemporaryFolder
        private let pipe: Int32

        init() throws {
            folder = try TemporaryFolder()
            path = "\(folder.path)/gate"
            guard mkfifo(path, 0o600) == 0 else { throw Command.Failure(description: "no pipe") }
            // Opened for both directions, so that opening doesn't block.
            pipe = Glibc.open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK)
        }

        deinit { close(pipe) }

        func open(_ calls: Int) {
            let bytes = [UInt8](repeating: 0, count: calls)
            _ = write(pipe, bytes, calls)
        }
    }

    private let lines: Collected<String>

    /// - Parameters:
    ///   - id: `blocks` declares that it blocks, `stalls` doesn't.
    ///   - function: the function whose calls wait.
    init(
        _ id: String = "blocks", in function: String = "authorize", of plugin: Plugin? = nil, workers: SchemeWorkers = .shared,
        opened: Bool = false
    ) throws {
        let (gate, lines) = (try Gate(), Collected<String>())
        (self.gate, self.lines) = (gate, lines)
        if opened { gate.open(1) }
        instance = try (plugin ?? TestPlugin.slow()).scheme(id).makeInstance(
            settings: ["in": .text(function), "gate": .text(gate.path)], workers: workers
        ) { level, line in lines.append("\(level) \(line)") }
    }

    deinit {
        // Calls that still wait return, so that their threads can end.
        gate.open(64)
    }

    /// Lets that many calls pass, now or when they arrive.
    func release(_ calls: Int = 1) { gate.open(calls) }

    /// The lines that begin with `enter`: each is a waiting call, with the number of waiting calls and the thread.
    var entered: [String] { log.filter { $0.hasPrefix("2 enter ") } }
    var warnings: [String] { log.filter { $0.hasPrefix("3 ") } }
    var log: [String] { lines.values }

    /// Waits until that many calls have begun.
    func hasEntered(_ calls: Int) async -> Bool { await eventually { entered.count >= calls } }
    func hasLogged(_ line: String) async -> Bool { await eventually { log.contains("2 \(line)") } }
}
