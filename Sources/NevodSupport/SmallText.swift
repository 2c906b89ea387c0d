#if hasFeature(Embedded)
    // Without these, the shipped plugins would be about a third larger. The compiler would copy the standard library's functions
    // for text to each place that calls them. And String's own comparison, which takes some texts of different bytes for equal,
    // would link Unicode's tables. In HTTP, texts are equal if their bytes are.

    extension DefaultStringInterpolation {
        @inline(never) package mutating func appendLiteral(_ literal: String) { write(literal) }
        @inline(never) package mutating func appendInterpolation(_ text: String) { write(text) }
        @inline(never) package mutating func appendInterpolation(_ text: Substring) { write(String(text)) }
        @inline(never) package mutating func appendInterpolation(_ number: Int64) { write(String(number)) }
        package mutating func appendInterpolation(_ number: Int) { appendInterpolation(Int64(number)) }
    }

    extension String {
        @inline(never) package init(decoding bytes: [UInt8], as encoding: UTF8.Type) {
            self = bytes.withUnsafeBufferPointer { String(decoding: $0, as: encoding) }
        }

        @inline(never) package init(decoding bytes: ArraySlice<UInt8>, as encoding: UTF8.Type) {
            self = bytes.withUnsafeBufferPointer { String(decoding: $0, as: encoding) }
        }

        @inline(never) package init(decoding bytes: UnsafeRawBufferPointer, as encoding: UTF8.Type) {
            self = bytes.withMemoryRebound(to: UInt8.self) { String(decoding: $0, as: encoding) }
        }

        @inline(never) package static func == (left: String, right: String) -> Bool { left.utf8.elementsEqual(right.utf8) }
        package static func != (left: String, right: String) -> Bool { !(left == right) }
        @inline(never) package static func < (left: String, right: String) -> Bool {
            left.utf8.lexicographicallyPrecedes(right.utf8)
        }
        package static func ~= (left: String, right: String) -> Bool { left == right }
        @inline(never) package func hasPrefix(_ prefix: String) -> Bool { utf8.starts(with: prefix.utf8) }
        @inline(never) package func hasSuffix(_ suffix: String) -> Bool {
            utf8.suffix(suffix.utf8.count).elementsEqual(suffix.utf8)
        }
    }

    extension String.UTF8View {
        @inline(never) package func allSatisfy(_ isAllowed: (UInt8) -> Bool) -> Bool { Array(self).allSatisfy(isAllowed) }
    }
#endif
