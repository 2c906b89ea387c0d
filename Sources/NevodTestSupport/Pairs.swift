/// Each value of the first list with each value of the second, in the order of nested loops.
package func pairs<First, Second>(_ first: some Sequence<First>, _ second: some Sequence<Second>) -> [(First, Second)] {
    let second = Array(second)
    return first.flatMap { first in second.map { (first, $0) } }
}
