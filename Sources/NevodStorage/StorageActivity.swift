/// The work of a store while its changes are observed, such as watching a file, until this object is released.
package protocol StorageActivity: AnyObject, Sendable {
    /// Returns once every later change is reported.
    func begun() async
}

extension StorageActivity {
    package func begun() async {}
}

/// Passes changes of other stores on.
package final class StorageForwarding: StorageActivity {
    private let subscription: Task<[StorageChanges], Never>
    private let forwarding: Task<Void, Never>

    package init(_ sources: [@Sendable () async -> StorageChanges], to notify: @escaping @Sendable (StorageKey) -> Void) {
        let subscription = Task {
            var all: [StorageChanges] = []
            for source in sources { all.append(await source()) }
            return all
        }
        self.subscription = subscription
        forwarding = Task {
            await withTaskGroup(of: Void.self) { group in
                for changes in await subscription.value {
                    group.addTask { for await key in changes { notify(key) } }
                }
            }
        }
    }

    deinit {
        forwarding.cancel()
    }

    package func begun() async {
        _ = await subscription.value
    }
}
