"""A proxy between a client and a PostgreSQL server, on Unix sockets, that cuts a connection at a given moment.

    cutting_proxy.py FOLDER SERVER MARK before|closed|after|gone

Listens in FOLDER. The first time that a client sends MARK, the connection is cut: before it reaches the server, or after the
server has responded and before the client gets the response. With "closed" (before) it stops listening; with "gone" (after) it
also cuts all other connections and stops listening.
"""
import os
import socket
import sys
import threading


everybody = []


def main():
    folder, server, mark, when = sys.argv[1:]
    armed = threading.Semaphore(1)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(f"{folder}/.s.PGSQL.5432")
    listener.listen(64)
    print("ready", flush=True)
    while True:
        client, _ = listener.accept()
        upstream = socket.socket(socket.AF_UNIX)
        upstream.connect(f"{server}/.s.PGSQL.5432")
        everybody.extend([client, upstream])
        doomed = threading.Event()
        arguments = (client, upstream, mark.encode(), when, armed, doomed, folder)
        threading.Thread(target=forth, args=arguments, daemon=True).start()
        threading.Thread(target=back, args=(client, upstream, doomed, when, folder), daemon=True).start()


def end(*sockets):
    for one in sockets:
        try:
            one.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def forth(client, upstream, mark, when, armed, doomed, folder):
    while data := client.recv(1 << 20):
        if mark in data and armed.acquire(blocking=False):
            if when == "closed":
                os.unlink(f"{folder}/.s.PGSQL.5432")
            if when in ("before", "closed"):
                break
            doomed.set()
        upstream.sendall(data)
    end(client, upstream)


def back(client, upstream, doomed, when, folder):
    while data := upstream.recv(1 << 20):
        if doomed.is_set():
            # The server's last message says that the transaction has ended.
            if data.endswith(b"Z\x00\x00\x00\x05I"):
                if when == "gone":
                    os.unlink(f"{folder}/.s.PGSQL.5432")
                    end(*everybody)
                break
            continue
        client.sendall(data)
    end(client, upstream)


main()
