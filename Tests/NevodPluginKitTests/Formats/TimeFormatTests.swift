import NevodPluginKit
import NevodTestSupport
import Testing

struct TimeFormatTests {
    @Test(arguments: [
        (TimeFormat.unixSeconds, "784111777"), (.unixMilliseconds, "784111777123"), (.httpDate, "Sun, 06 Nov 1994 08:49:37 GMT"),
        (.iso8601, "1994-11-06T08:49:37Z"), (.iso8601Milliseconds, "1994-11-06T08:49:37.123Z"),
        (.iso8601Basic, "19941106T084937Z"), (.iso8601BasicDate, "19941106"), (.iso8601Date, "1994-11-06"),
    ])
    func `A time is written in each format`(format: TimeFormat, expected: String) {
        #expect(format.text(unixNanoseconds: 784_111_777_123_456_789) == expected)
    }

    /// Python's datetime and email.utils write and read the same.
    @Test func `Times of all years are those of Python`() throws {
        var random = SeededRandom(seed: 8601)
        let year = 31_556_952 * Int64(1_000_000_000)
        var times: [Int64] = [0, -1, 1, 951_782_400_000_000_000, 4_107_542_399_999_999_999, -2_208_988_800_000_000_000]
        times += (0..<300).map { _ in Int64.random(in: -250 * year...250 * year, using: &random) }
        let expected = try Judge.python(
            """
            import datetime, email.utils
            def line(ns):
                s, rest = divmod(ns, 10**9)
                t = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc) + datetime.timedelta(seconds=s)
                day = f"{t.year:04}"
                return [str(s), str(ns // 10**6), email.utils.format_datetime(t, usegmt=True),
                    t.isoformat().replace("+00:00", "Z"), f"{t.isoformat()[:19]}.{rest // 10**6:03}Z",
                    day + t.strftime("%m%dT%H%M%SZ"), day + t.strftime("%m%d"), day + t.strftime("-%m-%d")]
            tell([line(int(v)) for v in cases])
            """, times.map { "\($0)" }, as: [String].self)
        for (time, texts) in zip(times, expected) {
            for (format, text) in zip(TimeFormat.allCases, texts) {
                #expect(format.text(unixNanoseconds: time) == text)
                let read = try #require(format.unixNanoseconds(text), "\(text)")
                #expect(format.text(unixNanoseconds: read) == text)
                #expect(read <= time)
            }
            let read = try #require(TimeFormat.iso8601Milliseconds.unixNanoseconds(texts[4]))
            #expect(time - read < 1_000_000)
        }
    }

    /// In milliseconds, as a server may send it.
    @Test func `The earliest and latest times are written in each format`() throws {
        #expect(
            TimeFormat.allCases.map { $0.text(unixNanoseconds: .min) } == [
                "-9223372037", "-9223372036855", "Tue, 21 Sep 1677 00:12:43 GMT", "1677-09-21T00:12:43Z",
                "1677-09-21T00:12:43.145Z",
                "16770921T001243Z", "16770921", "1677-09-21",
            ])
        #expect(
            TimeFormat.allCases.map { $0.text(unixNanoseconds: .max) } == [
                "9223372036", "9223372036854", "Fri, 11 Apr 2262 23:47:16 GMT", "2262-04-11T23:47:16Z",
                "2262-04-11T23:47:16.854Z",
                "22620411T234716Z", "22620411", "2262-04-11",
            ])
        let read = try #require(TimeFormat.unixMilliseconds.unixNanoseconds("-9223372036854"))
        #expect(TimeFormat.iso8601.text(unixNanoseconds: read) == "1677-09-21T00:12:43Z")
    }

    @Test(
        arguments: [
            ("1994-11-06T08:49:37+00:00", 784_111_777_000_000_000), ("1994-11-06T10:49:37.5+02:00", 784_111_777_500_000_000),
            ("1994-11-06t08:49:37.1234567899z", 784_111_777_123_456_789), ("1994-11-06 03:19:37-05:30", 784_111_777_000_000_000),
            ("1990-12-31T23:59:60Z", 662_687_999_000_000_000),
        ] as [(String, Int64)])
    func `Times with fractions and offsets are read as RFC 3339 has them`(text: String, expected: Int64) {
        #expect(TimeFormat.iso8601.unixNanoseconds(text) == expected)
    }

    @Test(arguments: [
        (TimeFormat.iso8601, "1994-11-06T08:49:37"), (.iso8601, "1994-11-06"), (.iso8601, "1994-13-06T08:49:37Z"),
        (.iso8601, "1994-02-29T08:49:37Z"), (.iso8601, "1994-11-06T24:00:00Z"), (.iso8601, "1994-11-06T08:49:37.Z"),
        (.iso8601, "1994-11-06T08:49:37+24:00"), (.iso8601, "1994-11-06T08:49:37Z "), (.iso8601, "9999-11-06T08:49:37Z"),
        (.iso8601, "1500-11-06T08:49:37Z"), (.iso8601Basic, "19941106T084937"), (.iso8601Basic, "1994-11-06T08:49:37Z"),
        (.iso8601BasicDate, "199411"), (.iso8601Date, "1994-11-6"), (.httpDate, "Sun, 6 Nov 1994 08:49:37 GMT"),
        (.httpDate, "Sunday, 06-Nov-94 08:49:37 GMT"), (.httpDate, "Sun, 06 Nov 1994 08:49:37 UTC"),
        (.unixSeconds, ""), (.unixSeconds, "-"), (.unixSeconds, "1.5"), (.unixSeconds, "99999999999"),
        (.unixSeconds, "9223372036854775808"), (.unixMilliseconds, "+1"), (.iso8601, ""),
    ])
    func `Other texts are no times`(format: TimeFormat, text: String) {
        #expect(format.unixNanoseconds(text) == nil)
    }

    /// RFC 7231 §7.1.1.1's example, read and written by every sink.
    @Test func `Each sink takes the same times`() {
        for format in TimeFormat.allCases {
            let text = format.text(unixNanoseconds: 1_700_000_000_123_456_789)
            let written = withByteWriter(capacity: TimeFormat.capacity) { writer in
                writer.append(time: 1_700_000_000_123_456_789, as: format)
                return writer.bytes.withUnsafeBufferPointer { String(decoding: $0, as: UTF8.self) }
            }
            #expect(written == text)
        }
    }
}
