internal import NevodPluginKit
internal import NevodSupport

extension Signer {
    /// A bit for each condition of the recipe.
    func facts(of request: borrowing RequestView) throws(SchemeError) -> UInt {
        guard !recipe.conditions.isEmpty else { return 0 }
        var facts: UInt = 0
        for (index, clauses) in recipe.conditions.enumerated() {
            var isTrue = true
            for clause in clauses where isTrue { isTrue = self.isTrue(recipe.clauses[clause], request) }
            if isTrue { facts |= 1 << index }
        }
        return facts
    }

    private func isTrue(_ clause: Clause, _ request: borrowing RequestView) -> Bool {
        let isTrue: Bool
        switch clause.fact {
        case .method(let names):
            isTrue = recipe.bytes[names].split(separator: UInt8(ascii: "\n")).contains { Self.areEqual(request.method, $0) }
        case .body: isTrue = request.hasBody
        case .query: isTrue = !request.query.isEmpty
        case .form: isTrue = Self.hasMediaType("application/x-www-form-urlencoded", request)
        case .json: isTrue = Self.hasMediaType("application/json", request)
        case .header(let name): isTrue = contains(header: recipe.bytes[name], request)
        case .path(let prefix):
            let path = request.path
            isTrue = path.count >= prefix.count && Self.areEqual(path.extracting(first: prefix.count), recipe.bytes[prefix])
        }
        return isTrue != clause.isNegated
    }

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

    /// Whether the body is of a media type, whatever its parameters.
    private static func hasMediaType(_ type: StaticString, _ request: borrowing RequestView) -> Bool {
        let type = UnsafeBufferPointer(start: type.utf8Start, count: type.utf8CodeUnitCount)
        var isOfType = false
        request.forEachHeader { line, value in
            guard areSameName(line, Array("content-type".utf8)[...]) else { return }
            var end = 0
            while end < value.count, value[end] != UInt8(ascii: ";"), !value[end].isBlank { end += 1 }
            isOfType = areSameName(value.extracting(first: end), Array(type)[...])
        }
        return isOfType
    }

    /// Refuses a query that already has an item of that name, because the server would see two, and might use the caller's.
    func refuseItem(_ name: [UInt8], of request: borrowing RequestView) throws(SchemeError) {
        let query = request.query
        var items = QueryItems(query)
        while let item = items.next() {
            guard QueryItems.decodes(query.extracting(item.start..<item.nameEnd), to: name[...]) else { continue }
            throw .unsupported(
                "the request's query already has an item \(String(decoding: name, as: UTF8.self)); leave it to the scheme")
        }
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

    func refuseStream(_ request: borrowing RequestView) throws(SchemeError) {
        guard request.hasStreamedBody else { return }
        throw .unsupported(
            "{body} can't sign a body that is a stream; send it from memory, or sign its SHA-256, SHA-384 or SHA-512")
    }
}

extension RequestView {
    /// The largest text that a recipe may make of the request, in bytes.
    var most: Int { (1 << 20) + 8 * (body.count + target.count) }

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
