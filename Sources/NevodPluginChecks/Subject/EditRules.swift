internal import NevodPluginABI
internal import NevodPluginTesting

/// The host's rules for the edits of a call of `authorize`; see `nevod_edits`.
enum EditRules {
    /// The first edit that a host refuses, and why.
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
                let isBad =
                    name.isEmpty || name.contains(0x3D) || (name + value).contains { $0 < 0x20 || $0 == 0x7F || $0 == 0x3B }
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
        guard !name.isEmpty, name.allSatisfy(isTokenByte) else { return "its name is not a token (RFC 9110 §5.6.2)" }
        if value.contains(where: isControl) { return "its value contains a control character" }
        let lower = String(decoding: name, as: UTF8.self).lowercased()
        if (lower == "proxy-authorization") != (view.targetKind == Int32(NEVOD_TARGET_PROXY)) {
            return lower == "proxy-authorization" ? "it is for a proxy, but the target is the origin" : onlyForProxies
        }
        return forbidden.contains(lower) ? "only the host writes it" : nil
    }

    private static func item(_ name: [UInt8], _ value: [UInt8], _ view: ContractView, _ isBad: Bool) -> String? {
        if let problem = length(name, value) { return problem }
        if view.targetKind == Int32(NEVOD_TARGET_PROXY) { return onlyForProxies }
        return isBad ? "its name or value has a byte that is not allowed there" : nil
    }

    private static let onlyForProxies = "the target is a proxy, to which only Proxy-Authorization goes"

    private static func length(_ name: [UInt8], _ value: [UInt8]) -> String? {
        if name.count > Int(NEVOD_LIMIT_EDIT_NAME) { return "its name is longer than NEVOD_LIMIT_EDIT_NAME" }
        return value.count > Int(NEVOD_LIMIT_EDIT_VALUE) ? "its value is longer than NEVOD_LIMIT_EDIT_VALUE" : nil
    }

    private static let forbidden: Set<String> = [
        "host", "content-length", "transfer-encoding", "connection", "keep-alive", "proxy-connection", "te", "upgrade", "expect",
        "trailer",
    ]

    /// Whether a field value can't contain the byte (RFC 9110 §5.5).
    static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 && byte != 0x09 || byte == 0x7F }

    static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
