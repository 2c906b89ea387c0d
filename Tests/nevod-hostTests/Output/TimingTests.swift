import Testing

@testable import nevod_host

@Suite struct TimingTests {
    @Test("Lines are aligned and show the duration of each step")
    func whole() {
        let timing = Timing(
            nameLookup: 0.0012, connect: 0.012, tls: 0.0453, firstByte: 0.12, total: 1.13, sent: 0, received: 1536)
        #expect(
            timing.lines == """
                name lookup     1.2 ms
                connect        12.0 ms    +10.8
                tls            45.3 ms    +33.3
                first byte    120.0 ms    +74.7
                total        1130.0 ms  +1010.0
                sent         0 B
                received     1.5 KiB

                """)
    }

    @Test("Missing steps and invalid values are left out")
    func partial() {
        #expect(Timing().lines == "")
        #expect(Timing(connect: -1, tls: .nan, firstByte: .infinity, total: 0.5).lines == "total  500.0 ms\n")
        #expect(Timing(nameLookup: 0.2, total: 0.1).lines == "name lookup  200.0 ms\ntotal        100.0 ms  +0.0\n")
    }
}
