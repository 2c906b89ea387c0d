// The declarations of SwiftUI that one snippet needs in order to compile: Linux has no SwiftUI. The module has another name,
// because the library could import a module named SwiftUI from the build folder. As in SwiftUI, the `body` of a view without parts
// is never called.
public protocol View {
    associatedtype Body: View
    @ViewBuilder @MainActor var body: Body { get }
}

extension Never: View {
    public var body: Never { fatalError("never called") }
}

public struct EmptyView: View {
    public init() {}
    public var body: Never { fatalError("never called") }
}

public struct ConditionalContent<First: View, Second: View>: View {
    public var body: Never { fatalError("never called") }
}

@resultBuilder
public enum ViewBuilder {
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    public static func buildEither<First: View, Second: View>(first: First) -> ConditionalContent<First, Second> {
        ConditionalContent()
    }
    public static func buildEither<First: View, Second: View>(second: Second) -> ConditionalContent<First, Second> {
        ConditionalContent()
    }
}

@propertyWrapper
public struct State<Value> {
    public var wrappedValue: Value
    public init(wrappedValue: Value) { self.wrappedValue = wrappedValue }
}
