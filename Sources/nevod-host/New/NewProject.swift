import CTemplates

/// The files of a new project.
struct NewProject {
    let name: ProjectName
    let language: ProjectLanguage
    let hasFlow: Bool
    /// Nil for languages without a kit.
    let kit: KitSource?

    /// Paths, relative to the project's folder, and contents; sorted by path.
    func files() -> [(path: String, content: String)] {
        var count = 0
        guard let table = nevod_template_files(&count) else { return [] }
        let set = language.rawValue + (hasFlow ? "-flow" : "")
        return UnsafeBufferPointer(start: table, count: count).filter { String(cString: $0.set) == set }.map { file in
            let text = String(decoding: UnsafeBufferPointer(start: file.bytes, count: file.count), as: UTF8.self)
            return (filled(String(cString: file.path)), filled(text))
        }.sorted { $0.path < $1.path }
    }

    /// Templates are valid projects of the name `acme-keys`, with the kit two folders above.
    private func filled(_ text: String) -> String {
        var text = text
        text.replace("acme-keys", with: name.text)
        text.replace("AcmeKeysAuth", with: name.type)
        text.replace("acme_keys", with: name.identifier)
        // Afterwards, since the kit's path or URL may contain one of these names.
        if let kit {
            text.replace(#"name: "NevodHost", path: "../..""#, with: kit.dependency)
            text.replace(#"package: "NevodHost""#, with: "package: \(KitSource.literal(kit.package))")
        }
        return text
    }
}
