internal import NevodSupport

extension HTTPRequest {
    /// Resolves a reference in the response to this request (RFC 3986 §5.2).
    func resolving(_ reference: String) -> String {
        URLReference(reference).resolved(against: origin.description, target)
    }
}
