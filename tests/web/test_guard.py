"""The layer before every page and service: who may ask, from where, how much and how often."""

from __future__ import annotations

import asyncio
import json
import socket
from pathlib import Path

import pytest
from tests.web.service_process import Service, rows, train_model

from thresher.cli import main as thresher
from thresher.web import Guard, RequestLimits, send_json

TOKEN = "t" * 40
DATA = {
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
PAGE = DATA | {
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return train_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def service(model: Path):
    with Service(model, "--max-bytes", 3000) as running:
        yield running


def row() -> dict[str, object]:
    return {name: value for name, value in rows(1)[0].items() if name != "label"}


def test_every_request_needs_the_token(service):
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": service.token}, {"Cookie": "thresher=x"}):
        status, content = service.request("POST", "/predict", {"row": row()}, headers)
        assert status == 401
        assert "token" in content["error"]
    assert service.request("GET", "/?token=wrong", headers={})[0] == 401
    assert service.request("GET", "/health", headers={})[0] == 200
    assert service.request("GET", "/", headers={"Authorization": f"bearer  {service.token}"})[0] == 200


def test_the_first_visit_turns_the_token_into_a_cookie(service):
    status, headers, _ = service.whole("GET", f"/measures?a=1&token={service.token}", headers={})
    assert (status, headers["location"]) == (303, "/measures?a=1")
    cookie, *rules = headers["set-cookie"].split("; ")
    assert set(rules) == {"HttpOnly", "Path=/", "SameSite=Strict"}
    assert service.request("GET", "/measures", headers={"Cookie": f"other=1; {cookie}"})[0] == 200


def test_the_first_visit_never_leads_elsewhere(service):
    for path in ("//evil.example/", "/\\evil.example/", "///evil.example"):
        status, headers, _ = service.whole("GET", f"{path}?token={service.token}", headers={})
        assert status == 303
        assert headers["location"].startswith("/")
        assert headers["location"][1] not in "/\\"


def test_a_browser_changes_something_from_our_own_page_only(service):
    cookie = service.whole("GET", f"/?token={service.token}", headers={})[1]["set-cookie"].split(";")[0]
    own = f"http://127.0.0.1:{service.port}"
    for origin, wanted in ((own, 200), ("http://evil.example", 403), ("null", 403), ("http://127.0.0.1:1", 403)):
        headers = {"Cookie": cookie, "Origin": origin}
        assert service.request("POST", "/predict", {"row": row()}, headers)[0] == wanted
    assert service.request("POST", "/predict", {"row": row()}, {"Cookie": cookie})[0] == 403
    for site, wanted in (("same-origin", 200), ("none", 200), ("cross-site", 403), ("same-site", 403)):
        assert service.request("GET", "/", headers={"Cookie": cookie, "Sec-Fetch-Site": site})[0] == wanted


@pytest.mark.parametrize(
    "host, wanted",
    [
        *(("127.0.0.1", 200), ("localhost:{}", 200), ("LOCALHOST", 200), ("[::1]:{}", 200)),
        *(("evil.example", 421), ("127.0.0.1.evil.example", 421), ("10.0.0.1", 421), ("", 421), ("localhost:x", 421)),
    ],
)
def test_only_names_of_this_machine_are_answered(service, host, wanted):
    headers = {"Authorization": f"Bearer {service.token}", "Host": host.format(service.port)}
    assert service.request("GET", "/", headers=headers)[0] == wanted


def test_headers_that_must_stand_once_stand_once(service):
    with socket.create_connection(("127.0.0.1", service.port)) as connection:
        sender = f"Authorization: Bearer {service.token}\r\n" * 2
        connection.sendall(f"GET / HTTP/1.1\r\nHost: localhost\r\n{sender}\r\n".encode())
        assert connection.recv(4096).startswith(b"HTTP/1.1 400 ")


def test_every_answer_has_the_headers_of_safety(service):
    sender = {"Authorization": f"Bearer {service.token}"}
    for method, path, headers, wanted in (
        *(
            ("GET", "/", sender, 200),
            ("GET", "/metrics", sender, 200),
            ("GET", "/", {}, 401),
            ("GET", "/nothing", sender, 404),
        ),
        *(("GET", "/predict", sender, 405), ("POST", "/predict", sender, 400)),
        ("GET", "/", {**sender, "Origin": "http://evil.example"}, 403),
    ):
        status, found, content = service.whole(method, path, headers=headers)
        assert status == wanted
        wanted = PAGE if path == "/metrics" else DATA
        assert {name: found[name] for name in wanted} == wanted
        policy = dict(part.strip().split(" ", 1) for part in found["Content-Security-Policy"].split(";"))
        assert policy["default-src"] == "'none'"
        assert policy["frame-ancestors"] == "'none'"
        if wanted is PAGE:
            assert policy["script-src"] == policy["style-src"] == policy["connect-src"] == "'self'"
            assert policy["base-uri"] == "'none'"
        assert "server" not in found
        if status >= 400:
            assert content["error"].endswith(".")


def test_bodies_are_limited_with_and_without_a_length(service):
    status, content = service.post("/predict", b"x" * 3001)
    assert (status, content["error"]) == (413, "The body may have at most 3000 bytes; send it in parts.")
    head = f"POST /predict HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {service.token}\r\n"
    with socket.create_connection(("127.0.0.1", service.port)) as connection:
        connection.sendall(f"{head}Transfer-Encoding: chunked\r\n\r\n".encode() + b"7d0\r\n" + b"x" * 2000 + b"\r\n")
        connection.sendall(b"7d0\r\n" + b"x" * 2000 + b"\r\n")
        assert connection.recv(4096).startswith(b"HTTP/1.1 413 ")


def test_a_client_that_asks_too_often_has_to_wait(model):
    with Service(model, "--max-rate", 5) as service:
        statuses = [service.request("GET", "/health", headers={})[0] for _ in range(20)]
    assert statuses[:10] == [200] * 10
    assert 429 in statuses


def test_other_machines_need_a_token_file(model, tmp_path, capfd):
    assert thresher(["serve", str(model), "--host", "0.0.0.0"]) == 2
    assert "--token-file" in capfd.readouterr().err
    token = tmp_path / "token"
    token.write_text(TOKEN)
    token.chmod(0o644)
    assert thresher(["serve", str(model), "--host", "0.0.0.0", "--token-file", str(token)]) == 2
    assert "chmod 600" in capfd.readouterr().err
    token.chmod(0o600)
    token.write_text("short")
    assert thresher(["serve", str(model), "--host", "0.0.0.0", "--token-file", str(token)]) == 2
    assert "at least 32 letters" in capfd.readouterr().err
    token.write_text(TOKEN + "\n")
    with Service(model, "--host", "0.0.0.0", "--token-file", token) as service:
        assert TOKEN not in service.address
        assert "TLS" in service.stderr()
        assert "Press Ctrl-C to stop the service. Its address:\n" in service.stderr()
        sender = {"Authorization": f"Bearer {TOKEN}"}
        assert service.request("GET", "/", headers=sender)[0] == 200
        assert service.request("GET", "/", headers={**sender, "Host": "10.1.2.3:80"})[0] == 200
        assert service.request("GET", "/", headers={**sender, "Host": "evil.example"})[0] == 421


def test_a_port_that_is_taken_is_refused_in_a_sentence(model, service, capfd):
    assert thresher(["serve", str(model), "--port", str(service.port)]) == 2
    assert "choose another --port" in capfd.readouterr().err


# --- without a server -------------------------------------------------------------------------------------------------


async def nothing():
    return {"type": "http.request", "body": b"", "more_body": False}


def ask(guard: Guard, receive=nothing, more_headers=(), **more: object) -> tuple[int, dict[str, str], bytes]:
    sent: list[dict[str, object]] = []

    async def send(message):
        sent.append(message)

    headers = [(b"host", b"localhost"), (b"authorization", f"Bearer {TOKEN}".encode()), *more_headers]
    scope = {"type": "http", "method": "GET", "path": "/", "query_string": b"", "scheme": "http", "headers": headers}
    asyncio.run(guard({**scope, "client": ("127.0.0.1", 1), **more}, receive, send))
    return sent[0]["status"], dict(sent[0]["headers"]), b"".join(message["body"] for message in sent[1:])


def test_an_unexpected_error_is_one_sentence_and_its_traceback_goes_to_the_log(caplog):
    async def fails(scope, receive, send):
        raise RuntimeError("secret")

    status, headers, body = ask(Guard(fails, token=TOKEN, hosts={"localhost"}))
    assert status == 500
    assert json.loads(body) == {"error": "The server failed to answer this request; see its log."}
    assert b"content-security-policy" in headers
    assert "RuntimeError: secret" in caplog.text


def test_more_requests_than_the_limit_are_told_to_wait():
    limits, inside = RequestLimits(max_open=1), []

    async def nests(scope, receive, send):
        inside.append(await asyncio.to_thread(ask, guard) if not inside else None)
        await send_json(send, 200, {})

    guard = Guard(nests, token=TOKEN, hosts={"localhost"}, limits=limits)
    assert ask(guard)[0] == 200
    assert inside[0][0] == 503


def test_a_body_that_does_not_come_is_not_waited_for(monkeypatch):
    monkeypatch.setattr("thresher.web._guard._IDLE_SECONDS", 0.02)

    async def reads(scope, receive, send):
        await receive()

    async def silence():
        await asyncio.sleep(5)

    guard = Guard(reads, token=TOKEN, hosts={"localhost"})
    status, _, body = ask(guard, silence, more_headers=[(b"content-length", b"5")])
    assert status == 408
    assert json.loads(body) == {"error": "The body did not arrive in time; send it again."}


def test_an_answer_may_have_a_policy_of_its_own():
    async def page(scope, receive, send):
        await send_json(send, 200, {}, [(b"content-security-policy", b"sandbox")])

    headers = ask(Guard(page, token=TOKEN, hosts={"localhost"}))[1]
    assert headers[b"content-security-policy"] == b"sandbox"


def test_rates_count_each_client_by_itself():
    async def page(scope, receive, send):
        await send_json(send, 200, {})

    guard = Guard(page, token=TOKEN, hosts={"localhost"}, limits=RequestLimits(requests_per_second=2))
    statuses = [ask(guard, client=(f"10.0.0.{k % 2}", 1))[0] for k in range(12)]
    assert statuses == [200] * 8 + [429] * 4


def test_the_guard_closes_what_is_not_http():
    sent = []

    async def send(message):
        sent.append(message)

    guard = Guard(None, token=TOKEN, hosts=())  # type: ignore[arg-type]
    asyncio.run(guard({"type": "websocket"}, None, send))  # type: ignore[arg-type]
    assert sent == [{"type": "websocket.close", "code": 1008}]
