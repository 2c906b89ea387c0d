extension Duration {
    /// Clamps to the range from zero to 10⁹ seconds, about 30 years. NaN becomes zero.
    package init(boundedSeconds seconds: Double) {
        self = seconds > 0 ? .seconds(min(seconds, 1e9)) : .zero
    }

    package var inSeconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) * 1e-18
    }
}
