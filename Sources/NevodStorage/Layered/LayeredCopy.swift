internal import COpenSSL
internal import NevodSupport

/// The local copy of a ``LayeredStorage`` for a key: the remote value as last seen, or a value that is still to be sent, with what it
/// may replace. Makes decisions, and does no I/O.
struct LayeredCopy: Sendable, Equatable {
    /// nil if nothing is stored, as far as is known.
    let value: Secret?
    /// nil if the remote store held the value when it was last seen.
    let pending: Pending?
    /// The version of the remote value when it was last seen; nil if the remote store doesn't number versions, or if it is unknown.
    var version: Int64?

    /// Describes what a value that the remote store may not hold yet is allowed to replace there. Older values are recorded as
    /// digests, so that replaced or cleared tokens are not kept.
    struct Pending: Sendable, Equatable {
        /// Digests of the values that may be replaced: the one that the remote store held when it was last seen, and those sent
        /// since, whatever the outcome.
        var superseded: Set<[UInt8]> = []
        /// Whether an absent value may be replaced. False once a value was sent: if it is absent then, another process may have cleared
        /// it.
        var supersedesNone: Bool
        /// Whether the remote value was ever seen.
        var isBaseKnown: Bool
        /// Whether the value was cleared since, perhaps before it was set again.
        var hasCleared: Bool
    }

    /// The next step for a pending value once the remote store can be reached.
    enum Step: Equatable {
        /// The remote store holds the value already.
        case upToDate
        /// Another process has changed the remote value meanwhile, which takes precedence.
        case overruled
        /// Save this copy locally first, since the outcome may stay unknown; then replace the remote value.
        case send(LayeredCopy)
    }

    static func seen(_ value: Secret?, version: Int64? = nil) -> LayeredCopy {
        LayeredCopy(value: value, pending: nil, version: version)
    }

    /// The copy for a value written while the remote store can't be reached.
    ///
    /// - Parameter copy: The previous copy; nil if the remote value was never seen.
    static func recording(_ value: Secret?, over copy: LayeredCopy?) -> LayeredCopy {
        var pending =
            copy?.pending
            ?? Pending(
                superseded: digests(copy?.value), supersedesNone: copy?.value == nil, isBaseKnown: copy != nil,
                hasCleared: false)
        if value == nil {
            pending.supersedesNone = true
            pending.hasCleared = true
        }
        return LayeredCopy(value: value, pending: pending, version: copy?.version)
    }

    /// The copy for a value that is about to be sent to a remote store that holds `held`.
    static func sending(_ value: Secret?, over held: Secret?, version: Int64? = nil) -> LayeredCopy {
        recording(value, over: seen(held, version: version)).sent(over: held)
    }

    /// Whether the remote store holds an older version than was seen there, as after a restore from a backup.
    func isNewer(than version: Int64?) -> Bool {
        guard let own = self.version, let version else { return false }
        return version < own
    }

    /// - Parameters:
    ///   - held: The remote value.
    ///   - version: Its version, if the remote store numbers them.
    func step(over held: Secret?, version: Int64? = nil) -> Step {
        guard held != value else { return .upToDate }
        if isNewer(than: version) {
            // The version that was seen is lost, and its number may be given to another value.
            var copy = pending == nil ? Self.recording(value, over: .seen(held)) : self
            copy.version = nil
            return .send(copy.sent(over: held))
        }
        guard let pending else { return .upToDate }
        return pending.supersedes(held) ? .send(sent(over: held)) : .overruled
    }

    private func sent(over held: Secret?) -> LayeredCopy {
        guard var pending else { return self }
        pending.superseded.formUnion(Self.digests(held))
        pending.superseded.formUnion(Self.digests(value))
        pending.supersedesNone = value == nil
        pending.isBaseKnown = true
        return LayeredCopy(value: value, pending: pending, version: version)
    }

    private static func digests(_ value: Secret?) -> Set<[UInt8]> {
        value.map { [$0.digest] } ?? []
    }
}

extension LayeredCopy.Pending {
    fileprivate func supersedes(_ held: Secret?) -> Bool {
        guard let held else { return supersedesNone }
        // A value that was cleared unseen is assumed to be the first one seen: an extra login is better than a cleared token that comes
        // back.
        return superseded.contains(held.digest) || !isBaseKnown && hasCleared
    }
}

extension Secret {
    fileprivate var digest: [UInt8] {
        var digest = [UInt8](repeating: 0, count: LayeredCopy.digestSize)
        let isDone = withUnsafeBytes { EVP_Digest($0.baseAddress, $0.count, &digest, nil, EVP_sha256(), nil) }
        precondition(isDone == 1, "OpenSSL has no SHA-256")
        return digest
    }
}
