/// The service of a provider that has only one. Requests without a route are sent to it.
public enum DefaultDomain: ServiceDomain {
    /// The only service.
    case `default`

    public var identifier: String { "default" }
}
