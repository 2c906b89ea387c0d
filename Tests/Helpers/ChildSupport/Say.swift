import Glibc

/// Prints a line immediately, however standard output is buffered.
package func say(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    _ = write(1, bytes, bytes.count)
}
