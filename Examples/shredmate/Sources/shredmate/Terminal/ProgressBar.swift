import Foundation
import NevodSessions
import Synchronization

/// Shows how much of a file has been sent, on one line of the terminal. Shows nothing if standard error isn't a terminal.
final class ProgressBar: Sendable {
    private static let width = 30

    private let name: String
    private let shown = Mutex<Int>(-1)
    private let isOnTerminal = isatty(STDERR_FILENO) == 1

    init(name: String) {
        self.name = Program.printable(name)
    }

    /// Called on any thread.
    func update(_ progress: TransferProgress) {
        guard isOnTerminal, let fraction = progress.fraction else { return }
        let percentage = Int(min(max(fraction, 0), 1) * 100)
        shown.withLock { shown in
            guard percentage > shown else { return }
            shown = percentage
            let filled = Self.width * percentage / 100
            let bar = String(repeating: "#", count: filled) + String(repeating: " ", count: Self.width - filled)
            let end = percentage == 100 ? "\n" : ""
            FileHandle.standardError.write(Data("\r\(name) [\(bar)] \(percentage) %\(end)".utf8))
        }
    }
}
