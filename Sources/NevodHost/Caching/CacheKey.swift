internal import NevodSupport

/// What an answer is stored under: the resource, and whose answer it is. Both are digests: no credential is kept, nor a target
/// that holds one.
struct CacheKey: Hashable, Sendable {
    /// The target URI (RFC 9111 §2) without what tokens and schemes wrote in it, so that anybody's change of a resource ends
    /// everybody's stored answers (§4.4).
    let resource: KeyedDigest
    /// Everything in the request that is a credential. Answers never cross from one partition to another, whatever `Vary`
    /// says: servers forget it, and one user's answer must not reach another.
    let partition: KeyedDigest

    /// - Parameter request: with every line that will be sent.
    init?(_ request: HTTPRequest) {
        guard let resource = Self.resource(of: request), let partition = Self.partition(of: request) else { return nil }
        self.resource = resource
        self.partition = partition
    }

    static func resource(of request: HTTPRequest) -> KeyedDigest? {
        guard var digest = KeyedDigest.Maker() else { return nil }
        digest.add(request.origin.description)
        // The URI that the server sees has its host from this line (RFC 9110 §7.1).
        digest.add(request.headers["Host"] ?? request.origin.authority)
        if request.authoredQuery.contains(where: \.provenance.writesCredentials) {
            var bare = request
            bare.stripCredentials()
            digest.add(bare.target)
        } else {
            digest.add(request.target)
        }
        return digest.finish()
    }

    private static func partition(of request: HTTPRequest) -> KeyedDigest? {
        let headers = request.headers
        let items = request.writtenQueryItems
        let lines = headers.lines.filter { line in
            line.provenance.writesCredentials || (line.provenance != .host && isCredential(headers.storage[line.name]))
        }
        guard !lines.isEmpty || !items.isEmpty else { return .nothing }
        guard var digest = KeyedDigest.Maker() else { return nil }
        for line in lines {
            digest.add(String(decoding: headers.storage[line.name], as: UTF8.self).lowercased())
            headers.storage.withUnsafeBufferPointer { digest.add(UnsafeBufferPointer(rebasing: $0[line.value])) }
        }
        // A line has two parts: an item can't be taken for one.
        digest.add("query")
        for item in items { item.withUnsafeBufferPointer { digest.add($0) } }
        return digest.finish()
    }

    /// A caller's own line counts by its name. A name too many costs a hit, one too few shows a response to the wrong user.
    private static func isCredential(_ name: ArraySlice<UInt8>) -> Bool {
        let isWide = name.indices.contains { index in
            wideParts.contains { part in
                part[0] == HTTPSyntax.lowercased(name[index])
                    && name[index...].lazy.map(HTTPSyntax.lowercased).starts(with: part)
            }
        }
        return isWide || RedactedNames.default.contains(name)
    }

    private static let wideParts = SecretNames.wideParts.map { Array($0.utf8) }
}
