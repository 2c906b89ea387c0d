internal import NevodSupport

/// The key of a stored response: the resource, and the credentials of the request. Both are digests, so the cache keeps neither
/// credentials nor targets that contain them.
struct CacheKey: Hashable, Sendable {
    /// The target URI (RFC 9111 §2) without the edits of tokens and schemes, so that any user's change of a resource
    /// invalidates the stored responses of all users (§4.4).
    let resource: KeyedDigest
    /// All credentials of the request. A response is used only within its partition, whatever `Vary` says: servers forget it,
    /// and one user's response must not reach another user.
    let partition: KeyedDigest

    /// - Parameter request: with all lines that will be sent.
    init?(_ request: HTTPRequest) {
        guard let resource = Self.resource(of: request), let partition = Self.partition(of: request) else { return nil }
        self.resource = resource
        self.partition = partition
    }

    static func resource(of request: HTTPRequest) -> KeyedDigest? {
        guard var digest = KeyedDigest.Builder() else { return nil }
        digest.add(request.origin.description)
        // The server takes the host of the URI from this line (RFC 9110 §7.1).
        digest.add(request.headers["Host"] ?? request.origin.authority)
        if request.addedQueryItems.contains(where: \.provenance.writesCredentials) {
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
        let items = request.credentialQueryItems
        let lines = headers.lines.filter { line in
            line.provenance.writesCredentials || (line.provenance != .host && isCredential(headers.storage[line.name]))
        }
        guard !lines.isEmpty || !items.isEmpty else { return .empty }
        guard var digest = KeyedDigest.Builder() else { return nil }
        for line in lines {
            digest.add(String(decoding: headers.storage[line.name], as: UTF8.self).lowercased())
            headers.storage.withUnsafeBufferPointer { digest.add(UnsafeBufferPointer(rebasing: $0[line.value])) }
        }
        // A line has two parts, so an item can't collide with one.
        digest.add("query")
        for item in items { item.withUnsafeBufferPointer { digest.add($0) } }
        return digest.finish()
    }

    /// Whether a line that the caller wrote is a credential, by its name. A name too many costs a cache hit; a name too few
    /// could show a response to the wrong user.
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
