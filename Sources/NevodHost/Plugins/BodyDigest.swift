internal import COpenSSL
internal import NevodSupport

/// A digest that a scheme may ask for, by its name in the RFC 9530 registry.
enum DigestAlgorithm: String, CaseIterable, Sendable {
    case sha256 = "sha-256"
    case sha384 = "sha-384"
    case sha512 = "sha-512"

    static let largestSize = 64

    var name: StaticString {
        switch self {
        case .sha256: "sha-256"
        case .sha384: "sha-384"
        case .sha512: "sha-512"
        }
    }

    var size: Int {
        switch self {
        case .sha256: 32
        case .sha384: 48
        case .sha512: 64
        }
    }

    /// Fetched once, because a fetch costs more than the digest of a short body.
    fileprivate var method: OpaquePointer? {
        switch self {
        case .sha256: Self.methods[0]
        case .sha384: Self.methods[1]
        case .sha512: Self.methods[2]
        }
    }

    // Immutable and never freed.
    private nonisolated(unsafe) static let methods = [
        EVP_MD_fetch(nil, "SHA256", nil), EVP_MD_fetch(nil, "SHA384", nil), EVP_MD_fetch(nil, "SHA512", nil),
    ]
}

/// A digest that is being computed. Its OpenSSL context is reused afterwards, since a new one costs several allocations.
struct BodyDigest: ~Copyable {
    private let algorithm: DigestAlgorithm
    private let context: OpaquePointer

    /// A context in the list has no other owner: ``init(_:)`` removes it before use.
    private struct Idle: @unchecked Sendable {
        let context: OpaquePointer
    }
    private static let idle = Locked<[Idle]>([])

    init?(_ algorithm: DigestAlgorithm) {
        guard let context = Self.idle.withLock({ $0.popLast()?.context }) ?? EVP_MD_CTX_new() else { return nil }
        guard EVP_DigestInit_ex2(context, algorithm.method, nil) == 1 else {
            EVP_MD_CTX_free(context)
            return nil
        }
        self.algorithm = algorithm
        self.context = context
    }

    deinit {
        let spent = Idle(context: context)
        Self.idle.withLock { $0.append(spent) }
    }

    func update(_ bytes: UnsafeBufferPointer<UInt8>) -> Bool {
        EVP_DigestUpdate(context, bytes.baseAddress, bytes.count) == 1
    }

    /// - Returns: false if OpenSSL fails, or the output is shorter than the algorithm's size.
    func finish(into output: UnsafeMutableBufferPointer<UInt8>) -> Bool {
        guard output.count >= algorithm.size else { return false }
        var count: UInt32 = 0
        return EVP_DigestFinal_ex(context, output.baseAddress, &count) == 1 && Int(count) == algorithm.size
    }
}

/// The digests of a streamed body, computed by reading it once before it is sent.
struct StreamDigests: Sendable {
    private(set) var values: [(algorithm: DigestAlgorithm, value: [UInt8])] = []

    init(of stream: HTTPBodyStream, _ algorithms: [DigestAlgorithm]) async throws {
        let digests = algorithms.compactMap { algorithm in SharedDigest(algorithm).map { (algorithm, $0) } }
        let reader = try stream.openUnreported()
        while case let piece = try await reader.read(upTo: 256 << 10), !piece.isEmpty {
            for (_, digest) in digests { digest.update(piece) }
        }
        values = digests.compactMap { algorithm, digest in digest.finish().map { (algorithm, $0) } }
    }
}

/// A ``BodyDigest`` that can be stored in an array.
final class SharedDigest {
    private let digest: BodyDigest
    private let size: Int
    private var isSound = true

    init?(_ algorithm: DigestAlgorithm) {
        guard let digest = BodyDigest(algorithm) else { return nil }
        self.digest = digest
        size = algorithm.size
    }

    func update(_ bytes: [UInt8]) {
        isSound = bytes.withUnsafeBufferPointer { digest.update($0) } && isSound
    }

    func finish() -> [UInt8]? {
        var value = [UInt8](repeating: 0, count: size)
        return isSound && value.withUnsafeMutableBufferPointer { digest.finish(into: $0) } ? value : nil
    }
}

/// The digests of a response's body, computed while it is read.
final class ResponseDigests: Sendable {
    private struct State {
        var running: [(algorithm: DigestAlgorithm, digest: SharedDigest)]
        var values: [(algorithm: DigestAlgorithm, value: [UInt8])] = []
    }

    private let state: Locked<State>

    init(_ algorithms: [DigestAlgorithm]) {
        state = Locked(State(running: algorithms.compactMap { algorithm in SharedDigest(algorithm).map { (algorithm, $0) } }))
    }

    /// Adds the next piece of the body; nil at its end.
    func add(_ piece: [UInt8]?) {
        state.withLock { state in
            if let piece {
                for (_, digest) in state.running { digest.update(piece) }
            } else if !state.running.isEmpty {
                // A caller may read on after the end of a stream.
                let running = state.running
                state.running = []
                state.values = running.compactMap { algorithm, digest in digest.finish().map { (algorithm, $0) } }
            }
        }
    }

    /// The digests; empty before the end of the body.
    var values: [(algorithm: DigestAlgorithm, value: [UInt8])] { state.withLock { $0.values } }
}
