/// The readings of a text that may hold another text in an encoded form, such as a URL within a URL. For searches that must find
/// a text in any encoding.
package enum EncodedText {
    /// A text's own encoding, and three around it.
    private static let mostEncodings = 4
    /// A shorter run of base64 is too short to matter.
    private static let shortestRun = 8

    /// Returns the text, and its form after each round of percent-decoding.
    package static func decodings(of text: [UInt8]) -> [[UInt8]] {
        var levels = [text]
        for _ in 0..<mostEncodings {
            guard let last = levels.last, last.contains(UInt8(ascii: "%")) else { break }
            // A plus sign is a letter of base64.
            let next = PercentEncoding.decoded(last, plusIsSpace: false)
            guard next.count < last.count else { break }
            levels.append(next)
        }
        return levels
    }

    /// Decodes each run of base64 from each of its first four letters, because a run may begin with text that isn't base64, such
    /// as the segments of a path.
    package static func base64Runs(in text: [UInt8]) -> [[UInt8]] {
        var found: [[UInt8]] = []
        var index = 0
        while index < text.count {
            let start = index
            while index < text.count, Base64.value(of: text[index], .any) != nil { index += 1 }
            if index - start >= shortestRun {
                for offset in 0..<4 { found.append(base64(text[(start + offset)..<index])) }
            }
            index += 1
        }
        return found
    }

    private static func base64(_ letters: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(letters.count * 3 / 4)
        var (bits, count): (UInt32, Int) = (0, 0)
        for letter in letters {
            bits = bits << 6 | UInt32(Base64.value(of: letter, .any) ?? 0)
            count += 6
            guard count >= 8 else { continue }
            count -= 8
            bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(count)))
        }
        return bytes
    }
}
