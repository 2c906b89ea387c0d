/// The versions of the tokens that a request carries, and the renewals, replacements and retries that it has used. Kept across
/// the attempts of one hop, until a redirect; ``signing`` is kept across redirects too.
struct CredentialBindings: Sendable {
    private struct Binding {
        let owner: ObjectIdentifier
        var version: TokenVersion
        var renewals = 0
        var replacements = 0
    }

    /// When the hop began, before the request waited to be sent.
    let began = ContinuousClock.now
    private var bindings: [Binding] = []
    private var attachments: [(owner: ObjectIdentifier, value: any Sendable)] = []
    private var retried: [ObjectIdentifier] = []
    /// The clocks that the current attempt was signed by.
    var signing = SigningClocks()

    /// Records the version of a token that was put on the request.
    ///
    /// - Parameters:
    ///   - version: the version.
    ///   - owner: identifies the token's storage or interceptor.
    mutating func bind(_ version: TokenVersion, of owner: ObjectIdentifier) {
        if let index = bindings.firstIndex(where: { $0.owner == owner }) {
            bindings[index].version = version
        } else {
            bindings.append(Binding(owner: owner, version: version))
        }
    }

    /// Returns the version of the owner's token that the request carries; nil if it carries no such token.
    func version(of owner: ObjectIdentifier) -> TokenVersion? {
        bindings.first { $0.owner == owner }?.version
    }

    /// Stores a value that the owner needs after the response, replacing its previous one.
    mutating func attach(_ value: any Sendable, of owner: ObjectIdentifier) {
        attachments.removeAll { $0.owner == owner }
        attachments.append((owner, value))
    }

    /// Returns the owner's attached value; nil if there is none of this type.
    func attachment<Value: Sendable>(of owner: ObjectIdentifier, as type: Value.Type = Value.self) -> Value? {
        attachments.first { $0.owner == owner }?.value as? Value
    }

    /// Counts a retry that a scheme asks for after a challenge.
    ///
    /// - Returns: whether it is the first for this request.
    mutating func countRetry(_ owner: ObjectIdentifier) -> Bool {
        guard !retried.contains(owner) else { return false }
        retried.append(owner)
        return true
    }

    /// Counts a renewal of the owner's token.
    ///
    /// - Parameter limit: the most renewals for one request. By default one: if the server refuses the renewed token too, that is
    ///   final.
    /// - Returns: whether it is within the limit.
    mutating func countRenewal(_ owner: ObjectIdentifier, upTo limit: Int = 1) -> Bool {
        guard let index = bindings.firstIndex(where: { $0.owner == owner }) else { return true }
        bindings[index].renewals += 1
        return bindings[index].renewals <= limit
    }

    /// The renewals of the owner's token that this request has used.
    func renewals(of owner: ObjectIdentifier) -> Int {
        bindings.first { $0.owner == owner }?.renewals ?? 0
    }

    /// Counts a replacement: the stored token is newer than the one that the request carried.
    ///
    /// - Returns: whether the request may be sent again. More than one replacement is normal: a token can be replaced again while
    ///   a request is in flight.
    mutating func countReplacement(_ owner: ObjectIdentifier) -> Bool {
        guard let index = bindings.firstIndex(where: { $0.owner == owner }) else { return true }
        bindings[index].replacements += 1
        return bindings[index].replacements <= 3
    }
}

/// Identifies one of the tokens that a storage has held, numbered in the order in which this process has seen them.
public struct TokenVersion: Sendable, Hashable {
    let number: UInt64
}
