internal import NevodPluginCrypto
internal import NevodPluginKit
internal import NevodSupport

extension Signer {
    /// Appends the value of a source. Filters may read it.
    @_lifetime(text: copy text)
    func append(
        _ source: Recipe.Source, _ request: borrowing RequestView, _ text: inout ByteWriter
    ) throws(SchemeError) {
        switch source {
        // The caller reads these sources itself.
        case .part, .text: break
        case .url:
            text.append(request.scheme)
            text.append(ascii: "://")
            text.append(request.authority)
            text.append(request.target)
        case .segment(let number): try append(segment: number, request, &text)
        case .queryItem(let name, let isOptional):
            try append(item: name, of: request.query, "query", isOptional, &text)
        case .formField(let name, let isOptional):
            try refuseStream(request)
            try append(item: name, of: request.body, "form", isOptional, &text)
        case .jsonMember(let name, let isOptional): try append(member: name, request, isOptional, &text)
        case .header(let name, let isOptional):
            guard append(header: recipe.bytes[name], request, &text) || isOptional else { throw absent("header", name) }
        case .headers(let names): try append(headers: names, request, &text)
        case .time(let offset, let style):
            let (time, overflows) = request.unixNanoseconds.addingReportingOverflow(offset)
            append(overflows ? request.unixNanoseconds : time, style, &text)
        case .nonce(let style): append(style, request, &text)
        }
    }

    // MARK: Parts of the target and the body

    @_lifetime(text: copy text)
    private func append(
        segment number: Int, _ request: borrowing RequestView, _ text: inout ByteWriter
    ) throws(SchemeError) {
        let path = request.path
        var count = 0
        for index in path.indices where path[index] == UInt8(ascii: "/") { count += 1 }
        let wanted = number > 0 ? number : count + 1 + number
        guard wanted >= 1, wanted <= count else {
            throw .unsupported("the request's path has \(count) segments, but segment \(number) is signed")
        }
        var (seen, start) = (0, 0)
        for index in path.indices where path[index] == UInt8(ascii: "/") {
            if seen == wanted { return text.append(path.extracting(start..<index)) }
            seen += 1
            start = index + 1
        }
        text.append(path.extracting(start...))
    }

    @_lifetime(text: copy text)
    private func append(
        item name: Range<Int>, of encoded: Span<UInt8>, _ kind: String, _ isOptional: Bool, _ text: inout ByteWriter
    ) throws(SchemeError) {
        var items = QueryItems(encoded)
        var found: QueryItems.Item?
        while let item = items.next() {
            guard QueryItems.decodes(encoded.extracting(item.start..<item.nameEnd), to: recipe.bytes[name]) else { continue }
            guard found == nil else { throw repeated(kind, name) }
            found = item
        }
        guard let found else {
            guard isOptional else { throw absent(kind, name) }
            return
        }
        text.append(PercentEncoding.decoded(encoded.extracting(found.valueStart..<found.end), plusIsSpace: true).span)
    }

    @_lifetime(text: copy text)
    private func append(
        member name: Range<Int>, _ request: borrowing RequestView, _ isOptional: Bool, _ text: inout ByteWriter
    ) throws(SchemeError) {
        try refuseStream(request)
        guard request.hasBody || !isOptional else { return }
        let problem = "the request's body is not a JSON object, but its \(recipe.text(name)) is signed"
        let found = try JSONMembers.read(request.body, problem).filter { $0.name.elementsEqual(recipe.bytes[name]) }
        guard found.count < 2 else { throw repeated("json", name) }
        if let found = found.first { return text.append(found.value.span) }
        guard isOptional else { throw absent("json", name) }
    }

    // MARK: Headers

    /// Appends the values of all lines of that name, joined as RFC 9110 §5.3 allows.
    ///
    /// - Returns: whether there is such a line.
    @_lifetime(text: copy text)
    private func append(
        header name: ArraySlice<UInt8>, _ request: borrowing RequestView, _ text: inout ByteWriter, collapses: Bool = false
    ) -> Bool {
        var value: [UInt8] = []
        var isThere = false
        request.forEachHeader { line, part in
            guard Self.areSameName(line, name) else { return }
            if isThere { value.append(ascii: ", ") }
            isThere = true
            if collapses { value.append(collapsed: part) } else { value.append(part) }
        }
        text.append(value.span)
        return isThere
    }

    @_lifetime(text: copy text)
    private func append(
        headers names: Range<Int>, _ request: borrowing RequestView, _ text: inout ByteWriter
    ) throws(SchemeError) {
        for entry in recipe.bytes[names].split(separator: UInt8(ascii: "\n")) {
            let isOptional = entry.first == UInt8(ascii: "?")
            let name = isOptional ? entry.dropFirst() : entry
            if name.last == UInt8(ascii: "*") {
                for name in matching(name.dropLast(), request) { append(line: name[...], request, &text) }
            } else if contains(header: name, request) {
                append(line: name, request, &text)
            } else if !isOptional {
                let text = String(decoding: name, as: UTF8.self)
                throw .unsupported(
                    "the request has no header \(text), which is signed; add it, or write \(text)? in the recipe if it may be absent"
                )
            }
            try Filter.limit(text.count, request.most)
        }
    }

    @_lifetime(text: copy text)
    private func append(line name: ArraySlice<UInt8>, _ request: borrowing RequestView, _ text: inout ByteWriter) {
        let bytes = Array(name)
        text.append(bytes.span)
        text.append(ascii: ":")
        _ = append(header: name, request, &text, collapses: true)
        text.append(ascii: "\n")
    }

    /// The names of the caller's headers that begin with a prefix, in lower case, sorted.
    private func matching(_ prefix: ArraySlice<UInt8>, _ request: borrowing RequestView) -> [[UInt8]] {
        var found: [[UInt8]] = []
        request.forEachHeader { line, _ in
            guard line.count >= prefix.count, Self.areSameName(line.extracting(first: prefix.count), prefix) else { return }
            var name: [UInt8] = []
            name.append(lowercased: line)
            if !writes(header: name) { found.append(name) }
        }
        found.sort { $0.lexicographicallyPrecedes($1) }
        var names: [[UInt8]] = []
        for name in found where names.last != name { names.append(name) }
        return names
    }

    /// Whether the recipe sends that header, so that an earlier attempt may have set it.
    private func writes(header name: [UInt8]) -> Bool {
        recipe.steps.contains {
            guard case .send(.header, let own, _) = $0.action else { return false }
            return recipe.bytes[own].lazy.map { $0.lowercased }.elementsEqual(name)
        }
    }
}
