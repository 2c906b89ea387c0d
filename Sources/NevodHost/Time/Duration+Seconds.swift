extension Duration {
    /// Up to some 30 years; what is no number, or negative, is none.
    init(boundedSeconds seconds: Double) {
        self = seconds > 0 ? .seconds(min(seconds, 1e9)) : .zero
    }

    var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }
}
