internal import NevodJWT
internal import NevodSupport

/// A provider whose renewed tokens are verified before they are stored.
///
/// ```swift
/// let tokenProvider = VerifyingTokenProvider(DefaultTokenProvider(tokenStorage: storage, baseURL: baseURL), validator: validator)
/// ```
///
/// If new tokens fail verification, the renewal fails, the old tokens are kept, and the session goes on. New tokens that may pass
/// later, because a key was missing or a clock was wrong, are kept in memory and verified again at the next renewal: a server
/// that rotates refresh tokens would not issue them twice. If they have expired by then, they are renewed themselves.
public struct VerifyingTokenProvider<Base: TokenProvider>: TokenProvider {
    private let base: Base
    private let validator: TokenValidator

    public var tokens: SessionTokens { base.tokens }

    /// - Parameters:
    ///   - base: renews the tokens.
    ///   - validator: has the rules and the keys. Its introspection is not used.
    public init(_ base: Base, validator: TokenValidator) {
        self.base = base
        self.validator = validator
    }

    public func refresh(_ tokens: AuthTokens) async throws -> AuthTokens {
        try await validator.prepare()
        let unverified = self.tokens.values.unverified.withLock { $0 }
        guard let unverified, unverified.old == tokens else { return try await verified(base.refresh(tokens), of: tokens) }
        do { return try await verified(unverified.new, of: tokens) } catch let error as JWTError where error.code == .expired {
            // The server now expects this refresh token instead of the stored one.
            return try await verified(base.refresh(unverified.new), of: tokens)
        }
    }

    private func verified(_ new: AuthTokens, of old: AuthTokens) async throws -> AuthTokens {
        do { try await validator.verifyNew(new.accessToken) } catch {
            let keeps = Self.mayPassLater(error)
            tokens.values.unverified.withLock { $0 = keeps ? UnverifiedTokens(old: old, new: new) : nil }
            throw error
        }
        tokens.values.unverified.withLock { $0 = nil }
        return new
    }

    /// Whether the tokens themselves may be good: keys are missing, or a clock is wrong.
    private static func mayPassLater(_ error: any Error) -> Bool {
        guard let error = error as? JWTError else { return true }
        return [.noKey, .notYetValid, .expired].contains(error.code)
    }
}
