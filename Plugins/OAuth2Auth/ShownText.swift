/// Makes a text of a server safe for an error: printable ASCII, of bounded length, on one line.
enum ShownText {
    private static let limit = 200

    /// The text between quotation marks. Any other byte than printable ASCII shows as a question mark.
    static func quoted(_ text: String) -> String {
        var bytes: [UInt8] = [UInt8(ascii: "\"")]
        for byte in text.utf8.prefix(limit) {
            bytes.append((0x20..<0x7F).contains(byte) && byte != UInt8(ascii: "\"") ? byte : UInt8(ascii: "?"))
        }
        if text.utf8.count > limit { bytes.append(contentsOf: "...".utf8) }
        bytes.append(UInt8(ascii: "\""))
        return String(decoding: bytes, as: UTF8.self)
    }
}
