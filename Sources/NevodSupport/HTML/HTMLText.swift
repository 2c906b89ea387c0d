/// Text of a page, with its character references resolved (HTML §13.2.5.72).
enum HTMLText {
    enum Place {
        case attribute
        /// Between tags.
        case content
        /// The content of an element that can contain only text, such as a title.
        case elementText
        /// Text between tags that has no references.
        case plain
    }

    /// Line ends become line feeds. Invalid UTF-8 becomes the replacement character (HTML §13.2.3.5), and so does NUL, except
    /// between tags.
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

extension String {
    /// The text without white space at both ends, and with one space in place of each other stretch of white space.
    var collapsed: String {
        var bytes: [UInt8] = []
        var hasSpace = false
        for byte in utf8 {
            if byte.isWhitespace {
                hasSpace = true
            } else {
                if hasSpace, !bytes.isEmpty { bytes.append(0x20) }
                hasSpace = false
                bytes.append(byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The text without white space at both ends.
    var trimmedHTMLSpace: String {
        String(decoding: utf8.trimmed { $0.isWhitespace }, as: UTF8.self)
    }
}

/// A character reference: any numeric one, and 329 of the 2,125 named ones.
enum HTMLReference {
    /// Resolves a reference. Its "&" is just before the range.
    ///
    /// - Returns: the character, and the place after the reference; nil if it isn't a reference.
    static func resolve(
        _ page: UnsafeRawBufferPointer, _ range: Range<Int>, isAttribute: Bool
    ) -> (text: String, end: Int)? {
        guard let first = range.first else { return nil }
        if page[first] == UInt8(ascii: "#") { return number(page, range.dropFirst()) }
        let name = range.prefix(byLength.count - 1).prefix { page[$0].isAlphanumeric }
        let hasSemicolon = name.endIndex < range.upperBound && page[name.endIndex] == UInt8(ascii: ";")
        if hasSemicolon, let named = named(page, name) { return (named.text, name.endIndex + 1) }
        // Without a semicolon, only old names count, and the longest that fits.
        for count in stride(from: name.count, to: 1, by: -1) {
            let part = name.prefix(count)
            guard let named = named(page, part), named.isOld else { continue }
            if isAttribute, part.endIndex < range.upperBound {
                let next = page[part.endIndex]
                guard next != UInt8(ascii: "="), !next.isAlphanumeric else { return nil }
            }
            return (named.text, part.endIndex)
        }
        return nil
    }

    private static func number(_ page: UnsafeRawBufferPointer, _ range: Range<Int>) -> (text: String, end: Int)? {
        var position = range.lowerBound
        let isHexadecimal = position < range.upperBound && page[position] | 0x20 == UInt8(ascii: "x")
        if isHexadecimal { position += 1 }
        let start = position
        var value: UInt32 = 0
        while position < range.upperBound, let digit = page[position].hexDigitValue, isHexadecimal || digit < 10 {
            value = min(value * (isHexadecimal ? 16 : 10) + UInt32(truncatingIfNeeded: digit), 0x11_0000)
            position += 1
        }
        guard position > start else { return nil }
        if position < range.upperBound, page[position] == UInt8(ascii: ";") { position += 1 }
        return (String(scalar(value)), position)
    }

    /// The numbers of C1 controls mean characters of windows-1252 (HTML §13.2.5.80).
    private static func scalar(_ number: UInt32) -> Unicode.Scalar {
        if (0x80...0x9F).contains(number), windows1252[Int(number - 0x80)] != 0 {
            return Unicode.Scalar(UInt32(truncatingIfNeeded: windows1252[Int(number - 0x80)])) ?? "\u{FFFD}"
        }
        return number == 0 ? "\u{FFFD}" : Unicode.Scalar(number) ?? "\u{FFFD}"
    }

    private static let windows1252: [UInt16] = [
        0x20AC, 0, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160, 0x2039, 0x0152, 0, 0x017D, 0,
        0, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013, 0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0, 0x017E, 0x0178,
    ]

    private static func named(_ page: UnsafeRawBufferPointer, _ name: Range<Int>) -> Named? {
        byLength[name.count].first { zip(name, $0.name.utf8).allSatisfy { page[$0] == $1 } }
    }

    private struct Named {
        let name, text: String
        /// Whether the name is valid without a semicolon too.
        let isOld: Bool
    }

    private static let byLength: [[Named]] = {
        var byLength = [[Named]](repeating: [], count: 14)
        for (list, isOld) in [(old, true), (new, false)] {
            var (name, text): ([UInt8], [UInt8]) = ([], [])
            for byte in list.utf8 {
                if byte == UInt8(ascii: " ") {
                    if name.count < byLength.count {
                        byLength[name.count].append(
                            Named(
                                name: String(decoding: name, as: UTF8.self), text: String(decoding: text, as: UTF8.self),
                                isOld: isOld))
                    }
                    (name, text) = ([], [])
                } else if text.isEmpty, byte.isAlphanumeric {
                    name.append(byte)
                } else {
                    text.append(byte)
                }
            }
        }
        return byLength
    }()

    /// The old names, each followed by its text, which is never a letter or digit of ASCII, and by a space.
    private static let old = """
        nbsp\u{A0} iexcl¡ cent¢ pound£ curren¤ yen¥ brvbar¦ sect§ uml¨ COPY© copy© ordfª laquo« not¬ shy\u{AD} REG® reg® macr¯ \
        deg° plusmn± sup2² sup3³ acute´ microµ para¶ middot· cedil¸ sup1¹ ordmº raquo» frac14¼ frac12½ frac34¾ iquest¿ AgraveÀ \
        AacuteÁ AcircÂ AtildeÃ AumlÄ AringÅ AEligÆ CcedilÇ EgraveÈ EacuteÉ EcircÊ EumlË IgraveÌ IacuteÍ IcircÎ IumlÏ ETHÐ \
        NtildeÑ OgraveÒ OacuteÓ OcircÔ OtildeÕ OumlÖ times× OslashØ UgraveÙ UacuteÚ UcircÛ UumlÜ YacuteÝ THORNÞ szligß agraveà \
        aacuteá acircâ atildeã aumlä aringå aeligæ ccedilç egraveè eacuteé ecircê eumlë igraveì iacuteí icircî iumlï ethð \
        ntildeñ ograveò oacuteó ocircô otildeõ oumlö divide÷ oslashø ugraveù uacuteú ucircû uumlü yacuteý thornþ yumlÿ QUOT" \
        quot" AMP& amp& LT< lt< GT> gt> \

        """

    /// The names of HTML 4, the names of ASCII characters, and all names that begin with an old name, because they would
    /// otherwise be read as the old name.
    private static let new = """
        apos' hellip… ndash– mdash— lsquo‘ rsquo’ sbquo‚ ldquo“ rdquo” bdquo„ lsaquo‹ rsaquo› bull• euro€ trade™ larr← rarr→ \
        check✓ cross✗ Tab\t NewLine\n sol/ colon: equals= lpar( rpar) num# excl! quest? plus+ comma, period. semi; lowbar_ \
        commat@ percnt% dollar$ lsqb[ rsqb] lbrack[ rbrack] lcub{ rcub} ast* bsol\\ vert| grave` Hat^ OEligŒ oeligœ ScaronŠ \
        scaronš YumlŸ fnofƒ circˆ tilde˜ AlphaΑ BetaΒ GammaΓ DeltaΔ EpsilonΕ ZetaΖ EtaΗ ThetaΘ IotaΙ KappaΚ LambdaΛ MuΜ NuΝ \
        XiΞ OmicronΟ PiΠ RhoΡ SigmaΣ TauΤ UpsilonΥ PhiΦ ChiΧ PsiΨ OmegaΩ alphaα betaβ gammaγ deltaδ epsilonε zetaζ etaη thetaθ \
        iotaι kappaκ lambdaλ muμ nuν xiξ omicronο piπ rhoρ sigmafς sigmaσ tauτ upsilonυ phiφ chiχ psiψ omegaω thetasymϑ upsihϒ \
        pivϖ ensp\u{2002} emsp\u{2003} thinsp\u{2009} zwnj\u{200C} zwj\u{200D} lrm\u{200E} rlm\u{200F} dagger† Dagger‡ permil‰ \
        prime′ Prime″ oline‾ frasl⁄ imageℑ weierp℘ realℜ alefsymℵ uarr↑ darr↓ harr↔ crarr↵ lArr⇐ uArr⇑ rArr⇒ dArr⇓ hArr⇔ \
        forall∀ part∂ exist∃ empty∅ nabla∇ isin∈ notin∉ ni∋ prod∏ sum∑ minus− lowast∗ radic√ prop∝ infin∞ ang∠ and∧ or∨ cap∩ \
        cup∪ int∫ there4∴ sim∼ cong≅ asymp≈ ne≠ equiv≡ le≤ ge≥ sub⊂ sup⊃ nsub⊄ sube⊆ supe⊇ oplus⊕ otimes⊗ perp⊥ sdot⋅ lceil⌈ \
        rceil⌉ lfloor⌊ rfloor⌋ lang⟨ rang⟩ loz◊ spades♠ clubs♣ hearts♥ diams♦ centerdot· copysr℗ divideontimes⋇ gtcc⪧ gtcir⩺ \
        gtdot⋗ gtlPar⦕ gtquest⩼ gtrapprox⪆ gtrarr⥸ gtrdot⋗ gtreqless⋛ gtreqqless⪌ gtrless≷ gtrsim≳ ltcc⪦ ltcir⩹ ltdot⋖ lthree⋋ \
        ltimes⋉ ltlarr⥶ ltquest⩻ ltri◃ ltrie⊴ ltrif◂ ltrPar⦖ notindot⋵\u{338} notinE⋹\u{338} notinva∉ notinvb⋷ notinvc⋶ notni∌ \
        notniva∌ notnivb⋾ notnivc⋽ parallel∥ timesb⊠ timesbar⨱ timesd⨰ \

        """
}
