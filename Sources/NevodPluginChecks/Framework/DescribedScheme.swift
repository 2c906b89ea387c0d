/// A scheme of a plugin, as the child process that loaded it tells.
package struct DescribedScheme: Sendable, Equatable {
    package struct Setting: Sendable, Equatable {
        package let name: String
        package let isSecret: Bool
    }

    package let id: String
    package let settings: [Setting]
}
