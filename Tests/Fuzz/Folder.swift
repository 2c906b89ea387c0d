import Glibc

/// A folder for the files of this process, in the script's, which removes it.
enum Folder {
    static let path: String = {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var path = Array("\(parent)/nevod-fuzz-XXXXXX".utf8CString)
        expect(mkdtemp(&path) != nil, "a folder can be made in \(parent)")
        return String(decoding: path.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }()
}
