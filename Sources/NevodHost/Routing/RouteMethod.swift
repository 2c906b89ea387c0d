/// A request method as a type, so that one route serves under several names.
public protocol RouteMethod: Sendable {
    static var method: HTTPMethod { get }
}

/// The methods that routes are named after.
public enum RouteMethods {
    public enum Get: RouteMethod {
        public static var method: HTTPMethod { .get }
    }

    public enum Post: RouteMethod {
        public static var method: HTTPMethod { .post }
    }

    public enum Put: RouteMethod {
        public static var method: HTTPMethod { .put }
    }

    public enum Patch: RouteMethod {
        public static var method: HTTPMethod { .patch }
    }

    public enum Delete: RouteMethod {
        public static var method: HTTPMethod { .delete }
    }
}
