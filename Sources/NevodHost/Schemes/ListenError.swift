/// A redirect URI can't be opened.
struct ListenError: Error, CustomStringConvertible {
    /// Whether a retry may succeed, because another program may release the port.
    let isTransient: Bool
    let description: String
}
