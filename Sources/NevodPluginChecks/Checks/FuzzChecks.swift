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
                // A host checks these kinds.
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
