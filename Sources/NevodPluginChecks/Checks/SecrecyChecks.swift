internal import NevodPluginABI
internal import NevodPluginTesting

extension CheckCatalogue {
    static let secrecyChecks: [Check] = [
        .probing("secrecy.logs", "No log line contains a secret") { subject in
            try exercise(subject)
            let canaries = subject.canaries()
            for case .log(_, let message) in subject.noted.flatMap(\.calls) + subject.host.linesOutsideOfCalls {
                guard let found = canaries.found(in: message) else { continue }
                return .fail(
                    "A log line contains no secret", "One contains \(found)",
                    "The host can't hide secrets in a log line; leave them out")
            }
            return .pass
        },
        .probing("secrecy.errors", "No subject or message of a report contains a secret") { subject in
            try exercise(subject)
            let canaries = subject.canaries()
            for case .report(let subject, let message, _) in subject.noted.flatMap(\.calls) {
                guard let found = canaries.found(in: subject + [0x0A] + message) else { continue }
                return .fail(
                    "The subject and the message of a report contain no secret", "One contains \(found)",
                    "Put sensitive text into the detail, which is shown only on request")
            }
            return .pass
        },
        .probing("secrecy.origins", "A flow sends only to servers that the settings name") { subject in
            guard subject.instance.hasFlows else { throw CheckStop.skip("the scheme has no flows") }
            try exercise(subject)
            var origins = Set(
                subject.settings.filter { pair in
                    subject.values.declarations.contains { $0.name == pair.name && $0.kind == NEVOD_SETTING_URL }
                }
                .compactMap { FlowRules.origin($0.value) })
            // A challenge flow may send to the origin of its challenge.
            origins.insert("https://api.example.com")
            for case .send(let request) in subject.noted.flatMap(\.calls) {
                guard let url = request?.url, let origin = FlowRules.origin(url), !origins.contains(origin) else { continue }
                return .fail(
                    "A flow sends to the origin of a setting of the kind URL", "It sends to \(origin)",
                    "Let a setting name the server; a host refuses every other server")
            }
            return .pass
        }.caused(by: "response.actions"),
        .probing("secrecy.urls", "No address that a flow uses contains a secret") { subject in
            guard subject.instance.hasFlows else { throw CheckStop.skip("the scheme has no flows") }
            try exercise(subject)
            let canaries = subject.canaries()
            for call in subject.noted.flatMap(\.calls) {
                let url: [UInt8]
                switch call {
                case .send(let request): url = request?.url ?? []
                case .browse(let address): url = address
                default: continue
                }
                guard let found = canaries.found(in: url) else { continue }
                return .warn(
                    "The URL of a flow's request contains no secret", "One contains \(found)",
                    "Servers log URLs: send it in a header or in the body (RFC 6750 §5.3)")
            }
            return .pass
        },
        .probing("secrecy.prompts", "Nothing that a flow asks or shows contains a secret") { subject in
            guard subject.instance.hasFlows else { throw CheckStop.skip("the scheme has no flows") }
            try exercise(subject)
            let canaries = subject.canaries()
            for call in subject.noted.flatMap(\.calls) {
                let shown: [UInt8]
                switch call {
                case .ask(let questions): shown = questions.flatMap { $0.prompt + [0x0A] + $0.name }
                case .show(let text, let url): shown = text + [0x0A] + url
                default: continue
                }
                guard let found = canaries.found(in: shown) else { continue }
                return .fail(
                    "A prompt or a text on the screen contains no secret", "One contains \(found)", "Show a name instead")
            }
            return .pass
        },
        .probing("secrecy.accounts", "The account of a token contains no secret") { subject in
            guard subject.instance.hasFlows else { throw CheckStop.skip("the scheme has no flows") }
            let canaries = subject.canaries()
            guard let account = subject.issued?.account, let found = canaries.found(in: account) else { return .pass }
            return .fail(
                "The account of a token, which is shown, contains no secret", "It contains \(found)", "Use the name of the user")
        },
    ]

    /// Calls most functions in ways that no plugin should mind. Some calls fail.
    private static func exercise(_ subject: Subject) throws {
        let token = subject.credential()
        for (_, view) in try subject.plainViews() { _ = subject.authorize(token, view) }
        _ = subject.authorize(token, try subject.unknownTarget())
        if subject.instance.decodesTokens, let issued = subject.issued { _ = subject.decode(issued.bytes + [0x21]) }
        if subject.instance.seesResponses { _ = subject.respond(token, try subject.view(), PlausibleServer.challenge()) }
        guard subject.instance.hasFlows else { return }
        _ = try runs(subject)
        let style = subject.serverStyle()
        for kind in startedKinds(subject) {
            let driver = FlowDriver(subject, kind, PlausibleServer(style), token: subject.issued)
            driver.change = { _, event in
                guard event.kind == NEVOD_EVENT_RESPONSE, let url = event.response?.url else { return event }
                var event = event
                // Some servers repeat their input.
                event.response = ContractResponse(
                    403, headers: [ContractPair("Content-Type", "application/json")],
                    body: Array(
                        "{\"error\":\"access_denied\",\"error_description\":\"bad password \(PlausibleServer.password)\"}".utf8),
                    url: url)
                return event
            }
            _ = driver.finished()
        }
    }
}
