import NevodTestSupport
import Testing

@testable import NevodHost

/// Compares freshness with Python's CacheControl (Debian's python3-cachecontrol), for all combinations of the values below.
///
/// Leaves out cases in which CacheControl departs from RFC 9111: it uses a request's max-age as the response's lifetime, doesn't
/// know Age, and never expires permanent redirects. For min-fresh, the two differ for the one second in which the lifetime equals
/// age plus min-fresh; no combination meets that.
struct CacheJudgeTests {
    private static let maxAges = [nil, 0, 1, 60, 3600] as [Int64?]
    private static let expiries = [nil, -10, 0, 45, 60, 100] as [Int64?]
    private static let dates = [0, -20] as [Int64]
    private static let modified = [nil, -10, -1000, -10_000_000] as [Int64?]
    private static let extras = ["", "public", "no-store"]
    private static let ages = [0, 1, 39, 40, 59, 60, 79, 80, 99, 100, 3599, 86_379, 86_380] as [Int64]
    private static let requests = ["", "no-cache", "min-fresh=7", "no-store"]

    private static let judge = """
        import itertools, time
        from email.utils import formatdate
        from unittest import mock
        import cachecontrol.controller, cachecontrol.heuristics
        from cachecontrol.cache import DictCache
        from cachecontrol.controller import CacheController
        from urllib3 import HTTPResponse

        class Request:
            url = "http://h/"
            def __init__(self, control): self.headers = {"Cache-Control": control} if control else {}

        now, bits = 1800000000, []
        clock = mock.patch("time.time", lambda: now + elapsed)
        elapsed = 0
        clock.start()
        N = None
        for max_age, expires, date, modified, extra in itertools.product(
                [N, 0, 1, 60, 3600], [N, -10, 0, 45, 60, 100], [0, -20], [N, -10, -1000, -10000000], ["", "public", "no-store"]):
            headers = {"Date": formatdate(now + date, usegmt=True)}
            control = [extra] if extra else []
            if max_age is not N: control.append("max-age=%d" % max_age)
            if control: headers["Cache-Control"] = ", ".join(control)
            if expires is not N: headers["Expires"] = formatdate(now + date + expires, usegmt=True)
            if modified is not N: headers["Last-Modified"] = formatdate(now + date + modified, usegmt=True)
            for age, request in itertools.product(
                    [0, 1, 39, 40, 59, 60, 79, 80, 99, 100, 3599, 86379, 86380], ["", "no-cache", "min-fresh=7", "no-store"]):
                elapsed = 0
                cache = DictCache()
                controller = CacheController(cache)
                response = HTTPResponse(status=200, headers=headers, preload_content=False, body=b"")
                response = cachecontrol.heuristics.LastModified().apply(response)
                controller.cache_response(Request("no-store" if request == "no-store" else ""), response, b"x")
                elapsed = age
                bits.append("1" if controller.cached_request(Request("" if request == "no-store" else request)) else "0")
        print("".join(bits))
        """

    @Test func `Freshness as CacheControl decides it`() throws {
        let verdicts = try #require(try Command.output(["/usr/bin/python3", "-c", Self.judge]).split(separator: "\n").first)
        var ours: [String] = []
        var names: [String] = []
        let responses = pairs(pairs(pairs(pairs(Self.maxAges, Self.expiries), Self.dates), Self.modified), Self.extras)
        for (response, (age, request)) in pairs(responses, pairs(Self.ages, Self.requests)) {
            let ((((maxAge, expires), date), modified), extra) = response
            let headers = Self.headers(maxAge, expires, date, modified, extra)
            ours.append(try Self.serves(headers, age, request) ? "1" : "0")
            names.append(
                "max-age \(maxAge ?? -1), expires \(expires ?? -1), date \(date), modified \(modified ?? -1), \(extra), "
                    + "age \(age), request \(request)")
        }
        #expect(ours.count == verdicts.count)
        let differences = zip(zip(ours, verdicts), names).filter { $0.0.0 != String($0.0.1) }.map { "\($0.1): \($0.0.0)" }
        #expect(differences == [])
        #expect(ours.contains("1") && ours.contains("0"))
    }

    private static let now: Int64 = 1_800_000_000

    private static func headers(
        _ maxAge: Int64?, _ expires: Int64?, _ date: Int64, _ modified: Int64?, _ extra: String
    ) -> HTTPHeaders {
        var headers = HTTPHeaders()
        func text(_ offset: Int64) -> String { HTTPDate.text(UnixTime(seconds: now + date + offset)) }
        headers.add("Date", text(0), by: .host)
        let control = (extra.isEmpty ? [] : [extra]) + (maxAge.map { ["max-age=\($0)"] } ?? [])
        if !control.isEmpty { headers.add("Cache-Control", control.joined(separator: ", "), by: .host) }
        if let expires { headers.add("Expires", text(expires), by: .host) }
        if let modified { headers.add("Last-Modified", text(modified), by: .host) }
        return headers
    }

    /// - Parameter request: the second request's Cache-Control. `no-store` is sent with the first request, because its response
    /// could be stored.
    private static func serves(_ headers: HTTPHeaders, _ age: Int64, _ request: String) throws -> Bool {
        let response = HTTPResponse(version: .http11, status: 200, reason: "OK", headers: headers, body: .bytes([]))
        let time = UnixTime(seconds: now)
        let stored = StoredResponse(response, body: [], requestedAt: time, receivedAt: time)
        func policy(_ control: String) throws -> CachePolicy {
            var request = try HTTPRequest(.get, "http://h/")
            if !control.isEmpty { try request.setHeader("Cache-Control", control) }
            return CachePolicy(request)
        }
        return try policy(request == "no-store" ? request : "").mayStore(stored, hasCookies: false)
            && policy(request == "no-store" ? "" : request).mayServe(stored, at: UnixTime(seconds: now + age))
    }

    @Test func `Dates as Python writes them`() throws {
        let times = [0, 1, 951_782_400, 1_709_164_799, 1_800_000_000, 4_102_444_800, -1, -86_401] as [Int64]
        let expected = try Command.python(
            "import sys, email.utils, datetime as d\nfor t in sys.argv[1:]: print(email.utils.format_datetime(d.datetime(1970,1,1,tzinfo=d.timezone.utc)+d.timedelta(seconds=int(t)), usegmt=True))",
            times.map(String.init))
        #expect(times.map { HTTPDate.text(UnixTime(seconds: $0)) } == expected)
    }
}
