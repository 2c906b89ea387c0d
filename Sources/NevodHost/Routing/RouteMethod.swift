/// A request method as a type, so that one route serves under several names.
public protocol RouteMethod: Sendable {
    /// The method of every route that is named after the type.
    static var method: HTTPMethod { get }
}

/// The methods that routes are named after.
public enum RouteMethods {
    /// GET (RFC 9110 §9.3.1).
    public enum Get: RouteMethod {
        public static var method: HTTPMethod { .get }
    }

    /// POST (RFC 9110 §9.3.3).
    public enum Post: RouteMethod {
        public static var method: HTTPMethod { .post }
    }

    /// PUT (RFC 9110 §9.3.4).
    public enum Put: RouteMethod {
        public static var method: HTTPMethod { .put }
    }

    /// PATCH (RFC 5789).
    public enum Patch: RouteMethod {
        public static var method: HTTPMethod { .patch }
    }

    /// DELETE (RFC 9110 §9.3.5).
    public enum Delete: RouteMethod {
        public static var method: HTTPMethod { .delete }
    }
}
