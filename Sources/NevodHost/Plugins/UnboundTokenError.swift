/// A token from storage was used before it was bound to a scheme.
public struct UnboundTokenError: Error, CustomStringConvertible {
    public var description: String {
        "a token from storage must be bound to its scheme before use; pass it to SchemeInstance.token(_:)"
    }
}

@available(*, deprecated, renamed: "UnboundTokenError")
public typealias UnboundToken = UnboundTokenError
