import Foundation
import NevodSessions
import Testing

@testable import patterns

/// Folders of mode 0700, which are removed with this object.
private final class Folder: Sendable {
    let path: String

    init() throws {
        path = "\(FileManager.default.temporaryDirectory.path)/patterns-\(UUID().uuidString)"
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The contents of all its files.
    func text() throws -> String {
        let names = try FileManager.default.subpathsOfDirectory(atPath: path)
        return names.compactMap { FileManager.default.contents(atPath: "\(path)/\($0)") }
            .map { String(decoding: $0, as: UTF8.self) }.joined()
    }
}

private actor Cloud: CloudService {
    struct Away: Error {}

    private(set) var values: [String: [UInt8]] = [:]
    private var isAway = false

    func setAway() { isAway = true }

    func load(_ name: String) throws -> [UInt8]? {
        if isAway { throw Away() }
        return values[name]
    }

    func save(_ bytes: [UInt8]?, _ name: String) throws {
        if isAway { throw Away() }
        values[name] = bytes
    }
}

private let tokens = AuthTokens(accessToken: "secret-access", refreshToken: "secret-refresh")

private func until(_ condition: @Sendable () async throws -> Bool) async throws -> Bool {
    for _ in 0..<30_000 {
        if try await condition() { return true }
        try await Task.sleep(for: .milliseconds(1))
    }
    return false
}

@Test func `A session in the cloud is sealed, and its copy serves without the cloud`() async throws {
    let (cloud, folder) = (Cloud(), try Folder())
    let storage = SessionStorage<Member>(storage: try await makeStorage(cloud, folder: folder.path))
    try await storage.save(tokens, user: Member(name: "Ada"))
    let stored = await cloud.values
    #expect(stored["nevod.session"] != nil)
    #expect(stored.values.allSatisfy { !String(decoding: $0, as: UTF8.self).contains("secret") })
    await cloud.setAway()
    let again = SessionStorage<Member>(storage: try await makeStorage(cloud, folder: folder.path))
    #expect(try await again.load()?.tokens == tokens)
    #expect(try !folder.text().contains("secret"))
}

@Test func `Values of the first format become a session under its new key`() async throws {
    let storage = InMemoryStorage()
    try await storage.set("secret-access", for: "old_access_token")
    try await storage.set("secret-refresh", for: "old_refresh_token")
    try await migrate(storage)
    try await migrate(storage)
    #expect(await SessionStorage<Member>(storage: storage, key: "com.example.session").loadTokens() == tokens)
    #expect(try await storage.string(for: "old_access_token") == nil)
    #expect(try await storage.string(for: .session) == nil)
}

@Test func `What another process does is shown`() async throws {
    let folder = try Folder()
    // Like two processes.
    let own = SessionStorage<Member>(storage: try FileStorage(directory: folder.path))
    let other = SessionStorage<Member>(storage: try FileStorage(directory: folder.path))
    actor Shown {
        private(set) var lines: [String] = []
        func add(_ line: String) { lines.append(line) }
    }
    let shown = Shown()
    #expect(await own.loadTokens() == nil)
    let task = Task { await follow(own) { line in Task { await shown.add(line) } } }
    defer { task.cancel() }
    // Each login is shown after the watch has begun.
    #expect(
        try await until {
            try await other.saveTokens(AuthTokens(accessToken: UUID().uuidString, refreshToken: "r"))
            return await shown.lines.contains("tokens")
        })
    try await other.clearAll()
    #expect(try await until { await shown.lines.contains("ended: cleared") })
    #expect(try await until { await shown.lines.contains("no tokens") })
}

@Test func `Files hold sealed sessions only`() async throws {
    let folder = try Folder()
    let storage = try await makeSealedStorage(folder: "\(folder.path)/sessions", keys: "\(folder.path)/keys")
    try await storage.save(tokens, user: Member(name: "Ada"))
    #expect(try !folder.text().contains("secret") && !folder.text().contains("Ada"))
    let again = try await makeSealedStorage(folder: "\(folder.path)/sessions", keys: "\(folder.path)/keys")
    #expect(await again.loadUser() == Member(name: "Ada"))
}
