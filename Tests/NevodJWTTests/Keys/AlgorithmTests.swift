import NevodJWT
import Testing

struct AlgorithmTests {
    @Test func `No algorithm accepts a token without a signature`() {
        for name in ["none", "None", "NONE", "nOnE", ""] { #expect(JWTAlgorithm(rawValue: name) == nil) }
    }
}
