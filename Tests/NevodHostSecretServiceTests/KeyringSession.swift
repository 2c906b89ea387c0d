import Foundation
import NevodSupport
import Testing

/// A session bus for one test, without service activation, and its programs. Everything ends with this object.
final class KeyringSession {
    let folder: String
    private(set) var environment: [String: String]
    private var bus: Process?
    private var keyring: Process?
    private var children: [Child] = []

    static let password = "correct horse"

    init() throws {
        var template = Array("/tmp/nevod-keyring-XXXXXX".utf8CString)
        try #require(mkdtemp(&template) != nil)
        folder = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        for name in ["home", "run"] { mkdir("\(folder)/\(name)", 0o700) }
        environment = [
            "PATH": ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin", "HOME": "\(folder)/home",
            "XDG_RUNTIME_DIR": "\(folder)/run", "XDG_DATA_HOME": "\(folder)/home/data",
            "XDG_CONFIG_HOME": "\(folder)/home/config", "XDG_CACHE_HOME": "\(folder)/home/cache", "LC_ALL": "C.UTF-8",
            // secret-service-child's.
            "NEVOD_CHILD_LOCK": "\(folder)/run/nevod-secret-service",
        ]
    }

    deinit {
        for child in children { child.end() }
        for process in [keyring, bus].compactMap(\.self) { Self.kill(process) }
        try? FileManager.default.removeItem(atPath: folder)
    }

    private static func kill(_ process: Process) {
        guard process.isRunning else { return }
        Foundation.kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    // MARK: Programs

    func startBus() throws {
        let configuration = """
            <busconfig><type>session</type><listen>unix:path=\(folder)/bus</listen><auth>EXTERNAL</auth><policy context="default">
            <allow send_destination="*" eavesdrop="true"/><allow eavesdrop="true"/><allow own="*"/></policy></busconfig>
            """
        try Data(configuration.utf8).write(to: URL(fileURLWithPath: "\(folder)/bus.conf"))
        environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=\(folder)/bus"
        bus = try start(["dbus-daemon", "--nofork", "--nopidfile", "--config-file=\(folder)/bus.conf"])
        try wait("the bus") { access("\(folder)/bus", F_OK) == 0 }
    }

    func startKeyring() throws {
        keyring = try start(
            ["gnome-keyring-daemon", "--foreground", "--unlock", "--components=secrets"], input: Self.password)
        try wait("the keyring") {
            (try? output(["secret-tool", "search", "--all", "none", "none"])) != nil
                && (try? python("print(secretstorage.get_default_collection(bus).is_locked())")) == "False"
        }
    }

    func stopBus() { bus.map(Self.kill) }
    func killKeyring() { keyring.map(Self.kill) }
    func signalKeyring(_ signal: Int32) { if let keyring { Foundation.kill(keyring.processIdentifier, signal) } }

    func set(_ variable: String, _ value: String?) { environment[variable] = value }

    func child() throws -> Child {
        let child = try Child(environment)
        children.append(child)
        return child
    }

    /// Runs Python's client of the Secret Service and returns what it prints; `bus` is its connection.
    @discardableResult
    func python(_ script: String) throws -> String {
        try output(["/usr/bin/python3", "-c", "import base64, secretstorage\nbus = secretstorage.dbus_init()\n\(script)"])
    }

    /// Runs a program in the session and returns its output, without the last line break. Throws if it fails.
    func output(_ arguments: [String]) throws -> String {
        let pipe = Pipe()
        let process = try start(arguments, output: pipe)
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failed(description: arguments.joined(separator: " ")) }
        return String(decoding: data, as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    private func start(_ arguments: [String], input: String = "", output: Pipe? = nil) throws -> Process {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.environment = environment
        let pipe = Pipe()
        process.standardInput = pipe
        process.standardOutput = output ?? FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        try pipe.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try pipe.fileHandleForWriting.close()
        return process
    }

    private func wait(_ what: String, _ condition: () -> Bool) throws {
        let end = ContinuousClock.now + .seconds(20)
        while !condition() {
            try #require(ContinuousClock.now < end, "\(what) has not started")
            usleep(5000)
        }
    }

    struct Failed: Error, CustomStringConvertible {
        let description: String
    }
}

/// The helper secret-service-child, which the build puts beside the test binary.
final class Child {
    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    private var rest = ""

    init(_ environment: [String: String]) throws {
        let folder = URL(fileURLWithPath: try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe"))
            .deletingLastPathComponent()
        process.executableURL = folder.appendingPathComponent("secret-service-child")
        process.environment = environment
        process.standardInput = input
        process.standardOutput = output
        try process.run()
    }

    func end() {
        guard process.isRunning else { return }
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }

    func ask(_ command: String) {
        try? input.fileHandleForWriting.write(contentsOf: Data("\(command)\n".utf8))
    }

    /// The next line.
    func result() -> String {
        while true {
            if let end = rest.firstIndex(of: "\n") {
                defer { rest = String(rest[rest.index(after: end)...]) }
                return String(rest[..<end])
            }
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { return "it has ended" }
            rest += String(decoding: data, as: UTF8.self)
        }
    }

    func callAsFunction(_ command: String) -> String {
        ask(command)
        return result()
    }
}
