import NevodHost

/// The client that a login presents itself as: many applications end a session at once if another client uses it.
extension RequestBuilder {
    /// The header lines that a login sends as the command's requests do. They include a profile's lines, even if the command
    /// doesn't take the profile's flags, but no lines from files, because such files hold credentials.
    func clientLines() throws -> ClientLines {
        let ofProfile = arguments.profile?.otherFlags ?? []
        let agent = arguments.value(.userAgent) ?? ofProfile.last { $0.name == .userAgent }?.value ?? Self.defaultAgent
        var lines = [(name: "user-agent", value: agent)]
        var seen: Set<String> = []
        for text in ofProfile.filter({ $0.name == .header }).map(\.value) + arguments.values(.header) where !text.hasPrefix("@") {
            let line = Self.parts(of: text)
            let name = line.name.lowercased()
            if line.isRemoval || seen.insert(name).inserted { lines.removeAll { $0.name == name } }
            if !line.isRemoval { lines.append((name, line.value)) }
        }
        var client = ClientLines()
        for line in lines where !line.value.isEmpty { client.add(line.name, line.value) }
        return client
    }
}
