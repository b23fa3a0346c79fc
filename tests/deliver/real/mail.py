"""An SMTP server with a login: mail.py starttls|tls CERT KEY OUT. Prints its port; writes mails to OUT."""

import asyncio
import ssl
import sys

from aiosmtpd.smtp import SMTP, AuthResult

security, cert, key, out = sys.argv[1:]


class Handler:
    async def handle_DATA(self, server, session, envelope):
        with open(out, "ab") as file:
            file.write(envelope.content)
        return "250 taken"


def login(server, session, envelope, mechanism, data):
    return AuthResult(success=data.password == b"right", handled=False)


async def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    loop = asyncio.get_running_loop()
    starttls = security == "starttls"

    def conversation():
        return SMTP(
            Handler(),
            tls_context=context if starttls else None,
            require_starttls=starttls,
            auth_require_tls=starttls,
            auth_required=True,
            authenticator=login,
            loop=loop,
        )

    server = await loop.create_server(conversation, "127.0.0.1", 0, ssl=None if starttls else context)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
