// Routes: `builder add…/build() -> (data:, contentType:)`
import Foundation
import NevodHostFoundation

#if AS_WRITTEN
    private func use() async throws {
        var form = MultipartFormDataBuilder()
        form.addTextField(name: "name", value: "tea")
        form.addFile(name: "label", filename: "a.pdf", data: Data([1]), mimeType: "application/pdf")
        form.addImage(name: "photo", filename: "a.jpg", data: Data([1]), type: .jpeg)
        form.addPart(FormDataPart(name: "note", value: "fresh"))
        let (data, contentType) = form.build()
        let body: Data = data
        let built: (data: Data, contentType: String) = form.build()
        print(body, contentType, built.contentType)
    }
#else
    private func use() async throws {
        var form = MultipartFormDataBuilder()
        form.addTextField(name: "name", value: "tea")
        form.addFile(name: "label", filename: "a.pdf", data: Data([1]), mimeType: "application/pdf")
        form.addImage(name: "photo", filename: "a.jpg", data: Data([1]), type: .jpeg)
        form.addPart(FormDataPart(name: "note", value: "fresh"))
        let (data, contentType) = try form.build()
        let body: Data = data
        let built: (data: Data, contentType: String) = try form.build()
        print(body, contentType, built.contentType)
    }
#endif
