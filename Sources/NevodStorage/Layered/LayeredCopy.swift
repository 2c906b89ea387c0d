internal import COpenSSL
internal import NevodSupport

/// What a ``LayeredStorage`` keeps locally under a key: what the remote store held when it was last seen, or what it is yet to
/// hold, and in place of what. Decides, without I/O.
struct LayeredCopy: Sendable, Equatable {
    /// Nil: nothing is stored, as far as is known.
    let value: Secret?
    /// Nil: the remote store held it when it was last seen.
    let pending: Pending?

    /// Of a value that the remote store may not hold yet. Against whom it stands is told by digests: what was replaced or
    /// cleared is not kept.
    struct Pending: Sendable, Equatable {
        /// What the remote store may hold of ours: what it held when it was last seen, and what was sent since, whatever came
        /// of that.
        var superseded: Set<[UInt8]> = []
        /// Whether it may hold none by our doing. Not once a value was sent: if none is there then, somebody may have cleared it.
        var supersedesNone: Bool
        var isBaseKnown: Bool
        /// Whether it was cleared, though perhaps set again since.
        var hasCleared: Bool
    }

    /// What to do with a pending value once the remote store answers.
    enum Step: Equatable {
        /// It holds it already.
        case settled
        /// Somebody has changed it meanwhile, and that counts.
        case overruled
        /// Keep this locally first, since nobody may learn what comes of it; then replace what the remote store holds.
        case send(LayeredCopy)
    }

    static func seen(_ value: Secret?) -> LayeredCopy {
        LayeredCopy(value: value, pending: nil)
    }

    /// Written while the remote store is away.
    ///
    /// - Parameter copy: the one it replaces; nil: what the remote store holds was never seen.
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
        return LayeredCopy(value: value, pending: pending)
    }

    /// Sent to a remote store that holds `held`.
    static func sending(_ value: Secret?, over held: Secret?) -> LayeredCopy {
        recording(value, over: seen(held)).sent(over: held)
    }

    /// - Parameter held: by the remote store.
    func step(over held: Secret?) -> Step {
        guard let pending, held != value else { return .settled }
        return pending.supersedes(held) ? .send(sent(over: held)) : .overruled
    }

    private func sent(over held: Secret?) -> LayeredCopy {
        guard var pending else { return self }
        pending.superseded.formUnion(Self.digests(held))
        pending.superseded.formUnion(Self.digests(value))
        pending.supersedesNone = value == nil
        pending.isBaseKnown = true
        return LayeredCopy(value: value, pending: pending)
    }

    private static func digests(_ value: Secret?) -> Set<[UInt8]> {
        value.map { [$0.digest] } ?? []
    }
}

extension LayeredCopy.Pending {
    fileprivate func supersedes(_ held: Secret?) -> Bool {
        guard let held else { return supersedesNone }
        // What was cleared unseen is what is seen first: rather one login too many than a token that comes back.
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
