/// Text of a page for a person: on one line, bounded, without characters that control a terminal.
struct HTMLMessage {
    private var scalars = String.UnicodeScalarView()
    private var count = 0
    private var hasSpace = false
    private var isCut = false

    /// The most characters (Unicode scalars).
    private static let most = 200
    /// The bytes of a text that are looked at.
    private static let mostBytes = 16 << 10

    /// Adds a space, unless one stands there already.
    mutating func separate() {
        hasSpace = true
    }

    /// Adds text of the page.
    mutating func add(_ page: UnsafeRawBufferPointer, _ range: Range<Int>, _ place: HTMLText.Place) {
        guard !isCut else { return }
        // More white space than this is no message.
        let read = range.prefix(Self.mostBytes)
        for scalar in HTMLText.decoded(page, read, place).unicodeScalars where !isCut {
            if scalar.isSpace {
                hasSpace = true
            } else if !scalar.isUnsafeAtTerminal {
                if hasSpace, count > 0 { append(" ") }
                hasSpace = false
                append(scalar)
            }
        }
    }

    private mutating func append(_ scalar: Unicode.Scalar) {
        if count == Self.most {
            isCut = true
            scalars.removeLast()
            scalars.append("…")
        } else if !isCut {
            scalars.append(scalar)
            count += 1
        }
    }

    var text: String { String(scalars) }

    /// Whether the text says something: a cross that closes a message, and a script's template, don't.
    var saysSomething: Bool {
        scalars.contains { $0.value > 0x7F && $0 != "×" && $0 != "…" || $0.isASCIILetterOrDigit }
            && !text.utf8.contains(UInt8(ascii: "{"))
    }
}

extension Unicode.Scalar {
    fileprivate var isSpace: Bool {
        switch value {
        case 0x09...0x0D, 0x20, 0x85, 0xA0, 0x2028, 0x2029, 0x202F, 0x3000: true
        default: false
        }
    }

    fileprivate var isASCIILetterOrDigit: Bool {
        (0x30...0x39).contains(value) || (0x61...0x7A).contains(value | 0x20)
    }
}
