internal import NevodPluginABI

/// The reason why a flow's request got no response, or a redirect URI can't be opened: ``SchemeError/transportFailure``.
public enum TransportFailure: Sendable {
    /// A timeout, a refused or broken connection, an unknown host: a retry may help.
    case transient
    /// A failed TLS verification, a malformed response: a retry doesn't help.
    case permanent
    /// The response exceeded the host's limit.
    case tooLarge

    init(_ number: Int32) {
        self =
            switch Int(number) {
            case NEVOD_TRANSPORT_TRANSIENT: .transient
            case NEVOD_TRANSPORT_TOO_LARGE: .tooLarge
            default: .permanent
            }
    }
}
