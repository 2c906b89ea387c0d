import Foundation
import NevodTestSupport

/// A test's own folder of PAM services, which needs neither root nor the system's folder.
final class PAMServices: Sendable {
    let folder: TemporaryFolder
    /// Holds a pipe that each blocking module reads one byte from. It is not in `folder`, whose files pamtester copies.
    private let gateFolder: TemporaryFolder
    private let gate: Int32
    var path: String { folder.path }

    /// Debian's package libpam-wrapper brings it: users and passwords in a file.
    private static let matrix = "/usr/lib/x86_64-linux-gnu/pam_wrapper/pam_matrix.so"

    init() throws {
        folder = try TemporaryFolder()
        gateFolder = try TemporaryFolder()
        let path = "\(gateFolder.path)/gate"
        guard mkfifo(path, 0o600) == 0 else { throw Command.Failure(description: "no pipe") }
        // Open in both directions. Otherwise, a write after the last reader has closed the pipe would end the process with SIGPIPE,
        // and a reader would see the end of the input as soon as the last writer closes it.
        gate = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC)
    }

    deinit { close(gate) }

    /// Writes the file of a service.
    func add(_ service: String, _ lines: String...) throws {
        try folder.write(service, lines.map { "\($0)\n" }.joined())
    }

    /// A service that accepts the user `ali` with a password.
    func addPassword(_ service: String, _ password: String = "sesame", options: String = "") throws {
        guard FileManager.default.fileExists(atPath: Self.matrix) else {
            throw Command.Failure(description: "pam_matrix is missing; scripts/install-packages test installs it")
        }
        let users = try folder.write("\(service).users", "ali:\(password):\(service)\n")
        try add(
            service, "auth required \(Self.matrix) passdb=\(users) \(options)", "account required \(Self.matrix) passdb=\(users)")
    }

    /// A service whose module blocks until ``release(until:)``.
    func addBlocking(_ service: String) throws {
        let script = try folder.write(
            "\(service).sh", "#!/bin/sh\necho >> \(path)/\(service).runs\nread line < \(gateFolder.path)/gate\n",
            mode: 0o700)
        try add(service, "auth required pam_exec.so quiet \(script)", "account required pam_permit.so")
    }

    /// How many modules have begun to block. A check that is cancelled before that ends without running its module.
    func blockedCount(_ service: String) -> Int {
        (try? Data(contentsOf: URL(filePath: "\(path)/\(service).runs")).count) ?? 0
    }

    /// Lets blocked modules go on, until `isDone`.
    func release(until isDone: () -> Bool) async -> Bool {
        await eventually {
            // An empty line is one byte, so that no reader takes a part of another's.
            _ = write(gate, "\n", 1)
            return isDone()
        }
    }
}
