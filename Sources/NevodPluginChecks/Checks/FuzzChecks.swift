internal import CLinux
internal import NevodPluginABI
internal import NevodPluginTesting

extension CheckCatalogue {
    static let fuzzChecks: [Check] = [
        fuzz("fuzz.authorize", "authorize survives random requests") { subject, random in
            let view = random.view(subject)
            let outcome = subject.authorize(subject.credential(), view)
            subject.free(outcome)
            guard !Status.isKnown(outcome.result) else { return nil }
            return Finding(
                expected: "authorize returns a NEVOD_… status", happened: "It returned \(outcome.result)", fix: "See nevod_status"
            )
        },
        fuzz("fuzz.token", "token_decode survives random tokens") { subject, random in
            guard subject.instance.decodesTokens else { throw CheckStop.skip("the scheme has no token_decode") }
            var bytes = subject.issued?.bytes ?? random.text(4000)
            for _ in 0..<(1 + random.number(below: 4)) where !bytes.isEmpty {
                let place = random.number(below: bytes.count)
                switch random.number(below: 5) {
                case 0: bytes.removeSubrange(place...)
                case 1: bytes.insert(contentsOf: random.text(100), at: place)
                case 2: bytes.remove(at: place)
                case 3: bytes = random.text(4000)
                default: bytes[place] = UInt8(truncatingIfNeeded: random.next())
                }
            }
            if let token = subject.decode(bytes).token { _ = subject.authorize(.decoded(token), try subject.view()) }
            return nil
        },
        fuzz("fuzz.response", "on_response survives random responses") { subject, random in
            guard subject.instance.seesResponses else { throw CheckStop.skip("the scheme sees no responses") }
            let view = random.isLucky(3) ? random.view(subject) : try subject.view()
            _ = subject.respond(subject.credential(), view, random.response(Array(Subject.url.utf8)))
            return nil
        },
        fuzz("fuzz.flow", "A flow survives random events") { subject, random in
            guard subject.instance.hasFlows else { throw CheckStop.skip("the scheme has no flows") }
            let token = subject.issued
            let style = random.one(of: PlausibleServer.Style.allCases)
            let driver = FlowDriver(subject, random.one(of: startedKinds(subject)), PlausibleServer(style), token: token)
            var chance = random
            driver.change = { _, event in
                chance.isLucky(3) ? chance.event(instead: event, Array("\(SettingValues.server)/".utf8)) : event
            }
            _ = driver.finished(after: 1 + random.number(below: 20))
            return nil
        },
        fuzz("fuzz.settings", "create survives random settings") { subject, random in
            let settings = subject.values.declarations.compactMap { declaration -> ContractPair? in
                if !declaration.isRequired, random.isLucky(2) { return nil }
                switch Int(declaration.kind) {
                // A host checks the values of these kinds.
                case NEVOD_SETTING_INTEGER:
                    return ContractPair(declaration.name, Array("\(Int64(bitPattern: random.next()))".utf8))
                case NEVOD_SETTING_BOOLEAN:
                    return ContractPair(declaration.name, Array(random.isLucky(2) ? "true".utf8 : "false".utf8))
                case NEVOD_SETTING_CHOICE: return ContractPair(declaration.name, random.one(of: declaration.choices + [[]]))
                case NEVOD_SETTING_URL:
                    return ContractPair(declaration.name, Array("http://127.0.0.1:\(random.number(below: 65_536))/a?b=c".utf8))
                default: return ContractPair(declaration.name, random.text(3000).filter { $0 != 0 })
                }
            }
            let (made, _) = subject.context.during(.create) { subject.host.create(settings) }
            guard let made else { return nil }
            _ = subject.context.during(.needs) { made.needs() }
            _ = subject.authorize(subject.credential(on: made), try subject.view(), on: made)
            subject.context.during(.destroy) { made.destroy() }
            return nil
        },
    ]

    private static func fuzz(
        _ id: String, _ title: String, _ body: @escaping @Sendable (Subject, inout CheckRandom) throws -> Finding?
    ) -> Check {
        Check(id, title, scope: .fuzz) { context in try Fuzzing.run(context, id, body) }
    }
}

/// Random cases for the functions of a scheme. Each case has its own instance, and depends only on its seed. The first case has the
/// run's seed. So `--seed` with a case's seed repeats exactly that case.
enum Fuzzing {
    /// Runs cases until the deadline.
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
                let again = "\(finding.fix). To repeat the case: --only '^\(id)$' --seed \(seed)"
                return .fail(Finding(expected: finding.expected, happened: finding.happened, fix: again))
            }
            count += 1
            // Kept short, because a person types it.
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

    /// Mostly words that HTTP parsers know, sometimes anything.
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
