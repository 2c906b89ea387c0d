import NevodHost
import NevodSupport

/// The files and lines that the values of settings come from, for errors about the values.
struct SettingPlaces {
    enum Place {
        case file(String)
        /// A line of a preset's file.
        case preset(String, line: Int)
        /// Typed, or in a source without lines to look at.
        case other
    }

    /// The key is the setting. The order is the one in which the scheme receives the values.
    private var places: [String: [(place: Place, lines: Int)]] = [:]

    /// - Parameter lines: the number of the value's lines.
    mutating func add(_ name: String, _ place: Place, lines: Int = 1) {
        places[name, default: []].append((place, lines))
    }

    /// Adds the value's file to an error about a setting. The scheme counts lines over all values of the setting, so `line 3,
    /// column 12: …` becomes the file's own line: `mine.recipe:3:12: …`.
    func naming(_ error: PluginError) -> PluginError {
        switch error.reason {
        case .badSetting(let scheme, let name, let problem):
            return PluginError(error.plugin, .badSetting(scheme: scheme, name: name, problem: problem + files(of: name)))
        case .failed(let scheme, "create", let status, let name, let message, let detail):
            let (subject, message) = named(name, message)
            return PluginError(
                error.plugin,
                .failed(scheme: scheme, function: "create", status: status, subject: subject, message: message, detail: detail))
        default: return error
        }
    }

    private func named(_ name: String, _ message: String) -> (subject: String, message: String) {
        guard let (line, column, rest) = Self.position(in: message), let (place, number) = place(of: name, line: line) else {
            return (name, message + files(of: name))
        }
        switch place {
        case .file(let path):
            return ("", "\(TerminalText.safe(path)):\(number)\(column.map { ":\($0)" } ?? ""): \(rest)")
        // The column counts within the value, not within the preset's line.
        case .preset(let path, let number):
            return ("", "\(TerminalText.safe(path)):\(number): \(column.map { "column \($0): " } ?? "")\(rest)")
        case .other: return (name, message)
        }
    }

    /// Returns the place of the value that contains a line, and the line's number within the value.
    private func place(of name: String, line: Int) -> (Place, Int)? {
        guard line > 0 else { return nil }
        var rest = line
        for (place, lines) in places[name] ?? [] {
            guard rest > lines else { return (place, rest) }
            rest -= lines
        }
        return nil
    }

    /// Returns the files of a setting's values, for the end of a message; empty without files.
    private func files(of name: String) -> String {
        var paths: [String] = []
        for (place, _) in places[name] ?? [] {
            switch place {
            case .file(let path), .preset(let path, _): if !paths.contains(path) { paths.append(path) }
            case .other: break
            }
        }
        return paths.isEmpty ? "" : " (in \(paths.map { TerminalText.safe($0) }.joined(separator: " and ")))"
    }

    /// Reads the start of `line 3, column 12: …` or `line 3: …`.
    private static func position(in message: String) -> (line: Int, column: Int?, rest: Substring)? {
        guard let (line, rest) = number(behind: "line ", in: message.utf8[...]) else { return nil }
        if rest.starts(with: ": ".utf8) { return (line, nil, Substring(rest.dropFirst(2))) }
        guard let (column, rest) = number(behind: ", column ", in: rest), rest.starts(with: ": ".utf8) else { return nil }
        return (line, column, Substring(rest.dropFirst(2)))
    }

    private static func number(behind word: String, in text: Substring.UTF8View) -> (Int, rest: Substring.UTF8View)? {
        guard text.starts(with: word.utf8) else { return nil }
        let digits = text.dropFirst(word.utf8.count).prefix(while: \.isDigit)
        return Int(Substring(digits)).map { ($0, text[digits.endIndex...]) }
    }
}
