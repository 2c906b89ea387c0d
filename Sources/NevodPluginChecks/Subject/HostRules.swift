internal import NevodPluginABI
internal import NevodPluginTesting
internal import NevodSupport

/// The host's rules for the edits of one `authorize` call; see `nevod_edits`.
enum EditRules {
    /// The first edit that a host refuses, with the reason.
    static func problem(_ outcome: ContractOutcome, _ view: ContractView, _ needs: ContractNeeds) -> String? {
        if let fault = outcome.faults.first { return fault }
        var size = 0
        var replacesBody = false
        for call in outcome.calls {
            switch call {
            case .setHeader(let name, let value), .addHeader(let name, let value):
                size += name.count + value.count
                if let problem = header(name, value, view) { return "\(Signed.subject(call)): \(problem)" }
            case .addQuery(let name, let value):
                size += name.count + value.count
                if let problem = item(name, value, view, name.isEmpty) { return "\(Signed.subject(call)): \(problem)" }
            case .addCookie(let name, let value):
                size += name.count + value.count
                let isBad = name.isEmpty || name.contains(UInt8(ascii: "=")) || !(name + value).allSatisfy(\.isCookieByte)
                if let problem = item(name, value, view, isBad) { return "\(Signed.subject(call)): \(problem)" }
            case .replaceBody, .wrapBody:
                if !needs.has(NEVOD_NEED_REPLACE_BODY) { return "it replaced the body, which its needs don't name" }
                if replacesBody { return "it replaced the body a second time" }
                replacesBody = true
                if view.targetKind != 0 { return "it replaced the body of a request to a proxy" }
            default: break
            }
        }
        return size <= Int(NEVOD_LIMIT_EDITS) ? nil : "the edits have \(size) bytes, more than NEVOD_LIMIT_EDITS"
    }

    private static func header(_ name: [UInt8], _ value: [UInt8], _ view: ContractView) -> String? {
        if let problem = length(name, value) { return problem }
        guard !name.isEmpty, name.allSatisfy(\.isTokenByte) else { return "its name is not a token (RFC 9110 §5.6.2)" }
        if !value.allSatisfy(\.isFieldByte) { return "its value contains a control character" }
        let isForProxy = TransportHeader.areEqual(name, "proxy-authorization")
        if isForProxy != (view.targetKind == Int32(NEVOD_TARGET_PROXY)) {
            return isForProxy ? "it is for a proxy, but the target is the origin" : onlyForProxies
        }
        return !isForProxy && TransportHeader.has(name) ? "only the host writes it" : nil
    }

    private static func item(_ name: [UInt8], _ value: [UInt8], _ view: ContractView, _ isBad: Bool) -> String? {
        if let problem = length(name, value) { return problem }
        if view.targetKind == Int32(NEVOD_TARGET_PROXY) { return onlyForProxies }
        return isBad ? "its name or value has a byte that is not allowed there" : nil
    }

    private static let onlyForProxies = "the target is a proxy, which gets only Proxy-Authorization"

    private static func length(_ name: [UInt8], _ value: [UInt8]) -> String? {
        if name.count > Int(NEVOD_LIMIT_EDIT_NAME) { return "its name is longer than NEVOD_LIMIT_EDIT_NAME" }
        return value.count > Int(NEVOD_LIMIT_EDIT_VALUE) ? "its value is longer than NEVOD_LIMIT_EDIT_VALUE" : nil
    }
}

/// The host's rules for a flow's actions.
enum FlowRules {
    static func problem(_ request: ContractFlowRequest?) -> String? {
        guard let request else { return "The struct can't be read" }
        guard !request.method.isEmpty, request.method.allSatisfy(\.isTokenByte) else {
            return "The method \"\(Shown.text(request.method))\" is not a token (RFC 9110 §5.6.2)"
        }
        guard origin(request.url) != nil, request.url.count <= Int(NEVOD_LIMIT_URL) else {
            return "The URL is not absolute with http or https, or is longer than NEVOD_LIMIT_URL bytes"
        }
        guard request.url.allSatisfy(\.isVisible) else {
            return "The URL contains a space, a control character or a byte beyond ASCII"
        }
        if request.headers.count > Int(NEVOD_LIMIT_FLOW_HEADERS) { return "It has \(request.headers.count) headers" }
        if request.body.count > Int(NEVOD_LIMIT_FLOW_BODY) { return "Its body has \(request.body.count) bytes" }
        if request.reserved != 0 { return "A reserved field isn't zero" }
        for header in request.headers {
            let name = String(decoding: header.name, as: UTF8.self).lowercased()
            guard !header.name.isEmpty, header.name.allSatisfy(\.isTokenByte) else {
                return "The header \"\(Shown.text(header.name))\" has a name that is not a token (RFC 9110 §5.6.2)"
            }
            if !header.value.allSatisfy(\.isFieldByte) {
                return "The header \(name) contains a control character"
            }
            if TransportHeader.has(header.name) { return "Only the host writes the header \(name)" }
        }
        return nil
    }

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
                ? "The address for the browser is not absolute" : nil
        default: return nil
        }
    }

    private static func problem(_ question: ContractQuestion) -> String? {
        let name = "the question \"\(Shown.text(question.name))\""
        guard question.name.count <= Int(NEVOD_LIMIT_NAME), question.name.isContractName else {
            return "The name of \(name) is not in the form of a setting's name"
        }
        if question.prompt.isEmpty { return "There is no prompt for \(name)" }
        if String(validating: question.prompt, as: UTF8.self) == nil { return "The prompt for \(name) isn't UTF-8" }
        if question.kind == NEVOD_QUESTION_CHOICE, question.choices.isEmpty { return "There are no choices for \(name)" }
        return question.reserved == 0 ? nil : "A reserved field of \(name) isn't zero"
    }

    /// The scheme, host and port of an absolute URL (RFC 6454), without a default port; nil if it isn't an absolute URL.
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

/// The host's rules for a token that a flow issues; see `nevod_token`.
enum TokenRules {
    /// The fault of a token, worded to follow "a token that".
    static func problem(_ token: ContractToken?, isLogout: Bool) -> String? {
        guard let token else { return "can't be read" }
        if isLogout { return token.bytes.isEmpty ? nil : "has \(token.bytes.count) bytes at the end of a logout" }
        if token.bytes.isEmpty { return "has no bytes" }
        if token.bytes.count > Int(NEVOD_LIMIT_TOKEN) { return "has \(token.bytes.count) bytes, more than NEVOD_LIMIT_TOKEN" }
        if token.account.count > Int(NEVOD_LIMIT_ACCOUNT) {
            return "has an account of \(token.account.count) bytes, more than NEVOD_LIMIT_ACCOUNT"
        }
        if String(validating: token.account, as: UTF8.self) == nil { return "has an account that isn't UTF-8" }
        if token.expiresAt != 0, token.expiresAt <= PlausibleServer.now { return "expired before it was issued" }
        return token.reserved == 0 ? nil : "has a reserved field that isn't zero"
    }
}
