import Glibc

/// The fuzzer named by the variable NEVOD_FUZZER. Without it, the program prints the names of all fuzzers.
private let fuzzer: Fuzzer = {
    let name = getenv("NEVOD_FUZZER").map { String(cString: $0) }
    if let fuzzer = Fuzzer.all.first(where: { $0.name == name }) { return fuzzer }
    for fuzzer in Fuzzer.all { print(fuzzer.name) }
    exit(name == nil ? 0 : 2)
}()

/// Called by libFuzzer once.
@c(LLVMFuzzerInitialize)
public func initialize(
    _ count: UnsafeMutablePointer<CInt>?, _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> CInt {
    _ = fuzzer
    return 0
}

/// Called by libFuzzer with each input. libFuzzer reports an input as a crash if the process ends, misuses memory, or exceeds the
/// script's limits of time or memory.
@c(LLVMFuzzerTestOneInput)
public func run(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let input = Input(bytes: UnsafeRawBufferPointer(start: start, count: count))
    fuzzer.run(input)
    if fuzzer.isLinear { Growth(of: input, fuzzer.run)?.check() }
    return 0
}
