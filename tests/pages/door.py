"""door.py CONSOLE PORT [USER]: passes requests on to a console, so that a headless browser takes its picture of a page that lives.

The page that comes through has one more image, which takes some seconds: the browser waits for it, and samples come meanwhile.
With USER, who has no password, every request has the cookie of a login, which such a browser cannot type in.
"""

import http.client
import json
import socket
import sys
import threading
import time

console, port = int(sys.argv[1]), int(sys.argv[2])
LIVES_S = 8
IMAGE = b'<img src="/late" alt="" width="0" height="0"></body>'


def cookie(user):
    own = f"127.0.0.1:{console}"
    asks = http.client.HTTPConnection(own)
    headers = {"Content-Type": "application/json", "Origin": f"http://{own}"}
    asks.request("POST", "/login", json.dumps({"user": user, "password": ""}), headers)
    answer = asks.getresponse()
    assert answer.status == 200, answer.read()
    return b"Cookie: " + answer.getheader("Set-Cookie").split(";")[0].encode() + b"\r\n"


def serve(client, extra):
    first, rest = client.recv(65536).split(b"\r\n", 1)
    path = first.split(b" ")[1]
    if path == b"/late":
        time.sleep(LIVES_S)
        client.sendall(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
        client.close()
        return
    server = socket.create_connection(("127.0.0.1", console))
    server.sendall(first + b"\r\n" + extra + rest)
    whole = b""
    try:
        while chunk := server.recv(65536):
            if path == b"/":
                whole += chunk
            else:
                client.sendall(chunk)
        if whole:
            head, body = whole.split(b"\r\n\r\n", 1)
            lines = [line for line in head.split(b"\r\n") if not line.startswith(b"Content-Length")]
            client.sendall(b"\r\n".join(lines) + b"\r\n\r\n" + body.replace(b"</body>", IMAGE))
    except OSError:
        pass  # The browser has its picture and has gone.
    client.close()
    server.close()


extra = cookie(sys.argv[3]) if len(sys.argv) > 3 else b""
listener = socket.create_server(("127.0.0.1", port))
while True:
    client, _ = listener.accept()
    threading.Thread(target=serve, args=(client, extra), daemon=True).start()
