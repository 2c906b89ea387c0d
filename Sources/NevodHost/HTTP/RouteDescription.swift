/// The route that a request was made from. Interceptors and policies can base decisions on it, without knowing host names.
///
/// Kept across attempts and redirects. Made once for each request, and shared by its copies.
public struct RouteDescription: Sendable {
    private final class Storage: Sendable {
        let domain: String
        let domainType: any SendableMetatype.Type
        let endpoint: String
        let template: String?
        let method: HTTPMethod
        let auth: AuthRequirement
        let type: any SendableMetatype.Type

        init(
            _ domain: String, _ domainType: any SendableMetatype.Type, _ endpoint: String, _ template: String?,
            _ method: HTTPMethod, _ auth: AuthRequirement, _ type: any SendableMetatype.Type
        ) {
            self.domain = domain
            self.domainType = domainType
            self.endpoint = endpoint
            self.template = template
            self.method = method
            self.auth = auth
            self.type = type
        }
    }

    // A reference, so that it adds little to the cost of copying a request.
    private let storage: Storage

    package init(
        domain: String, of domainType: any SendableMetatype.Type, endpoint: String, template: String? = nil,
        method: HTTPMethod, auth: AuthRequirement, type: any SendableMetatype.Type
    ) {
        storage = Storage(domain, domainType, endpoint, template, method, auth, type)
    }

    /// The identifier of the service that the route is sent to. Services of different types may share one; see
    /// ``RouteDescription/isOf(_:)``.
    public var domain: String { storage.domain }
    /// The path below the service's own path, as the route gives it. It includes the query, which may contain secrets.
    public var endpoint: String { storage.endpoint }
    /// The path without values, as the route's ``Route/endpointTemplate`` gives it; nil if it gives none.
    public var template: String? { storage.template }
    /// The route's method. After a redirect, the request's own may differ (RFC 9110 §15.4).
    public var method: HTTPMethod { storage.method }
    /// The credential that the route needs.
    public var auth: AuthRequirement { storage.auth }
    /// The name of the route's type, for errors and logs.
    public var typeName: String { "\(storage.type)" }

    /// Whether the service is of this type.
    func hasDomain(of type: any SendableMetatype.Type) -> Bool { ObjectIdentifier(storage.domainType) == ObjectIdentifier(type) }
    /// Whether the route is of this type.
    func hasType(_ type: any SendableMetatype.Type) -> Bool { ObjectIdentifier(storage.type) == ObjectIdentifier(type) }

    /// Whether both describe the same request.
    static func isSame(_ one: RouteDescription?, _ other: RouteDescription?) -> Bool { one?.storage === other?.storage }
}

extension RouteDescription: CustomStringConvertible {
    /// The method, the path without its query, the type and the domain.
    public var description: String {
        "\(method) \(endpoint.prefix { $0 != "?" }) (\(typeName), domain \"\(domain)\")"
    }
}

extension RouteDescription: CustomDebugStringConvertible, CustomReflectable {
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
