/// An item of a form, or of a query (`application/x-www-form-urlencoded`, WHATWG URL §5). Neither part is encoded.
package struct FormItem: Sendable, Equatable {
    /// Empty for an item that begins with `=`. Names may repeat.
    package let name: [UInt8]
    /// Empty for an item without `=`.
    package let value: [UInt8]

    /// The items of an encoded body, or of a query without its `?`, in order. Never fails: malformed escapes are kept as text.
    package static func items(of encoded: some Collection<UInt8>) -> [FormItem] {
        encoded.split(separator: UInt8(ascii: "&")).map { item in
            let name = item.prefix { $0 != UInt8(ascii: "=") }
            return FormItem(
                name: PercentEncoding.decoded(name), value: PercentEncoding.decoded(item[name.endIndex...].dropFirst()))
        }
    }
}
