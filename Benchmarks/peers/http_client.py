"""A client of the benchmarks in Python: sends the same signed request and reads its response as JSON.

    http_client.py httpx|requests URL CONCURRENCY

Prints "ready" when measuring can begin. Then, for each number of requests on standard input, it prints the seconds they took.
"""

import asyncio
import concurrent.futures
import hashlib
import hmac
import sys
import time
import urllib.parse

SECRET = b"0123456789abcdef0123456789abcdef"


def signature(method, url):
    """The text that the plugin's default scheme signs: method, path and time, each followed by a line feed; no body."""
    now = str(int(time.time()))
    message = f"{method}\n{urllib.parse.urlsplit(url).path}\n{now}\n".encode()
    digest = hmac.new(SECRET, message, hashlib.sha256).hexdigest()
    return {"Accept": "application/json", "X-API-Key": "demo", "X-Timestamp": now, "X-Signature": digest}


def shares(count, workers):
    return [count // workers + (worker < count % workers) for worker in range(workers)]


def check(status, item):
    if status != 200 or item["owner"]["login"] != "fisher":
        raise SystemExit(f"a response with status {status}: {item}")


class Requests:
    def __init__(self, url, concurrency):
        import requests

        self.url, self.concurrency = url, concurrency
        self.session = requests.Session()
        self.session.trust_env = False
        self.session.mount("http://", requests.adapters.HTTPAdapter(pool_maxsize=concurrency))
        self.threads = concurrent.futures.ThreadPoolExecutor(concurrency)

    def work(self, count):
        for _ in range(count):
            response = self.session.get(self.url, headers=signature("GET", self.url))
            check(response.status_code, response.json())

    def run(self, count):
        list(self.threads.map(self.work, shares(count, self.concurrency)))


class HTTPX:
    def __init__(self, url, concurrency):
        import httpx

        self.url, self.concurrency = url, concurrency
        self.loop = asyncio.new_event_loop()
        limits = httpx.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)
        self.client = httpx.AsyncClient(limits=limits, trust_env=False)

    async def work(self, count):
        for _ in range(count):
            response = await self.client.get(self.url, headers=signature("GET", self.url))
            check(response.status_code, response.json())

    async def work_all(self, count):
        await asyncio.gather(*(self.work(share) for share in shares(count, self.concurrency)))

    def run(self, count):
        self.loop.run_until_complete(self.work_all(count))


def main():
    kind, url, concurrency = sys.argv[1], sys.argv[2], int(sys.argv[3])
    try:
        client = {"httpx": HTTPX, "requests": Requests}[kind](url, concurrency)
    except ImportError as error:
        raise SystemExit(f"{kind} is left out: {error}")
    print("ready", flush=True)
    for line in sys.stdin:
        start = time.monotonic()
        client.run(int(line))
        print(time.monotonic() - start, flush=True)


main()
