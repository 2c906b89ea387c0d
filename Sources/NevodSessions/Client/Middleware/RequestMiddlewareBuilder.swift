/// Builds the middleware of a request from its parts, with `if`, `switch` and `for`.
@resultBuilder
public enum RequestMiddlewareBuilder {
    /// One part.
    public static func buildExpression(_ part: RequestMiddleware) -> [RequestMiddleware] { [part] }
    /// Several parts, in their order.
    public static func buildBlock(_ parts: [RequestMiddleware]...) -> [RequestMiddleware] { parts.flatMap(\.self) }
    /// An `if` without `else`.
    public static func buildOptional(_ part: [RequestMiddleware]?) -> [RequestMiddleware] { part ?? [] }
    /// The first branch of an `if` or a `switch`.
    public static func buildEither(first part: [RequestMiddleware]) -> [RequestMiddleware] { part }
    /// Any other branch.
    public static func buildEither(second part: [RequestMiddleware]) -> [RequestMiddleware] { part }
    /// A `for`.
    public static func buildArray(_ parts: [[RequestMiddleware]]) -> [RequestMiddleware] { parts.flatMap(\.self) }
    /// An `if #available`.
    public static func buildLimitedAvailability(_ part: [RequestMiddleware]) -> [RequestMiddleware] { part }

    /// No middleware.
    public static func none() -> [RequestMiddleware] { [] }
}
