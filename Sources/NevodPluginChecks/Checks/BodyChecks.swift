internal import NevodPluginABI
internal import NevodPluginTesting

extension CheckCatalogue {
    /// For a scheme that wraps the body while it is sent.
    static let bodyChecks: [Check] = [
        .probing("body.length", "A wrapped body has the length that was announced") { subject in
            let body = try WrappedBody(subject)
            let (written, failure) = try body.written([body.original])
            if let failure { return .fail("body_piece wraps a body", failure, "Return NEVOD_OK once the piece was written") }
            guard UInt64(written.count) != body.announced else { return .pass }
            return .fail(
                "After the last piece, all announced bytes have been written",
                "\(body.announced) bytes were announced and \(written.count) written",
                "Announce the number of bytes that body_piece writes in wrap_body")
        },
        .probing("body.pieces", "A wrapped body doesn't depend on how it is cut") { subject in
            let body = try WrappedBody(subject)
            let whole = try body.written([body.original]).bytes
            let first = body.original.count / 2
            for cut in [
                [Array(body.original.prefix(first)), Array(body.original.dropFirst(first))],
                stride(from: 0, to: body.original.count, by: 5).map {
                    Array(body.original[$0..<min($0 + 5, body.original.count)])
                },
            ] {
                // A plugin may put marks around pieces only if the length doesn't depend on the pieces.
                let again = try body.written(cut).bytes
                if again.count != whole.count {
                    return .fail(
                        "The wrapped body has the announced length however the host cuts the original",
                        "It had \(whole.count) bytes for one piece, and \(again.count) for \(cut.count)",
                        "Collect pieces until a chunk of your own is full")
                }
            }
            return .pass
        },
        .probing("body.small-pieces", "body_piece survives pieces of one byte") { subject in
            let body = try WrappedBody(subject)
            _ = try body.written(body.original.map { [$0] })
            return .pass
        },
        .probing("body.empty-last", "body_piece survives a last piece without bytes") { subject in
            let body = try WrappedBody(subject)
            _ = try body.written([body.original, []])
            return .pass
        },
        .probing("body.failing-output", "body_piece survives its output being refused") { subject in
            let body = try WrappedBody(subject)
            for failing in 0..<6 {
                subject.host.replaceResults { call, index in
                    if case .write = call, index >= failing { Int32(NEVOD_UNSUPPORTED) } else { nil }
                }
                _ = try body.written([body.original])
                subject.host.replaceResults(nil)
            }
            return .pass
        },
        .probing("body.unused", "A wrapping is freed even if the body was not sent") { subject in
            let body = try WrappedBody(subject)
            for _ in 0..<10 { try body.withWrapping { _ in } }
            return .pass
        },
        .probing("body.memory", "A wrapping leaves nothing allocated") { subject in
            let body = try WrappedBody(subject)
            subject.isNoting = false
            let growth = Heap.growth(rounds: 200) { _ = try? body.written([body.original]) }
            guard growth > Heap.tolerance else { return .pass }
            return .fail(
                "After body_free, nothing of a wrapping remains allocated", "The heap grew by \(growth) bytes for each body",
                "Free the object that wrap_body was given in body_free")
        }.caused(by: "time.authorize", "resources.authorize"),
    ]
}

/// A request whose body the scheme wraps.
private struct WrappedBody {
    let subject: Subject
    let token: ContractInstance.TokenArgument
    let view: ContractView
    let original: [UInt8]
    let announced: UInt64

    /// Finds such a request; otherwise skips the check.
    init(_ subject: Subject) throws {
        guard subject.needs.has(NEVOD_NEED_REPLACE_BODY) else { throw CheckStop.skip("the scheme replaces no bodies") }
        self.subject = subject
        token = try subject.usableCredential()
        original = Array(String(repeating: "0123456789abcdef", count: 8).utf8)
        let contents = original
        for body in [
            ContractRequest.Body.stream(length: 128, contents: contents), .stream(length: 128, contents: nil), .bytes(contents),
        ] {
            let view = try subject.view("PUT", headers: [Subject.contentType], body: body)
            let outcome = subject.authorize(token, view)
            for case .wrapBody(let length, _) in outcome.calls where outcome.result == NEVOD_OK {
                self.view = view
                announced = length
                return
            }
        }
        throw CheckStop.skip("the scheme wraps no body that was tried")
    }

    /// Runs `body` with a new wrapping, and frees it.
    func withWrapping<Result>(_ body: (UInt) throws -> Result) throws -> Result {
        let outcome = subject.context.during(.authorize) { subject.instance.authorize(token, view) }
        defer { subject.free(outcome) }
        for case .wrapBody(_, let wrapping) in outcome.calls { return try body(wrapping) }
        throw CheckStop.skip("authorize.same-twice fails")
    }

    /// The scheme's output for the original in these pieces. The last piece is announced as the last.
    func written(_ pieces: [[UInt8]]) throws -> (bytes: [UInt8], failure: String?) {
        try withWrapping { wrapping in
            var written: [UInt8] = []
            for (index, piece) in pieces.enumerated() {
                let outcome = subject.context.during(.bodyPiece) {
                    subject.instance.bodyPiece(wrapping, piece, isLast: index == pieces.count - 1)
                }
                subject.note(outcome)
                for case .write(let bytes) in outcome.calls { written += bytes }
                if outcome.result != NEVOD_OK { return (written, "body_piece returned \(TestFailure.name(of: outcome.result))") }
            }
            return (written, nil)
        }
    }
}
