internal import NevodSupport

extension HTTPRequest {
    /// What a reference in the answer to this request means (RFC 3986 §5.2).
    func resolving(_ reference: String) -> String {
        URLReference(reference).resolved(against: origin.description, target)
    }
}
