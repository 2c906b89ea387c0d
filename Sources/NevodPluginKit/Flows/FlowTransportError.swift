internal import NevodPluginABI

/// A flow's request got no response, or a redirect URI can't be opened.
public struct FlowTransportError: Error, Sendable, CustomStringConvertible {
    /// Whether a retry may help.
    public enum Kind: Sendable {
        /// A timeout, a refused or broken connection, an unknown host: a retry may help.
        case transient
        /// A failed TLS verification, a malformed response: a retry doesn't help.
        case permanent
        /// The response exceeded the host's limit.
        case tooLarge
    }

    /// Whether a retry may help.
    public let kind: Kind
    /// The host's message. Safe to show.
    public let message: String
    public var description: String { message }

    init(_ event: nevod_event) {
        kind =
            switch Int(event.transport_error) {
            case NEVOD_TRANSPORT_TRANSIENT: .transient
            case NEVOD_TRANSPORT_TOO_LARGE: .tooLarge
            default: .permanent
            }
        message = event.message.string
    }
}
