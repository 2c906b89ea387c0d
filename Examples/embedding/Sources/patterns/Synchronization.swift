import NevodSessions

/// Shows what any process does with the session, until the task is cancelled.
func follow(_ storage: SessionStorage<Member>, show: @escaping @Sendable (String) -> Void) async {
    async let tokens: Void = {
        for await tokens in storage.tokens.storage.changes { show(tokens == nil ? "no tokens" : "tokens") }
    }()
    for await end in storage.tokens.ends { show("ended: \(end.reason)") }
    await tokens
}
