import NevodOAuth
import NevodSupport
import Testing

struct TokenResponseTests {
    private func token(_ json: String) throws -> TokenResponse { try TokenResponse(JSONValue(parsing: json)) }

    @Test(
        arguments: [
            (#""expires_in":60"#, 60), (#""expires_in":"60""#, 60), (#""expires_in":60.0"#, 60), (#""expires_in":59.5"#, 59),
            (#""expires_in":0.5"#, 1), (#""expires_in":0"#, nil), (#""expires_in":-5"#, nil), (#""expires_in":"soon""#, nil),
            (#""expires_in":null"#, nil), (#""expires_in":9223372036854775807"#, 1_000_000_000),
            (#""expires_in":1e300"#, 1_000_000_000), (#""x":1"#, nil),
        ] as [(String, Int64?)])
    func `A lifetime is read in each form that servers send`(_ member: String, _ lifetime: Int64?) throws {
        #expect(try token(#"{"access_token":"a",\#(member)}"#).lifetime == lifetime)
    }

    @Test(
        arguments: [
            (#""scope":"x y""#, "x y"), (#""scope":["x","y"]"#, "x y"), (#""scope":[1]"#, nil), (#""scope":null"#, nil),
            (#""scope":"x\ny""#, nil), (#""scope":"é""#, nil), (#""x":1"#, nil),
        ] as [(String, String?)])
    func `Scopes are a text or an array`(_ member: String, _ scope: String?) throws {
        #expect(try token(#"{"access_token":"a",\#(member)}"#).scope == scope)
    }

    @Test(
        arguments: [
            (#""refresh_token":"r 1""#, "r 1"), (#""refresh_token":"r\n1é""#, "r\n1é"), (#""refresh_token":"""#, nil),
            (#""refresh_token":null"#, nil), (#""x":1"#, nil),
        ] as [(String, String?)])
    func `An empty refresh token is no refresh token`(_ member: String, _ refreshToken: String?) throws {
        #expect(try token(#"{"access_token":"a",\#(member)}"#).refreshToken == refreshToken)
    }

    @Test(arguments: [
        (#""token_type":"bearer""#, TokenResponse.TokenType.bearer), (#""token_type":"BEARER""#, .bearer), (#""x":1"#, .bearer),
        (#""token_type":"Dpop""#, .dpop), (#""token_type":"bot","ok":true"#, .bearer),
        (#""token_type":"user","ok":true"#, .bearer),
    ])
    func `A type is known in any letter case`(_ member: String, _ type: TokenResponse.TokenType) throws {
        #expect(try token(#"{"access_token":"a",\#(member)}"#).type == type)
    }

    @Test(arguments: [
        #"{}"#, #"{"access_token":""}"#, #"{"access_token":"a b"}"#, #"{"access_token":"a\n"}"#, #"{"access_token":1}"#,
        #"{"access_token":"a","token_type":"mac"}"#, #"{"access_token":"a","token_type":"bot"}"#,
    ])
    func `A response without a usable token is refused`(_ json: String) {
        #expect(throws: TokenResponse.Fault.self) { try token(json) }
    }

    @Test func `A token fits into a header`() {
        #expect(TokenResponse.isToken(String(repeating: "a", count: TokenResponse.mostTokenBytes)))
        for text in ["", "a b", "é", String(repeating: "a", count: TokenResponse.mostTokenBytes + 1)] {
            #expect(!TokenResponse.isToken(text))
        }
    }
}
