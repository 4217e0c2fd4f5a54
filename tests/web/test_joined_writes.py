"""Answers leave in one piece, in the order in which they were written."""

from __future__ import annotations

import asyncio
import socket

import pytest
from tests.web.service_process import Service, train_model

from thresher.web._joined_writes import JoinedWrites


class Sent:
    def __init__(self):
        self.pieces, self.is_closed = [], False

    def write(self, data):
        assert not self.is_closed
        self.pieces.append(data)

    def close(self):
        self.is_closed = True


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ([b"head", b"body", b""], [b"headbody"]),
        ([b"", b"head"], [b"head"]),
        ([b"a", b"b", b"c", b"d", b"e"], [b"ab", b"cd", b"e"]),
        ([b"head", b"", b"body"], [b"head", b"body"]),  # uvicorn writes nothing at the end of an answer
    ],
)
def test_what_is_written_in_one_turn_is_sent_together(written, wanted):
    async def write():
        sent = Sent()
        transport = JoinedWrites(sent)
        for piece in written:
            transport.write(piece)
        await asyncio.sleep(0)
        return sent.pieces

    assert asyncio.run(write()) == wanted


def test_what_is_written_is_sent_before_the_end():
    async def write():
        sent = Sent()
        transport = JoinedWrites(sent)
        transport.write(b"all")
        transport.close()
        await asyncio.sleep(0)
        return sent

    sent = asyncio.run(write())
    assert (sent.pieces, sent.is_closed) == ([b"all"], True)


def test_a_service_answers_in_one_piece(tmp_path):
    with Service(train_model(tmp_path)) as service, socket.create_connection(("127.0.0.1", service.port)) as client:
        for _ in range(20):
            client.sendall(f"GET /health HTTP/1.1\r\nHost: 127.0.0.1:{service.port}\r\n\r\n".encode())
            head, gap, body = client.recv(1 << 16).partition(b"\r\n\r\n")
            assert (head[:15], gap, body) == (b"HTTP/1.1 200 OK", b"\r\n\r\n", b'{"status": "ok"}')
