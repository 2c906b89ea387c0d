internal import Glibc

/// A system library that is loaded on first use. A program that doesn't use it starts faster, and runs without it.
package struct SystemLibrary: Sendable {
    private let name: String
    private let remedy: String

    /// - Parameters:
    ///   - name: The file name, with the ABI number (`libpq.so.5`).
    ///   - package: The Debian package.
    ///   - version: The first version with every function that is used.
    package init(_ name: String, package: String, version: String) {
        self.name = name
        remedy = "install version \(version) or later, with: apt install \(package)"
    }

    /// Loads the library, which is never unloaded: thread state and registered types can't be removed.
    ///
    /// - Parameters:
    ///   - functions: An empty function table.
    ///   - find: Fills in the table, and returns the name of a function that the library lacks.
    /// - Returns: the filled table.
    /// - Throws: `StorageError` of code `unavailable`, naming the package to install.
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
