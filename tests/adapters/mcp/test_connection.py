"""The connection's life: the table of states and frames, and what P1, P4 and P5 say of it."""

from collections.abc import Callable
from typing import Any

import pytest

from norma.adapters.mcp.connection import (
    Answered,
    Asked,
    Connection,
    Event,
    Failed,
    Notified,
    Progressed,
    Ready,
    Refused,
    Send,
    Skipped,
)
from norma.adapters.mcp.versions import HANDSHAKE, STATELESS

GOOD_INIT = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "x"}}
GOOD_DISCOVER = {"supportedVersions": [STATELESS], "capabilities": {"tools": {}}, "resultType": "complete"}
UNSUPPORTED = {"code": -32022, "message": "Unsupported protocol version", "data": {"supported": [STATELESS]}}


def result(number: Any, value: Any = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "result": {} if value is None else value}


def error(number: Any, value: Any = None) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "error": value or {"code": -1, "message": "no"}}


def request(number: Any, method: str) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method}


def initializing() -> Connection:
    made = Connection({"sampling": {}})
    made.open()
    return made


def discovering() -> Connection:
    made = initializing()
    made.receive(error(1, UNSUPPORTED))
    return made


def ready() -> Connection:
    made = initializing()
    made.receive(result(1, GOOD_INIT))
    made.request("tools/call", {}, "token")
    return made


def ended() -> Connection:
    made = ready()
    made.end()
    return made


STATES: dict[str, Callable[[], Connection]] = {
    "initializing": initializing,
    "discovering": discovering,
    "ready": ready,
    "ended": ended,
}
FRAMES: dict[str, Any] = {
    "init result": result(1, GOOD_INIT),
    "discover result": result(2, GOOD_DISCOVER),
    "result 2": result(2),
    "error 1": error(1),
    "error 2": error(2),
    "unknown result": result(99),
    "text id": result("2"),
    "float id": result(2.0),
    "true id": result(True),
    "null id": error(None),
    "method with our id": {**result(2), "method": "ping"},
    "ping": request("p", "ping"),
    "roots": request(0, "roots/list"),
    "sampling": request(5, "sampling/createMessage"),
    "elicitation": request(5, "elicitation/create"),
    "unknown request": request(5, "tasks/list"),
    "list changed": {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"},
    "progress": {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 2}},
    "method 5": {"jsonrpc": "2.0", "id": 3, "method": 5},
    "neither": {"jsonrpc": "2.0", "id": 2},
    "number": 7,
    "null": None,
    "empty list": [],
    "batch": [result(2), 5],
}

# What each frame brings in each state: the events by name and the state after it, as "events > state".
TABLE: dict[str, tuple[str, str, str, str]] = {
    #                      initializing                 discovering          ready               ended
    "init result": ("Send Ready > ready", "Skipped > discovering", "Skipped > ready", "> ended"),
    "discover result": ("Skipped > initializing", "Ready > ready", "Answered > ready", "> ended"),
    "result 2": ("Skipped > initializing", "Refused > ended", "Answered > ready", "> ended"),
    "error 1": ("Refused > ended", "Skipped > discovering", "Skipped > ready", "> ended"),
    "error 2": ("Skipped > initializing", "Refused > ended", "Failed > ready", "> ended"),
    "unknown result": ("Skipped > initializing", "Skipped > discovering", "Skipped > ready", "> ended"),
    "text id": ("Skipped > initializing", "Skipped > discovering", "Skipped > ready", "> ended"),
    "float id": ("Skipped > initializing", "Skipped > discovering", "Skipped > ready", "> ended"),
    "true id": ("Skipped > initializing", "Skipped > discovering", "Skipped > ready", "> ended"),
    "null id": ("Skipped > initializing", "Skipped > discovering", "Skipped > ready", "> ended"),
    "method with our id": ("Send > initializing", "Send > discovering", "Send > ready", "> ended"),
    "ping": ("Send > initializing", "Send > discovering", "Send > ready", "> ended"),
    "roots": ("Send > initializing", "Send > discovering", "Send > ready", "> ended"),
    "sampling": ("Asked > initializing", "Asked > discovering", "Asked > ready", "> ended"),
    "elicitation": ("Send > initializing", "Send > discovering", "Send > ready", "> ended"),
    "unknown request": ("Send > initializing", "Send > discovering", "Send > ready", "> ended"),
    "list changed": ("Notified > initializing", "Notified > discovering", "Notified > ready", "> ended"),
    "progress": ("Skipped > initializing", "Skipped > discovering", "Progressed > ready", "> ended"),
    "method 5": ("Skipped > initializing", "Skipped > discovering", "Skipped > ready", "> ended"),
    "neither": ("Skipped > initializing", "Skipped > discovering", "Skipped > ready", "> ended"),
    "number": ("Skipped > initializing", "Skipped > discovering", "Skipped > ready", "> ended"),
    "null": ("Skipped > initializing", "Skipped > discovering", "Skipped > ready", "> ended"),
    "empty list": ("> initializing", "> discovering", "> ready", "> ended"),
    "batch": ("Skipped Skipped > initializing", "Refused > ended", "Answered Skipped > ready", "> ended"),
}


def test_the_table_is_whole() -> None:
    assert TABLE.keys() == FRAMES.keys()


@pytest.mark.parametrize("frame", FRAMES)
@pytest.mark.parametrize("state", STATES)
def test_P4_each_frame_in_each_state(state: str, frame: str) -> None:
    connection = STATES[state]()
    events = connection.receive(FRAMES[frame])
    names = " ".join(type(event).__name__ for event in events)
    assert f"{names} > {connection.state}".strip() == TABLE[frame][list(STATES).index(state)]


def sent(events: list[Event]) -> list[Any]:
    return [event.frame for event in events if isinstance(event, Send)]


def test_P1_initialize_is_first_with_id_1_our_name_and_no_capabilities() -> None:
    frame = Connection().open().frame
    assert frame == {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "norma", "version": "0.2"},
        },
    }


def test_P1_ids_count_upwards_from_1() -> None:
    connection = ready()
    numbers = [connection.request("ping", None, "t")[0] for _ in range(3)]
    assert numbers == [3, 4, 5]


@pytest.mark.parametrize("version", HANDSHAKE)
def test_P1_any_known_version_is_accepted_and_kept(version: str) -> None:
    connection = initializing()
    events = connection.receive(result(1, {**GOOD_INIT, "protocolVersion": version}))
    assert sent(events) == [{"jsonrpc": "2.0", "method": "notifications/initialized"}]
    assert isinstance(events[-1], Ready)
    assert connection.info is not None
    assert (connection.info.protocol, connection.info.capabilities) == (version, {"tools": {}})


@pytest.mark.parametrize("version", ["2099-01-01", "1999-01-01", STATELESS, None, 5, ["2025-06-18"]])
def test_P1_an_unknown_version_ends_it_and_both_are_named(version: Any) -> None:
    connection = initializing()
    body = {**GOOD_INIT, "protocolVersion": version}
    (event,) = connection.receive(result(1, body))
    assert isinstance(event, Refused)
    assert "2025-11-25" in event.why
    assert version is None or str(version) in event.why
    assert connection.state == "ended"


def test_P1_only_a_list_with_the_stateless_version_leads_to_discover() -> None:
    connection = initializing()
    (event,) = connection.receive(error(1, UNSUPPORTED))
    assert isinstance(event, Send)
    assert event.frame["method"] == "server/discover"
    meta = event.frame["params"]["_meta"]
    assert meta["io.modelcontextprotocol/protocolVersion"] == STATELESS
    other = initializing()
    (refused,) = other.receive(error(1, {**UNSUPPORTED, "data": {"supported": ["2030-01-01"]}}))
    assert isinstance(refused, Refused)
    assert "2030-01-01" in refused.why


def test_P1_when_discover_fails_too_the_first_error_is_shown() -> None:
    (event,) = discovering().receive(error(2, {"code": -32601, "message": "second"}))
    assert isinstance(event, Refused)
    assert "Unsupported protocol version" in event.why
    assert "-32022" in event.why
    assert STATELESS in event.why
    assert "second" not in event.why


def test_P1_settings_can_ask_for_the_stateless_version() -> None:
    connection = Connection(protocol=STATELESS)
    assert connection.open().frame["method"] == "server/discover"
    assert isinstance(connection.receive(result(1, GOOD_DISCOVER))[0], Ready)
    _, frame = connection.request("tools/call", {"name": "x"}, "t")
    assert frame["params"]["name"] == "x"
    assert frame["params"]["_meta"]["io.modelcontextprotocol/clientInfo"]["name"] == "norma"


def test_P1_settings_can_ask_for_an_older_handshake() -> None:
    frame = Connection(protocol="2024-11-05").open().frame
    assert frame["params"]["protocolVersion"] == "2024-11-05"


def test_P4_ids_match_by_type_and_value() -> None:
    connection = ready()
    for odd in ("2", 2.0, True, None, [2], {"id": 2}):
        assert isinstance(connection.receive(result(odd))[0], Skipped)
    assert connection.receive(result(2, {"a": 1})) == [Answered("token", {"a": 1})]
    assert isinstance(connection.receive(result(2))[0], Skipped)


def test_P4_a_result_beside_a_null_error_is_a_result() -> None:
    assert ready().receive({**result(2), "error": None}) == [Answered("token", {})]


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"code": -32000}, "gave no message (code -32000)"),
        ({"message": "no code"}, "no code"),
        ({"code": "E1", "message": 5}, "5 (code E1)"),
        ("just text", "just text"),
        ([], "without any content"),
        ([1], "[1]"),
    ],
)
def test_P3_errors_of_any_shape_say_what_there_is(value: Any, said: str) -> None:
    (event,) = ready().receive({"jsonrpc": "2.0", "id": 2, "error": value})
    assert isinstance(event, Failed)
    assert said in str(event.error)


def test_P5_ping_is_answered_and_the_id_keeps_its_type() -> None:
    for number in ("p1", 0, 7, 2.5):
        assert sent(ready().receive(request(number, "ping"))) == [
            {"jsonrpc": "2.0", "id": number, "result": {}}
        ]


def test_P5_roots_are_told_only_when_offered() -> None:
    roots = [{"uri": "file:///w", "name": "w"}]
    offering = Connection({"roots": {}}, roots=roots)
    offering.open()
    assert sent(offering.receive(request(0, "roots/list")))[0]["result"] == {"roots": roots}
    assert sent(ready().receive(request(0, "roots/list")))[0]["error"]["code"] == -32601


@pytest.mark.parametrize("method", ["elicitation/create", "tasks/get", "bogus", "tools/list"])
def test_P5_anything_else_is_method_not_found(method: str) -> None:
    (frame,) = sent(ready().receive(request("a", method)))
    assert frame["error"]["code"] == -32601
    assert frame["id"] == "a"


def test_P5_what_is_offered_goes_to_the_host() -> None:
    assert ready().receive(request(5, "sampling/createMessage")) == [Asked(5, "sampling/createMessage", {})]


def test_P6_a_forgotten_id_gives_one_notice_and_its_late_answer_nothing() -> None:
    connection = ready()
    notice = connection.forget(2, "why")
    assert notice is not None
    assert notice["params"] == {"requestId": 2, "reason": "why"}
    assert "id" not in notice
    assert connection.forget(2, "why") is None
    assert isinstance(connection.receive(result(2))[0], Skipped)
    assert connection.waiting == 0


def test_P6_progress_belongs_to_the_request_of_its_token() -> None:
    connection = ready()
    number, frame = connection.request("tools/call", {}, "other", progress=True)
    assert frame["params"]["_meta"]["progressToken"] == number
    notice = {"method": "notifications/progress", "params": {"progressToken": number, "progress": 1}}
    (event,) = connection.receive(notice)
    assert isinstance(event, Progressed)
    assert event.token == "other"
    odd = {"method": "notifications/progress", "params": {"progressToken": str(number)}}
    assert isinstance(connection.receive(odd)[0], Skipped)


def test_P8_at_the_end_all_that_wait_are_given_back() -> None:
    connection = ready()
    connection.request("tools/call", {}, "second")
    assert connection.end() == ["token", "second"]
    assert connection.waiting == 0
    assert connection.receive(result(2)) == []


def test_notifications_reach_the_driver() -> None:
    (event,) = ready().receive({"method": "notifications/message", "params": {"level": "info"}})
    assert event == Notified("notifications/message", {"level": "info"})
    (bare,) = ready().receive({"method": "notifications/x", "params": 5})
    assert bare == Notified("notifications/x", {})
