// A login by cookie, whose scheme is in a plugin. Usage: cookie-session URL, with the address of
// Examples/demo-server/session_server.py, and ada's password in DEMO_SECRET.
import Glibc
import NevodHost

guard CommandLine.arguments.count == 2, let password = getenv("DEMO_SECRET") else {
    print("usage: DEMO_SECRET=... cookie-session URL")
    exit(2)
}
let url = CommandLine.arguments[1]

let scheme = try Plugin(named: "libCookieAuth.so").scheme()
let instance = try scheme.makeInstance(settings: [
    "login": .text("\(url)/signin"), "logout": .text("\(url)/signout"), "csrf": "input", "csrf-name": "csrf",
    "session-cookie": "sid", "username": "ada", "password": .secret(Secret(String(cString: password))),
])
let session = SchemeSession(instance, storage: InMemoryStorage())
let provider = NetworkProvider(session: CurlSession(), interceptor: session.interceptor)

func get(_ path: String) async throws {
    let response = try await provider.send(HTTPRequest(.get, url + path))
    print("GET \(path):", response.status, String(decoding: try await response.body.collect(), as: UTF8.self), terminator: "")
}

try await session.login()
let token = try await session.tokenStorage.load()
print("logged in; the session has an end: \(token?.expiresAt != nil)")
try await get("/orders")

_ = try await NetworkProvider(session: CurlSession()).send(HTTPRequest(.post, "\(url)/expire"))
print("the server has ended all sessions")
let request = try HTTPRequest(.get, "\(url)/orders")
let tasks = (0..<100).map { _ in Task { [provider, request] in try await provider.send(request).status } }
var good = 0
for task in tasks where try await task.value == 200 { good += 1 }
print("100 requests at once: \(good) answered with 200")
try await get("/orders")

try await session.logout()
print("logged out; a token is stored: \(try await session.tokenStorage.load() != nil)")
