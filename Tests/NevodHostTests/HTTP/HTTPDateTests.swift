import NevodTestSupport
import Testing

@testable import NevodHost

struct HTTPDateTests {
    private static let python = """
        import email.utils, random, sys, calendar, time
        random.seed(int(sys.argv[1]))
        for _ in range(300):
            t = random.randrange(0, 4102444800)
            tm = time.gmtime(t)
            full = email.utils.formatdate(t, usegmt=True)
            asctime = time.asctime(tm)
            for text in (full, asctime):
                assert calendar.timegm(email.utils.parsedate(text)) == t
                print(t, text, sep="|")
        # A year of two digits: RFC 9110's century is not Python's for all of them, so those near to now.
        for _ in range(300):
            t = int(time.time()) + random.randrange(-40 * 31557600, 40 * 31557600)
            print(t, time.strftime("%A, %d-%b-%y %H:%M:%S GMT", time.gmtime(t)), sep="|")
        """

    @Test func `All three forms, as Python's email.utils and time write and read them`() throws {
        let lines = try Command.python(Self.python, ["1"])
        #expect(lines.count == 900)
        for line in lines {
            let parts = line.split(separator: "|", maxSplits: 1).map(String.init)
            #expect(HTTPDate.parse(parts[1]) == UnixTime(seconds: try #require(Int64(parts[0]))), "\(line)")
        }
    }

    @Test(arguments: [
        "", "now", "Sun, 06 Nov 1994 08:49:37", "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 31 Feb 1994 08:49:37 GMT",
        "Sun, 06 Non 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:37 GMT",
        "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 08:49:37 GMT x", "Sun, 06 Nov 0000 08:49:37 GMT",
        "Sun, 06 Nov -994 08:49:37 GMT",
    ])
    func `Text that is no HTTP date is refused`(text: String) {
        #expect(HTTPDate.parse(text) == nil)
    }
}
