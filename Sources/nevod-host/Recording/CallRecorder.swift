import Glibc
import NevodHost
import NevodPluginTesting
import NevodSupport

/// Records a plugin's calls during a command, and writes them to a file when the command ends.
final class CallRecorder: Sendable {
    private let target: RecordingTarget
    private let console: Console
    private let descriptor: Int32
    private let collected = Locked<Collected>(Collected())

    private struct Collected {
        var calls: [RecordedCall] = []
        var plugin: Plugin?
        var sha256 = ""
        var isFinished = false
    }

    /// The process's recorder: a process runs one command.
    private static let current = Locked<CallRecorder?>(nil)

    private init(_ target: RecordingTarget, _ console: Console) throws(OutputError) {
        self.target = target
        self.console = console
        if target.replaces {
            var info = stat()
            // Removes only a file: a device or a link stays.
            if lstat(target.file, &info) == 0, info.st_mode & S_IFMT == S_IFREG { unlink(target.file) }
        }
        descriptor = open(target.file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw OutputError(target.file, errno) }
        fchmod(descriptor, 0o600)
    }

    /// Creates the file before the command does anything, so that a failure wastes no login.
    static func start(_ target: RecordingTarget, _ console: Console) throws -> CallRecorder {
        let recorder: CallRecorder
        do throws(OutputError) {
            // An interrupted command removes the file: an empty one would block the next recording.
            recorder = try Interruption.shared.beginLasting { () throws(OutputError) in
                (try CallRecorder(target, console), { unlink(target.file) })
            }
        } catch {
            guard error.errorNumber == EEXIST else { throw error }
            throw UsageError("\(target.file) exists already; choose another name, or --force")
        }
        current.withLock { $0 = recorder }
        return recorder
    }

    /// Remembers the plugin to record.
    static func identify(_ plugin: Plugin) throws {
        let bytes = try readFile(plugin.path, limit: InputLimit.content)
        let digest = BodyDigests.digest(Array("sha-256".utf8), of: bytes).map { Hexadecimal.text($0) } ?? ""
        current.withLock { $0 }?.collected.withLock { collected in
            collected.plugin = plugin
            collected.sha256 = digest
        }
    }

    var record: @Sendable (RecordedCall) -> Void {
        { [self] call in
            collected.withLock { collected in
                if !collected.isFinished { collected.calls.append(call) }
            }
        }
    }

    /// Writes the file, if the command records, before the process ends.
    ///
    /// - Parameter code: the command's exit code.
    /// - Returns: the process's exit code.
    static func finish(_ code: Int32) -> Int32 {
        let recorder = current.withLock { current in
            defer { current = nil }
            return current
        }
        guard let recorder else { return code }
        defer { Interruption.shared.endLasting() }
        do {
            try recorder.write()
            return code
        } catch {
            unlink(recorder.target.file)
            recorder.console.error("the recording was not written: \(error)")
            return code == ExitCode.success ? ExitCode.of(error) : code
        }
    }

    private func write() throws {
        let (calls, plugin, sha256) = collected.withLock { collected in
            collected.isFinished = true
            return (collected.calls, collected.plugin, collected.sha256)
        }
        guard let plugin, !calls.isEmpty else { throw UsageError("no plugin was called") }
        let file = plugin.path.split(separator: "/").last.map { String($0) } ?? plugin.path
        let header = RecordingHeader(
            host: Version.text, plugin: plugin.name, pluginVersion: plugin.version, file: file, sha256: sha256, secrets: .kept)
        let recording = Recording(header, calls)
        let bytes = target.keepsSecrets ? recording.encoded : try PlaceholderRun.redacted(recording, plugin.path)
        try FileDescriptor(number: descriptor, name: target.file).write(bytes.span)
        console.inform("\(calls.count) calls of \(TerminalText.safe(plugin.name)) are recorded in \(target.file)")
        if target.keepsSecrets {
            console.warning("\(target.file) contains this command's secrets; change them before you share it, or delete it")
        }
    }
}

/// The file that `record` writes, and how it is written.
struct RecordingTarget: Sendable {
    let file: String
    let keepsSecrets: Bool
    /// Whether to replace an existing file.
    let replaces: Bool
}

/// Reports a recording that can't be read or replayed.
struct RecordingFileError: Error, CustomStringConvertible {
    let description: String

    init(_ file: String, _ problem: some CustomStringConvertible) {
        description = "\(file) can't be replayed: \(problem)"
    }
}
