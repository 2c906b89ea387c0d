import Glibc

/// The path of a program that the build left beside the test binary.
package func helperProgram(_ name: String) throws -> String {
    var path = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &path, path.count)
    let folder = path.prefix(max(0, count)).map(UInt8.init(bitPattern:)).split(separator: UInt8(ascii: "/")).dropLast()
    let program = "/" + folder.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "/") + "/\(name)"
    guard access(program, X_OK) == 0 else {
        throw Command.Failure(description: "\(program) is missing; swift build makes it")
    }
    return program
}
