internal import NevodPluginABI
internal import NevodPluginTesting

/// The host's rules for a flow's actions.
enum FlowRules {
    static func problem(_ request: ContractFlowRequest?) -> String? {
        guard let request else { return "The struct can't be read" }
        guard !request.method.isEmpty, request.method.allSatisfy(EditRules.isTokenByte) else {
            return "The method \"\(Shown.text(request.method))\" is not a token (RFC 9110 §5.6.2)"
        }
        guard origin(request.url) != nil, request.url.count <= Int(NEVOD_LIMIT_URL) else {
            return "The URL is not an absolute one with http or https, of at most NEVOD_LIMIT_URL bytes"
        }
        guard request.url.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            return "The URL contains a space, a control character or a byte beyond ASCII"
        }
        if request.headers.count > Int(NEVOD_LIMIT_FLOW_HEADERS) { return "It has \(request.headers.count) headers" }
        if request.body.count > Int(NEVOD_LIMIT_FLOW_BODY) { return "Its body has \(request.body.count) bytes" }
        if request.reserved != 0 { return "A reserved field isn't zero" }
        for header in request.headers {
            let name = String(decoding: header.name, as: UTF8.self).lowercased()
            guard !header.name.isEmpty, header.name.allSatisfy(EditRules.isTokenByte) else {
                return "The header \"\(Shown.text(header.name))\" has a name that is not a token (RFC 9110 §5.6.2)"
            }
            if header.value.contains(where: EditRules.isControl) {
                return "The header \(name) contains a control character"
            }
            if hosts.contains(name) { return "Only the host writes the header \(name)" }
        }
        return nil
    }

    private static let hosts: Set<String> = ["host", "content-length", "transfer-encoding", "connection"]

    static func problem(_ call: SinkCall) -> String? {
        switch call {
        case .ask(let questions):
            if questions.isEmpty { return "It asks no question" }
            if questions.count > Int(NEVOD_LIMIT_QUESTIONS) { return "It asks \(questions.count) questions at once" }
            for question in questions { if let problem = problem(question) { return problem } }
            return Set(questions.map(\.name)).count == questions.count ? nil : "Two questions have the same name"
        case .show(let text, let url):
            if text.isEmpty, url.isEmpty { return "It shows neither a text nor an address" }
            return String(validating: text, as: UTF8.self) == nil ? "The text that it shows isn't UTF-8" : nil
        case .listen(let options):
            guard let options else { return "The struct for listen can't be read" }
            guard options.path.first == 0x2F, options.path.count <= Int(NEVOD_LIMIT_PATH) else {
                return "The path of the redirect URI doesn't begin with a slash, or is too long"
            }
            return options.port > 65_535 ? "There is no port \(options.port)" : nil
        case .browse(let url):
            return origin(url) == nil || url.count > Int(NEVOD_LIMIT_URL)
                ? "The address for the browser is not an absolute one" : nil
        default: return nil
        }
    }

    private static func problem(_ question: ContractQuestion) -> String? {
        let name = "the question \"\(Shown.text(question.name))\""
        let isName =
            (1...Int(NEVOD_LIMIT_NAME)).contains(question.name.count)
            && question.name.first.map { $0 >= 0x61 && $0 <= 0x7A } == true
            && question.name.allSatisfy { ($0 >= 0x61 && $0 <= 0x7A) || ($0 >= 0x30 && $0 <= 0x39) || $0 == 0x2D }
        guard isName else { return "The name of \(name) is not in the form of a setting's name" }
        if question.prompt.isEmpty { return "There is no prompt for \(name)" }
        if String(validating: question.prompt, as: UTF8.self) == nil { return "The prompt for \(name) isn't UTF-8" }
        if question.kind == NEVOD_QUESTION_CHOICE, question.choices.isEmpty { return "There are no choices for \(name)" }
        return question.reserved == 0 ? nil : "A reserved field of \(name) isn't zero"
    }

    /// The scheme, host and port of an absolute URL (RFC 6454), without a default port; nil if it is none.
    static func origin(_ url: [UInt8]) -> String? {
        let text = String(decoding: url, as: UTF8.self)
        guard let end = text.firstRange(of: "://") else { return nil }
        let scheme = text[..<end.lowerBound].lowercased()
        guard scheme == "http" || scheme == "https" else { return nil }
        var authority = String(text[end.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }).lowercased()
        if let at = authority.lastIndex(of: "@") { authority = String(authority[authority.index(after: at)...]) }
        let port = scheme == "http" ? ":80" : ":443"
        if authority.hasSuffix(port) { authority.removeLast(port.utf8.count) }
        return authority.isEmpty ? nil : "\(scheme)://\(authority)"
    }
}
