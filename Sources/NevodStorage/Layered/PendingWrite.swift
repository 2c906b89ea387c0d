internal import NevodSupport

/// Says what a value may replace in the remote store, if it was written while that store couldn't be reached. Older values are
/// recorded as digests, so that replaced or cleared tokens are not kept.
struct PendingWrite: Sendable, Equatable {
    /// Digests of the values that may be replaced: the value that the remote store held when it was last seen, and the values
    /// that were sent after that, whatever the outcome.
    var superseded: Set<[UInt8]> = []
    /// Whether an absent value may be replaced. False once a value was sent: if it is absent afterwards, another process may have
    /// cleared it.
    var supersedesNone: Bool
    /// Whether the remote value was ever seen.
    var isBaseKnown: Bool
    /// Whether the value was cleared meanwhile, perhaps before it was set again.
    var hasCleared: Bool

    /// Whether the value that the remote store holds now may be replaced. If not, somebody else has logged in or out there
    /// meanwhile, and the pending value is dropped.
    func supersedes(_ held: Secret?) -> Bool {
        guard let held else { return supersedesNone }
        // If the value was cleared before any remote value was seen, assume that the clearing meant this one: an extra login is
        // better than a cleared token that comes back.
        return superseded.contains(held.digest) || !isBaseKnown && hasCleared
    }
}

/// Which of two values wins once the remote store can be reached: the one that was written here meanwhile, or the remote one.
extension LayeredCopy {
    /// The next step for a pending value once the remote store can be reached.
    enum Step: Equatable {
        /// The remote store holds the value already.
        case upToDate
        /// Another process has changed the remote value meanwhile, and the remote value takes precedence.
        case overruled
        /// Save this copy locally first, since the outcome may stay unknown; then replace the remote value.
        case send(LayeredCopy)
    }

    /// The copy for a value written while the remote store can't be reached.
    ///
    /// - Parameter copy: The previous copy; nil if the remote value was never seen.
    static func recording(_ value: Secret?, over copy: LayeredCopy?) -> LayeredCopy {
        var pending =
            copy?.pending
            ?? PendingWrite(
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

    /// - Parameters:
    ///   - held: The remote value.
    ///   - version: Its version, if the remote store numbers them.
    func step(over held: Secret?, version: Int64? = nil) -> Step {
        guard held != value else { return .upToDate }
        if isNewer(than: version) {
            // The version that was seen is lost, and another value may later get the same number.
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

extension Secret {
    fileprivate var digest: [UInt8] { withUnsafeBytes { SHA256.digest(of: $0) } }
}
