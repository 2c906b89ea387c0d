// Uses names of Foundation and the standard library without a type from the context. None is ambiguous.
import Foundation
import NevodHostFoundation

private struct Item: Codable {
    let id: Int
}

private func use(_ item: Item, _ file: URL) async throws {
    let data = try JSONEncoder().encode(item)
    let decoded = try JSONDecoder().decode(Item.self, from: data)
    let again = try JSONDecoder().decode([Item].self, from: Data("[]".utf8))
    let encode = JSONEncoder().encode as (Item) throws -> Data
    let list = try PropertyListEncoder().encode(item)
    let read = try Data(contentsOf: file)
    let empty = Data()
    let zeroes = Data(count: 4)
    let bytes = Data([1, 2, 3])
    let now = Date()
    let later = now.addingTimeInterval(60)
    let earlier = now - 60
    let epoch = Date(timeIntervalSince1970: 0)
    let url = URL(string: "https://shop.example")
    let local = URL(fileURLWithPath: "/tmp")
    var request = URLRequest(url: file)
    request.httpBody = data
    let (body, response) = try await URLSession.shared.data(for: request)
    let task = URLSession.shared.dataTask(with: request)
    let cookie = HTTPCookie(properties: [.name: "a", .value: "b", .domain: "shop.example", .path: "/"])
    let cookies = HTTPCookie.cookies(withResponseHeaderFields: [:], for: file)
    let error = URLError(.timedOut)
    print(decoded, again, try encode(item), list, read, empty, zeroes, bytes, later, earlier, epoch, local)
    print(url as Any, body, response, task, cookie as Any, cookies, error)
}

private func useStandardLibrary(_ optional: Int?) {
    let numbers = ["1", "2"].compactMap(Int.init)
    let texts = [1, 2].map(String.init)
    let more = [1, 2].map { String($0) }
    let strings = ["a", "b"].map(String.init(describing:))
    let array = Array("abc")
    let unicode = Array("abc".utf8)
    let text = String(decoding: unicode, as: UTF8.self)
    let flag = Bool("true")
    let wrapped = Optional(1)
    let mapped = optional.map { $0 + 1 }
    let joined = ["a", "b"].joined(separator: ",")
    let pause = Duration.seconds(1) + .milliseconds(1)
    let instant = ContinuousClock.now + .seconds(1)
    let half = Duration.seconds(1) / 2
    let result = Result { try JSONDecoder().decode(Item.self, from: Data()) }
    let zero = 0
    let sum = numbers.reduce(zero, +)
    print(numbers, texts, more, strings, array, text, flag as Any, wrapped as Any, mapped as Any, joined, pause, instant, half)
    print(result, sum)
}

/// Properties of the host with the name of a property in Nevod.
private func useDurations(_ config: NetworkConfig, _ policy: RetryPolicy, _ cookies: CookieToken) {
    let timeout = config.timeout ?? .seconds(1)
    let delays = [policy.baseDelay, policy.maxDelay].map { $0.components.seconds }
    let isHostOnly = cookies.sessionCookies.first?.isHostOnly
    let length = SimpleEnvironment(baseURL: "https://shop.example").baseURL.utf8.count
    print(timeout.components, delays, isHostOnly as Any, length, config.timeout == .seconds(5), policy.baseDelay == .seconds(1))
}

/// Methods of the host that also have a form with Foundation's types.
private func useTokens<T: TokenModel>(
    _ token: T, _ config: NetworkConfig, _ route: some Route, _ request: HTTPRequest, _ interceptor: some RequestInterceptor
) async throws where T.Encoded == [UInt8] {
    let bytes = try token.encode()
    let own = try Token(value: "abc").encode()
    let decoded = try T.decode(from: bytes)
    let empty = try Token.decode(from: [])
    let environment = config.environment(for: DefaultDomain.default)
    let made = try route.makeRequest(with: config)
    let error = NetworkError.clientError(code: 404, data: nil, response: nil)
    let other = NetworkError.clientError(404, data: nil, response: nil)
    let cookies = CookieToken(sessionCookies: [])
    var exact = request
    try Token(value: "abc").authorize(&exact)
    print(
        Array(bytes + own), decoded, empty, environment == nil, made.target, error, other,
        cookies.sessionCookies.first?.isHostOnly as Any)
}

private func useErrors() {
    do { throw NetworkError.unauthorized } catch let error as NetworkError { print(error) } catch { print(error) }
    do { throw URLError(.timedOut) } catch { print(error.localizedDescription) }
}
