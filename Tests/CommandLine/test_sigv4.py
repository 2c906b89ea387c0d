"""Examples/schemes/swift-sigv4: its signatures equal botocore's, and a verifying server accepts them."""

import functools
import os
import random
import subprocess
import sys
import unittest

import botocore.auth
import botocore.awsrequest
import botocore.config
import botocore.credentials
import botocore.session

from support import FOLDER, HOST, PATIENCE, ROOT, TestCase

sys.path.insert(0, str(ROOT / "scripts"))
import test_build  # noqa: E402

REGION, ACCESS_KEY, SECRET_KEY = "us-east-1", "AKIDEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
REQUESTS = 200
# Headers that the command line adds, and that newer versions of botocore don't sign.
UNSIGNED = {"user-agent", "connection", "expect", "te", "authorization"}
BUILD_SECONDS = 600


@functools.cache
def plugin():
    """Builds the example like its author would, in Embedded Swift, in the folder of scripts/build-plugins, where the kit is
    already built."""
    package, scratch = ROOT / "Examples/schemes/swift-sigv4", ROOT / ".build/embedded"
    command = ["swift", "build", "-c", "release", "--package-path", package, "--scratch-path", scratch, "--product", "SigV4Auth"]
    with test_build.own_plan(scratch):
        done = subprocess.run(command, capture_output=True, timeout=BUILD_SECONDS, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise AssertionError(done.stdout.decode()[-3000:] + done.stderr.decode()[-3000:])
    return scratch / "release/libSigV4Auth.so"


def host(command, *arguments, secret=SECRET_KEY, key=ACCESS_KEY, token=None, **settings):
    environment = dict(os.environ, SECRET_KEY=secret)
    given = ["--plugin", plugin(), "--set", f"access-key={key}", "--set", "secret-key=env:SECRET_KEY", "--set", f"region={REGION}"]
    if token:
        environment["SESSION_TOKEN"] = token
        given += ["--set", "session-token=env:SESSION_TOKEN"]
    for name, value in settings.items():
        given += ["--set", f"{name}={value}"]
    return subprocess.run(
        [HOST, *command, *given, *arguments], capture_output=True, timeout=PATIENCE, env=environment, stdin=subprocess.DEVNULL)


def parsed(request):
    """Method, target, header lines and body of a request as it goes on the wire."""
    head, body = request.split(b"\r\n\r\n", 1)
    first, *lines = head.decode().split("\r\n")
    method, target, _ = first.split(" ")
    return method, target, [line.split(": ", 1) for line in lines], body


def expected(scheme, method, target, headers, body, token, service, rules, payload):
    """botocore's Authorization for the same request at the same time."""
    request = botocore.awsrequest.AWSRequest(method, f"{scheme}://unused{target}", data=body)
    request.context["payload_signing_enabled"] = payload == "hashed"
    if rules == "s3":
        request.context["client_config"] = botocore.config.Config(s3={"payload_signing_enabled": payload == "hashed"})
    for name, value in headers:
        if name.lower() not in UNSIGNED:
            request.headers.add_header(name, value)
    signer = botocore.auth.S3SigV4Auth if rules == "s3" else botocore.auth.SigV4Auth
    auth = signer(botocore.credentials.Credentials(ACCESS_KEY, SECRET_KEY, token), service, REGION)
    request.context["timestamp"] = request.headers["x-amz-date"]
    signature = auth.signature(auth.string_to_sign(request, auth.canonical_request(request)), request)
    auth._inject_signature_to_request(request, signature)
    return request.headers["Authorization"]


class SigV4Tests(TestCase):
    def test_signatures_are_those_of_botocore(self):
        source = random.Random(4)
        words = ["a", "b-c", "..", ".", "", "%20", "%2F", "%2e%2E", "é", "€", "~x", "a+b", "(1)", "a=b", "*", "@", ":", "%7E", "$", ","]
        names = ["X-Ä"[:2] + letter for letter in "aBc-"] + ["Accept", "X-Amz-Meta-Long", "x-amz-target"]
        for number in range(REQUESTS):
            path = "/".join(source.choices(words, k=source.randrange(1, 6)))
            query = "&".join(
                source.choice(["a", "b", "a%20b", "é", "A", "b-c"]) + source.choice(["", "=", "=1", "=2", "=x%2Fy", "=é", "=a+b", "=="])
                for _ in range(source.randrange(0, 5)))
            arguments = [f"http://127.0.0.1:{source.randrange(1, 65536)}/{path}" + (f"?{query}" if query or number % 7 == 0 else "")]
            for _ in range(source.randrange(0, 5)):
                value = source.choice(["1", " two  words ", "tab\there", "é€", "a, b", '"q  q"'])
                arguments += ["-H", f"{source.choice(names)}: {value}"]
            body = source.choice([b"", b"x", "é\0\n".encode(), source.randbytes(5000)])
            if body:
                file = self.folder / "body"
                file.write_bytes(body)
                arguments += ["--data-binary", f"@{file}"]
            arguments += ["-X", source.choice(["GET", "POST", "PUT", "DELETE"])]
            token = source.choice([None, "AQoDYXdzEPT//////////wEXAMPLE=="])
            rules, payload = source.choice(["general", "s3"]), source.choice(["hashed", "unsigned"])
            service = "s3" if rules == "s3" else "execute-api"
            done = host(["sign"], *arguments, token=token, service=service, rules=rules, payload=payload)
            self.assertEqual(done.returncode, 0, done.stderr.decode())
            method, target, headers, sent = parsed(done.stdout)
            self.assertEqual(sent, body)
            # Without TLS, botocore signs each body.
            scheme = "https" if payload == "unsigned" else "http"
            with self.subTest(number=number, target=target, headers=headers):
                self.assertEqual(
                    dict(headers)["Authorization"],
                    expected(scheme, method, target, headers, body, token, service, rules, payload))
                self.assertEqual(dict(headers).get("x-amz-security-token"), token)

    def test_a_server_that_verifies_accepts_them_and_refuses_a_wrong_key(self):
        server = subprocess.Popen(
            ["/usr/bin/python3", FOLDER / "moto_server.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait, PATIENCE)
        self.addCleanup(server.stdin.close)
        url = f"http://127.0.0.1:{int(server.stdout.readline())}"
        iam = botocore.session.get_session().create_client(
            "iam", region_name=REGION, endpoint_url=url, aws_access_key_id="x", aws_secret_access_key="x")
        iam.create_user(UserName="ada")
        policy = '{"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "*", "Resource": "*"}]}'
        iam.put_user_policy(UserName="ada", PolicyName="all", PolicyDocument=policy)
        made = iam.create_access_key(UserName="ada")["AccessKey"]
        key, secret = made["AccessKeyId"], made["SecretAccessKey"]

        def call(*arguments, service, rules="general", secret=secret, payload="hashed"):
            # moto distinguishes services at one address by the credential's scope.
            done = host([], *arguments, "-f", key=key, secret=secret, service=service, rules=rules, payload=payload)
            return done.returncode, done.stdout.decode()

        ask = ["-d", "Action=GetCallerIdentity&Version=2011-06-15", url + "/"]
        self.assertEqual(call(*ask, service="sts")[0], 0)
        self.assertIn(":user/ada", call(*ask, service="sts")[1])
        self.assertEqual(call(*ask, service="sts", secret="x" + secret)[0], 119)
        self.assertEqual(call("-X", "PUT", url + "/bucket", service="s3", rules="s3")[0], 0)
        # moto verifies the decoded path, which differs for names with escapes.
        name = "/bucket/folder/plain_name-1.txt"
        for payload in ["hashed", "unsigned"]:
            self.assertEqual(
                call(
                    "-X", "PUT", url + name, "-H", "Content-Type: text/plain", "--data-binary", payload, service="s3",
                    rules="s3", payload=payload)[0], 0)
            self.assertEqual(call(url + name, service="s3", rules="s3", payload=payload), (0, payload))
        self.assertEqual(call(url + name, service="s3", rules="s3", secret=secret[:-1])[0], 119)


if __name__ == "__main__":
    unittest.main()
