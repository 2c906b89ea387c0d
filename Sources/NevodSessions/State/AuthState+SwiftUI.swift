// Not built on Linux, which has no SwiftUI; a test checks the syntax of this file, and nothing has ever run it.
#if canImport(SwiftUI)
    public import SwiftUI

    /// Reads the ``AuthState`` that a view's environment has.
    ///
    /// ```swift
    /// struct ContentView: View {
    ///     @CurrentAuth<User> private var auth
    ///
    ///     var body: some View {
    ///         if auth.isLoggedIn { HomeView() } else { LoginView() }
    ///     }
    /// }
    ///
    /// ContentView().environment(state).renewsAuth(state)
    /// ```
    @MainActor @propertyWrapper
    public struct CurrentAuth<User: Codable & Sendable>: DynamicProperty {
        @Environment(AuthState<User>.self) private var state

        /// Creates the property; the environment must have a state of the same user.
        public init() {}

        /// The state.
        public var wrappedValue: AuthState<User> { state }
        /// Bindings to the state's properties.
        public var projectedValue: Bindable<AuthState<User>> { Bindable(state) }
    }

    extension View {
        /// Restores the session when the view appears, and renews its tokens when the app returns to the foreground and they need it.
        public func renewsAuth<User: Codable & Sendable>(_ state: AuthState<User>) -> some View {
            modifier(AuthRenewal(state: state))
        }
    }

    private struct AuthRenewal<User: Codable & Sendable>: ViewModifier {
        let state: AuthState<User>
        @Environment(\.scenePhase) private var phase

        func body(content: Content) -> some View {
            content
                .task { await state.restoreSession() }
                .onChange(of: phase) {
                    guard phase == .active else { return }
                    Task { await state.refreshIfNeeded() }
                }
        }
    }
#endif
