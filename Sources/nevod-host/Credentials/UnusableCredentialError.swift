/// Reports a credential that can't be given to another program in the form that it needs.
struct UnusableCredentialError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}
