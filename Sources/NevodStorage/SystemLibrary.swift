internal import Glibc

/// A library of the system's that is loaded when it is first used: a program that doesn't use it starts sooner, and needs none.
package struct SystemLibrary: Sendable {
    private let name: String
    private let remedy: String

    /// - Parameters:
    ///   - name: the file's, with the number of its ABI (`libpq.so.5`).
    ///   - package: Debian's, which brings it.
    ///   - version: the first that has everything that is called.
    package init(_ name: String, package: String, version: String) {
        self.name = name
        remedy = "install version \(version) or later, with: apt install \(package)"
    }

    /// Loads it if it isn't, and for good: its threads' state and its types can't be taken back.
    ///
    /// - Parameters:
    ///   - functions: a table, empty.
    ///   - find: fills it in; what it returns is the name of what the library lacks.
    /// - Returns: the table, full.
    /// - Throws: `StorageError` of code `unavailable`, with the package to install.
    package func load<Functions>(
        _ functions: Functions, _ find: (UnsafeMutableRawPointer?, UnsafeMutablePointer<Functions>?) -> UnsafePointer<CChar>?
    ) throws(StorageError) -> Functions {
        guard let library = dlopen(name, RTLD_NOW | RTLD_LOCAL) else {
            let reason = dlerror().map { String(cString: $0) } ?? "no reason is given"
            throw StorageError(.unavailable, name, problem: "can't be loaded: \(reason)", remedy: remedy)
        }
        var functions = functions
        if let missing = find(library, &functions) {
            throw StorageError(.unavailable, name, problem: "has no \(String(cString: missing))", remedy: remedy)
        }
        return functions
    }
}
