import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost

/// A site where each login issues a new cookie, and only the last one is valid.
final class CookieSite: Sendable {
    private struct State {
        var logins = 0
        var isOver = false
        var isRefusing = false
        var refusesAfter: Latch?
    }
    private final class Box: Sendable { let value = Locked(State()) }

    private let box = Box()
    let server: ScriptedServer
    var url: String { server.url }
    /// The logins that the server has seen, including refused ones.
    var logins: Int { box.value.withLock { $0.logins } }
    func end() { box.value.withLock { $0.isOver = true } }
    /// From now on, refuses the password, each time after an event.
    func refuse(after event: Latch? = nil) { box.value.withLock { ($0.isRefusing, $0.refusesAfter) = (true, event) } }

    /// - Parameters:
    ///   - login: the target of the login.
    ///   - refusal: the response to a request without a valid session.
    ///   - response: the response to one with a valid session.
    init(
        attributes: String = "", login: String = "/login",
        _ refusal: @escaping @Sendable (ScriptedServer.Request) -> ScriptedServer.Response,
        _ response: @escaping @Sendable (ScriptedServer.Request) -> ScriptedServer.Response = { _ in .init() }
    ) throws {
        let box = box
        server = try ScriptedServer { request in
            box.value.withLock { state in
                if request.target == login, request.method == "POST" {
                    state.logins += 1
                    if state.isRefusing {
                        state.refusesAfter?.waitOnThread()
                        return .json(401, #"{"message":"The account is locked."}"#)
                    }
                    state.isOver = false
                    return .init(headers: ["Set-Cookie: sid=\(state.logins)\(attributes)"])
                }
                let isKnown = !state.isOver && request["Cookie"]?.contains("sid=\(state.logins)") == true
                return isKnown && request.target != login ? response(request) : refusal(request)
            }
        }
    }

    func session(
        _ more: [(String, String)] = [], clock: HostClock = .system, storage: InMemoryStorage = InMemoryStorage()
    ) throws -> SchemeSession {
        try CookieLogins.session(at: server, more, storage: storage, clock: clock)
    }
}
