internal import NevodPluginABI
internal import NevodSupport

/// An action that a flow requests of the host.
enum FlowAction: Sendable {
    case send(FlowRequest)
    case ask([FlowQuestion])
    case show(String, url: String)
    case listen(FlowListen)
    case browse(String)
    case wait(Duration)
    case keep(IssuedToken)
}

/// The options of a redirect URI.
struct FlowListen: Sendable {
    let path: String
    let host: String
    let port: UInt16
    let isFormPost: Bool
}

/// The result of an action.
enum FlowReply: Sendable {
    case response(FlowResponse)
    case answers([FlowAnswer])
    case url(String)
    case redirect(FlowRedirect)
    case done
}

/// The user's answer to a question.
@usableFromInline package struct FlowAnswer: Sendable {
    @usableFromInline package let name: String
    @usableFromInline package let value: Secret
}

extension [FlowAnswer] {
    /// The last answer to the question of that name; nil without one.
    package func value(of name: String) -> Secret? { last { $0.name.utf8.elementsEqual(name.utf8) }?.value }
}

extension FlowAction {
    /// Passes the action to the host. If the action is invalid, the host records the reason and fails the flow with it.
    ///
    /// - Returns: the contract's status: NEVOD_UNSUPPORTED if the host can't perform the action.
    func hand(to actions: UnsafePointer<nevod_actions>) -> Int32 {
        let host = actions.pointee.host
        let loan = Loan()
        defer { withExtendedLifetime(loan) {} }
        switch self {
        case .send(let request):
            var request = nevod_flow_request(
                struct_size: UInt32(MemoryLayout<nevod_flow_request>.size), header_count: UInt32(request.headers.count),
                method: loan.lend(request.method), url: loan.lend(request.url),
                headers: loan.lend(request.headers.map { nevod_pair(name: loan.lend($0.name), value: loan.lend($0.value)) }),
                body: loan.lend(request.body), follow_redirects: request.followsRedirects ? 1 : 0, reserved: 0)
            return actions.pointee.send(host, &request)
        case .ask(let questions):
            let questions: [UnsafePointer<nevod_question>?] = questions.map { question in
                let choices = question.kind.choices.map { loan.lend($0) }
                return loan.lend([
                    nevod_question(
                        struct_size: UInt32(MemoryLayout<nevod_question>.size), kind: question.kind.number,
                        name: loan.lend(question.name), prompt: loan.lend(question.prompt), choices: loan.lend(choices),
                        choice_count: UInt32(choices.count), reserved: 0)
                ])
            }
            return actions.pointee.ask(host, questions, UInt32(questions.count))
        case .show(let text, let url): return actions.pointee.show(host, loan.lend(text), loan.lend(url))
        case .listen(let listen):
            var options = nevod_listen(
                struct_size: UInt32(MemoryLayout<nevod_listen>.size),
                flags: listen.isFormPost ? UInt32(NEVOD_LISTEN_FORM_POST) : 0, path: loan.lend(listen.path),
                host: loan.lend(listen.host), port: UInt32(listen.port), reserved: 0)
            return actions.pointee.listen(host, &options)
        case .browse(let url): return actions.pointee.browse(host, loan.lend(url))
        case .wait(let duration): return actions.pointee.wait(host, duration.nanoseconds)
        case .keep(let token): return token.withTable { actions.pointee.keep(host, $0) }
        }
    }
}

extension Duration {
    /// Whole nanoseconds, clamped to the contract's range.
    fileprivate var nanoseconds: UInt64 {
        let (seconds, attoseconds) = components
        guard self > .zero else { return 0 }
        let (product, isTooLarge) = UInt64(seconds).multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, isOver) = product.addingReportingOverflow(UInt64(attoseconds / 1_000_000_000))
        return isTooLarge || isOver ? .max : sum
    }
}

/// Memory that an action lends to the host. Wiped and freed on deinit, because it may hold passwords.
private final class Loan {
    private var blocks: [UnsafeMutableRawBufferPointer] = []

    deinit {
        for block in blocks {
            block.wipe()
            block.deallocate()
        }
    }

    func lend(_ text: String) -> nevod_bytes {
        var text = text
        return text.withUTF8 { lend(UnsafeRawBufferPointer($0)) }
    }

    func lend(_ secret: Secret) -> nevod_bytes {
        secret.withUnsafeBytes { lend($0) }
    }

    /// Lends a copy of the values; nil if there are none.
    func lend<Value: BitwiseCopyable>(_ values: [Value]) -> UnsafePointer<Value>? {
        guard !values.isEmpty else { return nil }
        let block = block(of: values.count * MemoryLayout<Value>.stride, alignment: MemoryLayout<Value>.alignment)
        let place = block.bindMemory(to: Value.self)
        _ = place.initialize(from: values)
        return place.baseAddress.map { UnsafePointer($0) }
    }

    private func lend(_ bytes: UnsafeRawBufferPointer) -> nevod_bytes {
        guard !bytes.isEmpty else { return nevod_bytes(UnsafeRawBufferPointer(start: nil, count: 0)) }
        let block = block(of: bytes.count, alignment: 1)
        block.copyMemory(from: bytes)
        return nevod_bytes(UnsafeRawBufferPointer(block))
    }

    private func block(of count: Int, alignment: Int) -> UnsafeMutableRawBufferPointer {
        let block = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: alignment)
        blocks.append(block)
        return block
    }
}
