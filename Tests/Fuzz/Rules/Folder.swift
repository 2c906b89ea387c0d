import Glibc

/// A folder for the files of this process. scripts/fuzz and the tests remove it.
enum Folder {
    static let path: String = {
        // In memory where possible: two fuzzers make a store for each input.
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? (access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp")
        var path = Array("\(parent)/nevod-fuzz-XXXXXX".utf8CString)
        expect(mkdtemp(&path) != nil, "a folder can be made in \(parent)")
        return String(decoding: path.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }()
}
