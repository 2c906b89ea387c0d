internal import NevodSupport

/// The key of a stored response: digests of the resource and of the request's user. The cache therefore keeps neither credentials
/// nor targets that contain them.
struct CacheKey: Hashable, Sendable {
    /// The target URI (RFC 9111 §2) without the edits of tokens and schemes, so that any user's change of a resource
    /// invalidates the stored responses of all users (§4.4).
    let resource: KeyedDigest
    /// Everything that is known to be a credential. A response is used only within its partition, whatever `Vary` says: servers
    /// forget `Vary`, and one user's response must not reach another user.
    let partition: KeyedDigest
    /// The user of a private response (RFC 9111 §5.2.2.7): the owner that the caller named, or else all lines of the request,
    /// because any of them may identify the user.
    let user: KeyedDigest

    /// - Parameters:
    ///   - request: the request, with all lines that will be sent.
    ///   - owner: ``TransferOptions/cacheOwner``.
    ///   - digests: the key of the cache's digests.
    init?(_ request: HTTPRequest, owner: String? = nil, _ digests: KeyedDigest.Key?) {
        var (credentials, others): ([HTTPHeaders.Line], [HTTPHeaders.Line]) = ([], [])
        for line in request.headers.lines where line.provenance != .host {
            if Self.isCredential(line, of: request) {
                credentials.append(line)
            } else if owner == nil, Self.mayNameUser(line, of: request) {
                others.append(line)
            }
        }
        guard let resource = Self.resource(of: request, digests),
            let partition = Self.partition(of: request, credentials, digests),
            let user = Self.user(of: request, others, owner: owner, partition, digests)
        else { return nil }
        self.resource = resource
        self.partition = partition
        self.user = user
    }

    static func resource(of request: HTTPRequest, _ digests: KeyedDigest.Key?) -> KeyedDigest? {
        guard var digest = KeyedDigest.Builder(digests) else { return nil }
        digest.add(request.origin.description)
        // The server takes the host of the URI from this line (RFC 9110 §7.1).
        digest.add(request.headers["Host"] ?? request.origin.authority)
        if request.addedQueryItems.contains(where: \.provenance.writesCredentials) {
            var bare = request
            bare.stripCredentialQueryItems()
            digest.add(bare.target)
        } else {
            digest.add(request.target)
        }
        return digest.finish()
    }

    private static func partition(
        of request: HTTPRequest, _ lines: [HTTPHeaders.Line], _ digests: KeyedDigest.Key?
    ) -> KeyedDigest? {
        let items = request.credentialQueryItems
        guard !lines.isEmpty || !items.isEmpty else { return .empty }
        guard var digest = KeyedDigest.Builder(digests) else { return nil }
        digest.add(lines, of: request)
        // Separates the query items from the lines, which have two parts each.
        digest.add("query")
        for item in items { item.withUnsafeBufferPointer { digest.add($0) } }
        return digest.finish()
    }

    private static func user(
        of request: HTTPRequest, _ lines: [HTTPHeaders.Line], owner: String?, _ partition: KeyedDigest,
        _ digests: KeyedDigest.Key?
    ) -> KeyedDigest? {
        let proxy = request.proxyAuthorization
        guard owner != nil || proxy != nil || !lines.isEmpty else { return partition }
        guard var digest = KeyedDigest.Builder(digests) else { return nil }
        digest.add(partition)
        // Keeps an owner's name from being mistaken for a header line.
        digest.add(owner == nil ? "lines" : "owner")
        digest.add(owner ?? "")
        digest.add(proxy ?? "")
        digest.add(lines, of: request)
        return digest.finish()
    }

    private static func isCredential(_ line: HTTPHeaders.Line, of request: HTTPRequest) -> Bool {
        line.provenance.writesCredentials || CredentialNames.standard.contains(request.headers.storage[line.name])
    }

    /// Whether a line that the host didn't write may identify the user. A line with only directives that this cache obeys
    /// doesn't.
    private static func mayNameUser(_ line: HTTPHeaders.Line, of request: HTTPRequest) -> Bool {
        switch String(decoding: request.headers.storage[line.name], as: UTF8.self).lowercased() {
        // Host is part of the resource.
        case "host": false
        case "cache-control", "pragma":
            !CacheControl.isUnderstood(String(decoding: request.headers.storage[line.value], as: UTF8.self))
        default: true
        }
    }
}

extension KeyedDigest.Builder {
    /// Adds the name, in lower case, and the value of each line.
    fileprivate mutating func add(_ lines: [HTTPHeaders.Line], of request: HTTPRequest) {
        let storage = request.headers.storage
        for line in lines {
            add(String(decoding: storage[line.name], as: UTF8.self).lowercased())
            storage.withUnsafeBufferPointer { add(UnsafeBufferPointer(rebasing: $0[line.value])) }
        }
    }
}
