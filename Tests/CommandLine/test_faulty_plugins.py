"""Faulty/faulty.c with each of its faults. Exactly the intended check finds each fault."""

import re
import unittest

from faulty import CRASHED, FAIL, TIMED_OUT, WARN, build, check, expect_found, found, shown
from support import TestCase, cases

# A fault, the check that finds it, and its result. A third value has arguments for the compiler.
TOKEN = {
    "issued-token-refused": ("token.issued", FAIL),
    "signs-with-decode-number": ("token.round-trip", FAIL),
    "decode-hangs": ("lifecycle.independent", TIMED_OUT),
    "token-free-crashes": ("lifecycle.independent", CRASHED),
    "decode-crashes-on-empty": ("token.empty", CRASHED),
    "decode-crashes-on-truncated": ("token.truncated", CRASHED),
    "decode-crashes-on-flipped": ("token.flipped", CRASHED),
    "decode-crashes-on-random": ("token.random", CRASHED),
    "decode-crashes-on-huge": ("token.huge", CRASHED),
    "refusal-denied": ("token.statuses", FAIL),
    "refusal-silent": ("token.reasons", WARN),
    "decode-keeps-bytes": ("token.borrowed", CRASHED),
    "decode-overreads": ("token.bounds", CRASHED),
    "refusal-leaks": ("token.refused-memory", FAIL),
}

AUTHORIZE = {
    "counts-calls": ("authorize.same-twice", FAIL),
    "signs-with-address": ("authorize.same-instances", FAIL),
    "reads-the-clock": ("authorize.same-later", FAIL),
    "random-not-declared": ("authorize.needs", FAIL),
    "headers-not-declared": ("authorize.needs", FAIL),
    "control-in-header": ("authorize.edits", FAIL),
    "replaces-body-twice": ("authorize.edits", FAIL),
    "line-break-in-header": ("authorize.edits", FAIL),
    "bad-header-name": ("authorize.edits", FAIL),
    "sets-host": ("authorize.edits", FAIL),
    "huge-header": ("authorize.edits", FAIL),
    "origin-header-for-proxy": ("authorize.proxy", FAIL),
    "signs-unknown-target": ("authorize.unknown-target", FAIL),
    "signs-unknown-body": ("authorize.unknown-body", FAIL),
    "crashes-without-token": ("authorize.no-token", CRASHED),
    "failure-of-unknown-status": ("authorize.statuses", FAIL),
    "failure-silent": ("authorize.reasons", WARN),
    "failure-reported-twice": ("authorize.reasons", FAIL),
    "writes-input": ("authorize.read-only", CRASHED),
    "overreads": ("authorize.bounds", CRASHED),
    "keeps-view": ("authorize.borrowed", CRASHED),
    "create-keeps-values": ("create.borrowed", CRASHED),
    "uses-kept-edits": ("authorize.kept-sinks", FAIL),
    "crashes-when-an-edit-fails": ("authorize.failing-edits", CRASHED),
    "refuses-grown-view": ("authorize.grown-structs", FAIL),
    "reads-what-is-empty": ("authorize.empty-pointers", CRASHED),
    "uses-stack": ("authorize.stack", CRASHED),
    "crashes-on-no-path": ("authorize.odd-targets", CRASHED),
    "crashes-on-long-target": ("authorize.long-targets", CRASHED),
    "crashes-on-ipv6": ("authorize.hosts", CRASHED),
    "crashes-on-non-ascii": ("authorize.non-ascii", CRASHED),
    "crashes-on-repeated-header": ("authorize.headers", CRASHED),
    "crashes-on-empty-header": ("authorize.headers", CRASHED),
    "crashes-on-many-headers": ("authorize.many-headers", CRASHED),
    "crashes-on-odd-method": ("authorize.methods", CRASHED),
    "hangs-on-connect": ("authorize.methods", TIMED_OUT),
    "odd-edit-for-a-form": ("authorize.bodies", FAIL),
    "crashes-on-huge-body": ("authorize.huge-body", CRASHED),
    "crashes-on-missing-digest": ("authorize.missing-digests", CRASHED),
    "crashes-in-2040": ("authorize.clock", CRASHED),
    "crashes-in-1970": ("authorize.clock", CRASHED),
    "crashes-on-long-state": ("authorize.states", CRASHED),
    "crashes-on-late-attempt": ("authorize.attempts", CRASHED),
    "crashes-on-parameter": ("authorize.parameters", CRASHED),
}

RESPONSE = {
    "respond-unknown-verdict": ("response.verdicts", FAIL),
    "respond-crashes-on-odd-challenge": ("response.challenges", CRASHED),
    "respond-crashes-on-status": ("response.statuses", CRASHED),
    "respond-crashes-on-many-headers": ("response.headers", CRASHED),
    "respond-crashes-on-body": ("response.bodies", CRASHED),
    "respond-takes-unknown-target": ("response.unknown-target", FAIL),
    "respond-sends": ("response.actions", FAIL),
    "respond-keeps-empty-token": ("response.actions", FAIL),
    "respond-crashes-when-a-state-fails": ("response.failing-actions", CRASHED),
    "respond-overreads": ("response.bounds", CRASHED),
    "respond-keeps-response": ("response.borrowed", CRASHED),
}

BODY = {
    "wraps-too-little": ("body.length", FAIL),
    "wrapping-depends-on-pieces": ("body.pieces", FAIL),
    "wrapping-crashes-on-one-byte": ("body.small-pieces", CRASHED),
    "wrapping-crashes-on-empty-last": ("body.empty-last", CRASHED),
    "wrapping-crashes-when-a-write-fails": ("body.failing-output", CRASHED),
    "wrapping-crashes-unused": ("body.unused", CRASHED),
    "wrapping-leaks": ("body.memory", FAIL),
}

FLOW = {
    "flow-of-unknown-kind": ("flow.kinds", FAIL),
    "flow-free-crashes-unused": ("flow.unused", CRASHED),
    "flow-two-actions": ("flow.one-action", FAIL),
    "flow-no-action": ("flow.one-action", FAIL),
    "flow-bad-method": ("flow.requests", FAIL),
    "flow-control-in-header": ("flow.requests", FAIL),
    "flow-sets-host": ("flow.requests", FAIL),
    "question-without-name": ("flow.questions", FAIL),
    "token-empty": ("flow.token", FAIL),
    "token-expired-at-birth": ("flow.token", FAIL),
    "token-long-account": ("flow.token", FAIL),
    "logout-issues-token": ("flow.logout", FAIL),
    "refresh-crashes-without-token": ("flow.no-token", CRASHED),
    "flow-failure-unknown-status": ("flow.statuses", FAIL),
    "flow-failure-silent": ("flow.reasons", WARN),
    "flow-counts-others": ("flow.interleaved", FAIL),
    "flow-overreads-event": ("flow.bounds", CRASHED),
    "flow-keeps-event": ("flow.borrowed", CRASHED),
    "flow-keeps-sink": ("flow.kept-sinks", FAIL),
    "flow-leaks-when-abandoned": ("flow.abandoned-memory", FAIL),
    "flow-refuses-grown-event": ("flow.grown-structs", FAIL),
    "flow-crashes-without-answer": ("flow.no-answers", CRASHED),
    "flow-crashes-on-5xx": ("flow.server-errors", CRASHED),
    "flow-crashes-on-wrong-type": ("flow.wrong-types", CRASHED),
    "flow-crashes-without-headers": ("flow.odd-headers", CRASHED),
    "flow-crashes-on-large": ("flow.large-responses", CRASHED),
    "flow-retries-401": ("flow.bounded", FAIL),
    "flow-crashes-on-transport-error": ("flow.transport-errors", CRASHED),
    "flow-denies-on-transport-error": ("flow.transient", FAIL),
    "flow-denies-on-5xx": ("flow.transient", FAIL),
    "flow-crashes-on-cancel": ("flow.cancelled", CRASHED),
    "flow-hangs-on-cancel": ("flow.cancelled", TIMED_OUT),
    "flow-free-crashes-when-left": ("flow.left", CRASHED),
    "flow-crashes-on-skew": ("flow.clock-skew", CRASHED),
    "flow-crashes-on-wrong-event": ("flow.wrong-events", CRASHED),
    "flow-crashes-on-unknown-event": ("flow.unknown-events", CRASHED),
    "flow-takes-unknown-event": ("flow.unknown-events", FAIL),
    "flow-crashes-when-ask-fails": ("flow.unsupported-actions", CRASHED),
    "flow-insists-on-asking": ("flow.unsupported-actions", TIMED_OUT),
}

SECRECY = {
    "logs-secret": ("secrecy.logs", FAIL),
    "logs-secret-as-base64": ("secrecy.logs", FAIL),
    "logs-secret-as-hex": ("secrecy.logs", FAIL),
    "flow-logs-password": ("secrecy.logs", FAIL),
    "flow-logs-token": ("secrecy.logs", FAIL),
    "failure-shows-secret": ("secrecy.errors", FAIL),
    "refusal-shows-token": ("secrecy.errors", FAIL),
    "flow-to-another-origin": ("secrecy.origins", FAIL),
    "secret-in-url": ("secrecy.urls", WARN),
    "prompt-shows-secret": ("secrecy.prompts", FAIL),
    "account-is-token": ("secrecy.accounts", FAIL),
}

# The categories whose checks are all in this table.
OURS = {"create", "token", "authorize", "response", "body", "flow", "secrecy"}

FAULTS = TOKEN | AUTHORIZE | RESPONSE | BODY | FLOW | SECRECY


class FaultyPlugins(TestCase):
    def test_no_fault(self):
        code, checks = check(build("none"))
        self.assertEqual(found(checks), [], shown(checks))
        self.assertEqual(code, 0)
        # Each check had something to try.
        skipped = {one["id"]: one["note"] for one in checks if one["result"] == "SKIP" and one["scheme"]
                   and one["id"].split(".")[0] in OURS}
        self.assertEqual(skipped, {})

    @cases({fault.replace("-", "_"): fault for fault in FAULTS})
    def test_each_fault(self, fault):
        expect_found(self, FAULTS, fault, "3727704930")


class Fuzzing(unittest.TestCase):
    CASES = {
        "fuzz.authorize": ("fuzz-authorize", "authorize"), "fuzz.token": ("fuzz-token", "token_decode"),
        "fuzz.response": ("fuzz-response", "on_response"), "fuzz.flow": ("fuzz-flow", "flow_step"),
        "fuzz.settings": ("fuzz-settings", "create"),
    }

    def test_seed_repeats_the_crash(self):
        for check_id, (fault, function) in self.CASES.items():
            with self.subTest(check=check_id):
                path = build(fault)
                _, checks = check(path, "--only", f"^{check_id}$", "--seed", "7", "--fuzz", "30")
                self.assertEqual(found(checks), [(check_id, CRASHED)], shown(checks))
                self.assertIn(f"crashed in {function}", checks[0]["happened"])
                seed = re.search(r"--seed (\d+)", checks[0]["fix"])[1]
                for _ in range(3):
                    _, again = check(path, "--only", f"^{check_id}$", "--seed", seed)
                    self.assertEqual(again[0]["happened"], checks[0]["happened"])
                # The crash belongs to that case only.
                _, other = check(path, "--only", f"^{check_id}$", "--seed", "7")
                if seed != "7":
                    self.assertEqual(found(other), [], shown(other))

    def test_no_fault(self):
        code, checks = check(build("none"), "--only", "^fuzz[.]", "--seed", "11", "--fuzz", "2")
        self.assertEqual((code, found(checks)), (0, []), shown(checks))
        self.assertEqual({one["id"] for one in checks}, set(self.CASES))
        for one in checks:
            self.assertRegex(one["note"], r"^\d\d+ cases$")

    def test_not_without_fuzz(self):
        _, checks = check(build("none"), "--skip", "^(static|load|description|lifecycle|process|time|threads|resources|authorize|flow)[.]")
        self.assertFalse([one for one in checks if one["id"].startswith("fuzz")])


if __name__ == "__main__":
    unittest.main()
