// Not built on Linux, which has no SwiftUI; a test checks the syntax of this file, and nothing has ever run it.
#if canImport(SwiftUI)
    public import SwiftUI

    /// Reads the ``AuthState`` from a view's environment.
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

        /// Creates the property. The environment must have a state with the same type of user.
        public init() {}

        /// The state.
        public var wrappedValue: AuthState<User> { state }
        /// Bindings to the state's properties.
        public var projectedValue: Bindable<AuthState<User>> { Bindable(state) }
    }

    extension View {
        /// Restores the session when the view appears. Renews its tokens, if they need it, when the app returns to the
        /// foreground.
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

// Not built on Linux, which has no Combine; a test checks the syntax of this file, and nothing has ever run it.
#if canImport(Combine)
    public import Combine

    extension AuthState {
        /// The status now, and after each change, on the main actor. For one subscriber; a second one needs another publisher.
        public var statusPublisher: AnyPublisher<AuthStatus<User>, Never> {
            let (subject, changes) = (CurrentValueSubject<AuthStatus<User>, Never>(status), changes)
            let task = Task { @MainActor in
                for await status in changes.dropFirst() { subject.send(status) }
                subject.send(completion: .finished)
            }
            return subject.handleEvents(receiveCancel: { task.cancel() }).eraseToAnyPublisher()
        }

        /// Whether a session is stored, now and after each change.
        public var isLoggedInPublisher: AnyPublisher<Bool, Never> {
            statusPublisher.map(\.isLoggedIn).removeDuplicates().eraseToAnyPublisher()
        }

        /// The user, now and after each change; nil if not logged in.
        public var userPublisher: AnyPublisher<User?, Never> {
            statusPublisher.map(\.user).eraseToAnyPublisher()
        }
    }
#endif
