"""Passes requests on to PORT of this machine and cuts the connection instead of the first answer: proxy.py PORT."""

import socket
import sys
import threading

target = int(sys.argv[1])
first = threading.Event()


def passed_on(client):
    lost = not first.is_set()
    first.set()
    server = socket.create_connection(("127.0.0.1", target))

    def up():
        while data := client.recv(65536):
            server.sendall(data)

    threading.Thread(target=up, daemon=True).start()
    while data := server.recv(65536):
        if lost:
            client.close()
            return
        client.sendall(data)


listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    connection, _ = listener.accept()
    threading.Thread(target=passed_on, args=(connection,), daemon=True).start()
