internal import NevodPluginABI
internal import NevodPluginTesting

extension CheckCatalogue {
    static let responseChecks: [Check] = [
        response("response.verdicts", "on_response returns a verdict of the contract") { asked in
            for status in [200, 401, 403, 500] as [Int32] {
                var response = PlausibleServer.challenge()
                response.status = status
                let verdict = asked.verdict(response)
                guard !(0...Int32(NEVOD_VERDICT_REFUSE)).contains(verdict) else { continue }
                return .fail(
                    "on_response returns a NEVOD_VERDICT_…, never a status",
                    "It returned \(verdict) for a response with \(status)",
                    "Return NEVOD_VERDICT_NOTHING for a response that you don't act on")
            }
            return .pass
        },
        response("response.challenges", "on_response survives odd challenges") { asked in
            let values: [[UInt8]] =
                [
                    "", ",", ", ,", "Digest", "Digest ", "Digest nonce", "Digest nonce=", #"Digest nonce=""#,
                    #"Digest nonce="a\"#,
                    #"Digest nonce="a", nonce="b""#, #"Digest realm="a" nonce="b""#,
                    "Digest realm=a, qop=\"auth,auth-int\", nonce=\"\"",
                    "Basic YWJj=", "Basic YWJj==, Bearer", #"Bearer error="use_dpop_nonce""#, "DPoP", "Negotiate !!!!", "=,=,=",
                    "\"\"\"",
                    #"Digest algorithm=ROT13, nonce="x", realm="y""#,
                ].map { Array($0.utf8) } + [
                    Array(#"Digest nonce=""#.utf8) + [UInt8](repeating: 0x41, count: 70_000) + [0x22], [0xFF, 0xFE, 0x20, 0x80],
                    Array(String(repeating: "Basic realm=\"a\", ", count: 500).utf8),
                ]
            for value in values {
                _ = asked.verdict(ContractResponse(401, headers: [ContractPair("WWW-Authenticate", value)], url: Self.url))
            }
            _ = asked.verdict(ContractResponse(401, url: Self.url))
            return .pass
        },
        response("response.statuses", "on_response survives each status") { asked in
            for status in [100, 101, 103, 199] + Array(stride(from: 204, to: 600, by: 7)) + [600, 999, 0, -1] as [Int32] {
                var response = PlausibleServer.challenge()
                response.status = status
                _ = asked.verdict(response)
            }
            return .pass
        },
        response("response.headers", "on_response survives many and long headers") { asked in
            for headers in [
                (0..<1000).map { ContractPair("X-Number-\($0)", "\($0)") },
                [ContractPair("Set-Cookie", String(repeating: "a=b; ", count: 20_000))],
                [ContractPair("Date", "yesterday"), ContractPair("X-Empty", ""), ContractPair("DPoP-Nonce", "")],
            ] {
                for status in [200, 401] as [Int32] {
                    _ = asked.verdict(ContractResponse(status, headers: headers, url: Self.url))
                }
            }
            return .pass
        },
        response("response.bodies", "on_response survives each body of a challenge") { asked in
            guard asked.subject.needs.has(NEVOD_NEED_CHALLENGE_BODY) || !asked.subject.needs.responseDigests.isEmpty else {
                throw CheckStop.skip("the scheme doesn't need the bodies of responses")
            }
            for body in oddBodies + [asked.subject.context.random.bytes(Int(NEVOD_LIMIT_CHALLENGE_BODY))] {
                var response = PlausibleServer.challenge()
                response.body = body
                response.flags = body.count >= Int(NEVOD_LIMIT_CHALLENGE_BODY) ? UInt32(NEVOD_RESPONSE_CUT) : 0
                response.digests = ContractRequest.digests(asked.subject.needs.responseDigests, of: body)
                _ = asked.verdict(response)
                response.digests = []
                _ = asked.verdict(response)
            }
            return .pass
        },
        response("response.unknown-target", "on_response does nothing about a response from an unknown kind of target") { asked in
            var response = PlausibleServer.challenge()
            response.targetKind = 77
            let verdict = asked.verdict(response)
            guard verdict != NEVOD_VERDICT_NOTHING, (0...Int32(NEVOD_VERDICT_REFUSE)).contains(verdict) else { return .pass }
            return .fail(
                "on_response returns NEVOD_VERDICT_NOTHING for a target of an unknown kind", "It returned \(verdict)",
                "Compare response->target_kind with the known kinds")
        },
        response("response.actions", "on_response calls only set_state and keep, with valid values") { asked in
            for response in [PlausibleServer.challenge(), ContractResponse(200, url: Self.url), PlausibleServer.challenge(407)] {
                for call in asked.outcome(response).calls {
                    guard let problem = problem(call) else { continue }
                    return .fail("on_response sets a state or keeps a token, and does nothing else", problem, "See nevod_actions")
                }
            }
            return .pass
        },
        response("response.failing-actions", "on_response survives a state being refused") { asked in
            asked.subject.host.replaceResults { call, _ in call.hasStatus ? Int32(NEVOD_UNSUPPORTED) : nil }
            defer { asked.subject.host.replaceResults(nil) }
            for response in [PlausibleServer.challenge(), ContractResponse(200, url: Self.url), PlausibleServer.challenge(407)] {
                _ = asked.outcome(response)
            }
            return .pass
        },
        response("response.bounds", "on_response reads nothing beyond what it is given") { asked in
            for edge in [GuardedMemory.Edge.end, .start] {
                asked.subject.memory.guarded(.bounds(edge)) { _ = asked.outcome(PlausibleServer.challenge()) }
            }
            return .pass
        },
        response("response.borrowed", "on_response keeps no pointer into what it is given") { asked in
            asked.subject.memory.guarded(.borrowed) { for _ in 0..<3 { _ = asked.outcome(PlausibleServer.challenge()) } }
            return .pass
        },
    ]

    static let url = Array(Subject.url.utf8)

    static let oddBodies: [[UInt8]] = [
        [], Array("{".utf8), Array("null".utf8), Array("[]".utf8), Array(#"{"error":7}"#.utf8), Array(#"{"a":"\ud800"}"#.utf8),
        [0xEF, 0xBB, 0xBF, 0x7B, 0x7D], [0xFF, 0xFE, 0x00], [UInt8](repeating: 0x5B, count: 20_000),
        Array("<!DOCTYPE html><html><body><h1>503</h1></body></html>".utf8),
        Array((String(repeating: #"{"a":"#, count: 3000) + "1").utf8), Array(#"{"access_token":""}"#.utf8),
        Array(#"{"access_token":null,"expires_in":"soon"}"#.utf8), Array(#"{"access_token":{},"expires_in":1e999}"#.utf8),
        Array(#"{"access_token":"a\u0000b","expires_in":-5}"#.utf8),
    ]

    /// A scheme that sees responses, and a request that it authorized.
    struct Asked {
        let subject: Subject
        let token: ContractInstance.TokenArgument
        let view: ContractView

        func outcome(_ response: ContractResponse) -> ContractOutcome { subject.respond(token, view, response) }
        func verdict(_ response: ContractResponse) -> Int32 { outcome(response).result }
    }

    private static func response(
        _ id: String, _ title: String, _ run: @escaping @Sendable (Asked) throws -> CheckResult
    ) -> Check {
        .probing(id, title) { subject in
            let needs = subject.needs
            let sees =
                needs.has(NEVOD_NEED_CHALLENGES) || needs.has(NEVOD_NEED_OTHER_RESPONSES) || !needs.challengeStatuses.isEmpty
            guard subject.instance.seesResponses, sees else { throw CheckStop.skip("the scheme sees no responses") }
            return try run(Asked(subject: subject, token: subject.credential(), view: try subject.view()))
        }
    }

    private static func problem(_ call: SinkCall) -> String? {
        switch call {
        case .setState(let state):
            state.count > Int(NEVOD_LIMIT_STATE) ? "A state has \(state.count) bytes, more than NEVOD_LIMIT_STATE" : nil
        case .keep(let token): TokenRules.problem(token, isLogout: false).map { "keep got a token that \($0)" }
        default: call.isAction ? "It called \(call.function)" : nil
        }
    }
}
