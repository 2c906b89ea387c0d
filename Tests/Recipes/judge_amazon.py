"""Amazon's own library, for its signatures of 2006 (S3), 2009 and 2012."""

import urllib.parse

from botocore import auth as software
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from vendors import KEY, ODD, SECRET, TOKEN, Case, Expected, Row, pinned

JSON = {"Content-Type": "application/x-amz-json-1.0"}
# botocore's client writes a query like this: RFC 3986.
ODD_QUERY = urllib.parse.urlencode({**ODD, "empty": ""}, quote_via=urllib.parse.quote, safe="-._~")
BODY = '{"a":"ü + 1"}'.encode()


def signed_by(kind, method, url, body=None, headers=(), token=None, names=(), arguments=()):
    request = AWSRequest(method=method, url=url, data=body, headers=dict(headers))
    with pinned("botocore.auth", "email.utils", "botocore.compat"):
        kind(Credentials(KEY, SECRET, token), *arguments).add_auth(request)
    names = [*names, "Authorization"] + (["X-Amz-Security-Token"] if token else [])
    expected = Expected({name: request.headers[name] for name in names})
    return Case(method, url, lambda signed: expected, body, dict(headers))


def version4(*arguments, **others):
    return signed_by(software.SigV4Auth, *arguments, names=["X-Amz-Date"], arguments=["execute-api", "eu-west-1"], **others)


def s3(*arguments, **others):
    names = ["X-Amz-Date", "X-Amz-Content-SHA256"]
    return signed_by(software.S3SigV4Auth, *arguments, names=names, arguments=["s3", "eu-west-1"], **others)


def s3_version2(*arguments, **others):
    return signed_by(software.HmacV1Auth, *arguments, names=["Date"], **others)


def version2(path, values, token=None):
    request = AWSRequest(method="GET", url=f"https://sdb.amazonaws.com{path}", params=dict(values))
    with pinned("botocore.auth"):
        software.SigV2Auth(Credentials(KEY, SECRET, token)).add_auth(request)
    names = ["AWSAccessKeyId", "SignatureVersion", "SignatureMethod", "Timestamp", "Signature"] + (
        ["SecurityToken"] if token else []
    )
    expected = Expected(query={name: request.params[name] for name in names})
    query = urllib.parse.urlencode(values)
    return Case("GET", f"https://sdb.amazonaws.com{path}" + (f"?{query}" if query else ""), lambda signed: expected)


def rows():
    api = "https://demo.execute-api.eu-west-1.amazonaws.com"
    bucket = "https://demo.s3.eu-west-1.amazonaws.com"
    path_style = "https://s3.example.com/demo"
    docs = "https://docs.aws.amazon.com"
    encrypted = {
        "Content-Type": "text/plain",
        "x-amz-server-side-encryption": "aws:kms",
        "x-amz-server-side-encryption-aws-kms-key-id": "4711",
        "x-amz-meta-name": "a  b",
        "x-amz-acl": "private",
    }
    account = {"api-key": KEY, "region": "eu-west-1"}
    return [
        Row(
            "AWS Signature Version 4",
            "aws",
            f"{docs}/IAM/latest/UserGuide/create-signed-request.html",
            "botocore",
            [
                version4("GET", f"{api}/prod/a%20b/%C3%BC?{ODD_QUERY}"),
                version4("POST", f"{api}/prod/items", BODY, JSON),
                version4(
                    "POST",
                    "https://dynamodb.eu-west-1.amazonaws.com/",
                    b"{}",
                    {**JSON, "X-Amz-Target": "DynamoDB_20120810.ListTables"},
                ),
                version4("GET", f"{api}/?b=2&a=3&a=1&ab=4&c"),
                version4("DELETE", f"{api}/a%2Fb"),
            ],
            {"secret": SECRET},
            {**account, "service": "execute-api"},
        ),
        Row(
            "AWS Signature Version 4, temporary credentials",
            "aws",
            f"{docs}/IAM/latest/UserGuide/create-signed-request.html",
            "botocore, with a token",
            [
                version4("GET", f"{api}/prod?{ODD_QUERY}", token=TOKEN),
                version4("POST", f"{api}/prod/items", BODY, JSON, token=TOKEN),
                version4("PUT", f"{api}/prod/a%2Fb", b"a + b", {"X-Amz-Date-Of-Mine": "1"}, token=TOKEN),
            ],
            {"secret": SECRET, "token": TOKEN},
            {**account, "service": "execute-api"},
        ),
        Row(
            "Amazon S3, Signature Version 4",
            "aws-s3",
            f"{docs}/AmazonS3/latest/API/sig-v4-header-based-auth.html",
            "botocore",
            [
                s3("GET", f"{bucket}/a%20b/%C3%BC%2B?{ODD_QUERY}"),
                s3("GET", f"{bucket}/?list-type=2&prefix=a%2Fb&acl"),
                s3("PUT", f"{bucket}/a//b", b"text", encrypted),
                s3("DELETE", f"{bucket}/a"),
            ],
            {"secret": SECRET},
            account,
        ),
        Row(
            "Amazon S3, temporary credentials",
            "aws-s3",
            f"{docs}/AmazonS3/latest/API/sig-v4-header-based-auth.html",
            "botocore, with a token",
            [
                s3("GET", f"{bucket}/a?{ODD_QUERY}", token=TOKEN),
                s3("PUT", f"{bucket}/a%2Bb", b"a + b", encrypted, token=TOKEN),
                s3("DELETE", f"{bucket}/a?versionId=b%3D", token=TOKEN),
            ],
            {"secret": SECRET, "token": TOKEN},
            account,
        ),
        Row(
            "Amazon S3, Signature Version 2 (Ceph, Google Cloud Storage)",
            "s3-v2",
            f"{docs}/AmazonS3/latest/userguide/RESTAuthentication.html",
            "botocore",
            [
                s3_version2("GET", f"{path_style}/a%20b/%C3%BC?versionId=b%3Dc&x=y"),
                s3_version2("GET", f"{path_style}?uploads&prefix=a%2Fb"),
                s3_version2(
                    "PUT",
                    f"{path_style}/a",
                    b"text",
                    {**encrypted, "x-amz-meta-name": "a b", "Content-MD5": "HLYIGWGWOQs5lTu+Dt5LIw=="},
                ),
                s3_version2("POST", f"{path_style}/a?uploadId=b%2Bc&partNumber=2", b""),
            ],
            {"secret": SECRET},
            {"api-key": KEY},
        ),
        Row(
            "AWS Signature Version 2, in the query",
            "aws-v2",
            f"{docs}/AmazonSimpleDB/latest/DeveloperGuide/HMACAuth.html",
            "botocore",
            [
                version2("/", {"Action": "ListDomains", "Version": "2009-04-15"}),
                version2("/a", {"Action": "Select", "SelectExpression": "select * from `a` where b = 'c+d'", "text": "ü=1&2/~"}),
                version2("/", {}),
            ],
            {"secret": SECRET},
            {"api-key": KEY},
        ),
    ]
