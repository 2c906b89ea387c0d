/// The service of a provider that has only one: the requests without a route go there.
public enum DefaultDomain: ServiceDomain {
    /// The one service.
    case `default`

    public var identifier: String { "default" }
}
