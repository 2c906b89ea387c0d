import NevodSupport
import NevodTestSupport
import Testing

@testable import NevodHost

struct CookieDateTests {
    /// Dates that the host and Python both parse; Python's results are the expected ones.
    @Test func `Dates parse as Python parses them`() throws {
        let dates = [
            "Wed, 09 Jun 2021 10:18:14 GMT", "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT",
            "06-Nov-1994 08:49:37 GMT", "06 Nov 1994 08:49:37", "06-nOV-94 8:49:37 GMT", "Thu, 29 Feb 2024 23:59:59 GMT",
            "Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 2260 23:59:59 GMT", "Mon, 01 Mar 2100 00:00:00 UTC",
            "Thu, 1 Jan 1970 00:00:01 GMT", "Tue, 31-Dec-2069 00:00:00 GMT",
        ]
        let script = "import sys, http.cookiejar\nfor text in sys.argv[1:]: print(http.cookiejar.http2time(text))"
        let verdicts = try Command.python(script, dates).map { Double($0).flatMap(Int64.init(exactly:)) }
        #expect(!verdicts.contains(nil))
        #expect(dates.map { CookieDate.unixSeconds($0) } == verdicts)
    }

    /// Forms that RFC 6265 §5.1.1 allows and Python doesn't know.
    @Test(arguments: [
        "Sun Nov  6 08:49:37 1994", "1994 Nov 6 08:49:37", "08:49:37 6 Nov 94", "08:49:37x 6th November 1994y",
        "6/Nov/94/08:49:37", ",;= 06_Nov^1994~08:49:37 +0200", "Nov 06 nov 1994 7 08:49:37 09:00:00 1999",
    ])
    func `Every allowed form of a date gives the same time`(text: String) {
        #expect(CookieDate.unixSeconds(text) == 784_111_777)
    }

    @Test(arguments: [
        ("1 Jan 70 00:00:00", 1970), ("1 Jan 99 00:00:00", 1999), ("1 Jan 00 00:00:00", 2000), ("1 Jan 69 00:00:00", 2069),
        ("1 Jan 1677 00:00:00", 1677), ("1 Jan 2261 00:00:00", 2261),
    ])
    func `Two-digit years follow RFC 6265`(text: String, year: Int) throws {
        let expected = try #require(
            year < 1700
                ? UnixTime(nanoseconds: .min) : UnixTime(year: year, month: 1, day: 1, hour: 0, minute: 0, second: 0))
        #expect(CookieDate.unixSeconds(text).map(UnixTime.init(seconds:)) == expected)
    }

    /// An expiry beyond the representable range, which servers send for "forever", doesn't make a session cookie.
    @Test func `Dates at the end of the range don't overflow`() {
        #expect(
            CookieDate.unixSeconds("Fri, 31 Dec 9999 23:59:59 GMT").map(UnixTime.init(seconds:)) == UnixTime(nanoseconds: .max))
        #expect(CookieDate.unixSeconds("29 Feb 2400 00:00:00").map(UnixTime.init(seconds:)) == UnixTime(nanoseconds: .max))
        #expect(CookieDate.unixSeconds("01 Jan 1601 00:00:00").map(UnixTime.init(seconds:)) == UnixTime(nanoseconds: .min))
    }

    @Test(arguments: [
        "", "garbage", "06 Nov 1994", "Nov 1994 08:49:37", "06 1994 08:49:37", "06 Nov 08:49:37", "32 Jan 2020 00:00:00",
        "0 Jan 2020 00:00:00", "30 Feb 2020 00:00:00", "29 Feb 2021 00:00:00", "29 Feb 2100 00:00:00", "1 Jan 1600 00:00:00",
        "1 Jan 2020 24:00:00", "1 Jan 2020 00:60:00", "1 Jan 2020 00:00:60", "1 Jan 2020 0:0", "1 Jan 2020 000:00:00",
        "1 Jan 2020 00:00:000", "001 Jan 2020 00:00:00", "1 Jan 20200 00:00:00", "1 Jan 2 00:00:00", "1 Ja 2020 00:00:00",
        "1 Jan 2020 00:0x:00", "1 Jan 2020 :00:00", "29 Feb 2500 00:00:00",
    ])
    func `Text without a date gives none`(text: String) {
        #expect(CookieDate.unixSeconds(text) == nil)
    }
}
