/// The form of an item without a value in a canonical query.
public enum EmptyQueryValues: Sendable {
    /// `a` stays `a`, and `a=` stays `a=`.
    case asSent
    /// Both become `a=`.
    case withSign
    /// Both become `a`.
    case withoutSign
    /// Neither is written.
    case omitted
}
