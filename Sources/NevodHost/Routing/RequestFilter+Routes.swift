extension RequestFilter {
    /// Selects requests made from a route of any of these types.
    public static func routes(_ types: any Route.Type...) -> RequestFilter {
        .route { route in types.contains { route.hasType($0) } }
    }
}
