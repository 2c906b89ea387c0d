// A session with a plugin's login. Usage: plugin-session PLUGIN URL, with a plugin of the scheme "session" and its server,
// Examples/demo-server/session_server.py. Asks for user and password on standard input.
import NevodHost

#if canImport(Glibc)
    import Glibc
#endif

guard CommandLine.arguments.count == 3 else {
    print("usage: plugin-session PLUGIN URL")
    exit(2)
}
let url = CommandLine.arguments[2]
let storage = InMemoryStorage()

let plugin = try Plugin(named: CommandLine.arguments[1])
let instance = try plugin.scheme("session").makeInstance(settings: ["server": .text(url)])
let session = SchemeSession(instance, storage: storage, interaction: Terminal())
let provider = NetworkProvider(session: CurlSession(), interceptor: session.interceptor)

func get(_ path: String, with provider: NetworkProvider) async throws {
    let response = try await provider.send(HTTPRequest(.get, url + path))
    let body = try await response.body.collect()
    print(response.status, String(decoding: body, as: UTF8.self), terminator: "")
}

do { try await session.login() } catch let error as PluginError {
    print(error)
    exit(1)
}
try await get("/orders", with: provider)
if let token = try await session.tokenStorage.load() {
    print("logged in as \"\(token.account)\", has an end: \(token.expiresAt != nil)")
}

// The server ends the session. One refresh follows, which callers don't notice.
_ = try await NetworkProvider(session: CurlSession()).send(HTTPRequest(.post, url + "/expire"))
try await get("/orders", with: provider)

try await session.logout()
print("logged out: \(try await session.tokenStorage.load() == nil)")

// Without a stored token, a request logs in by itself. A program that only sends requests needs no more than this.
let other = NetworkProvider(
    session: CurlSession(), interceptor: instance.interceptor(storage: storage, interaction: Terminal()))
try await get("/orders", with: other)

let unattended = SchemeSession(instance, storage: InMemoryStorage())
do { try await unattended.login() } catch let error as PluginError {
    guard case .unanswered(_, let questions) = error.reason else { throw error }
    print("needs somebody who answers: \(questions.joined(separator: ", "))")
}
