internal import NevodPluginCrypto
internal import NevodPluginKit
internal import NevodSupport

extension Signer {
    /// Appends the result of applying a chain of filters to a source. Intermediate values alternate between `first` and `second`.
    @_lifetime(text: copy text)
    @_lifetime(first: copy first)
    @_lifetime(second: copy second)
    func compute(
        _ source: Recipe.Source, _ chain: Range<Int>, _ isStrict: Bool, _ request: borrowing RequestView,
        _ values: UnsafeMutableBufferPointer<Range<Int>>, _ text: inout ByteWriter, _ first: inout ByteWriter,
        _ second: inout ByteWriter
    ) throws(SchemeError) {
        var next = chain.lowerBound
        if chain.isEmpty {
            let start = text.count
            try append(source, request, &text)
            if isStrict, source.isDecoded { try Filter.refuseControls(text.bytes.extracting(start...)) }
            return
        }
        first.removeAll()
        if var digest = try digest(of: source, program.filters[next], request, values, text.bytes) {
            // The digest may be a derived key.
            defer { digest.wipe() }
            next += 1
            if next == chain.upperBound { return text.append(digest.bytes) }
            first.append(digest.bytes)
        } else if source == .part(.request(.body)), program.filters[next] == .length {
            // Asks only for the length, because a stream's bytes aren't available here.
            guard let length = request.bodyLength else {
                throw .unsupported("the length of the body is signed, but is not known")
            }
            first.append(decimal: Int64(clamping: length))
            next += 1
        } else if case .part(let part) = source {
            try copy(part, request, values, text.bytes, &first)
        } else {
            try append(source, request, &first)
            if isStrict, source.isDecoded { try Filter.refuseControls(first.bytes) }
        }
        let most = request.most
        var isInFirst = true
        while next < chain.upperBound {
            let filter = program.filters[next]
            next += 1
            let isLast = next == chain.upperBound
            if filter.isDigest {
                var digest: Digest
                if isInFirst {
                    digest = try self.digest(of: first.bytes, filter, values, text.bytes)
                } else {
                    digest = try self.digest(of: second.bytes, filter, values, text.bytes)
                }
                first.removeAll()
                first.append(digest.bytes)
                digest.wipe()
                isInFirst = true
            } else if isInFirst {
                if isLast { return try filter.append(first.bytes, recipe.bytes, most: most, isStrict: isStrict, to: &text) }
                second.removeAll()
                try filter.append(first.bytes, recipe.bytes, most: most, isStrict: isStrict, to: &second)
                isInFirst = false
            } else {
                if isLast { return try filter.append(second.bytes, recipe.bytes, most: most, isStrict: isStrict, to: &text) }
                first.removeAll()
                try filter.append(second.bytes, recipe.bytes, most: most, isStrict: isStrict, to: &first)
                isInFirst = true
            }
        }
        if isInFirst { text.append(first.bytes) } else { text.append(second.bytes) }
    }

    /// Copies a part. Its bytes may be in `text`.
    @_lifetime(copy: copy copy)
    private func copy(
        _ part: Recipe.Part, _ request: borrowing RequestView, _ values: UnsafeMutableBufferPointer<Range<Int>>,
        _ text: Span<UInt8>,
        _ copy: inout ByteWriter
    ) throws(SchemeError) {
        if case .slot(let slot) = part {
            copy.append(text.extracting(values[slot]))
        } else {
            try append(part, request, values, &copy)
        }
    }

    // MARK: Digests

    /// The digest of a source that a hash function can read in place; nil for any other source or filter.
    private func digest(
        of source: Recipe.Source, _ filter: Filter, _ request: borrowing RequestView,
        _ values: UnsafeMutableBufferPointer<Range<Int>>, _ text: Span<UInt8>
    ) throws(SchemeError) -> Digest? {
        guard filter.isDigest else { return nil }
        switch source {
        case .part(.request(.body)): return try digest(ofBody: request, filter, values, text)
        case .part(.request(let part)): return try digest(of: request.bytes(of: part), filter, values, text)
        case .part(.slot(let slot)): return try digest(of: text.extracting(values[slot]), filter, values, text)
        case .part(.literal(let range)):
            return try digest(of: Span(_unsafeElements: program.literal(range)), filter, values, text)
        case .part(.setting(let setting)):
            return try settings.withBytes(setting) { bytes throws(SchemeError) in try digest(of: bytes, filter, values, text) }
        case .text(let parts):
            var count = 0
            for part in parts {
                if case .request(.body) = program.parts[part] { try refuseStream(request) }
                count += self.count(of: program.parts[part], request, values)
            }
            try Filter.limit(count, request.most)
            switch filter {
            case .hash(let function):
                var stream = HashStream(function)
                for part in parts { feed(program.parts[part], to: &stream, request, values, text) }
                return try stream.finish()
            case .hmac(_, .prepared(let key)):
                return try keys[key].code { input in
                    for part in parts { feed(program.parts[part], to: &input, request, values, text) }
                }
            default: return nil
            }
        default: return nil
        }
    }

    private func digest(
        ofBody request: borrowing RequestView, _ filter: Filter, _ values: UnsafeMutableBufferPointer<Range<Int>>,
        _ text: Span<UInt8>
    ) throws(SchemeError) -> Digest {
        if case .hash(let function) = filter, let algorithm = DigestAlgorithm(function), request.hasBody {
            // The host computes the digest even of a stream, if it can read the stream twice.
            guard let digest = request.bodyDigest(algorithm) else {
                throw .unsupported("a body that can be read only once can't be signed; send it from a file or from memory")
            }
            return Digest(digest)
        }
        try refuseStream(request)
        return try digest(of: request.body, filter, values, text)
    }

    private func digest(
        of input: Span<UInt8>, _ filter: Filter, _ values: UnsafeMutableBufferPointer<Range<Int>>, _ text: Span<UInt8>
    ) throws(SchemeError) -> Digest {
        switch filter {
        case .hash(let function): return try function.digest(of: input)
        case .hmac(_, .prepared(let key)): return try keys[key].code(of: input)
        case .hmac(let function, .slot(let slot)): return try function.hmac(key: text.extracting(values[slot]), of: input)
        default: throw .internal("a filter that isn't a digest was asked for a digest")
        }
    }

    private func count(
        of part: Recipe.Part, _ request: borrowing RequestView, _ values: UnsafeMutableBufferPointer<Range<Int>>
    ) -> Int {
        switch part {
        case .literal(let range): range.count
        case .slot(let slot): values[slot].count
        case .request(let part): request.bytes(of: part).count
        case .setting(let setting): settings[setting]?.count ?? settings.key.count
        }
    }

    /// Appends a part to the input of a hash function.
    private func feed<Sink: ByteSink & ~Copyable>(
        _ part: Recipe.Part, to sink: inout Sink, _ request: borrowing RequestView,
        _ values: UnsafeMutableBufferPointer<Range<Int>>, _ text: Span<UInt8>
    ) {
        switch part {
        case .literal(let range):
            sink.append(Span(_unsafeElements: program.literal(range)))
        case .slot(let slot): sink.append(text.extracting(values[slot]))
        case .request(let part): sink.append(request.bytes(of: part))
        case .setting(.key):
            let key = settings.key
            sink.append(key.span)
        case .setting(let setting): settings[setting]?.withUnsafeBytes { sink.append(Span(_unsafeBytes: $0)) }
        }
    }
}

extension DigestAlgorithm {
    /// The digest that the host computes of bodies, even of a stream; nil for other functions.
    init?(_ function: HashFunction) {
        switch function {
        case .sha256: self = .sha256
        case .sha384: self = .sha384
        case .sha512: self = .sha512
        default: return nil
        }
    }

    var bodyNeed: Needs {
        switch self {
        case .sha256: .sha256
        case .sha384: .sha384
        case .sha512: .sha512
        }
    }
}
