/// Why a store could not be read or written. Names the file or the key and the way out; never holds a value.
public struct StorageError: Error, Sendable, Equatable {
    /// What kind of failure it is, for a program to act on.
    public enum Code: Sendable {
        /// The system refuses, or others could read or change what is stored.
        case permissions
        /// What is stored can't be reached: a folder is missing, a device fails, a keychain is locked.
        case unavailable
        /// There is no room for the value. The old one is still there.
        case full
        /// What is there was not written by this store.
        case damaged
        /// The value is longer than the store takes.
        case tooLarge
        /// Another process has kept the store to itself for too long.
        case busy
        /// None of these; ``StorageError/problem`` says what.
        case other
    }

    /// What kind of failure it is; ``problem`` says more, to a person.
    public let code: Code
    /// A path, or the name of a key.
    public let subject: String
    /// What is wrong, to be read behind the subject.
    public let problem: String
    /// What to do about it.
    public let remedy: String?
    /// `errno`, or the number that the underlying library gave (an `OSStatus`).
    public let systemCode: Int32?

    /// For stores of your own.
    public init(_ code: Code, _ subject: String, problem: String, remedy: String? = nil, systemCode: Int32? = nil) {
        self.code = code
        self.subject = subject
        self.problem = problem
        self.remedy = remedy
        self.systemCode = systemCode
    }
}

extension StorageError: CustomStringConvertible {
    public var description: String {
        "\(subject): \(problem)" + (remedy.map { "; \($0)" } ?? "")
    }
}
