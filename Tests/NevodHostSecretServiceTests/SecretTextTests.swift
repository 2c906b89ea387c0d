import NevodSupport
import Testing

@testable import NevodHostSecretService

struct SecretTextTests {
    @Test(arguments: [("", "base64:"), ("a", "base64:YQ=="), ("ab", "base64:YWI="), ("\u{0}ab", "base64:AGFi")])
    func `Any bytes are written as text, and read again`(value: String, text: String) {
        #expect(SecretText.text(of: Secret(value)) == Secret(text))
        #expect(SecretText.secret(of: Secret(text)) == Secret(value))
    }

    @Test(arguments: [
        "", "base64", "YQ==", "BASE64:YQ==", "base64:Y", "base64:YQ", "base64:YR==", "base64: YQ==", "base64:YQ==\n",
        "base64:YQ=a", "base64:_-__",
    ])
    func `A text that isn't written here is refused`(text: String) {
        #expect(SecretText.secret(of: Secret(text)) == nil)
    }
}
