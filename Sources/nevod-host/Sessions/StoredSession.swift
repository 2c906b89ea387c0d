import Glibc
import NevodHost
import NevodSupport

/// A stored session, without its secrets.
struct StoredSession: Sendable {
    let name: SessionName
    let state: State

    enum State: Sendable {
        /// - Parameter account: the account's name in the scheme; may be empty.
        case readable(expires: UnixTime?, account: String)
        /// - Parameter problem: why the session can't be read.
        case damaged(problem: String)
    }

    /// Returns all sessions of a store, in the order of their keys. An unreadable session doesn't hide the others.
    static func all(in storage: any SealedStorage) async throws -> [StoredSession] {
        var sessions: [StoredSession] = []
        for key in try await storage.keys(withPrefix: SessionName.start) {
            guard let name = SessionName(key) else { continue }
            do {
                guard let token = try await TokenStorage<PluginToken>(storage: storage, key: key).load() else { continue }
                sessions.append(
                    StoredSession(name: name, state: .readable(expires: token.expiresAt, account: token.account)))
            } catch let error as StorageError where error.code == .damaged {
                sessions.append(StoredSession(name: name, state: .damaged(problem: error.problem)))
            } catch let error as UnreadableTokenError {
                sessions.append(StoredSession(name: name, state: .damaged(problem: error.description)))
            }
        }
        return sessions
    }

    /// Returns the expiry for a table, or "damaged".
    func expiry(now: UnixTime) -> String {
        switch state {
        case .damaged: "damaged"
        case .readable(nil, _): "-"
        case .readable(let time?, _): Self.text(of: time) + (time <= now ? " (expired)" : "")
        }
    }

    /// Formats a time by RFC 3339, in UTC.
    static func text(of time: UnixTime) -> String {
        var seconds = time_t(time.seconds)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 32) { text in
            let count = strftime(text.baseAddress, text.count, "%Y-%m-%dT%H:%M:%SZ", &parts)
            return String(decoding: UnsafeRawBufferPointer(text)[..<count], as: UTF8.self)
        }
    }
}
