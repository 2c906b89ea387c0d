package import NevodSupport

extension TerminalText {
    /// Shows each byte that is not UTF-8 as an escape such as `\x9b`, which some terminals read as the start of a control sequence.
    package static func safe(_ bytes: some Sequence<UInt8>) -> String {
        var text = ""
        // Escapes are kept apart from the text that is still to be made safe.
        var shown = ""
        var parser = Unicode.UTF8.ForwardParser()
        var rest = bytes.makeIterator()
        var pending: [UInt8] = []
        // The parser doesn't return the bytes that it rejected, so they are recorded here.
        var noted = AnyIterator<UInt8> {
            guard let byte = rest.next() else { return nil }
            pending.append(byte)
            return byte
        }
        while true {
            switch parser.parseScalar(from: &noted) {
            case .valid(let encoded):
                text.unicodeScalars.append(Unicode.UTF8.decode(encoded))
                pending.removeFirst(encoded.count)
            case .error(let length):
                shown += safe(text) + pending.prefix(length).map { "\\x\(Hexadecimal.text([$0]))" }.joined()
                text = ""
                pending.removeFirst(length)
            case .emptyInput: return shown + safe(text)
            }
        }
    }
}
