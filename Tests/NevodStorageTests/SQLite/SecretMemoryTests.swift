import Glibc
import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost
@testable import NevodStorage

// A sanitizer maps terabytes of shadow memory.
#if !NEVOD_ADDRESS_SANITIZER && !NEVOD_THREAD_SANITIZER
    /// A process that has loaded a token searches its own memory for the token and the keys.
    @Suite(.blocking) struct SecretMemoryTests {
        private let folder: TemporaryFolder

        init() throws {
            folder = try TemporaryFolder()
        }

        /// Returns the bytes and the texts that may represent them.
        private func forms(of secret: Secret) -> [String] {
            let bytes = secret.copied(as: [UInt8].self)
            let texts = [hex(bytes), hex(bytes).uppercased(), bytes.withUnsafeBytes { Base64.encoded($0) }]
            return ([bytes] + texts.map { Array($0.utf8) }).map { hex($0.map { $0 ^ 0xA5 }) }
        }

        @Test func `Keys and tokens stand in memory that is neither swapped nor dumped, and nowhere else`() async throws {
            let source = KeyFile(path: "\(folder.path)/key")
            let storage = try await SQLiteStorage(path: "\(folder.path)/tokens.db", keys: [source])
            let bytes = Secret(copying: (0..<48).map { _ in UInt8.random(in: 1...255) })
            let token = PluginToken(
                stored: IssuedToken(bytes: bytes, expiresAt: nil, account: "ada"),
                TokenPurpose(plugin: "Probe", scheme: "probe", origins: ["https://api.example.com"]))
            try await storage.set(token.encoded(), for: "session")
            let (sealed, _) = try #require(try await storage.connection.sealedKey())
            let keys = [
                try await source.key(for: sealed.store, salt: sealed.salt, isNew: false),
                try await sealed.open(named: folder.path, with: [source]).bytes, bytes,
            ]
            let (pid, pipe) = try StorageChild.spawn(
                ["memory", "sqlite:\(folder.path)", "session"] + keys.flatMap { forms(of: $0) })
            defer { close(pipe) }
            let lines = LineReader(pipe).rest()
            Command.wait(for: pid)
            try #require(lines.count == 13, "\(lines)")
            // The counts in protected memory and elsewhere, and the places. The data key occurs once, for the next value. The
            // token occurs as stored and as used.
            #expect(
                lines == [
                    "0 0 ", "0 0 ", "0 0 ", "0 0 ",
                    "1 0 ", "0 0 ", "0 0 ", "0 0 ",
                    "2 0 ", "0 0 ", "0 0 ", "0 0 ",
                    "ok",
                ])
        }
    }
#endif
