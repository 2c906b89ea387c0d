internal import NevodPluginABI
internal import NevodPluginTesting

extension CheckCatalogue {
    static let tokenChecks: [Check] = [
        .probing("token.issued", "A token that a flow issued decodes") { subject in
            let token = try decodable(subject)
            let outcome = subject.decode(token.bytes).outcome
            guard outcome.result != NEVOD_OK else { return .pass }
            return .fail(
                "token_decode accepts the bytes of a login", "It returned \(TestFailure.name(of: outcome.result))",
                "Let token_decode read the bytes that the flow passes to actions->token")
        },
        .probing("token.round-trip", "A token authorizes the same after it was stored and read again") { subject in
            let token = try decodable(subject)
            let first = try subject.usableCredential()
            try subject.requireDeterminism(first)
            let view = try subject.view()
            let before = Signed(subject.authorize(first, view))
            for _ in 0..<3 {
                guard let again = subject.decode(token.bytes).token else { break }
                let after = Signed(subject.authorize(.decoded(again), view))
                if after != before {
                    return .fail(
                        "A request gets the same edits with each decoding of a token", before.difference(from: after),
                        "Put everything that authorize needs from a login into the token's bytes")
                }
            }
            return .pass
        },
        .probing("token.empty", "token_decode survives a token without bytes") { subject in
            try refused(subject, [[]])
        },
        .probing("token.truncated", "token_decode survives a token cut at each length") { subject in
            let token = try decodable(subject)
            let step = max(1, token.bytes.count / 400)
            return try refused(subject, stride(from: 1, to: token.bytes.count, by: step).map { Array(token.bytes.prefix($0)) })
        },
        .probing("token.flipped", "token_decode survives a token with one changed bit") { subject in
            let token = try decodable(subject)
            return try refused(
                subject,
                stride(from: 0, to: token.bytes.count * 8, by: max(1, token.bytes.count / 50)).map { bit in
                    var bytes = token.bytes
                    bytes[bit / 8] ^= 1 << UInt8(bit % 8)
                    return bytes
                })
        },
        .probing("token.random", "token_decode survives random bytes") { subject in
            try refused(subject, (0..<200).map { subject.context.random.bytes(33 + $0 % 100) })
        },
        .probing("token.huge", "token_decode survives a token of a megabyte") { subject in
            try refused(subject, [subject.context.random.bytes(1 << 20), [UInt8](repeating: 0x7B, count: 1 << 20)])
        },
        .probing("token.statuses", "token_decode refuses a token with a suitable status") { subject in
            let refusal = try refusal(subject)
            guard ![NEVOD_BAD_TOKEN, NEVOD_UNAVAILABLE, NEVOD_INTERNAL].contains(Int(refusal.result)) else { return .pass }
            return .fail(
                "token_decode returns NEVOD_BAD_TOKEN for bytes that it can't read",
                "It returned \(TestFailure.name(of: refusal.result))",
                "Return NEVOD_BAD_TOKEN, after which the host obtains another token")
        },
        .probing("token.reasons", "token_decode reports why it refuses a token") { subject in
            let refusal = try refusal(subject)
            guard refusal.report == nil else { return .pass }
            return .warn(
                "token_decode reports a reason before it returns \(TestFailure.name(of: refusal.result))", "It reported nothing",
                "Call errors->report with a message that contains no part of the token")
        },
        .probing("token.borrowed", "token_decode keeps no pointer into the stored bytes") { subject in
            let token = try decodable(subject)
            let decoded = subject.memory.guarded(.borrowed) { subject.decode(token.bytes).token }
            guard let decoded else { throw CheckStop.skip("token.issued fails") }
            _ = subject.authorize(.decoded(decoded), try subject.view())
            return .pass
        },
        .probing("token.bounds", "token_decode reads nothing beyond the stored bytes") { subject in
            let token = try decodable(subject)
            for edge in [GuardedMemory.Edge.end, .start] {
                _ = subject.memory.guarded(.bounds(edge)) { subject.decode(token.bytes) }
            }
            return .pass
        },
        .probing("token.refused-memory", "A refused token leaves nothing allocated") { subject in
            let token = try decodable(subject)
            let damaged = token.bytes + [0x21]
            guard subject.decode(damaged).token == nil else {
                throw CheckStop.skip("token_decode accepts a token with an extra byte")
            }
            subject.isNoting = false
            let growth = Heap.growth(rounds: 300) { _ = subject.decode(damaged) }
            guard growth > Heap.tolerance else { return .pass }
            return .fail(
                "After token_decode has failed, nothing remains allocated",
                "The heap grew by \(growth) bytes for each refused token",
                "Free everything that was allocated before returning a failure")
        },
    ]

    private static func decodable(_ subject: Subject) throws -> ContractToken {
        guard subject.instance.decodesTokens else { throw CheckStop.skip("the scheme has no token_decode") }
        return try subject.issuedToken()
    }

    /// The refusal of a token with an extra byte, or of a text that isn't a token.
    private static func refusal(_ subject: Subject) throws -> ContractOutcome {
        guard subject.instance.decodesTokens else { throw CheckStop.skip("the scheme has no token_decode") }
        let candidates = [subject.issued.map { $0.bytes + [0x21] }, Array("not a token".utf8)].compactMap { $0 }
        for bytes in candidates {
            let outcome = subject.decode(bytes).outcome
            if outcome.result != NEVOD_OK { return outcome }
        }
        throw CheckStop.skip("token_decode refuses nothing that was tried")
    }

    /// Decodes and frees each token.
    private static func refused(_ subject: Subject, _ tokens: [[UInt8]]) throws -> CheckResult {
        guard subject.instance.decodesTokens else { throw CheckStop.skip("the scheme has no token_decode") }
        for token in tokens { _ = subject.decode(token) }
        return .pass
    }
}
