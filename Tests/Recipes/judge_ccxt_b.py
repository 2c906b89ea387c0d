"""Exchanges of the library ccxt whose ids begin with e to z."""

import base64
import dataclasses
import re
import urllib.parse

from exchanges import CALLERS, ODD, ODD_VALUES, SECRET_BASE64, UID, case, exchange, row, sign
from recipes import Case, Expected, Signed

ORDER = {"symbol": "BTC-USDT", "side": "buy", "type": "limit", "price": "25000.10", "amount": "0.5"}
PAGE = {"symbol": "BTC/USDT", "limit": 50, "from": 1699990000000}


def appended(made, method: str):
    """Makes `made` write its own items after the caller's, like nevod-host: servers verify the items in the order of arrival."""
    written = getattr(made, method)

    def write(items, *rest):
        own = ("timestamp", "signature")
        return written({**{k: v for k, v in items.items() if k not in own}, **{k: items[k] for k in own if k in items}}, *rest)

    setattr(made, method, write)
    return made


def backwards(sorted_case):
    """The same request with its items in the opposite order, because ccxt sorts before it signs and sends."""
    parts = urllib.parse.urlsplit(sorted_case.url)
    query = "&".join(reversed(parts.query.split("&")))
    body = sorted_case.body and b"&".join(reversed(sorted_case.body.split(b"&")))
    return dataclasses.replace(sorted_case, url=parts._replace(query=query).geturl(), body=body)


def with_form(made, path, api, params, headers=()):
    """A form by ccxt, which writes the time into it. Servers sign the query followed by the form as one text, so the text is the
    same if the time is the query and the form begins with the separator."""
    for method in {"urlencode", "custom_urlencode"} & set(dir(made)):
        write = getattr(made, method)
        in_order = lambda items: dict(sorted(items.items(), key=lambda item: item[0] != "timestamp"))
        setattr(made, method, lambda items, *rest, write=write: write(in_order(items), *rest))
    sent = sign(made, path, api, "POST", params)
    text = sent.body.decode() if sent.body else urllib.parse.urlsplit(sent.url).query
    time, *items, signature = text.split("&")
    query = dict(item.split("=") for item in (time, signature))
    own = {name: value for name, value in sent.headers.items() if name.lower() not in CALLERS and name not in headers}
    url = urllib.parse.urlsplit(sent.url)._replace(query="").geturl()
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    return Case("POST", url, lambda signed: Expected(own, query), "".join(f"&{item}" for item in items).encode(), form)


def foxbit():
    made, api = exchange("foxbit"), ["v3", "private"]
    # Its information about itself isn't a credential.
    client = ("X-FB-CLIENT", "X-FB-CLIENT-VERSION")
    return row(
        made,
        [
            case(made, "orders", api, "GET", PAGE, headers=client),
            case(made, "orders/by-order-id/{id}", api, "GET", {"id": "4711"}, headers=client),
            case(made, "trades", api, "GET", ODD, headers=client),
            case(made, "orders", api, "POST", {**ORDER, **ODD_VALUES}, headers=client),
            case(made, "orders/cancel", api, "PUT", {"id": "4711", "type": "ID"}, headers=client),
        ],
    )


def gate():
    made = exchange("gate")
    # All requests about futures have it.
    decimal = ("X-Gate-Size-Decimal",)
    spot, futures = ["private", "spot"], ["private", "futures"]
    leverage = "{settle}/positions/{contract}/leverage"
    return row(
        made,
        [
            case(made, "accounts", spot, "GET", {"currency": "BTC"}),
            case(made, "my_trades", spot, "GET", ODD),
            case(exchange("gateeu"), "withdrawals", ["private", "wallet"], "GET", {"from": 1699990000, "text": "ü, a+b/c"}),
            case(made, "orders", spot, "POST", {**ORDER, **ODD_VALUES}),
            case(made, "orders", spot, "DELETE", {"currency_pair": "BTC_USDT"}),
            case(made, "{settle}/orders", futures, "POST", {"settle": "usdt", "size": 1}, headers=decimal),
            case(made, leverage, futures, "POST", {"settle": "usdt", "contract": "BTC_USDT", "leverage": "3"}, headers=decimal),
        ],
    )


def gemini():
    # ccxt accepts only account keys.
    made = exchange("gemini", key="account-demo/+=1")
    return row(
        made,
        [
            case(made, "v1/balances", "private", "POST"),
            case(made, "v1/order/new", "private", "POST", {**ORDER, "options": ["maker-or-cancel"], "nested": {"a": [1, None]}}),
            case(made, "v1/transfers", "private", "POST", ODD),
            case(made, "v1/addresses/{network}", "private", "POST", {"network": "bitcoin"}),
            case(made, "v2/network/{token}", "private", "GET", {"token": "btc"}),
        ],
    )


def hashkey():
    made, own = appended(exchange("hashkey"), "custom_urlencode"), ("timestamp", "signature")
    # Only affiliates send these. One repeats the signature.
    affiliates = ("INPUT-SOURCE", "broker_sign")
    cases = [
        case(made, "api/v1/account", "private", "GET", None, own, affiliates),
        case(made, "api/v1/spot/tradeOrders", "private", "GET", {**PAGE, "recvWindow": 5000}, own, affiliates),
        case(made, "api/v1/account/balanceFlow", "private", "GET", ODD, own, affiliates),
        case(made, "api/v1/spot/batchOrders", "private", "POST", {"orders": [{**ORDER, **ODD_VALUES}]}, own, affiliates),
        with_form(exchange("hashkey"), "api/v1/spot/order", "private", {**ORDER, **ODD}, affiliates),
    ]
    for each in cases:
        for name in affiliates:
            each.headers.pop(name, None)
    return row(made, cases)


def hitbtc():
    made = exchange("hitbtc")
    return row(
        made,
        [
            case(made, "spot/balance", "private", "GET"),
            case(made, "spot/history/order", "private", "GET", PAGE),
            case(exchange("fmfwio"), "spot/history/trade", "private", "GET", ODD),
            case(made, "spot/order", "private", "POST", {**ORDER, **ODD_VALUES}),
            case(made, "spot/order/{client_order_id}", "private", "DELETE", {"client_order_id": "c4711"}),
            case(made, "spot/order/{client_order_id}", "private", "PATCH", {"client_order_id": "c4711", "quantity": "0.5"}),
        ],
    )


def hollaex():
    made = exchange("hollaex", options={"api-expires": 60})
    return row(
        made,
        [
            case(made, "user/balance", "private", "GET"),
            case(made, "orders", "private", "GET", PAGE),
            case(made, "user/trades", "private", "GET", ODD),
            case(made, "order", "private", "POST", {**ORDER, **ODD_VALUES}),
            case(made, "order", "private", "DELETE", {"order_id": "4711"}),
        ],
    )


def htx():
    made = exchange("htx")
    own = ("AccessKeyId", "SignatureMethod", "SignatureVersion", "Timestamp", "Signature")
    spot, contract = ["spot", "private"], ["contract", "private"]
    return row(
        made,
        [
            case(made, "v1/account/accounts", spot, "GET", query=own),
            case(made, "v1/order/orders", spot, "GET", {"symbol": "btcusdt", "states": "filled,canceled", "size": 10}, query=own),
            backwards(case(made, "v1/order/matchresults", spot, "GET", ODD, query=own)),
            case(made, "order/openOrders", "private", "GET", {"symbol": "btcusdt", "account-id": "4711"}, query=own),
            case(made, "v1/order/orders/place", spot, "POST", {**ORDER, **ODD_VALUES}, query=own),
            case(made, "linear-swap-api/v1/swap_order", contract, "POST", {"contract_code": "BTC-USDT", "volume": 1}, query=own),
        ],
    )


def indodax():
    made = exchange("indodax")
    return row(
        made,
        [
            case(made, "getInfo", "private", "POST"),
            case(made, "trade", "private", "POST", ORDER),
            case(made, "withdrawCoin", "private", "POST", ODD),
        ],
    )


def kraken():
    made = exchange("kraken", SECRET_BASE64)
    return row(
        made,
        [
            case(made, "Balance", "private", "POST"),
            case(made, "AddOrder", "private", "POST", {"pair": "XXBTZUSD", "type": "buy", "close": {"price": "1"}}),
            case(made, "Withdraw", "private", "POST", ODD),
            case(made, "AddOrderBatch", "private", "POST", {"pair": "XXBTZUSD", "orders": [{"price": "1", "cl_ord_id": "ü &="}]}),
            case(made, "CancelOrderBatch", "private", "POST", {"orders": ["a/b", "c+d"]}),
        ],
    )


def kraken_futures():
    made = exchange("krakenfutures", SECRET_BASE64)
    return row(
        made,
        [
            case(made, "accounts", "private", "GET"),
            case(made, "fills", "private", "GET", {"lastFillTime": "2023-11-14T22:13:20.000Z"}),
            case(made, "executions", "history", "GET", {"since": 1699990000000, "sort": "asc"}),
            case(made, "sendorder", "private", "POST", {"orderType": "lmt", "symbol": "PI_XBTUSD", "cliOrdId": "a b/ü=1&2+3"}),
            case(made, "batchorder", "private", "POST", {"batchOrder": [{"order": "cancel", "order_id": "a+b/c ü"}]}),
        ],
        "kraken-futures",
    )


def kucoin():
    made = exchange("kucoin")
    # Otherwise, ccxt adds its own signature as an affiliate, with another secret.
    made.options["partner"] = {}
    return row(
        made,
        [
            case(made, "accounts", "private", "GET"),
            case(made, "orders", "private", "GET", {**PAGE, "status": "active", "note": "ü, a+b/c d"}),
            case(made, "fills", "futuresPrivate", "GET", {"symbol": "XBTUSDTM", "marks": "~!*'():;@$"}),
            case(made, "orders", "private", "POST", {**ORDER, **ODD_VALUES}),
            case(made, "orders", "futuresPrivate", "POST", {"symbol": "XBTUSDTM", "leverage": 3}),
            case(made, "orders", "private", "DELETE", {"symbol": "BTC-USDT"}),
            case(made, "classic/order/place", "utaPrivate", "POST", {"tradeType": "SPOT", **ORDER}),
        ],
    )


def latoken():
    made = exchange("latoken")
    return row(
        made,
        [
            case(made, "auth/account", "private", "GET"),
            case(made, "auth/order", "private", "GET", {"from": 1699990000000, "limit": 50}),
            case(made, "auth/trade", "private", "GET", ODD),
            case(made, "auth/order/place", "private", "POST", {**ORDER, "timestamp": 1700000000123, "postOnly": True}),
            case(made, "auth/transfer/email", "private", "POST", {**ODD_VALUES, "value": "10.0"}),
        ],
    )


def mercado():
    made = exchange("mercado")
    return row(
        made,
        [
            case(made, "get_account_info", "private", "POST"),
            case(made, "place_buy_order", "private", "POST", {"coin_pair": "BRLBTC", "quantity": "0.5", "limit_price": "25000.10"}),
            case(made, "withdraw_coin", "private", "POST", ODD),
        ],
    )


def mexc():
    made, api, own = exchange("mexc"), ["spot", "private"], ("timestamp", "signature")
    # ccxt puts it after the time, unless the caller gave it.
    window = {"recvWindow": 5000}
    return row(
        made,
        [
            case(made, "account", api, "GET", window, own, ("source",)),
            case(made, "myTrades", api, "GET", {**PAGE, **window}, own, ("source",)),
            case(made, "capital/withdraw", api, "POST", {**ODD, **window}, own, ("source",)),
            case(made, "order", api, "POST", {**ORDER, **window}, own, ("source",)),
            case(made, "order", api, "DELETE", {"symbol": "BTCUSDT", "orderId": "4711", **window}, own, ("source",)),
            with_form(exchange("mexc"), "order", api, {**ORDER, **ODD}, ("source",)),
        ],
    )


def mexc_futures():
    made, api = exchange("mexc"), ["contract", "private"]
    return row(
        made,
        [
            case(made, "account/assets", api, "GET", headers=("source",)),
            case(made, "order/list/history_orders", api, "GET", {"symbol": "BTC_USDT", "page_num": 1}, headers=("source",)),
            backwards(case(made, "account/asset/{currency}", api, "GET", {"currency": "USDT", **ODD}, headers=("source",))),
            case(made, "order/submit", api, "POST", {**ORDER, **ODD_VALUES}, headers=("source",)),
        ],
        "mexc-futures",
    )


def ndax():
    made = exchange("ndax")
    # The other ways to sign in don't concern the signature.
    made.requiredCredentials = {"apiKey": True, "secret": True}
    return row(
        made,
        [
            case(made, "GetAccountInfo", "private", "GET", {"omsId": 1, "AccountId": 4711}),
            case(made, "GetOrderHistory", "private", "GET", ODD),
            case(made, "SendOrder", "private", "POST", {**ORDER, **ODD_VALUES}),
        ],
        settings={"user-id": UID},
    )


def okx():
    made = exchange("okx")
    return row(
        made,
        [
            case(made, "account/balance", "private", "GET"),
            case(made, "trade/orders-history", "private", "GET", {"instType": "SPOT", "instId": "BTC-USDT,ETH-USDT"}),
            case(exchange("myokx"), "asset/bills", "private", "GET", ODD),
            case(made, "trade/order", "private", "POST", {**ORDER, **ODD_VALUES}),
            case(exchange("okxus"), "trade/cancel-batch-orders", "private", "POST", [{"instId": "BTC-USDT", "ordId": "4711"}]),
            case(made, "account/subaccount/modify-apikey", "private", "POST"),
        ],
    )


def p2b():
    made = exchange("p2b")
    return row(
        made,
        [
            case(made, "account/balances", "private", "POST"),
            case(made, "order/new", "private", "POST", ORDER),
            case(made, "account/order_history", "private", "POST", ODD),
        ],
    )


def paymium():
    made = exchange("paymium")
    return row(
        made,
        [
            case(made, "user", "private", "GET"),
            case(made, "user/orders", "private", "GET", {"offset": 0, "limit": 20, "active": True}),
            case(made, "user/addresses", "private", "GET", ODD),
            case(made, "user/orders", "private", "POST", {**ORDER, **ODD_VALUES}),
            case(made, "user/orders/{uuid}/cancel", "private", "DELETE", {"uuid": "968f4580-e26c-4ad8-8bcd-874d23d55296"}),
        ],
    )


def phemex():
    made = exchange("phemex")
    return row(
        made,
        [
            case(made, "accounts/accountPositions", "private", "GET", {"currency": "USD"}),
            case(made, "exchange/order", "private", "GET", {**ODD, "ordStatus": ["New", "Filled"]}),
            case(made, "orders", "private", "POST", {**ORDER, **ODD_VALUES}),
            case(made, "positions/assign", "private", "POST", {"symbol": "BTCUSD", "posBalance": 1}),
            case(made, "g-orders/replace", "private", "PUT", {"symbol": "BTCUSDT", "orderID": "4711"}),
            case(made, "orders/all", "private", "DELETE", {"symbol": "BTCUSD", "untriggered": True}),
        ],
    )


def poloniex():
    made = exchange("poloniex")
    return row(
        made,
        [
            case(made, "accounts", "private", "GET"),
            case(made, "orders/history", "private", "GET", {"limit": 20, "types": "LIMIT,MARKET", "startTime": 1699990000000}),
            backwards(case(made, "wallets/activity", "private", "GET", ODD)),
            case(made, "v3/account/balance", "swapPrivate", "GET", {"side": "BUY", "zero": "0", "symbol": "BTC_USDT_PERP"}),
            case(made, "orders", "private", "POST", {**ORDER, **ODD_VALUES}),
            case(made, "orders/{id}", "private", "DELETE", {"id": "4711"}),
            case(made, "orders/cancelByIds", "private", "DELETE", {"orderIds": ["4711", "4712"]}),
        ],
    )


def tokocrypto():
    made, own = appended(exchange("tokocrypto"), "urlencode"), ("timestamp", "signature")
    window = {"recvWindow": 5000}
    return row(
        made,
        [
            case(made, "open/v1/account/spot", "private", "GET", window, own),
            case(made, "open/v1/orders", "private", "GET", {**PAGE, **window}, own),
            case(made, "open/v1/withdraws", "private", "GET", {**ODD, **window}, own),
            with_form(exchange("tokocrypto"), "open/v1/orders", "private", {**ORDER, **ODD}),
        ],
    )


def toobit():
    made, own = exchange("toobit"), ("timestamp", "signature")
    headers = ("Referrer", "X-BB-API-PLATFORM")
    return row(
        made,
        [
            case(made, "api/v1/account", "private", "GET", None, own, headers),
            case(made, "api/v1/spot/tradeOrders", "private", "GET", PAGE, own, headers),
            case(made, "api/v1/account/balanceFlow", "private", "GET", ODD, own, headers),
            with_form(exchange("toobit"), "api/v1/spot/order", "private", {**ORDER, **ODD}, headers),
        ],
    )


def upbit():
    made = exchange("upbit", key='demo-"key"/+=1')

    def nonce(signed: Signed) -> str:
        authorization = {name.lower(): value for name, value in signed.headers.items()}["authorization"]
        claims = base64.urlsafe_b64decode(authorization.split(".")[1] + "==").decode()
        return next(iter(re.findall("[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", claims)), "no UUID")

    return row(
        made,
        [
            case(made, "accounts", "private", "GET", nonce=nonce),
            case(made, "orders/chance", "private", "GET", {"market": "KRW-BTC"}, nonce=nonce),
            case(made, "orders/closed", "private", "GET", ODD, nonce=nonce),
            case(made, "orders", "private", "POST", {"market": "KRW-BTC", "side": "bid", "volume": "0.5"}, nonce=nonce),
            case(made, "withdraws/coin", "private", "POST", {**ODD_VALUES, "amount": 0.5}, nonce=nonce),
            case(made, "order", "private", "DELETE", {"uuid": "cdd92199-2897-4e14-9448-f923320408ad"}, nonce=nonce),
        ],
    )


def weex():
    made = exchange("weex")
    return row(
        made,
        [
            case(made, "api/v3/account/", "private", "GET"),
            case(made, "api/v3/allOrders", "private", "GET", PAGE),
            case(made, "api/v3/myTrades", "private", "GET", ODD),
            case(made, "api/v3/order", "private", "POST", {**ORDER, **ODD_VALUES}),
            case(made, "api/v3/order", "private", "DELETE", {"orderId": "4711"}),
            case(made, "capi/v3/order", "contractPrivate", "POST", ORDER),
        ],
    )


def whitebit():
    made, api = exchange("whitebit"), ["v4", "private"]
    return row(
        made,
        [
            case(made, "trade-account/balance", api, "POST"),
            case(made, "order/new", api, "POST", {**ORDER, "postOnly": False}),
            case(made, "main-account/withdraw", api, "POST", ODD),
        ],
    )


def woo():
    made, first, third = exchange("woo"), ["v1", "private"], ["v3", "private"]
    return row(
        made,
        [
            case(made, "client/token", first, "GET"),
            case(made, "orders", first, "GET", {"symbol": "SPOT_BTC_USDT", "size": 20, "page": 1}),
            backwards(case(made, "client/trades", first, "GET", ODD)),
            case(made, "order", first, "POST", {**ORDER, **ODD_VALUES}),
            backwards(case(made, "order/cancel_all_after", first, "POST", {**ORDER, **ODD_VALUES})),
            case(made, "order", first, "DELETE", {"symbol": "SPOT_BTC_USDT", "order_id": 4711}),
            case(made, "trade/orders", third, "GET", {"symbol": "SPOT_BTC_USDT", "size": 20, "page": 1}),
            case(made, "asset/wallet/history", third, "GET", ODD),
            case(made, "trade/order", third, "POST", {**ORDER, **ODD_VALUES}),
            case(made, "trade/order", third, "PUT", {"orderId": 4711, "price": "1"}),
            case(made, "trade/order", third, "DELETE", {"symbol": "SPOT_BTC_USDT", "orderId": 4711}),
        ],
    )


def xt():
    made, spot = exchange("xt"), ["private", "spot"]
    return row(
        made,
        [
            case(made, "balances", spot, "GET"),
            case(made, "history-order", spot, "GET", PAGE),
            backwards(case(made, "trade", spot, "GET", ODD)),
            case(made, "order", spot, "POST", {**ORDER, **ODD_VALUES}),
            case(made, "order/{orderId}", spot, "DELETE", {"orderId": 4711}),
            case(made, "open-order", spot, "DELETE", {"symbol": "btc_usdt"}),
            case(made, "order/{orderId}", spot, "PUT", {"orderId": 4711, "price": "1"}),
            case(made, "user/account", ["private", "user"], "GET", {"bizType": "SPOT"}),
        ],
    )


def xt_futures():
    made, linear = exchange("xt"), ["private", "linear"]
    return row(
        made,
        [
            case(made, "future/user/v1/balance/list", linear, "GET"),
            case(made, "future/trade/v1/order/list", linear, "GET", PAGE),
            backwards(case(made, "future/trade/v1/order/trade-list", linear, "GET", ODD)),
            case(made, "future/trade/v1/order/create", linear, "POST", {**ORDER, **ODD_VALUES}),
            case(made, "future/trade/v1/order/cancel", ["private", "inverse"], "POST", {"orderId": "4711"}),
        ],
        "xt-futures",
    )


def zaif():
    made = exchange("zaif")
    return row(
        made,
        [
            case(made, "get_info", "private", "POST"),
            case(made, "trade", "private", "POST", {"currency_pair": "btc_jpy", "action": "bid", "price": 25000, "amount": 0.5}),
            case(made, "withdraw", "private", "POST", ODD),
        ],
    )


def zebpay():
    made, spot, swap, own = exchange("zebpay"), ["private", "spot"], ["private", "swap"], ("timestamp",)
    headers = ("Referrer",)
    return row(
        made,
        [
            case(made, "v2/account/balance", spot, "GET", {"currencies": "BTC,ETH"}, own, headers),
            case(made, "v2/ex/orders", spot, "GET", ODD, own, headers),
            case(made, "v2/ex/orders", spot, "POST", {**ORDER, **ODD_VALUES}, own, headers),
            case(made, "v2/ex/order", spot, "DELETE", {"orderId": "4711"}, own, headers),
            case(made, "v1/trade/order", swap, "POST", ORDER, own, headers),
            case(made, "v1/trade/order", swap, "DELETE", {"clientOrderId": "c4711"}, own, headers),
            case(made, "v1/wallet/balance", swap, "GET", None, own, headers),
        ],
    )


def rows():
    return [
        foxbit(),
        gate(),
        gemini(),
        hashkey(),
        hitbtc(),
        hollaex(),
        htx(),
        indodax(),
        kraken(),
        kraken_futures(),
        kucoin(),
        latoken(),
        mercado(),
        mexc(),
        mexc_futures(),
        ndax(),
        okx(),
        p2b(),
        paymium(),
        phemex(),
        poloniex(),
        tokocrypto(),
        toobit(),
        upbit(),
        weex(),
        whitebit(),
        woo(),
        xt(),
        xt_futures(),
        zaif(),
        zebpay(),
    ]
