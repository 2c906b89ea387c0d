/// A user was to be saved for a session that isn't stored: it was cleared, was refused by the server, or another one was saved in
/// its place.
public struct NoSessionError: Error, Sendable, Hashable, CustomStringConvertible {
    public var description: String {
        "the user was not saved: the session is not stored any more; save its tokens first, or log in again"
    }
}
