/// The version of each token that a request carries, and what it has tried already.
struct CredentialBindings: Sendable {
    private struct Binding {
        let owner: ObjectIdentifier
        var version: TokenVersion
        var renewals = 0
        var replacements = 0
    }

    private var bindings: [Binding] = []
    private var attachments: [(owner: ObjectIdentifier, value: any Sendable)] = []
    private var challenges = 0

    /// - Parameter owner: the token's storage.
    mutating func bind(_ version: TokenVersion, of owner: ObjectIdentifier) {
        if let index = bindings.firstIndex(where: { $0.owner == owner }) {
            bindings[index].version = version
        } else {
            bindings.append(Binding(owner: owner, version: version))
        }
    }

    func version(of owner: ObjectIdentifier) -> TokenVersion? {
        bindings.first { $0.owner == owner }?.version
    }

    /// Keeps what an owner needs again after the response, in place of what it attached before.
    mutating func attach(_ value: any Sendable, of owner: ObjectIdentifier) {
        attachments.removeAll { $0.owner == owner }
        attachments.append((owner, value))
    }

    /// Nil if the owner has attached nothing, or nothing of that type.
    func attachment<Value: Sendable>(of owner: ObjectIdentifier, as type: Value.Type = Value.self) -> Value? {
        attachments.first { $0.owner == owner }?.value as? Value
    }

    /// - Returns: false once the request has been challenged too often. More than once is normal: a nonce can expire while a
    ///   request that carries it is in flight.
    mutating func countChallenge() -> Bool {
        challenges += 1
        return challenges <= 3
    }

    /// - Returns: whether it was the request's first renewal of that token. A second refusal, of the fresh token, is final.
    mutating func countRenewal(_ owner: ObjectIdentifier) -> Bool {
        guard let index = bindings.firstIndex(where: { $0.owner == owner }) else { return true }
        bindings[index].renewals += 1
        return bindings[index].renewals == 1
    }

    /// - Returns: false once the token was replaced too often. More than once is normal: a token can be replaced again while a
    ///   request is in flight.
    mutating func countReplacement(_ owner: ObjectIdentifier) -> Bool {
        guard let index = bindings.firstIndex(where: { $0.owner == owner }) else { return true }
        bindings[index].replacements += 1
        return bindings[index].replacements <= 3
    }
}
