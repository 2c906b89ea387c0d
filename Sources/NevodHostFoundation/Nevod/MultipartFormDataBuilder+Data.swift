public import Foundation
public import NevodHost

extension MultipartFormDataBuilder {
    /// Returns the body and its Content-Type.
    ///
    /// - Throws: `InvalidRequestError` as `MultipartFormDataBuilder.build()` does, and for a part that isn't in memory.
    public func build() throws -> (data: Data, contentType: String) {
        let form: MultipartForm = try build()
        guard let bytes = form.bytes else {
            throw InvalidRequestError(.body, "a part of the form is read from a file while it is sent; use a MultipartRoute")
        }
        return (Data(bytes), form.contentType)
    }
}
