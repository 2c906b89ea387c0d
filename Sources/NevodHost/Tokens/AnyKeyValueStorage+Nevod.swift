internal import NevodSupport

extension AnyKeyValueStorage {
    /// Returns the same storage, in which `key` also has a token that Nevod stored under its default key for every type of token.
    /// A value in the format of one of Nevod's own types is a token of that type only, however tolerant another type's `decode`
    /// is: a credential of one service must not be sent to another.
    func adoptingNevods<Token: TokenModel>(_ type: Token.Type, as key: StorageKey) -> AnyKeyValueStorage {
        adopting("com.nevod.token", as: key) { value in
            let bytes = value.copied(as: [UInt8].self)
            let own = Token.self as? any NevodToken.Type
            if let stored = StoredByNevod(bytes) { return own?.isFormat(stored) == true }
            // Nevod stored its own types in no other format.
            return own == nil && (try? Token.decode(from: Token.Encoded(bytes))) != nil
        }
    }
}
