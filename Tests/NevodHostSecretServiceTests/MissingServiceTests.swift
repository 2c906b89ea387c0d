import Foundation
import NevodHost
import NevodHostSecretService
import NevodSupport
import NevodTestSupport
import Testing

@Suite(.blocking) struct MissingServiceTests {
    private let session: KeyringSession

    init() throws {
        session = try KeyringSession()
    }

    private func expectUnavailable(_ problem: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
        let child = try session.child()
        let start = ContinuousClock.now
        #expect(child("available") == "false", sourceLocation: sourceLocation)
        for command in ["get token", "set token 01", "key \(String(repeating: "0a", count: 16)) new"] {
            let result = child(command)
            #expect(result.hasPrefix("unavailable: ") && result.contains(problem), "\(result)", sourceLocation: sourceLocation)
        }
        #expect(ContinuousClock.now - start < .seconds(20), sourceLocation: sourceLocation)
    }

    @Test func `A missing session bus is an error at once, and none is started`() throws {
        let launched = "\(session.folder)/launched"
        for name in ["dbus-launch", "dbus-daemon"] {
            let path = "\(session.folder)/home/\(name)"
            try Data("#!/bin/sh\ntouch \(launched)\nexit 1\n".utf8).write(to: URL(fileURLWithPath: path))
            chmod(path, 0o755)
        }
        session.set("PATH", "\(session.folder)/home:/usr/bin:/bin")
        session.set("DISPLAY", ":99")
        try expectUnavailable("there is no session bus")
        for address in ["", "autolaunch:", "unix:path=\(session.folder)/none;autolaunch:scope=install-path"] {
            session.set("DBUS_SESSION_BUS_ADDRESS", address)
            try expectUnavailable("there is no session bus: DBUS_SESSION_BUS_ADDRESS names no bus")
        }
        session.set("DBUS_SESSION_BUS_ADDRESS", nil)
        session.set("XDG_RUNTIME_DIR", nil)
        try expectUnavailable("neither DBUS_SESSION_BUS_ADDRESS nor XDG_RUNTIME_DIR is set")
        #expect(access(launched, F_OK) != 0)
    }

    @Test func `A bus that is unreachable, or has no service, is an error`() throws {
        session.set("DBUS_SESSION_BUS_ADDRESS", "unix:path=\(session.folder)/none")
        try expectUnavailable("Could not connect")
        try session.startBus()
        try expectUnavailable("is not on the session bus; start one")
    }

    @Test func `A libsecret that can't be loaded is an error`() throws {
        try session.startBus()
        try Data().write(to: URL(fileURLWithPath: "\(session.folder)/home/libsecret-1.so.0"))
        session.set("LD_LIBRARY_PATH", "\(session.folder)/home")
        try expectUnavailable("libsecret-1.so.0: can't be loaded")
    }

    @Test func `A lock file that others can open, or that is no file, is refused`() async throws {
        let storage = try SecretServiceStorage(application: "example", lockFile: "\(session.folder)/lock")
        let hasRun = Locked(false)
        try await storage.withRenewalLock(for: "token") { hasRun.withLock { $0 = true } }
        #expect(hasRun.withLock { $0 })
        var info = stat()
        #expect(stat("\(session.folder)/lock-renewals", &info) == 0 && info.st_mode & 0o7777 == 0o600)
        try session.startBus()
        mkdir("\(session.folder)/run/nevod-secret-service", 0o700)
        #expect(try session.child()("set token 01").hasPrefix("damaged: \(session.folder)/run/nevod-secret-service: is not"))
        rmdir("\(session.folder)/run/nevod-secret-service")
        mkfifo("\(session.folder)/run/nevod-secret-service", 0o600)
        #expect(try session.child()("set token 01").hasPrefix("damaged: \(session.folder)/run/nevod-secret-service: is not"))
        unlink("\(session.folder)/run/nevod-secret-service")
        symlink("\(session.folder)/lock-renewals", "\(session.folder)/run/nevod-secret-service")
        #expect(try session.child()("set token 01").hasPrefix("damaged: \(session.folder)/run/nevod-secret-service: is not"))
        unlink("\(session.folder)/run/nevod-secret-service")
        close(open("\(session.folder)/run/nevod-secret-service", O_CREAT | O_RDWR, 0o600))
        chmod("\(session.folder)/run/nevod-secret-service", 0o644)
        #expect(try session.child()("set token 01").hasPrefix("permissions: \(session.folder)/run/nevod-secret-service: is open"))
    }

    @Test func `A key with a NUL is refused, since it would stand for another`() async throws {
        let storage = try SecretServiceStorage(application: "example", lockFile: "\(session.folder)/lock")
        let error = await #expect(throws: StorageError.self) { try await storage.data(for: "a\0b") }
        #expect(error?.code == .other)
    }
}
