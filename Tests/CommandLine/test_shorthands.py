"""Items after the URL, such as name=value. HTTPie runs with the same arguments, and the tests compare what arrives, byte for
byte."""

import json
import re
import subprocess

from support import FOLDER, SECRET, RecordingServer, TestCase, cases, environment, reply

# Arguments for both. Our --as-form is HTTPie's --form, because curl has another --form. DATA and TEXT are files.
SAME = {
    "nothing": "URL/a",
    "text": "URL/a name=value",
    "text_empty": "URL/a name=",
    "text_of_equals": "URL/a name=a=b=c",
    "text_of_colons": "URL/a name=http://x:1/y?z",
    "text_of_spaces": ["URL/a", "name=a b  c"],
    "text_wide": "URL/a name=naïve€😀",
    "text_controls": ["URL/a", "name=a\tb\nc\x7f\x01"],
    "text_quotes": ["URL/a", 'name=a"b\\\\c/d'],
    "name_wide": "URL/a naïve=1",
    "name_of_spaces": ["URL/a", "a b=1"],
    "no_name": "URL/a =x",
    "repeated": "URL/a a=1 b=2 a=3",
    "file_of_text": "URL/a name=@TEXT",
    "json_number": "URL/a n:=1",
    "json_negative": "URL/a n:=-12",
    "json_fraction": "URL/a n:=1.5",
    "json_true": "URL/a t:=true f:=false z:=null",
    "json_text": ["URL/a", 'n:="x y"'],
    "json_list": ["URL/a", 'n:=[1,2,{"a":"b"}]'],
    "json_object": ["URL/a", 'n:={"a":{"b":[]},"c":{}}'],
    "json_wide": ["URL/a", 'n:="\\u20ac€"'],
    "json_file": "URL/a n:=@DATA",
    "json_and_text": "URL/a a=1 b:=2 c=3",
    "method": "PUT URL/a a=1",
    "method_without_items": "DELETE URL/a",
    "method_unknown": "PROPFIND URL/a",
    "get_with_content": "GET URL/a a=1",
    "query": "URL/a q==x",
    "query_twice": "URL/a q==x q==y",
    "query_of_spaces": ["URL/a", "q==a b&c=d"],
    "query_wide": "URL/a q==é",
    "query_behind_query": "URL/a?x=1 q==2",
    "query_empty": "URL/a q==",
    "query_and_text": "URL/a q==1 a=2",
    "query_file": "URL/a q==@WORD",
    "header": "URL/a X-A:1",
    "header_of_spaces": ["URL/a", "X-A: b c"],
    "header_of_colons": "URL/a X-A:http://b:1/c",
    "header_empty": "URL/a X-A;",
    "header_replaced": "URL/a Accept:text/plain",
    "header_removed": ["URL/a", "Accept:"],
    "header_file": "URL/a X-A:@WORD",
    "header_and_text": "URL/a X-A:1 a=2 Content-Type:application/x-json",
    "escaped_colon": ["URL/a", r"a\:b=c"],
    "escaped_equals": ["URL/a", r"a\=b=c"],
    "escaped_at": ["URL/a", r"a\@b=c"],
    "escaped_backslash": ["URL/a", r"a\\=b"],
    "escaped_nothing": ["URL/a", r"a\nb=c\n"],
    "escaped_in_value": ["URL/a", r"a=b\=c\:d"],
    "escaped_then_separator": ["URL/a", r"a\==b"],
    "form": "--form URL/a a=1 b=2",
    "form_of_spaces": ["--form", "URL/a", "a b=c d&e"],
    "form_wide": "--form URL/a a=é~-_.*",
    "form_repeated": "--form URL/a a=1 a=2",
    "form_file_of_text": "--form URL/a a=@WORD",
    "form_number": "--form URL/a a:=12",
    "multipart": "--form URL/a f@TEXT",
    "multipart_and_text": "--form URL/a a=1 f@TEXT b=2",
    "multipart_type": "--form URL/a f@TEXT;type=text/x-odd",
    "multipart_unknown": "--form URL/a f@BLOB",
    "nested": "URL/a a[b]=c a[d]=e",
    "nested_deep": "URL/a a[b][c][d]:=1",
    "nested_list": "URL/a a[]=1 a[]:=2",
    "nested_index": "URL/a a[2]=x a[0]=y",
    "nested_objects_in_list": "URL/a a[0][b]=1 a[0][c]=2 a[1][b]=3",
    "nested_escaped": ["URL/a", r"a\[b\]=c"],
    "nested_digits_as_name": ["URL/a", r"a[\1]=c"],
    "top_list": "URL/a []:=1 []=x",
    "port_in_first": "URL/a X-Port:8080",
    "body_file": "POST URL/a @DATA",
}


class BesideHTTPie(TestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.server = cls.enterClassContext(RecordingServer(lambda seen: reply(body=b"ok")))

    def setUp(self):
        self.data = self.file("data.json", '{"a": [1, "é"]}')
        self.text = self.file("text.txt", "one\ntwo\n")
        self.word = self.file("word", "one two")
        self.blob = self.file("blob", b"\x00\xff")
        # Otherwise, HTTPie would ask its server for updates.
        self.file("config.json", '{"disable_update_warnings": true}')

    def words(self, given):
        given = given.split(" ") if isinstance(given, str) else given
        names = {"URL": self.server.http, "DATA": self.data, "TEXT": self.text, "WORD": self.word, "BLOB": self.blob}
        for name, value in names.items():
            given = [word.replace(name, str(value), 1) for word in given]
        return given

    def seen(self, code):
        self.assertEqual((code, len(self.server.requests)), (0, 1), self.server.requests)
        seen = self.server.requests.pop()
        boundary = re.search("boundary=(.*)", "".join(seen.values("Content-Type")))
        body, kind = seen.body, "".join(seen.values("Content-Type"))
        if boundary:
            body, kind = body.replace(boundary[1].encode(), b"B"), kind.replace(boundary[1], "B")
        left = ("user-agent", "accept-encoding", "connection", "content-length", "content-type", "host")
        fields = sorted((name.lower(), value) for name, value in seen.headers if name.lower() not in left)
        return seen.method, seen.target, kind, fields, body

    def test_same_bytes(self):
        runner = subprocess.Popen(
            ["/usr/bin/python3", FOLDER / "httpie_runner.py"], env=environment(HTTPIE_CONFIG_DIR=str(self.folder)),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=self.folder)
        with runner:
            for name, given in SAME.items():
                words = self.words(given)
                with self.subTest(name):
                    self.server.requests.clear()
                    runner.stdin.write(json.dumps(words).encode() + b"\n")
                    runner.stdin.flush()
                    theirs = self.seen(int(runner.stdout.readline()))
                    outcome = self.run_host(*["--as-form" if word == "--form" else word for word in words])
                    self.assertEqual(outcome.code, 0, outcome)
                    self.assertEqual(self.seen(outcome.code), theirs)
            runner.stdin.close()
        self.assertGreaterEqual(len(SAME), 40)


class Items(TestCase):
    def setUp(self):
        self.server = self.enterContext(RecordingServer(lambda seen: reply(body=seen.target.encode())))

    def run_items(self, *words):
        return self.run_host(*[word.replace("URL", self.server.http) for word in words], cwd=self.folder)

    @cases({
        "in_front": (["a=1", "URL"], 'the item "a=…" is before the URL'),
        "and_data": (["URL", "a=1", "-d", "x"], "-d and items such as NAME=VALUE can't be combined"),
        "two_methods": (["-X", "PUT", "POST", "URL"], "the method is given twice"),
        "not_json": (["URL", "a:=x"], 'the value of the item "a:=" is not JSON'),
        "not_json_either": (["URL", "a:=1 2"], 'the value of the item "a:=" is not JSON'),
        "empty_with_value": (["URL", "A;b"], 'the item "A;" is an empty header line'),
        "header_without_name": (["URL", ":b"], "an item has no name"),
        "header_like_a_file": (["URL", r"\@a:b"], "can't be the name of a header line"),
        "unclosed": (["URL", "a[b=1"], 'the item "a[b" has a [ without ]'),
        "behind_bracket": (["URL", "a[b]c=1"], 'the item "a[b]c" has text after ]'),
        "into_a_text": (["URL", "a=1", "a[b]=2"], 'the item "a[b]" adds to a value'),
        "into_a_whole_list": (["URL", "a:=[1,2]", "a[]=3"], '"a" was given whole by :=, so the item "a[]" can\'t add to it'),
        "into_a_whole_object": (["URL", 'a[b]:={"c":1}', "a[b][d]=2"], '"a[b]" was given whole by :='),
        "into_a_whole_text": (["URL", "a:=1", "a[b]=2"], '"a" was given whole by :='),
        "into_a_list": (["URL", "a[]=1", "a[b]=2"], 'the item "a[b]" adds to a list'),
        "large_index": (["URL", "a[10000]=1"], "has an index above 9999"),
        "huge_index": (["URL", "a[99999999999999999999]=1"], "has an index above 9999"),
        "deep": (["URL", "a" + "[b]" * 70 + "=1"], "is nested more than 64 deep"),
        "list_in_form": (["URL", "a:=[1]", "--as-form"], "is a list or an object"),
        "whole_and_part": (["URL", "@f", "a=1"], "is the whole content"),
    })
    def test_refused(self, words, message):
        outcome = self.run_items(*words)
        self.expect_failure(outcome, 2, message)
        self.assertEqual(self.server.requests, [])

    def test_a_refused_value_is_not_repeated(self):
        for words in (["URL", f"password:={SECRET}"], [f"password={SECRET}", "URL"], ["URL", f"A;{SECRET}"]):
            outcome = self.run_items(*words)
            self.expect(outcome, 2)
            self.assertNotIn(SECRET, outcome.err)

    def test_missing_file(self):
        self.expect(self.run_items("URL", "f@absent"), 26, "absent")
        self.expect(self.run_items("URL", "f=@absent"), 26, "absent")

    @cases({
        "path": "URL/a=b", "query": "URL?a:=b", "local_port": "localhost:PORT/a=b", "address": "127.0.0.1:PORT", "with_scheme": "URL/x:y@z",
        "address_of_ipv6": "[::1]:PORT/a=b",
    })
    def test_further_words_that_are_urls(self, word):
        port = str(self.server.port)
        self.run_items("URL/first", word.replace("PORT", port))
        self.assertEqual((self.server.requests[0].target, self.server.requests[0].method), ("/first", "GET"))

    def test_items_belong_to_the_url_in_front(self):
        self.expect(self.run_items("URL/a", "x=1", "PUT", "URL/b", "y=2", "URL/c"), 0)
        self.assertEqual(
            [(seen.method, seen.target, seen.body) for seen in self.server.requests],
            [("POST", "/a", b'{"x": "1"}'), ("PUT", "/b", b'{"y": "2"}'), ("GET", "/c", b"")])

    def test_numbers_stay_as_typed(self):
        self.expect(self.run_items("URL", "n:=123456789012345678901234567890", "m:=1.10"), 0)
        self.assertEqual(self.server.requests[0].body, b'{"n": 123456789012345678901234567890, "m": 1.10}')

    def test_sign(self):
        self.expect(self.run_items("sign", "URL", "a=1"), 2, "sign needs a --plugin")
        self.expect(self.run_items("sign", "URL", "URL/b"), 2, "sign takes one URL, but 2 were given")
