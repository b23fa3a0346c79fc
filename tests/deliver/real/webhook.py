"""Checks one signed webhook with the reference library: webhook.py SECRET OUT. Prints its port."""

import sys
from datetime import datetime, timezone
from http.server import BaseHTTPRequestHandler, HTTPServer

import standardwebhooks.webhooks as library

secret, out = sys.argv[1:]


class Handler(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        # The vault's clock is set by hand; the library compares with the machine's.
        at = int(self.headers["webhook-timestamp"])

        class Clock(datetime):
            @classmethod
            def now(cls, tz=None):
                return datetime.fromtimestamp(at, tz=timezone.utc)

        library.datetime = Clock
        try:
            library.Webhook(secret).verify(body, {name.lower(): value for name, value in self.headers.items()})
            said = "verified\n"
        except Exception as error:
            said = f"{error}\n"
        with open(out, "a") as file:
            file.write(said)
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


server = HTTPServer(("127.0.0.1", 0), Handler)
print(server.server_address[1], flush=True)
server.serve_forever()
