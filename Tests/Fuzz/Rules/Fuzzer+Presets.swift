@testable import NevodHost

extension Fuzzer {
    /// The text of a preset. Its contents are written and read again, and values for its placeholders change nothing around them.
    static let preset = Fuzzer("preset") { input in
        guard let preset = try? PresetText(input.array, path: "preset", mayReadEnvironment: true) else { return }
        let text =
            "# \(preset.title)\n" + preset.placeholders.map { "{\($0.name)} = \($0.help)\n" }.joined()
            + preset.entries.map { "\($0.name) = \(written($0.value))\n" }.joined()
        // A text's prefix makes it longer.
        guard text.utf8.count <= PresetText.largest else { return }
        guard let again = try? PresetText(Array(text.utf8), path: "preset", mayReadEnvironment: true) else {
            return expect(false, "a written preset is read again")
        }
        expect(again.title.utf8.elementsEqual(preset.title.utf8), "the title is read as it was written")
        expect(again.placeholders.map(\.name) == preset.placeholders.map(\.name), "placeholders are read as they were written")
        expect(again.entries.map(\.name) == preset.entries.map(\.name), "settings are read as they were written")
        expect(
            again.entries.map { bytes($0.value) } == preset.entries.map { bytes($0.value) },
            "values are read as they were written")
        for entry in preset.entries {
            expect(PresetText.isName(entry.name) && entry.name != "preset", "a setting has a name of its own")
            let unknown = entry.value.placeholders.first { name in !preset.placeholders.contains { $0.name == name } }
            expect(unknown == nil, "only declared placeholders are filled")
        }
    }

    private static func written(_ value: PresetText.Value) -> String {
        switch value {
        case .variable(let name): "env:\(name)"
        case .text(let pieces):
            "text:"
                + pieces.map { piece in
                    switch piece {
                    case .literal(let text): text
                    case .placeholder(let name): "{\(name)}"
                    }
                }.joined()
        }
    }

    /// A value as bytes, because texts with different bytes may be equal.
    private static func bytes(_ value: PresetText.Value) -> [UInt8] { Array(written(value).utf8) }
}
