internal import NevodPluginKit
internal import NevodSupport

extension Signer {
    static func areEqual(_ left: Span<UInt8>, _ right: ArraySlice<UInt8>) -> Bool {
        left.count == right.count && left.indices.allSatisfy { left[$0] == right[right.startIndex + $0] }
    }

    /// Compares names of headers, ignoring the case of ASCII letters.
    static func areSameName(_ left: Span<UInt8>, _ right: ArraySlice<UInt8>) -> Bool {
        left.count == right.count
            && left.indices.allSatisfy { left[$0].lowercased == right[right.startIndex + $0].lowercased }
    }

    func contains(header name: ArraySlice<UInt8>, _ request: borrowing RequestView) -> Bool {
        var isThere = false
        request.forEachHeader { line, _ in if Self.areSameName(line, name) { isThere = true } }
        return isThere
    }

    // MARK: Parts

    @_lifetime(text: copy text)
    func append(
        _ part: Recipe.Part, _ request: borrowing RequestView, _ values: UnsafeMutableBufferPointer<Range<Int>>,
        _ text: inout ByteWriter
    ) throws(SchemeError) {
        switch part {
        case .literal(let range):
            text.append(Span(_unsafeElements: program.literal(range)))
        case .slot(let slot): text.append(copying: values[slot])
        case .request(let part):
            if part == .body { try refuseStream(request) }
            text.append(request.bytes(of: part))
        case .setting(let setting): try append(setting, &text)
        }
        try Filter.limit(text.count, request.most)
    }

    /// Appends a setting's value.
    @_lifetime(text: copy text)
    private func append(_ setting: Recipe.SettingName, _ text: inout ByteWriter) throws(SchemeError) {
        guard setting != .key, let secret = settings[setting] else {
            let key = settings.key
            return text.append(key.span)
        }
        secret.withUnsafeBytes { text.append(Span(_unsafeBytes: $0)) }
    }
}

extension RequestView {
    /// A part of the request as it is sent.
    @_lifetime(copy self)
    func bytes(of part: Recipe.RequestPart) -> Span<UInt8> {
        switch part {
        case .method: method
        case .scheme: scheme
        case .host: authority
        case .hostname: hostname
        case .port: port
        case .target: target
        case .path: path
        case .query: query
        case .body: body
        }
    }

    private var hostname: Span<UInt8> {
        @_lifetime(copy self) get {
            let authority = authority
            return authority.extracting(first: Self.hostnameCount(authority))
        }
    }

    private var port: Span<UInt8> {
        @_lifetime(copy self) get {
            let authority = authority
            let start = Self.hostnameCount(authority) + 1
            if start < authority.count { return authority.extracting(start...) }
            let text: StaticString = scheme.count == 5 ? "443" : "80"
            let digits = UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)
            return unsafe _overrideLifetime(Span(_unsafeElements: digits), copying: self)
        }
    }

    /// The number of bytes before a port's colon. The colons of an IPv6 address are in brackets.
    private static func hostnameCount(_ authority: Span<UInt8>) -> Int {
        var index = authority.count
        while index > 0 {
            index -= 1
            if authority[index] == UInt8(ascii: ":") { return index }
            if authority[index] == UInt8(ascii: "]") { break }
        }
        return authority.count
    }
}
