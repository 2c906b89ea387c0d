// Signs and sends one request. Usage: DEMO_SECRET=… embedding URL, with NEVOD_PLUGIN_PATH naming the plugins' folder.
import NevodHost

#if canImport(Glibc)
    import Glibc
#endif

guard CommandLine.arguments.count == 2, let key = getenv("DEMO_SECRET") else {
    print("usage: DEMO_SECRET=… embedding URL")
    exit(2)
}
let url = CommandLine.arguments[1]
let secret = Secret(String(cString: key))

let plugin = try Plugin(named: "libHMACAuth.so")
let instance = try plugin.scheme("hmac").makeInstance(settings: ["api-key": "demo", "secret": .secret(secret)])
let provider = NetworkProvider(
    session: CurlSession(),
    interceptor: HeadersInterceptor(headers: ["Accept": "application/json"]),
    signer: instance.token)
let response = try await provider.send(HTTPRequest(.get, url))
print(response.status)
