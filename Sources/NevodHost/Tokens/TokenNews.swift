/// The news for the readers of a storage after a change.
struct TokenNews<Token: TokenModel>: Sendable {
    /// The token that is now stored, for readers of the changes; nil if there is nothing new for them.
    let change: Token??
    /// For readers of the events.
    let event: TokenEvent<Token>?
}

/// Why a token is written.
enum TokenWriteCause: Sendable {
    /// A login or logout by the program.
    case program
    /// The server has issued the token.
    case renewal
    /// The server has refused to renew the stored token, for this reason.
    case refusal(any Error)

    var refusal: (any Error)? {
        if case .refusal(let error) = self { error } else { nil }
    }

    /// - Parameters:
    ///   - token: the token that is now stored; nil if it was cleared.
    ///   - hadToken: whether one was stored before, as far as this process knows.
    func event<Token: TokenModel>(for token: Token?, hadToken: Bool) -> TokenEvent<Token>? {
        switch (token, self) {
        case (let token?, .program): .saved(token)
        case (let token?, _): .renewed(token)
        case (nil, _) where !hadToken: nil
        case (nil, .refusal(let error)): .refused(error)
        case (nil, _): .cleared
        }
    }
}
