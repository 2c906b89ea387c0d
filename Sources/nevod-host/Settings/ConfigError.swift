/// The config file can't be used.
struct ConfigError: Error, Equatable, CustomStringConvertible {
    let path: String
    /// From 1; nil for the file as a whole.
    let line: Int?
    let problem: String

    init(_ path: String, _ line: Int?, _ problem: String) {
        self.path = path
        self.line = line
        self.problem = problem
    }

    var description: String { "\(path)\(line.map { ":\($0)" } ?? ""): \(problem)" }
}
