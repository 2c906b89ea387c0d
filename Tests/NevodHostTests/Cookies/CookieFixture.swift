@testable import NevodHost

/// 2023-11-14T22:13:20Z.
let cookieTime = UnixTime(seconds: 1_700_000_000)

func get(_ url: String) throws -> HTTPRequest {
    try HTTPRequest(.get, url)
}

/// A response with these Set-Cookie lines.
func response(setting lines: [String]) -> HTTPResponse {
    var headers = HTTPHeaders()
    for line in lines { headers.add("Set-Cookie", line, by: .host) }
    return HTTPResponse(version: .http11, status: 200, reason: "OK", headers: headers, body: .bytes([]))
}

/// A jar that received these lines in one response.
func jar(from url: String, _ lines: String...) throws -> CookieJar {
    var jar = CookieJar()
    jar.store(setCookieLinesOf: response(setting: lines), from: try get(url), now: cookieTime)
    return jar
}
