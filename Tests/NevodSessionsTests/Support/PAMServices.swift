import Foundation
import NevodTestSupport

/// A folder of PAM services of a test's own, for which neither root nor the system's folder is needed.
final class PAMServices: Sendable {
    let folder: TemporaryFolder
    var path: String { folder.path }

    /// Debian's package libpam-wrapper brings it: users and passwords in a file.
    private static let matrix = "/usr/lib/x86_64-linux-gnu/pam_wrapper/pam_matrix.so"

    init() throws {
        folder = try TemporaryFolder()
    }

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

    /// A service whose module blocks until ``release(_:)``.
    func addBlocking(_ service: String) throws {
        let pipe = "\(path)/\(service).pipe"
        guard mkfifo(pipe, 0o600) == 0 else { throw Command.Failure(description: "no FIFO") }
        let script = try folder.write("\(service).sh", "#!/bin/sh\necho >> \(pipe).runs\nread line < \(pipe)\n", mode: 0o700)
        try add(service, "auth required pam_exec.so quiet \(script)", "account required pam_permit.so")
    }

    /// How many modules have begun to block. Before that, a check that is cancelled ends without having run its module.
    func blockedCount(_ service: String) -> Int {
        (try? Data(contentsOf: URL(filePath: "\(path)/\(service).pipe.runs")).count) ?? 0
    }

    /// Lets the modules that block go on, until `isDone`.
    func release(_ service: String, until isDone: () -> Bool) async -> Bool {
        let pipe = "\(path)/\(service).pipe"
        return await eventually {
            // Without a reader there is nothing to release yet.
            let file = open(pipe, O_WRONLY | O_NONBLOCK | O_CLOEXEC)
            if file >= 0 {
                _ = write(file, "go\n", 3)
                close(file)
            }
            return isDone()
        }
    }
}
