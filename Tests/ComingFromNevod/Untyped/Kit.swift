// Uses names of the standard library in a plugin's sources without a type from the context. None is ambiguous.
import NevodPluginKit

private func use(_ optional: Int?) {
    let numbers = ["1", "2"].compactMap(Int.init)
    let texts = [1, 2].map(String.init)
    let more = [1, 2].map { String($0) }
    let array = Array("abc")
    let unicode = Array("abc".utf8)
    let text = String(decoding: unicode, as: UTF8.self)
    let flag = Bool("true")
    let wrapped = Optional(1)
    let wrappers = [1, 2].map(Optional.init)
    let mapped = optional.map { $0 + 1 }
    print(numbers, texts, more, array, text, flag as Any, wrapped as Any, wrappers, mapped as Any)
}

private func useLiterals() {
    let text = String([])
    let texts: [String] = Array([])
    let count = text.count + texts.count
    print(count)
}
