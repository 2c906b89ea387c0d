/// The methods of the ready-made routes.
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
