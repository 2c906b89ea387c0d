/// Reports a config file that can't be used.
struct ConfigError: Error, Equatable, CustomStringConvertible {
    let path: String
    /// The line's number from 1; nil for the file as a whole.
    let line: Int?
    let problem: String

    init(_ path: String, _ line: Int?, _ problem: String) {
        self.path = path
        self.line = line
        self.problem = problem
    }

    var description: String { "\(path)\(line.map { ":\($0)" } ?? ""): \(problem)" }
}
