import Glibc
import NevodSupport

@testable import CookieAuth
@testable import NevodHost
@testable import NevodHostPostgreSQL
@testable import NevodPluginKit
@testable import NevodStorage

extension Fuzzer {
    /// A stored value: a token, or the copy of one.
    static let value = Fuzzer("value") { input in
        let bytes = input.array
        let secret = Secret(copying: bytes)
        if let token = try? PluginToken.decode(from: bytes) {
            expect((try? PluginToken.decode(from: Array(token.encoded())))?.encoded() == token.encoded(), "a token is read again")
        }
        if let token = try? OAuthToken.decode(from: bytes) {
            expect((try? OAuthToken.decode(from: token.encode())) == token, "an OAuth token is read as it was written")
        }
        if let session = try? Session(decoding: bytes.span) {
            let written = session.encoded.withUnsafeBytes { Array($0) }
            expect((try? Session(decoding: written.span)) == session, "a session is read as it was written")
        }
        if let copy = try? LayeredCopy(secret, for: "key") {
            expect((try? LayeredCopy(copy.encoded, for: "key")) == copy, "a copy is read as it was written")
        }
        if let notification = PostgreSQLNotification(input.text) {
            expect(PostgreSQLNotification(notification.payload) == notification, "a notification is read as it was written")
        }
    }

    /// Changes to the rows of an otherwise intact store.
    static let rows = Fuzzer("rows", isLinear: false) { input in
        var input = input
        let store = Stores.shared.copyOfStore()
        defer { Stores.remove(store) }
        Tampering(store) { database in
            for _ in 0..<8 where !input.bytes.isEmpty { database.change(&input) }
        }
        Stores.shared.use(store)
    }

    /// An export: made by statements, with other bytes at some offsets, or with all bytes from the input.
    static let export = Fuzzer("export", isLinear: false) { input in
        var input = input
        let kind = input.byte() % 3
        let file = Stores.shared.copyOfExport()
        defer { Stores.remove(file) }
        switch kind {
        case 0: Tampering(file) { $0.run(input.text) }
        case 1:
            var bytes = Stores.read(file)
            while input.bytes.count >= 3, !bytes.isEmpty {
                let offset = input.take(2).reduce(0) { $0 << 8 | Int($1) }
                bytes[offset % bytes.count] = input.byte()
            }
            Stores.write(bytes, file)
        default: Stores.write(input.array, file)
        }
        Stores.shared.import(file)
    }
}
