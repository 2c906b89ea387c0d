import Foundation
package import Glibc

/// A folder of mode 0700, removed with this object.
package final class TemporaryFolder: Sendable {
    package let path: String

    package init() throws {
        var template = Array("/tmp/nevod-tests-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Command.Failure(description: "no temporary folder") }
        path = String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// Writes a file and returns its path.
    @discardableResult
    package func write(_ name: String, _ bytes: some Sequence<UInt8>, mode: mode_t = 0o600) throws -> String {
        let path = "\(path)/\(name)"
        let file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode)
        guard file >= 0 else { throw Command.Failure(description: "can't write \(path)") }
        defer { close(file) }
        let bytes = Array(bytes)
        guard Glibc.write(file, bytes, bytes.count) == bytes.count, fchmod(file, mode) == 0 else {
            throw Command.Failure(description: "can't write \(path)")
        }
        return path
    }

    @discardableResult
    package func write(_ name: String, _ text: String = "", mode: mode_t = 0o600) throws -> String {
        try write(name, text.utf8, mode: mode)
    }

    package func makeFolder(_ name: String, mode: mode_t = 0o700) -> String {
        let path = "\(path)/\(name)"
        mkdir(path, mode)
        chmod(path, mode)  // Regardless of the umask.
        return path
    }
}

package func contents(of path: String) throws -> [UInt8] {
    let file = open(path, O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { throw Command.Failure(description: "can't read \(path)") }
    defer { close(file) }
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while case let count = read(file, &buffer, buffer.count), count > 0 { bytes += buffer[..<count] }
    return bytes
}

/// The repository's own folder.
package let repository = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
