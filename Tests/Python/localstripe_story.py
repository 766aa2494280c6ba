"""Runs `localstripe`, another stand-in for Stripe, on loopback, and makes card payments in it with
Stripe's own library.

Usage: localstripe_story.py SECRET. Prints JSON objects: {"port"} first, then {"id", "status"} for
each payment intent, and {"header", "body", "type"} for each webhook that localstripe has sent.
"""
import http.server
import json
import socket
import sys
import threading
import urllib.request

import stripe
from aiohttp import web
from localstripe.server import app

output = threading.Lock()


def say(value):
    with output:
        print(json.dumps(value), flush=True)


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        say({"header": self.headers["Stripe-Signature"], "body": body, "type": json.loads(body)["type"]})
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments):
        pass


def story(port, receiver):
    address = f"http://127.0.0.1:{port}"
    secret = {"url": f"http://127.0.0.1:{receiver}/", "secret": sys.argv[1]}
    headers = {"Content-Type": "application/json"}
    request = urllib.request.Request(address + "/_config/webhooks/ours", json.dumps(secret).encode(), headers)
    urllib.request.urlopen(request).read()
    client = stripe.StripeClient("sk_test_12345", base_addresses={"api": address}, max_network_retries=0)
    intents, cards = client.v1.payment_intents, {}
    for number in ("4242424242424242", "4000000000000341"):
        card = {"number": number, "exp_month": 12, "exp_year": 2040, "cvc": "123"}
        cards[number] = client.v1.payment_methods.create({"type": "card", "card": card}).id
    for number in (*cards, None):
        order = {"amount": 2000, "currency": "usd", "metadata": {"gotchu_deposit": "d1"}}
        made = intents.create(order | ({"payment_method": cards[number]} if number else {}))
        try:
            if number:
                intents.confirm(made.id)
            else:
                intents.cancel(made.id)
        except stripe.CardError:
            pass
        say({"id": made.id, "status": intents.retrieve(made.id).status})


def main():
    receiver = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=receiver.serve_forever, daemon=True).start()
    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    say({"port": port})

    async def begin(app):
        threading.Thread(target=story, args=(port, receiver.server_port), daemon=True).start()

    app.on_startup.append(begin)
    web.run_app(app, sock=listener, print=None, access_log=None)


main()
