/// Reports a recording that can't be read or replayed.
struct RecordingFileError: Error, CustomStringConvertible {
    let description: String

    init(_ file: String, _ problem: some CustomStringConvertible) {
        description = "\(file) can't be replayed: \(problem)"
    }
}
