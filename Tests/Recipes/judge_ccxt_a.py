"""Crypto exchanges, a to d: judged by ccxt, or by the exchange's own library if ccxt's signature differs only in the order of the
items."""

import base64
import dataclasses
import importlib.metadata
import importlib.util
import json
import sys
from typing import Optional
from unittest import mock

import exchanges
from exchanges import ODD, SECRET_BASE64, appended, case, exchange, row, sent_by, sent_case
from recipes import MILLISECONDS, Case, Row

ORDER = {"symbol": "BTC-USDT", "side": "buy", "price": "0.10", "quantity": 2}


def rows() -> list:
    return [
        apex(),
        bequant(),
        bigone(),
        binance(),
        bingx(),
        bit2c(),
        bitbank(),
        bitbns(),
        bitfinex(),
        bitflyer(),
        bitget(),
        bithumb(),
        bithumb_legacy(),
        bitmart(),
        bitmex(),
        bitopro(),
        bitrue_futures(),
        bitso(),
        bitstamp(),
        bittrade(),
        bitvavo(),
        blofin(),
        btcmarkets(),
        btcturk(),
        btse(),
        bullish(),
        bullish_login(),
        bybit(),
        bydfi(),
        cex(),
        coinbase(),
        coinbase_exchange(),
        coincheck(),
        coinex(),
        coinspot(),
        cryptomus(),
        deepcoin(),
        delta(),
        deribit(),
        digifinex(),
        digifinex_swap(),
    ]


def usual(made, section, prefix: str = "", odd: dict = ODD, **options) -> list:
    """Requests with nothing, a query, a body, and unusual characters in both."""
    return [
        case(made, f"{prefix}account", section, **options),
        case(made, f"{prefix}orders", section, params={"symbol": "BTC-USDT", "limit": 100}, **options),
        case(made, f"{prefix}orders", section, params=odd, **options),
        case(made, f"{prefix}orders", section, "POST", ORDER, **options),
        case(made, f"{prefix}orders", section, "POST", odd, **options),
    ]


def with_delete(made, section, prefix: str = "", odd: dict = ODD, **options) -> list:
    return usual(made, section, prefix, odd, **options) + [
        case(made, prefix + "orders/{id}", section, "DELETE", {"id": "4711"}, **options),
        case(made, f"{prefix}orders", section, "DELETE", odd, **options),
    ]


def apex() -> Row:
    made = exchange("apex")
    # ccxt writes parameters without any escapes.
    plain = {"limit": 100, "note": "f/g ü", "symbol": "BTC-USDT"}
    return row(
        made,
        [
            case(made, "v3/account", "private"),
            case(made, "v3/fills", "private", params=plain),
            case(made, "v3/order", "private", "POST", ORDER),
            case(made, "v3/order", "private", "POST", plain),
        ],
    )


def bequant() -> Row:
    made = exchange("bequant")
    return row(made, usual(made, "private", "spot/"))


def bigone() -> Row:
    made = exchange("bigone", options={"exchangeMillisecondsCorrection": 0})
    return row(made, usual(made, "private"))


def binance() -> Row:
    # The connector imports them only for RSA keys. Debian's package has them under other names.
    absent = {name: mock.MagicMock() for name in ("Crypto", "Crypto.PublicKey", "Crypto.Hash", "Crypto.Signature")}
    with mock.patch.dict(sys.modules, absent):
        connector = importlib.import_module("binance.api")
        version = importlib.import_module("binance.__version__").__version__

    def binance_case(host: str, method: str, path: str, parameters: dict) -> Case:
        client = connector.API(exchanges.KEY, exchanges.SECRET, base_url=f"https://{host}")
        sent = sent_by(lambda: client.sign_request(method, path, dict(parameters)))
        return sent_case(sent, ["X-MBX-APIKEY"], ["timestamp", "signature"])

    added = {"query": ("timestamp", "signature")}
    order = {"symbol": "BTCUSDT", "side": "BUY", "type": "LIMIT", "quantity": 0.5}
    given = row(
        exchange("binance"),
        [
            binance_case("api.binance.com", "GET", "/api/v3/account", {}),
            binance_case("api.binance.com", "GET", "/api/v3/myTrades", {"symbol": "BTCUSDT", "limit": 5, "recvWindow": 5000}),
            binance_case("api.binance.com", "POST", "/api/v3/order", order),
            binance_case("api.binance.com", "DELETE", "/api/v3/order", {"symbol": "BTCUSDT", "orderId": 4711}),
            binance_case("api.binance.com", "GET", "/sapi/v1/sub-account/status", {"email": "a+b@example.com"}),
            binance_case("api.binance.com", "POST", "/sapi/v1/asset/dust", {"asset": ["BTC", "ETH"]} | ODD),
            binance_case("fapi.binance.com", "POST", "/fapi/v1/order", order),
            binance_case("fapi.binance.com", "GET", "/fapi/v3/balance", ODD),
            binance_case("dapi.binance.com", "GET", "/dapi/v1/balance", ODD),
            # ccxt also signs forms, but sends the signature in them.
            case(appended(exchange("binanceusdm")), "positionRisk", "fapiPrivateV3", params=ODD, **added),
            case(appended(exchange("binanceus")), "order", "private", "DELETE", {"symbol": "BTCUSDT", "orderId": 4711}, **added),
            case(appended(exchange("bitrue")), "myTrades", ["spot", "v2", "private"], params=ODD, **added),
            case(appended(exchange("bitrue")), "order", ["spot", "v1", "private"], "DELETE", {"orderId": 4711}, **added),
        ],
    )
    return dataclasses.replace(given, judge=f"binance-connector {version}, {given.judge}")


def bingx() -> Row:
    made = exchange("bingx")
    # ccxt sorts the items together with the time, and the server accepts any order. Here, the caller's items come first.
    odd = {"a b": "c+d", "e": "f/g", "note": "ü=1&2", "marks": "~!*'()"}
    added = ("timestamp", "signature")
    options = {"query": added, "headers": ("X-SOURCE-KEY",)}
    return row(
        made,
        [
            case(made, "user/balance", ["swap", "v2", "private"], **options),
            case(made, "trade/order", ["swap", "v2", "private"], "POST", {"price": 0.1, "side": "BUY", "symbol": "BTC-USDT"}, **options),
            case(made, "trade/order", ["swap", "v2", "private"], "DELETE", {"orderId": "4711", "symbol": "BTC-USDT"}, **options),
            case(made, "trade/query", ["spot", "v1", "private"], params=odd, **options),
            case(made, "trade/order", ["spot", "v1", "private"], "POST", odd, **options),
            case(made, "trade/batchOrders", ["swap", "v2", "private"], "POST", {"batchOrders": '[{"symbol":"BTC-USDT"}]'}, **options),
        ],
    )


def bit2c() -> Row:
    made = exchange("bit2c")
    return row(
        made,
        [
            case(made, "Account/Balance", "private"),
            case(made, "Order/GetById", "private", params=ODD),
            case(made, "Order/AddOrder", "private", "POST", ORDER),
            case(made, "Order/AddOrder", "private", "POST", ODD),
        ],
    )


def bitbank() -> Row:
    made = exchange("bitbank")
    return row(made, usual(made, "private", "user/"))


def bitbns() -> Row:
    made = exchange("bitbns")
    return row(
        made,
        [
            case(made, "listOpenOrders/{symbol}", "v1", "POST", {"symbol": "BTC"}),
            case(made, "placeBuyOrder/{symbol}", "v1", "POST", {"symbol": "BTC", "quantity": 2, "rate": "0.10"}),
            case(made, "orders", "v2", "POST", ODD | {"quoted": 'a"b\\c\n'}),
        ],
    )


def bitfinex() -> Row:
    made = exchange("bitfinex")
    return row(
        made,
        [
            case(made, "auth/r/wallets", "private", "POST"),
            case(made, "auth/r/trades/{symbol}/hist", "private", "POST", {"symbol": "tBTCUSD", "limit": 5}),
            case(made, "auth/w/order/submit", "private", "POST", ODD),
        ],
    )


def bitflyer() -> Row:
    made = exchange("bitflyer")
    return row(made, usual(made, "private"))


def bitget() -> Row:
    made = exchange("bitget")
    options = {"headers": ("X-CHANNEL-API-CODE",)}
    odd = {"symbol": "$BTC ü"} | ODD
    return row(
        made,
        usual(made, ["private", "spot"], "v2/spot/trade/", odd, **options) + usual(made, ["private", "uta"], "v3/account/", odd, **options),
    )


def json_claim(headers: dict, name: str) -> str:
    """Finds a text in nevod-host's token. The judge's token must then be the same."""
    part = headers["Authorization"].split(".")[1]
    return json.loads(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)))[name]


def bithumb() -> Row:
    made = exchange("bithumb")
    options = {"headers": ("OPEN-API-PARTNER",), "nonce": lambda signed: json_claim(signed.headers, "nonce")}
    return row(made, with_delete(made, "private", "v1/", **options))


def bithumb_legacy() -> Row:
    made = exchange("bithumb")
    options = {"headers": ("OPEN-API-PARTNER",)}
    return row(
        made,
        [
            case(made, "info/balance", "private", "POST", **options),
            case(made, "trade/place", "private", "POST", ORDER, **options),
            case(made, "trade/place", "private", "POST", ODD, **options),
        ],
        "bithumb-legacy",
    )


def bitmart() -> Row:
    from bitmart.__version__ import __version__
    from bitmart.lib import cloud_utils
    from bitmart.lib.cloud_client import CloudClient
    from bitmart.lib.cloud_consts import Auth

    client = CloudClient(exchanges.KEY, exchanges.SECRET, "demo-memo", "https://api-cloud.bitmart.com", (1, 1))

    def bitmart_case(method: str, path: str, parameters: dict) -> Case:
        with mock.patch.object(cloud_utils, "get_timestamp", lambda: str(MILLISECONDS)):
            sent = sent_by(lambda: client._request(method, path, parameters, Auth.SIGNED))
        return sent_case(sent, ["X-BM-KEY", "X-BM-SIGN", "X-BM-TIMESTAMP"])

    return Row(
        "BitMart: spot and futures",
        "bitmart",
        "https://developer-pro.bitmart.com/en/spot/#authentication",
        f"bitmart-python-sdk-api {__version__}",
        [
            bitmart_case("GET", "/account/v1/wallet", {"currency": "USDT"}),
            bitmart_case("POST", "/spot/v2/submit_order", ORDER),
            bitmart_case("POST", "/spot/v2/submit_order", ODD),
            bitmart_case("POST", "/contract/private/submit-order", {"leverage": "1", "note": "\n"}),
        ],
        {"secret": exchanges.SECRET, "memo": "demo-memo"},
        {"api-key": exchanges.KEY},
    )


def bitmex() -> Row:
    # ccxt's project publishes it separately. Its own initialization would replace the library ccxt with its copy.
    (folder,) = importlib.util.find_spec("bitmex").submodule_search_locations
    for module in ("abstract/bitmex", "bitmex"):
        name = f"ccxt.{module.replace('/', '.')}"
        spec = importlib.util.spec_from_file_location(name, f"{folder}/ccxt/{module}.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    made = exchange(sys.modules["ccxt.bitmex"].bitmex, options={"recvWindow": 60_000})
    # It is older than the library, in which sections are lists.
    by_name = made.sign
    made.sign = lambda path, api, *rest: by_name(path, api[0], *rest)
    given = row(
        made,
        [
            case(made, "user/margin", "private", params={"currency": "all"}),
            case(made, "order", "private", params=ODD),
            case(made, "order", "private", "POST", ORDER),
            case(made, "order", "private", "PUT", ODD | {"_format": "csv"}),
            case(made, "order/all", "private", "DELETE"),
            case(made, "order", "private", "DELETE", ODD),
        ],
    )
    return dataclasses.replace(given, judge=f"bitmex-api {importlib.metadata.version('bitmex-api')}")


def bitopro() -> Row:
    made = exchange("bitopro")
    options = {"headers": ("X-BITOPRO-API",)}
    return row(made, with_delete(made, "private", "accounts/", **options) + [case(made, "orders/all", "private", "POST", **options)])


def bitrue_futures() -> Row:
    made = exchange("bitrue")
    section = ["fapi", "v2", "private"]
    return row(
        made,
        usual(made, section) + [case(made, "order", ["dapi", "v2", "private"], "DELETE", {"orderId": 4711})],
        "bitrue-futures",
    )


def bitso() -> Row:
    made = exchange("bitso")
    return row(made, with_delete(made, "private"))


def bitstamp() -> Row:
    made = exchange("bitstamp")
    options = {"nonce": lambda signed: signed.headers["X-Auth-Nonce"]}
    return row(
        made,
        [
            case(made, "account_balances", "private", "POST", **options),
            case(made, "fees/trading/{market_symbol}", "private", "POST", {"market_symbol": "btcusd"}, **options),
            case(made, "buy/{pair}", "private", "POST", {"pair": "btcusd", "price": "0.10", "amount": 2}, **options),
            case(made, "buy/instant", "private", "POST", ODD, **options),
            case(made, "contacts", "private", "GET", **options),
            case(made, "contacts", "private", "DELETE", **options),
        ],
    )


def bittrade() -> Row:
    made = exchange("bittrade")
    options = {"query": ("AccessKeyId", "SignatureMethod", "SignatureVersion", "Timestamp", "Signature")}
    return row(made, usual(made, "private", "order/", **options))


def bitvavo() -> Row:
    made = exchange("bitvavo")
    return row(made, with_delete(made, "private", headers=("BITVAVO-ACCESS-WINDOW",)))


def blofin() -> Row:
    made = exchange("blofin")
    return row(made, usual(made, "private", "trade/"))


def btcmarkets() -> Row:
    made = exchange("btcmarkets", SECRET_BASE64)
    return row(made, with_delete(made, "private"))


def btcturk() -> Row:
    made = exchange("btcturk", SECRET_BASE64)
    return row(made, with_delete(made, "private"))


def btse() -> Row:
    made = exchange("btse")
    options = {"headers": ("BROKER-ID",)}
    return row(
        made,
        usual(made, "private", "spot/api/v3.3/", **options)
        + usual(made, "private", "public-api/wallet/v1/", **options)
        + [
            case(made, "spot/api/v3.3/order", "private", "DELETE", ODD, **options),
            case(made, "futures/api/v3/order", "private", "DELETE", ODD, **options),
            case(made, "otc/api/v1/quote", "private", "POST", ODD, **options),
        ],
    )


def bullish() -> Row:
    made = exchange("bullish")
    made.token = "demo-token"
    return row(made, usual(made, "private", "v2/"), secrets={"token": made.token})


def bullish_login() -> Row:
    made = exchange("bullish")
    made.token = "demo-token"
    login = "v1/users/hmac/login"
    given = row(
        made,
        [case(made, login, "private"), case(made, login, "private", params=ODD), case(made, login, "private", "POST", ODD)],
    )
    return dataclasses.replace(given, title=f"{given.title}, log-in")


def bybit() -> Row:
    made = exchange("bybit")
    options = {"headers": ("X-BAPI-RECV-WINDOW",)}
    # ccxt signs the query without escapes, but its HTTP client writes some. It passes a cursor's escapes on.
    plain = {"category": "linear", "cursor": "page%3A1%2C2", "note": "a+b"}
    return row(
        made,
        [
            case(made, "v5/user/query-api", "private", **options),
            case(made, "v5/order/realtime", "private", params=plain, **options),
            case(made, "v5/order/create", "private", "POST", ORDER, **options),
            case(made, "v5/order/create", "private", "POST", ODD, **options),
            case(exchange("bybiteu"), "v5/order/realtime", "private", params=plain, **options),
            case(exchange("bybitid"), "v5/order/create", "private", "POST", ORDER, **options),
        ],
    )


def bydfi() -> Row:
    made = exchange("bydfi")
    return row(made, usual(made, "private", "v1/fapi/trade/"))


def cex() -> Row:
    made = exchange("cex")
    return row(
        made,
        [
            case(made, "get_my_orders", "private", "POST"),
            case(made, "do_my_new_order", "private", "POST", ORDER),
            case(made, "do_my_new_order", "private", "POST", ODD),
        ],
    )


def coinbase() -> Row:
    made = exchange("coinbase")
    made.options["timeDifference"] = 0
    return row(made, with_delete(made, ["v3", "private"], "brokerage/") + with_delete(made, ["v2", "private"]))


def coinbase_exchange() -> Row:
    made = exchange("coinbaseexchange", SECRET_BASE64)
    return row(made, with_delete(made, "private"), "coinbase-exchange")


def coincheck() -> Row:
    made = exchange("coincheck")
    return row(made, with_delete(made, "private", "exchange/"))


def coinex() -> Row:
    import coinexlib

    client = coinexlib.CoinexAPI(exchanges.KEY, "demo-secret/+=&1")

    def coinex_case(method: str, path: str, parameters: dict, body: Optional[dict] = None) -> Case:
        sent = sent_by(lambda: client._make_request(method, path, parameters, body))
        return sent_case(sent, ["X-COINEX-KEY", "X-COINEX-SIGN", "X-COINEX-TIMESTAMP"])

    return Row(
        "CoinEx: API v2",
        "coinex",
        "https://docs.coinex.com/api/v2/authorization",
        f"coinexlib {importlib.metadata.version('coinexlib')}",
        [
            coinex_case("GET", "/assets/spot/balance", {}),
            # It writes the query without escapes.
            coinex_case("GET", "/spot/pending-order", {"market": "BTCUSDT", "side": "buy", "note": "c%2Bd%20%C3%BC%3D1"}),
            coinex_case("POST", "/spot/order", {}, ORDER),
            coinex_case("POST", "/spot/order", {"page": 1}, ODD),
        ],
        {"secret": "demo-secret/+=&1"},
        {"api-key": exchanges.KEY},
    )


def coinspot() -> Row:
    made = exchange("coinspot")
    return row(
        made,
        [
            case(made, "my/balances", ["private"], "POST"),
            case(made, "my/buy", ["private"], "POST", ORDER),
            case(made, "my/orders/open", ["v2", "private"], "POST", ODD),
        ],
    )


def cryptomus() -> Row:
    made = exchange("cryptomus")
    given = row(made, with_delete(made, "private", "v2/user-api/exchange/"), settings={"api-key": exchanges.UID})
    return dataclasses.replace(given, secrets={"secret": made.secret})


def deepcoin() -> Row:
    made = exchange("deepcoin")
    return row(made, usual(made, "private", "deepcoin/trade/", headers=("appid",)))


def delta() -> Row:
    made = exchange("delta")
    return row(made, with_delete(made, "private"))


def deribit() -> Row:
    made = exchange("deribit")
    return row(
        made,
        [
            case(made, "get_account_summaries", "private"),
            case(made, "buy", "private", params={"instrument_name": "BTC-PERPETUAL", "amount": 10}),
            case(made, "get_order_history_by_label", "private", params=ODD),
        ],
    )


def digifinex() -> Row:
    made = exchange("digifinex")
    return row(made, usual(made, ["private", "spot"], "spot/"))


def digifinex_swap() -> Row:
    made = exchange("digifinex")
    return row(made, usual(made, ["private", "swap"], "trade/"), "digifinex-swap")
