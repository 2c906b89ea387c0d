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
