// Routes: `FormDataPart inits`
import Foundation
import NevodHostFoundation

private func use() async throws {
    let parts = [
        FormDataPart(name: "name", value: "tea"), FormDataPart(name: "note", data: Data([1])),
        FormDataPart(name: "note", data: Data([1]), mimeType: "text/plain"),
        FormDataPart(name: "label", filename: "a.pdf", data: Data([1]), mimeType: "application/pdf"),
        FormDataPart.image(name: "photo", filename: "a.jpg", data: Data([1]), type: .webp),
    ]
    print(parts.count)
}
