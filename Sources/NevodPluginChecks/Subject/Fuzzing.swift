internal import CLinux
internal import NevodPluginABI
internal import NevodPluginTesting

/// Random cases for the functions of a scheme. Each case has an instance of its own and depends on its seed alone; the first one has the
/// seed of the run. So `--seed` with the seed of a case repeats exactly that.
enum Fuzzing {
    /// Runs cases until the time is up.
    static func run(
        _ context: CheckContext, _ id: String, _ body: (Subject, inout CheckRandom) throws -> Finding?
    ) throws -> CheckResult {
        let end = nevod_monotonic_nanoseconds() + Int64(context.fuzzSeconds) * 1_000_000_000
        var count = 0
        var seed = context.seed
        repeat {
            context.calls.page.note(seed: seed)
            let subject = try Subject(context, settingsSeed: 0)
            subject.isNoting = false
            var random = CheckRandom(seed: seed, check: "fuzz", scheme: context.schemeID)
            if let finding = try body(subject, &random) {
                let again = "\(finding.fix). The case again: --only '^\(id)$' --seed \(seed)"
                return .fail(Finding(expected: finding.expected, happened: finding.happened, fix: again))
            }
            count += 1
            // Short, since a person types it.
            seed = CheckRandom.following(seed)
        } while nevod_monotonic_nanoseconds() < end
        return .noted("\(count) cases")
    }
}

extension CheckRandom {
    static func following(_ seed: UInt64) -> UInt64 {
        var random = CheckRandom(seed: seed, check: "next", scheme: nil)
        return random.next() & 0xFFFF_FFFF
    }

    mutating func number(below bound: Int) -> Int { Int(next() % UInt64(max(1, bound))) }
    mutating func isLucky(_ oneIn: Int) -> Bool { number(below: oneIn) == 0 }
    mutating func one<Element>(of elements: [Element]) -> Element { elements[number(below: elements.count)] }

    /// Mostly a word that parsers of HTTP know, sometimes anything.
    mutating func text(_ longest: Int = 200) -> [UInt8] {
        let words = [
            "", "a", "nonce", "\"", "=", ",", ";", "%", "%00", "%zz", "\\", "\r\n", "\u{0}", "é", "😀", "Digest ", "Basic ",
            "Bearer ",
            "realm=\"a\"", "nonce=\"b\"", "{", "}", "[", "]", ":", "/", "?", "&", "#", "..", "//", "-1", "0",
            "9223372036854775808", "1e999",
            "true", "null", "\"access_token\":\"t\"", "expires_in", "Max-Age=", "Domain=",
            "Expires=Thu, 01 Jan 1970 00:00:00 GMT", "  ", "\t",
        ]
        var text: [UInt8] = []
        for _ in 0..<number(below: 8) {
            switch number(below: 8) {
            case 0: text += bytes(number(below: 40))
            case 1: text += [UInt8](repeating: UInt8(truncatingIfNeeded: next()), count: number(below: longest))
            default: text += Array(one(of: words).utf8)
            }
        }
        return text
    }

    mutating func pairs(_ most: Int, _ names: [String]) -> [ContractPair] {
        (0..<number(below: most + 1)).map { _ in
            let name = isLucky(4) ? text(40) : Array(one(of: names).utf8)
            return ContractPair(name, text())
        }
    }

    mutating func time() -> Int64 {
        switch number(below: 5) {
        case 0: 0
        case 1: .max
        case 2: Int64(bitPattern: next() >> 1)
        default: PlausibleServer.now + Int64(number(below: 1_000_000_000_000))
        }
    }

    mutating func view(_ subject: Subject) -> ContractView {
        var view = ContractView()
        let needs = subject.needs
        view.targetKind = isLucky(8) ? Int32(truncatingIfNeeded: next()) : isLucky(6) ? 1 : 0
        view.method = isLucky(3) ? text(60) : Array(one(of: ["GET", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS"]).utf8)
        view.scheme = Array(one(of: ["https", "http"]).utf8)
        view.authority = isLucky(3) ? text(60) : Array(one(of: ["api.example.com", "[::1]:8443", "127.0.0.1:80", "a"]).utf8)
        view.target = isLucky(3) ? text(3000) : Array("/".utf8) + text(500)
        if needs.has(NEVOD_NEED_HEADERS) {
            view.headers = pairs(12, ["Host", "Content-Type", "X-A", "Cookie", "Authorization", "Date"])
        }
        let body = isLucky(3) ? [] : text(2000)
        view.bodyKind = isLucky(10) ? Int32(truncatingIfNeeded: next()) : body.isEmpty ? 0 : isLucky(4) ? 2 : 1
        view.bodyLength = isLucky(10) ? next() : UInt64(body.count)
        if needs.has(NEVOD_NEED_BODY), view.bodyKind == NEVOD_BODY_BYTES { view.body = body }
        if view.bodyKind != 0, !isLucky(5) { view.digests = ContractRequest.digests(needs.digests, of: body) }
        view.attempt = UInt32(truncatingIfNeeded: isLucky(4) ? next() : 1)
        view.unixTime = time()
        if needs.has(NEVOD_NEED_RANDOM) { view.random = bytes(32) }
        if needs.has(NEVOD_NEED_USE_COUNT) { view.useCount = isLucky(4) ? next() : 0 }
        if needs.has(NEVOD_NEED_STATE) { view.state = isLucky(2) ? text(3000) : [] }
        view.parameters = subject.declaredParameters.compactMap { isLucky(2) ? ContractPair($0.name, text()) : nil }
        return view
    }

    mutating func response(_ url: [UInt8]) -> ContractResponse {
        var response = ContractResponse(
            one(of: [200, 200, 201, 302, 400, 401, 403, 407, 429, 500, 503]), headers: [], body: text(3000),
            url: isLucky(6) ? text() : url)
        response.headers = pairs(
            8,
            [
                "WWW-Authenticate", "Set-Cookie", "Content-Type", "Location", "Date", "Retry-After", "Proxy-Authenticate",
                "DPoP-Nonce",
            ])
        response.targetKind = isLucky(8) ? Int32(truncatingIfNeeded: next()) : response.status == 407 ? 1 : 0
        return response
    }

    mutating func event(instead planned: ContractEvent, _ url: [UInt8]) -> ContractEvent {
        var event = isLucky(4) ? ContractEvent(number(below: 12)) : planned
        event.unixTime = time()
        event.random = bytes(32)
        if event.kind == NEVOD_EVENT_RESPONSE, event.response == nil || isLucky(2) {
            event.response = response(planned.response?.url ?? url)
        }
        if event.kind == NEVOD_EVENT_TRANSPORT_ERROR { event.transportError = Int32(number(below: 5)) }
        if event.kind == NEVOD_EVENT_ANSWERS, isLucky(2) {
            event.answers = planned.answers.map { ContractPair($0.name, text()) } + pairs(2, ["password", "code"])
        }
        if event.kind == NEVOD_EVENT_REDIRECT, isLucky(2) {
            event.url = Array("http://127.0.0.1:49153/".utf8) + text()
            event.body = text()
        }
        if event.kind == NEVOD_EVENT_START {
            event.state = text()
            event.account = isLucky(2) ? text(60) : []
        }
        return event
    }
}
