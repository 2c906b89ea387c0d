/// Text of a page, with its character references resolved (HTML §13.2.5.72).
enum HTMLText {
    enum Place {
        case attribute
        /// Between tags.
        case content
        /// The text of an element that can have no others, such as a title.
        case elementText
        /// Text between tags that has no references.
        case plain
    }

    /// Line ends become line feeds, and what isn't UTF-8 the replacement character (HTML §13.2.3.5); so does NUL, but between tags.
    static func decoded(_ page: UnsafeRawBufferPointer, _ range: Range<Int>, _ place: Place) -> String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(range.count)
        var position = range.lowerBound
        while position < range.upperBound {
            let byte = page[position]
            position += 1
            switch byte {
            case UInt8(ascii: "&") where place != .plain:
                if let (scalars, end) = HTMLReference.resolve(page, position..<range.upperBound, isAttribute: place == .attribute)
                {
                    bytes += scalars.utf8
                    position = end
                } else {
                    bytes.append(byte)
                }
            case UInt8(ascii: "\r"):
                if position < range.upperBound, page[position] == UInt8(ascii: "\n") { position += 1 }
                bytes.append(UInt8(ascii: "\n"))
            case 0:
                if place == .attribute || place == .elementText { bytes += "\u{FFFD}".utf8 }
            default:
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
