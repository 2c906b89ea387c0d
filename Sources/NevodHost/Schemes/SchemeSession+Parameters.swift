internal import NevodSupport

// A token for each set of parameters (see ``SchemeParameters``), under the session's key, a question mark and the set.
extension SchemeSession {
    /// The stored token for requests with these parameters, and its changes. Without parameters, or if each has its default, the
    /// same as ``tokenStorage``.
    ///
    /// - Throws: ``PluginError`` for parameters that the scheme doesn't accept.
    public func tokenStorage(for parameters: SchemeParameters) throws -> TokenStorage<PluginToken> {
        try session(for: parameters).tokenStorage
    }

    /// Obtains a token for requests with these parameters, and stores it in place of any earlier one for them.
    ///
    /// - Throws: as ``login()``; ``PluginError`` for parameters that the scheme doesn't accept.
    public func login(parameters: SchemeParameters) async throws {
        try await session(for: parameters).login()
    }

    func session(for parameters: SchemeParameters) throws -> SchemeSession {
        try instance.scheme.checkNames(of: parameters)
        return session(for: try instance.parameterSet(of: parameters))
    }

    /// Returns this session for the default set.
    func session(for set: ParameterSet?) -> SchemeSession {
        guard let set, !set.isDefault, let sessions else { return self }
        return sessions.session(set) { with(set) }
    }

    /// The storage of a set's token, which lists the set before it stores the token.
    static func storage(
        of set: ParameterSet, _ storage: AnyKeyValueStorage, key: StorageKey, _ index: ParameterSetIndex
    ) -> TokenStorage<PluginToken> {
        let canonical = set.canonical
        // Again after the write: a logout may have removed the set in between, since there was no token yet.
        let listing = storage.notingWrites {
            try await index.add(canonical) { dropped in
                try await storage.write(Self.key(key, forSet: ParameterSet([], canonical: dropped)), nil)
            }
        }
        return TokenStorage(sharing: listing, key: Self.key(key, forSet: set))
    }

    static func key(_ key: StorageKey, forSet set: ParameterSet) -> StorageKey {
        StorageKey(value: "\(key.rawValue)?\(set.keySuffix)")
    }

    /// Takes the sets off the list that have no token any more.
    func forget(_ sets: [ParameterSet]) async throws {
        var gone: [String] = []
        for set in sets where try await tokenIsGone(set) { gone.append(set.canonical) }
        try await index.remove(gone)
    }

    private func tokenIsGone(_ set: ParameterSet) async throws -> Bool {
        try await store.read(Self.key(key, forSet: set)) == nil
    }

    /// The sets that have stored tokens. One that the scheme no longer accepts has no values: its token can still be revoked.
    func storedSets() async throws -> [ParameterSet] {
        try await index.sets().map { canonical in
            instance.scheme.parameterSet(canonical: canonical) ?? ParameterSet([], canonical: canonical)
        }
    }
}
