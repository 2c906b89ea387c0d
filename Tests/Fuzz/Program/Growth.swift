import Glibc

/// Compares the time that a parser takes for an input and for one of eight times its size.
struct Growth {
    private let run: (Input) -> Void
    private let beginning: [UInt8]
    private let unit: [UInt8]
    private let end: [UInt8]

    /// Repeats a part of a fuzzed input, between the parts before and after it. The fuzzed bytes themselves decide where the
    /// parts end.
    init?(of input: Input, _ run: @escaping (Input) -> Void) {
        guard (1...64).contains(input.bytes.count) else { return nil }
        // FNV-1a, which gives the same hash in each run with the same input.
        var hash = input.bytes.reduce(0xCBF2_9CE4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        // Measuring takes long, so only some inputs are measured.
        guard hash >> 56 == 0 else { return nil }
        func number(below bound: Int) -> Int {
            defer { hash = hash &* 0x5851_F42D_4C95_7F2D &+ 1 }
            return Int(hash >> 33) % bound
        }
        let first = number(below: 2) == 0 ? 0 : number(below: input.bytes.count)
        let last = number(below: 2) == 0 ? input.bytes.count : first + 1 + number(below: input.bytes.count - first)
        beginning = Array(input.bytes[..<first])
        unit = Array(input.bytes[first..<last])
        end = Array(input.bytes[last...])
        self.run = run
    }

    /// Fails if the time grows with the square of the size: by 64, while a linear time grows by 8.
    func check() {
        guard isSteep(2 << 10, runs: 1), isSteep(16 << 10, runs: 5) else { return }
        let text =
            String(decoding: beginning, as: UTF8.self) + "(" + String(decoding: unit, as: UTF8.self) + ")…"
            + String(decoding: end, as: UTF8.self)
        // Quadratic time for this size takes longer than any copy, even if its pages must be made first.
        let isSquare = isSteep(32 << 10, runs: 5, least: 50_000_000)
        expect(!isSquare, "the time grows with the size, and not with its square: \(text.debugDescription)")
    }

    /// - Parameter least: in nanoseconds. Below a millisecond, the clock's own resolution dominates.
    private func isSteep(_ size: Int, runs: Int, least: Int = 1_000_000) -> Bool {
        let small = time(of: input(size), runs)
        let large = time(of: input(size * 8), runs)
        return large > least && large / 24 > small
    }

    private func input(_ size: Int) -> [UInt8] {
        beginning + (0..<size / unit.count).flatMap { _ in unit } + end
    }

    /// The least nanoseconds of this thread's processor time.
    private func time(of input: [UInt8], _ runs: Int) -> Int {
        (0..<runs).map { _ in
            let start = Self.now
            input.withUnsafeBytes { run(Input(bytes: $0)) }
            return Self.now - start
        }.min() ?? 0
    }

    private static var now: Int {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return time.tv_sec * 1_000_000_000 + time.tv_nsec
    }
}
