import NevodHost
import NevodPluginKit
import NevodSupport

@testable import HMACAuth

// Not the exported function: other plugins' tests have one of the same name in this program.
private let export = PluginExport(HMACAuth.self, name: "HMACAuth", version: "0.2.0", vendor: "NevodHost")

/// Authorizes a request with the scheme, like a program does.
func sign(
    _ request: HTTPRequest, _ settings: [String: String], secret: String = "s3cret", at unixNanoseconds: Int64 = someTime
) throws -> HTTPRequest {
    var request = request
    try makeToken(settings, secret: secret, at: unixNanoseconds).authorize(&request)
    return request
}

/// - Parameter settings: `api-key` is empty unless it is given. Without a `recipe`, the message may leave the request out.
func makeToken(
    _ settings: [String: String], secret: String = "s3cret", at unixNanoseconds: Int64 = someTime
) throws -> PluginToken {
    var values: SchemeSettings = ["secret": .secret(Secret(secret))]
    for (name, value) in settings.merging(
        ["api-key": "", "recipe": "accept unbound-signature"], uniquingKeysWith: { given, _ in given })
    {
        values.add(name, .text(value))
    }
    let scheme = try Plugin(builtIn: UnsafeRawPointer(export.table)).scheme("hmac")
    return try scheme.makeInstance(settings: values, clock: HostClock { unixNanoseconds }).token
}

/// Authorizes a request with a recipe.
func sign(
    _ request: HTTPRequest, recipe: String, _ settings: [String: String] = [:], secret: String = "s3cret",
    at unixNanoseconds: Int64 = someTime
) throws -> HTTPRequest {
    try sign(request, settings.merging(["recipe": recipe]) { $1 }, secret: secret, at: unixNanoseconds)
}

/// 2023-11-14T22:13:20.123456789Z
let someTime: Int64 = 1_700_000_000_123_456_789
