import NevodSupport
import Testing

@testable import NevodStorage

struct SHA256Tests {
    /// The second example is from NIST's examples for FIPS 180-4.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ])
    func `Digests are the published ones`(text: String, digest: String) {
        #expect(Hexadecimal.text(Array(text.utf8).withUnsafeBytes { SHA256.digest(of: $0) }) == digest)
        #expect(Hexadecimal.text(Secret(text).withUnsafeBytes { SHA256.digest(of: $0) }) == digest)
        #expect(SHA256.size == digest.utf8.count / 2)
    }
}
