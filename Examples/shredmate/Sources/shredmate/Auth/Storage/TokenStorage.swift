import NevodSessions

/// The tokens and the user of a session. (The library's type of this name keeps one token; a module's own name takes precedence.)
typealias TokenStorage = SessionStorage<User>
